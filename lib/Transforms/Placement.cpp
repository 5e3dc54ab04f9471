// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer is a convolution or dense layer with its bias, batch norm and
// activation; it is exact inside and rounds once at its end. Sums, average
// pools, concatenations and curves are layers of their own.
#include "rhizome/Transforms/Placement.h"
#include "ExactConstant.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Rows.h"

using namespace mlir;
using namespace rhizome;

Value rhizome::quantized(OpBuilder &builder, Value v,
                         const AffineFormat &format, Location loc) {
  MLIRContext *context = builder.getContext();
  builder.setInsertionPointAfterValue(v);
  auto code = RankedTensorType::get(
      cast<RankedTensorType>(v.getType()).getShape(),
      num::IntType::getForRange(context, format.lo, format.hi));
  int64_t n = int64_t(format.scale.size());
  auto scale =
      DenseElementsAttr::get(RankedTensorType::get({n}, builder.getF32Type()),
                             ArrayRef<float>(format.scale));
  auto zero =
      DenseElementsAttr::get(RankedTensorType::get({n}, builder.getI32Type()),
                             ArrayRef<int32_t>(format.zero));
  Value q =
      osa::QuantizeOp::create(builder, loc, code, v, scale, zero, format.axis);
  return osa::DequantizeOp::create(builder, loc, v.getType(), q, scale, zero,
                                   format.axis);
}

Value rhizome::quantizeUses(OpBuilder &builder, const Placement::Point &point,
                            const AffineFormat &format, bool outputs) {
  Value v = point.value, d = quantized(builder, v, format, point.loc);
  Operation *q = d.getDefiningOp()->getOperand(0).getDefiningOp();
  v.replaceUsesWithIf(d, [&](OpOperand &use) {
    return use.getOwner() != q &&
           (outputs || !isa<func::ReturnOp>(use.getOwner()));
  });
  return d;
}

std::string rhizome::tensorName(Location loc) {
  auto node = dyn_cast<NameLoc>(loc);
  auto op = node ? dyn_cast<NameLoc>(node.getChildLoc()) : NameLoc();
  auto tensor = op ? dyn_cast<NameLoc>(op.getChildLoc()) : NameLoc();
  return tensor ? tensor.getName().str() : node ? node.getName().str() : "";
}

Location rhizome::withTensorOf(Location loc, Location end) {
  auto node = dyn_cast<NameLoc>(loc);
  auto op = node ? dyn_cast<NameLoc>(node.getChildLoc()) : NameLoc();
  std::string name = tensorName(end);
  if (!op || name.empty())
    return loc;
  auto tensor = NameLoc::get(StringAttr::get(loc.getContext(), name));
  return NameLoc::get(node.getName(), NameLoc::get(op.getName(), tensor));
}

bool Placement::hasFloatLayer() const {
  if (llvm::any_of(constants, [](const Constant &c) { return !c.isBias; }))
    return true;
  SmallVector<Value> work;
  for (const Point &point : activations)
    work.push_back(point.value);
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!seen.insert(v).second)
      continue;
    for (Operation *user : v.getUsers()) {
      if (isa<osa::Conv2dOp, osa::DenseOp, osa::MatmulOp>(user))
        return true;
      if (isa<osa::ReshapeOp, osa::TransposeOp, osa::GatherOp, osa::MaxPoolOp,
              osa::PadOp>(user))
        work.push_back(user->getResult(0));
    }
  }
  return false;
}

