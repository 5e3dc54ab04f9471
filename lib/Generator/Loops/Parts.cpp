// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations of a kernel become a unit, and why the others cannot.
// Everything between the conversions from and to floats must be a nest.
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Rtl/ScalarsToRtl.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
constexpr const char *kOnCpu = "the CPU computes it, leave the device out";
constexpr const char *kChoose =
    "choose fixed point, such as --numbers 'fixed<8,24>'";
constexpr const char *kFloats =
    "it computes in floating point, with an operation for which no hardware is "
    "built yet";
constexpr const char *kMixed =
    "it computes in floating point, and other statements in formats";
constexpr const char *kChooseRest =
    "give its variable a format, too, such as @fixed(8,24), or all the others "
    "one: --numbers 'fixed<8,24>'";

bool isInteger(Type type) {
  return getElementTypeOrSelf(type).isSignlessInteger();
}

/// True if an operation on tensors computes on integers alone.
bool isOnIntegers(linalg::GenericOp op) {
  return llvm::all_of(op->getOperandTypes(), isInteger);
}

/// True for a conversion from floats to integers, or back.
bool isConversion(Operation &op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && llvm::any_of(op.getOperandTypes(), isInteger) &&
         !isOnIntegers(generic);
}

class Parts {
public:
  explicit Parts(func::FuncOp kernel) : kernel(kernel) {}
  KernelParts run();

private:
  func::FuncOp kernel;
  KernelParts parts;
  SmallPtrSet<Value, 16> computed, given;

  void refuse(Operation &op, Location where, const Twine &reason,
              StringRef remedy) {
    parts.obstacles.push_back({&op, where, reason.str(), remedy.str()});
  }
  void addNest(linalg::GenericOp op);
  void checkNest(linalg::GenericOp op);
  void checkBody(linalg::GenericOp op);
  void refuseOther(Operation &op);
};

void Parts::addNest(linalg::GenericOp op) {
  simplify(op);
  checkNest(op);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!isRead(op, *operand))
      continue;
    Value base = baseOf(operand->get());
    if (!computed.count(base) && given.insert(base).second)
      parts.inputs.push_back(base);
  }
  for (Value result : op->getResults())
    computed.insert(viewOf(result).base);
  parts.nests.push_back(op);
}

void Parts::checkNest(linalg::GenericOp op) {
  if (llvm::any_of(op.getStaticLoopRanges(), [](int64_t size) {
        return ShapedType::isDynamic(size) || size < 1;
      }))
    refuse(*op, op.getLoc(),
           "a loop whose size is not a constant of 1 or more is not built",
           "fix the tensors' shapes");
  if (op.getNumDpsInits() != 1 || op->getNumResults() != 1)
    return refuse(*op, op.getLoc(),
                  "a nest with several results is not built yet",
                  "one statement per result");
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      if (!uniformValue(operand.get()))
        refuse(*op, op.getLoc(),
               "a scalar operand that is not a constant is not built yet",
               "make it a tensor");
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (op.isDpsInit(&operand)
            ? llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>)
            : llvm::all_of(map.getResults(), isLinear))
      continue;
    refuse(*op, op.getLoc(),
           "an index that is not a sum of loops is not built yet", kOnCpu);
    break;
  }
  Value before = op.getBody()->getArgument(op.getNumDpsInputs());
  if (!before.use_empty() && !uniformValue(op.getDpsInits()[0]))
    refuse(*op, op.getLoc(),
           "a sum that starts from values that are computed is not built yet",
           "start it from zero");
  checkBody(op);
}

void Parts::checkBody(linalg::GenericOp op) {
  Block *body = op.getBody();
  std::vector<std::string> named;
  bool isFromOutside = false;
  for (Operation &inner : *body) {
    for (Value v : inner.getOperands())
      isFromOutside |= v.getParentBlock() != body;
    if (inner.hasTrait<OpTrait::IsTerminator>() || hasRtlLogic(inner))
      continue;
    auto built = operatorOf(inner);
    if (built && built->isBuilt())
      continue;
    std::string name = "'" + inner.getName().getStringRef().str() + "'";
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
            inner))
      name = "quotients of more than 64 bits";
    else if (built)
      name = "'" + floats::nameOf(built->function).str() + "' in '" +
             built->format.str() + "'";
    else if (isa<func::CallOp>(inner))
      name = "functions";
    if (llvm::is_contained(named, name))
      continue;
    named.push_back(name);
    refuse(*op, inner.getLoc(),
           "no logic is built for " + name +
               " yet: only for sums, products, comparisons and conversions of "
               "integers and fixed point, and arithmetic of floats",
           kOnCpu);
  }
  if (isFromOutside)
    refuse(*op, op.getLoc(),
           "a value from outside of a nest of loops is not built yet",
           "make it an operand");
}

