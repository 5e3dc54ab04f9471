// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where what a model keeps from frame to frame is kept: on the FPGA if the host
// would only hand it back, code for code.
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Model/States.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::model;
using llvm::formatv;

namespace {
/// The operations between a state, or its next value, and the border, in the
/// order in which they are computed.
using Steps = SmallVector<Operation *>;

/// One state, and the way around which it would go.
class Mover {
public:
  Mover(ModuleOp module, flow::StateAttr state)
      : module(module), state(state) {}

  /// Why the state cannot be kept on the FPGA; empty if it can.
  std::string why();
  /// Moves it there.
  flow::StateAttr move();
  /// After that: its next value leaves the FPGA no more, if it is an output of
  /// the model and not the last one.
  void hide();

private:
  std::string followIn();
  std::string followOut();
  std::string compareQuantizers();
  bool keepsOrder();
  DenseElementsAttr initialCodes();
  void dropHost();

  ModuleOp module;
  flow::StateAttr state;
  func::FuncOp region, before, after; ///< the tasks around the loop
  unsigned input = 0;                 ///< of `before`: the state
  unsigned given = 0;                 ///< result of `before`: its codes
  unsigned output = 0;                ///< of `after`: the next value
  unsigned argument = 0, result = 0;  ///< of `region`
  Steps in, out;
};
} // namespace

static std::optional<unsigned> indexIn(const std::vector<std::string> &names,
                                       StringRef name) {
  auto found = llvm::find(names, name);
  if (found == names.end())
    return std::nullopt;
  return unsigned(found - names.begin());
}

std::string Mover::followIn() {
  SmallVector<FunctionOpInterface> takers;
  for (FunctionOpInterface task : flow::tasksOf(module))
    if (llvm::is_contained(flow::takenBy(task), state.getName()))
      takers.push_back(task);
  if (takers.size() != 1 || takers[0] == region)
    return "more than one task reads it";
  before = cast<func::FuncOp>(takers[0].getOperation());
  input = *indexIn(flow::takenBy(takers[0]), state.getName());
  Value v = before.getArgument(input);
  for (;;) {
    if (!v.hasOneUse())
      return "the host reads it more than once";
    OpOperand &use = *v.getUses().begin();
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp>(op)) {
      given = use.getOperandNumber();
      break;
    }
    if (!isa<osa::QuantizeOp, osa::ReshapeOp, osa::TransposeOp>(op))
      return formatv("the host computes with it ('{0}')", osa::nodeName(op));
    in.push_back(op);
    v = op->getResult(0);
  }
  const std::string codes = flow::givenBy(takers[0])[given];
  auto at = indexIn(flow::takenBy(region), codes);
  if (!at)
    return "the FPGA does not take it";
  for (FunctionOpInterface task : flow::tasksOf(module))
    if (task != region && llvm::is_contained(flow::takenBy(task), codes))
      return "more than one task reads it";
  argument = *at;
  return "";
}

std::string Mover::followOut() {
  for (FunctionOpInterface task : flow::tasksOf(module))
    if (auto at = indexIn(flow::givenBy(task), state.getNext());
        at && task != region) {
      after = cast<func::FuncOp>(task.getOperation());
      output = *at;
    }
  if (!after)
    return "its next value is no tensor of the host";
  Value v = after.getBody().front().getTerminator()->getOperand(output);
  while (Operation *op = v.getDefiningOp()) {
    if (!isa<osa::DequantizeOp, osa::ReshapeOp, osa::TransposeOp>(op))
      return formatv("the host computes its next value ('{0}')",
                     osa::nodeName(op));
    out.push_back(op);
    v = op->getOperand(0);
  }
  std::reverse(out.begin(), out.end());
  auto from = cast<BlockArgument>(v);
  auto at =
      indexIn(flow::givenBy(region), flow::takenBy(after)[from.getArgNumber()]);
  if (!at)
    return "the FPGA does not compute its next value";
  result = *at;
  return "";
}

template <typename Op> static SmallVector<Op> opsOf(const Steps &steps) {
  SmallVector<Op> ops;
  for (Operation *op : steps)
    if (auto one = dyn_cast<Op>(op))
      ops.push_back(one);
  return ops;
}

/// One scale and zero point for all elements, as text for people.
template <typename Op>
static std::optional<std::pair<float, int64_t>> scaleOf(Op op) {
  std::vector<float> scales = osa::floatValues(op.getScale());
  std::vector<int64_t> zeros = osa::intValues(op.getZeroPoint());
  if (scales.empty() || zeros.empty() || !llvm::all_equal(scales) ||
      !llvm::all_equal(zeros))
    return std::nullopt;
  return std::pair(scales[0], zeros[0]);
}