namespace {
class Placer {
public:
  Placer(func::FuncOp function, bool outputs)
      : function(function), outputs(outputs) {}
  Placement run();

private:
  bool isConstant(Value v) { return constants.get(v) != nullptr; }
  bool binaryWithConstant(Operation *op) {
    return isa<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp>(op) &&
           (isConstant(op->getOperand(0)) || isConstant(op->getOperand(1)));
  }
  /// Of two tensors of the network.
  bool isBinary(Operation *op) {
    return isa<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp>(op) &&
           !binaryWithConstant(op);
  }
  static bool isActivation(Operation *op) {
    return isa<osa::ReluOp, osa::LeakyReluOp, osa::ClipOp>(op);
  }
  /// Only moves elements.
  static bool moves(Operation *op) {
    return isa<osa::TransposeOp, osa::ReshapeOp>(op);
  }
  /// A softmax of the network.
  static bool isFixedPoint(Operation *op) {
    return isa<osa::SoftmaxOp>(op) && op->hasAttr(marks::kFixedPoint);
  }
  bool begins(Operation *op) {
    return isa<osa::Conv2dOp, osa::DenseOp, osa::AvgPoolOp, osa::ConcatOp,
               osa::UnaryOp, osa::MatmulOp, osa::NormalizeOp>(op) ||
           isBinary(op) || isFixedPoint(op);
  }
  /// The tensor that `v` is computed from by elementwise operations alone.
  Value root(Value v);
  /// True if `op` computes a curve of one tensor, e.g. x · sigmoid(x).
  bool isCurve(Operation *op) {
    return isBinary(op) && root(op->getOperand(0)) == root(op->getOperand(1));
  }
  bool isInsideCurve(Value v);
  /// True if a curve lies between the last layer and `op`'s result.
  bool endsCurve(Operation *op);
  bool continues(Operation *op, Operation *next);
  bool feedsLayer(Value v);
  /// True if `v` leaves the network, and the file does not round it there.
  bool ends(Value v);
  void addConstant(OpOperand &operand, bool isBias);
  void addConstants();
  static bool isOfHost(Operation *op) {
    return !isa<osa::OsaDialect>(op->getDialect()) ||
           (isa<osa::SoftmaxOp>(op) && !isFixedPoint(op));
  }
  /// True if the host computes `op` and a layer reads this result directly.
  bool leavesHost(Operation *op, Value v);
  /// True if only the host's operations read it.
  bool staysOnHost(Value v);
  void addEnds();
  void addInput(BlockArgument arg);
  void findNetwork();

  func::FuncOp function;
  const bool outputs;        ///< graph outputs are rounded, too
  DenseSet<Value> inNetwork; ///< computed from what the network takes, by it
  ConstantEvaluator constants;
  Placement placement;
};
} // namespace

std::vector<float> rhizome::constantFloats(Value constant) {
  if (auto stored = constant.getDefiningOp<osa::ConstantOp>())
    return osa::floatValues(stored.getValue());
  std::vector<float> values;
  auto exact = ConstantEvaluator().get(constant);
  for (size_t i = 0; i < exact->size(); ++i)
    values.push_back(float(exact->at(i).get_d()));
  return values;
}

/// True if all weights of an output channel have one scale, so that they are
/// codes of a layer as they are.
static bool hasScalePerOutput(const ExactConstant &c) {
  if (c.isOneGroup() || c.shape.empty())
    return true;
  const size_t row = c.size() / size_t(c.shape[0]);
  for (size_t first = 0; first < c.size(); first += row) {
    std::optional<uint32_t> group;
    for (size_t i = first; i < first + row && !c.isOneGroup(first, row); ++i) {
      if (c.codes[i] == 0)
        continue;
      const uint32_t own = c.group(i);
      if (group && own != *group && c.scales[own] != c.scales[*group])
        return false;
      group = own;
    }
  }
  return true;
}

/// A constant that the file quantizes already has its format, also if its
/// elements are moved afterwards. Scales along input channels are no format of
/// a layer's: its products would have no common unit.
void Placer::addConstant(OpOperand &operand, bool isBias) {
  Operation *from = operand.get().getDefiningOp();
  while (from && (moves(from) || isa<osa::GatherOp>(from)))
    from = from->getOperand(0).getDefiningOp();
  if (!isConstant(operand.get()))
    return;
  if (isa_and_nonnull<osa::DequantizeOp>(from) &&
      (isBias || hasScalePerOutput(*constants.get(operand.get()))))
    return;
  placement.constants.push_back({&operand, isBias});
}