/// What is neither a nest nor at the border.
void Parts::refuseOther(Operation &op) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  if (isa<linalg::LinalgOp>(op) &&
      llvm::any_of(op.getOperandTypes(), isFloat)) {
    const bool isMixed =
        llvm::any_of(kernel.getBody().front(), [](Operation &other) {
          return isConversion(other) ||
                 (isa<linalg::GenericOp>(other) &&
                  isOnIntegers(cast<linalg::GenericOp>(other)));
        });
    return refuse(op, op.getLoc(), isMixed ? kMixed : kFloats,
                  isMixed ? kChooseRest : kChoose);
  }
  refuse(op, op.getLoc(),
         "no hardware is built for '" + op.getName().getStringRef() + "' yet",
         kOnCpu);
}

KernelParts Parts::run() {
  realsToPatterns(kernel);
  auto isEnd = [](Operation *op) {
    return op->hasTrait<OpTrait::IsTerminator>();
  };
  for (Operation &op : kernel.getBody().front()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
        llvm::all_of(op.getOperandTypes(), isInteger)) {
      assert((isa<tensor::ExtractSliceOp>(op) ||
              isInPlace(cast<tensor::InsertSliceOp>(op))) &&
             "separateParts was called");
      continue;
    }
    if (!isOutside(op)) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && isOnIntegers(generic))
        addNest(generic);
      else
        refuseOther(op);
      continue;
    }
    // A conversion to floats ends a run.
    if (!isConversion(op) || isInteger(op.getResult(0).getType()))
      continue;
    for (Value v : cast<linalg::GenericOp>(op).getInputs())
      if (llvm::any_of(op.getUsers(), isEnd) && isInteger(v.getType()) &&
          !computed.count(v) &&
          (!v.getDefiningOp() || isOutside(*v.getDefiningOp())))
        refuse(op, op.getLoc(), "a result that is not computed is not built",
               "leave it out of the results");
    for (Operation *user : op.getUsers())
      if (!isEnd(user) && isOutside(*user))
        refuse(op, op.getLoc(),
               "numbers that become floats in between are not built", kChoose);
  }
  for (Operation &op : kernel.getBody().front())
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) &&
          isInteger(result.getType()) && computed.count(viewOf(result).base) &&
          llvm::any_of(result.getUses(), [](OpOperand &use) {
            // What is only written there, into an empty tensor, reads nothing.
            Operation *user = use.getOwner();
            if (auto to = dyn_cast<DestinationStyleOpInterface>(user);
                to && to.isDpsInit(&use))
              return false;
            auto reader = dyn_cast<linalg::GenericOp>(user);
            return reader ? !isOnIntegers(reader)
                          : !isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(
                                user);
          }))
        parts.outputs.push_back(result);
  if (parts.outputs.empty() && parts.obstacles.empty())
    refuse(*kernel, kernel.getLoc(),
           "this kernel has no loop nest on integers or fixed point", kChoose);
  else if (parts.inputs.empty() && parts.obstacles.empty())
    refuse(*parts.nests.front(), parts.nests.front().getLoc(),
           "no result depends on an argument, and no hardware is built for "
           "what is always the same",
           kOnCpu);
  return std::move(parts);
}
} // namespace

bool isOutside(Operation &op) {
  return isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp>(op) ||
         isConversion(op) ||
         (isa<linalg::GenericOp>(op) && op.getNumResults() == 1 &&
          uniformValue(op.getResult(0)));
}

KernelParts partsOf(func::FuncOp kernel) { return Parts(kernel).run(); }

std::vector<size_t> sourcesOf(const KernelParts &parts, Value output) {
  DenseSet<Value> needed = {baseOf(output)};
  for (linalg::GenericOp op : llvm::reverse(parts.nests))
    if (needed.contains(baseOf(op->getResult(0))))
      for (OpOperand *operand : op.getDpsInputOperands())
        if (isRead(op, *operand))
          needed.insert(baseOf(operand->get()));
  std::vector<size_t> sources;
  for (auto [i, input] : llvm::enumerate(parts.inputs))
    if (needed.contains(baseOf(input)))
      sources.push_back(i);
  return sources;
}
} // namespace rhizome::gen::loops