std::string Mover::compareQuantizers() {
  auto quantizers = opsOf<osa::QuantizeOp>(in);
  auto dequantizers = opsOf<osa::DequantizeOp>(out);
  if (quantizers.size() != 1 || dequantizers.size() != 1)
    return "it is not quantized once on its way";
  auto a = scaleOf(quantizers[0]);
  auto b = scaleOf(dequantizers[0]);
  auto text = [](Type type) {
    std::string s;
    llvm::raw_string_ostream(s) << num::elementInt(type);
    return s;
  };
  if (!a || !b)
    return "its channels have scales of their own";
  Type from = region.getArgumentTypes()[argument],
       to = region.getResultTypes()[result];
  num::IntType own = num::elementInt(from), next = num::elementInt(to);
  const bool isSame = *a == *b && own.getWidth() == next.getWidth() &&
                      own.getIsSigned() == next.getIsSigned() &&
                      own.getLo() <= next.getLo() &&
                      next.getHi() <= own.getHi();
  if (!isSame)
    return formatv("it is {0} with scale {1} and zero point {2}, its next "
                   "value {3} with scale {4} and zero point {5}",
                   text(from), a->first, a->second, text(to), b->first,
                   b->second);
  if (cast<ShapedType>(from).getShape() != cast<ShapedType>(to).getShape())
    return "the FPGA takes it in another shape than it gives the next one";
  return "";
}

/// The elements of a tensor after these steps, by their places before.
static std::vector<int64_t> moved(std::vector<int64_t> places,
                                  const Steps &steps) {
  for (Operation *op : steps)
    if (auto transpose = dyn_cast<osa::TransposeOp>(op)) {
      auto from = cast<ShapedType>(transpose->getOperand(0).getType());
      auto to = cast<ShapedType>(transpose->getResult(0).getType());
      ArrayRef<int64_t> perm = transpose.getPermutation();
      std::vector<int64_t> strides(size_t(from.getRank()), 1);
      for (int64_t d = from.getRank() - 1; d-- > 0;)
        strides[d] = strides[d + 1] * from.getDimSize(d + 1);
      std::vector<int64_t> next(places.size());
      for (size_t i = 0; i < places.size(); ++i) {
        int64_t rest = int64_t(i), source = 0;
        for (int64_t d = to.getRank(); d-- > 0;) {
          source += rest % to.getDimSize(d) * strides[perm[d]];
          rest /= to.getDimSize(d);
        }
        next[i] = places[size_t(source)];
      }
      places = std::move(next);
    }
  return places;
}

/// Whether an element comes back where it was.
bool Mover::keepsOrder() {
  std::vector<int64_t> places(size_t(
      cast<ShapedType>(region.getArgumentTypes()[argument]).getNumElements()));
  std::iota(places.begin(), places.end(), 0);
  const std::vector<int64_t> start = places;
  return moved(moved(std::move(places), out), in) == start;
}

std::string Mover::why() {
  auto regions = flow::tasksOf(module, flow::Place::Fpga);
  if (regions.size() != 1)
    return formatv("the FPGA runs {0} times in a frame", regions.size());
  region = cast<func::FuncOp>(regions[0].getOperation());
  for (auto step : {&Mover::followIn, &Mover::followOut})
    if (std::string reason = (this->*step)(); !reason.empty())
      return reason;
  if (std::string reason = compareQuantizers(); !reason.empty())
    return reason;
  if (!keepsOrder())
    return "its elements come back in another order";
  return "";
}

/// What the FPGA takes for the state after a reset.
DenseElementsAttr Mover::initialCodes() {
  OpBuilder b(module.getContext());
  auto type = before.getArgumentTypes()[input];
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(module.getLoc());
  b.setInsertionPointToEnd(scratch->getBody());
  auto chain = func::FuncOp::create(b, module.getLoc(), "chain",
                                    b.getFunctionType({type}, {}));
  Block *body = chain.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping map;
  map.map(before.getArgument(input), body->getArgument(0));
  Value last = body->getArgument(0);
  for (Operation *op : in)
    last = b.clone(*op, map)->getResult(0);
  func::ReturnOp::create(b, module.getLoc(), last);
  chain.setFunctionType(b.getFunctionType({type}, {last.getType()}));
  auto codes = Interpreter(chain).run({initialOf(state)});
  assert(succeeded(codes) && "quantizing can be interpreted");
  auto shaped = cast<RankedTensorType>(last.getType());
  return DenseElementsAttr::get(
      RankedTensorType::get(shaped.getShape(), b.getI64Type()),
      ArrayRef<int64_t>((*codes)[0].ints));
}