void Placer::addConstants() {
  for (Operation &op : function.getBody().front()) {
    if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
      continue;
    addConstant(op.getOpOperand(1), false);
    if (op.getNumOperands() > 2)
      addConstant(op.getOpOperand(2), true);
    // A bias that the file adds in its own node.
    Operation *at = &op;
    while (at->getResult(0).hasOneUse()) {
      Operation *next = *at->getResult(0).getUsers().begin();
      if (moves(next)) {
        at = next;
        continue;
      }
      if (isa<osa::AddOp>(next) && binaryWithConstant(next))
        addConstant(next->getOpOperand(isConstant(next->getOperand(0)) ? 0 : 1),
                    true);
      break;
    }
  }
}

Value Placer::root(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (isa<osa::UnaryOp>(op) || isActivation(op))
      v = op->getOperand(0);
    else if (binaryWithConstant(op))
      v = op->getOperand(isConstant(op->getOperand(0)) ? 1 : 0);
    else
      break;
  }
  return v;
}

bool Placer::isInsideCurve(Value v) {
  while (v.hasOneUse()) {
    Operation *next = *v.getUsers().begin();
    if (isCurve(next))
      return true;
    if (!isa<osa::UnaryOp>(next) && !isActivation(next) &&
        !binaryWithConstant(next))
      return false;
    v = next->getResult(0);
  }
  return false;
}

bool Placer::endsCurve(Operation *op) {
  while (op && (isActivation(op) || binaryWithConstant(op)))
    op = op->getOperand(
               binaryWithConstant(op) && isConstant(op->getOperand(0)) ? 1 : 0)
             .getDefiningOp();
  return op && (isa<osa::UnaryOp>(op) || isCurve(op));
}

/// True if `next` belongs to the layer that has been followed to `op`.
bool Placer::continues(Operation *op, Operation *next) {
  // Its inputs get one format after it.
  if (isa<osa::ConcatOp>(next))
    return true;
  // A curve becomes a table, which is rounded.
  if (isa<osa::BatchNormOp>(next) && endsCurve(op))
    return false;
  if (isa<osa::Conv2dOp, osa::DenseOp, osa::MatmulOp, osa::NormalizeOp,
          osa::BatchNormOp>(op) ||
      binaryWithConstant(op) || isCurve(op))
    return isActivation(next) || isa<osa::BatchNormOp>(next) ||
           binaryWithConstant(next);
  // A sum's rounding and Relu commute.
  if (isa<osa::AddOp, osa::SubOp>(op))
    return isa<osa::ReluOp>(next);
  // Operations that move elements may be between a dense layer and its bias.
  if (moves(op))
    return isActivation(next) || isa<osa::BatchNormOp>(next) ||
           binaryWithConstant(next);
  return false;
}

/// True if a layer of the network reads `v`, directly or indirectly.
bool Placer::feedsLayer(Value v) {
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      bool sum = isa<osa::AddOp, osa::SubOp>(user) && isBinary(user);
      if (isa<osa::Conv2dOp, osa::DenseOp, osa::AvgPoolOp, osa::MatmulOp,
              osa::NormalizeOp>(user) ||
          sum || isFixedPoint(user))
        return true;
      llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

bool Placer::ends(Value v) {
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (isa<osa::QuantizeOp>(user))
        continue;
      if (isa<func::ReturnOp>(user) || isOfHost(user))
        return true;
      llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

bool Placer::leavesHost(Operation *op, Value result) {
  if (!isOfHost(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || !type.getElementType().isF32())
    return false;
  SmallVector<Value> work{result};
  while (!work.empty()) {
    Value v = work.pop_back_val();
    for (OpOperand &use : v.getUses()) {
      if (isa<osa::Conv2dOp, osa::DenseOp>(use.getOwner()) &&
          use.getOperandNumber() == 0)
        return true;
      if (moves(use.getOwner()))
        work.push_back(use.getOwner()->getResult(0));
    }
  }
  return false;
}

bool Placer::staysOnHost(Value v) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    return moves(user) ? staysOnHost(user->getResult(0)) : isOfHost(user);
  });
}

/// Finds what the network computes from tensors that are or will be rounded.
void Placer::findNetwork() {
  for (BlockArgument arg : function.getArguments())
    inNetwork.insert(arg);
  for (Operation &op : function.getBody().front()) {
    bool isIn = op.getNumResults() == 1 && !isOfHost(&op) &&
                llvm::all_of(op.getOperands(), [&](Value v) {
                  return inNetwork.contains(v) || isConstant(v);
                });
    if (isIn || isa<osa::DequantizeOp>(op) ||
        llvm::any_of(op.getResults(),
                     [&](Value v) { return leavesHost(&op, v); }))
      inNetwork.insert(op.result_begin(), op.result_end());
  }
}

void Placer::addEnds() {
  DenseSet<Value> open; // inside a layer, not yet rounded
  for (Operation &it : function.getBody().front()) {
    Operation *op = &it;
    if (isa<osa::ConstantOp>(op) ||
        (op->getNumResults() == 1 && isConstant(op->getResult(0))))
      continue;
    bool leaves = false;
    for (Value v : op->getResults()) // a loop may have several
      if (leavesHost(op, v)) {
        placement.activations.push_back({v, op->getLoc()});
        leaves = true;
      }
    if (leaves || op->getNumResults() != 1)
      continue;
    bool arithmetic =
        isa<osa::BatchNormOp>(op) || isActivation(op) || binaryWithConstant(op);
    bool inside = llvm::any_of(op->getOperands(),
                               [&](Value v) { return open.contains(v); });
    if (!begins(op) && !arithmetic && !(moves(op) && inside))
      continue;
    Value v = op->getResult(0);
    if (isInsideCurve(v) && v != root(v)) {
      open.insert(v);
      continue;
    }
    // Follow transposes to the operation that reads the value.
    Operation *next = nullptr;
    bool chain = v.hasOneUse();
    Value at = v;
    while (at.hasOneUse()) {
      next = *at.getUsers().begin();
      if (!moves(next))
        break;
      at = next->getResult(0);
      next = nullptr;
    }
    if (chain && next && continues(op, next)) {
      open.insert(v);
      continue;
    }
    if (next && isa<osa::QuantizeOp>(next))
      continue; // the file rounds here
    const bool isRead = !moves(op) && feedsLayer(v);
    if (isRead || (outputs && !moves(op) && inNetwork.contains(v) && ends(v)))
      placement.activations.push_back({v, op->getLoc(), false, isRead});
  }
}

void Placer::addInput(BlockArgument arg) {
  if (!cast<RankedTensorType>(arg.getType()).getElementType().isF32())
    return;
  auto isPoint = [&](Value v) {
    return llvm::any_of(placement.activations, [&](const Placement::Point &p) {
      return p.value == v;
    });
  };
  // The host may normalize before the network begins.
  Value v = arg;
  while (v.hasOneUse() && !isPoint(v)) {
    Operation *user = *v.getUsers().begin();
    if (!moves(user) && !isa<osa::UnaryOp>(user) && !binaryWithConstant(user))
      break;
    v = user->getResult(0);
  }
  // There is a quantizer already, or nothing for one.
  if (isPoint(v) || staysOnHost(v) ||
      (v.hasOneUse() && isa<osa::QuantizeOp>(*v.getUsers().begin())))
    return;
  auto name =
      function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), marks::kName);
  placement.activations.push_back(
      {v, NameLoc::get(name ? name : StringAttr::get(arg.getContext(), "")),
       true});
}

Placement Placer::run() {
  if (outputs)
    findNetwork();
  addConstants();
  addEnds();
  for (BlockArgument arg : function.getArguments())
    addInput(arg);
  return std::move(placement);
}

Placement rhizome::placeQuantizers(func::FuncOp function, bool outputs) {
  return Placer(function, outputs).run();
}