/// The state and its codes are no tensors of the host any more.
void Mover::dropHost() {
  before.getBody().front().getTerminator()->eraseOperand(given);
  (void)before.eraseResult(given);
  for (Operation *op : llvm::reverse(in))
    op->erase();
  (void)before.eraseArgument(input);
}

flow::StateAttr Mover::move() {
  DenseElementsAttr codes = initialCodes();
  const std::string name = flow::takenBy(region)[argument],
                    next = flow::givenBy(region)[result];
  dropHost();
  // The last of the arguments.
  Block &body = region.getBody().front();
  const unsigned last = region.getNumArguments();
  (void)region.insertArgument(last, region.getArgumentTypes()[argument],
                              region.getArgAttrDict(argument),
                              body.getArgument(argument).getLoc());
  body.getArgument(argument).replaceAllUsesWith(body.getArgument(last));
  (void)region.eraseArgument(argument);
  return flow::StateAttr::get(module.getContext(), name, next, codes,
                              state.getName(), "");
}

/// Whether another state has the same next value, as a tensor of the host.
static bool isNextOfOthers(ModuleOp module, flow::StateAttr state) {
  return llvm::any_of(flow::statesOf(module), [&](flow::StateAttr other) {
    return other != state && other.getNext() == state.getNext();
  });
}

/// Takes a name out of a list of the module.
template <typename Attr>
static void dropFrom(ModuleOp module, const char *list, Attr name) {
  SmallVector<Attribute> kept(
      module->getAttrOfType<ArrayAttr>(list).getValue());
  llvm::erase(kept, Attribute(name));
  module->setAttr(list, ArrayAttr::get(module.getContext(), kept));
}

void Mover::hide() {
  const std::vector<std::string> outputs = flow::outputsOf(module);
  if (outputs.size() < 2 || !llvm::is_contained(outputs, state.getNext()))
    return;
  const std::string next = flow::givenBy(region)[result];
  for (FunctionOpInterface task : flow::tasksOf(module))
    if (llvm::is_contained(flow::takenBy(task), state.getNext()))
      return;
  dropFrom(module, flow::kOutputs,
           StringAttr::get(module.getContext(), state.getNext()));
  Block &body = after.getBody().front();
  body.getTerminator()->eraseOperand(output);
  (void)after.eraseResult(output);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<func::ReturnOp>(op) && op.use_empty())
      op.erase();
  for (unsigned i = after.getNumArguments(); i-- > 0;)
    if (after.getArgument(i).use_empty())
      (void)after.eraseArgument(i);
  if (after.getNumResults() == 0) {
    dropFrom(module, flow::kTasks,
             FlatSymbolRefAttr::get(after.getSymNameAttr()));
    after.erase();
  }
  for (FunctionOpInterface task : flow::tasksOf(module))
    if (llvm::is_contained(flow::takenBy(task), next))
      return;
  // The last of the results, which is no port.
  Operation *end = region.getBody().front().getTerminator();
  const unsigned last = region.getNumResults();
  (void)region.insertResult(last, region.getResultTypes()[result],
                            region.getResultAttrDict(result));
  end->insertOperands(last, end->getOperand(result));
  end->eraseOperand(result);
  (void)region.eraseResult(result);
}

void model::settleStates(ModuleOp module, StringRef hostOnly, bool hides) {
  SmallVector<Attribute> states;
  // The verifier sees the module when all of it has changed.
  for (flow::StateAttr state : flow::statesOf(module)) {
    if (state.isOnFpga()) {
      states.push_back(state);
      continue;
    }
    Mover mover(module, state);
    std::string why = hostOnly.str();
    if (why.empty())
      why = mover.why();
    if (!why.empty()) {
      states.push_back(flow::StateAttr::get(module.getContext(),
                                            state.getName(), state.getNext(),
                                            state.getInitial(), "", why));
      continue;
    }
    states.push_back(mover.move());
    if (hides && !isNextOfOthers(module, state))
      mover.hide();
  }
  if (!states.empty())
    module->setAttr(flow::kStates, ArrayAttr::get(module.getContext(), states));
}
