// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop problem of a nest: memories answer a cycle later, products have
// registers around them, other logic is chained up to the period, and a sum is
// carried from iteration to iteration.
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Schedule/Solvers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace rhizome::gen::hls {
int64_t Nest::iterations() const {
  int64_t n = 1;
  for (int64_t trip : trips)
    n *= trip;
  return n;
}

/// True if high bits are put next to low ones (cutProducts).
static bool isConcatenation(Operation &op) {
  return isa<arith::OrIOp>(op) &&
         op.getOperand(0).getDefiningOp<arith::ShLIOp>() &&
         op.getOperand(1).getDefiningOp<arith::ExtUIOp>();
}

/// The delay of an operation's logic, at most that of a whole period.
static int64_t delayOf(Operation &op, const cost::LogicPace &pace) {
  constexpr int64_t kLevel = 32;
  const int64_t bits = op.getOperand(0).getType().getIntOrFloatBitWidth();
  int64_t delay = 0;
  const int64_t carry = kLevel + pace.chain + bits * pace.chainBit / kLevel;
  if (isa<arith::AddIOp, arith::SubIOp, arith::CmpIOp>(op))
    delay = carry;
  else if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
    delay = carry + kLevel;
  else if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op))
    delay = isConcatenation(op) ? 0 : kLevel;
  else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) &&
           !matchPattern(op.getOperand(1), m_Constant()))
    delay = kLevel * llvm::Log2_64_Ceil(uint64_t(bits));
  return std::min(delay, pace.budget);
}

/// Fills in the problem of a nest.
static void formulate(Nest &nest, const cost::LogicPace &pace) {
  Block *body = nest.op.getBody();
  schedule::LoopProblem &p = nest.problem;
  p.period = pace.budget;
  DenseMap<Value, int> made;
  const unsigned inputs = nest.op.getNumDpsInputs();
  for (unsigned i = 0; i < inputs; ++i) {
    bool isTensor = isa<RankedTensorType>(nest.op->getOperand(i).getType());
    made[body->getArgument(i)] = p.add(isTensor ? 1 : 0);
  }
  std::vector<int> carried;
  for (Operation &op : body->without_terminator()) {
    bool isProduct = isa<arith::MulIOp>(op);
    int at = p.add(isProduct ? kProductLatency : 0);
    if (!isProduct && op.getNumOperands() > 0)
      p.setDelay(at, delayOf(op, pace));
    SmallVector<int> from;
    for (Value v : op.getOperands()) {
      if (v == body->getArgument(inputs))
        carried.push_back(at);
      else if (auto it = made.find(v); it != made.end())
        from.push_back(it->second);
    }
    llvm::sort(from);
    from.erase(llvm::unique(from), from.end());
    for (int f : from)
      p.depend(f, at);
    made[op.getResult(0)] = at;
  }
  int sum = p.add(1);
  if (auto it = made.find(body->getTerminator()->getOperand(0));
      it != made.end())
    p.depend(it->second, sum);
  for (int reader : carried)
    p.carry(sum, reader, 1);
}

FailureOr<Nest> scheduleNest(linalg::GenericOp op,
                             const cost::LogicPace &pace) {
  Nest nest;
  nest.op = op;
  auto sizes = op.getStaticLoopRanges();
  auto kinds = op.getIteratorTypesArray();
  for (bool isReduction : {false, true}) {
    for (unsigned i = 0; i < sizes.size(); ++i) {
      if ((kinds[i] == utils::IteratorType::reduction) != isReduction)
        continue;
      nest.order.push_back(i);
      nest.trips.push_back(sizes[i]);
    }
    if (!isReduction)
      nest.outer = nest.order.size();
  }
  formulate(nest, pace);
  auto schedule = schedule::scheduleModulo(nest.problem);
  if (!schedule)
    return op.emitError("this nest has no schedule");
  nest.schedule = *schedule;
  if (auto problem = schedule::verify(nest.problem, nest.schedule))
    return op.emitError("the schedule of this nest is wrong: ") << *problem;
  return nest;
}

bool isLinear(AffineExpr index) {
  switch (index.getKind()) {
  case AffineExprKind::Constant:
  case AffineExprKind::DimId:
    return true;
  case AffineExprKind::Add:
  case AffineExprKind::Mul: {
    // A product has a constant as its right factor.
    auto both = cast<AffineBinaryOpExpr>(index);
    return isLinear(both.getLHS()) && isLinear(both.getRHS());
  }
  default:
    return false;
  }
}

/// Adds `scale` times an index to what a nest reads.
static void addIndex(Reach &reach, AffineExpr index, int64_t scale,
                     ArrayRef<unsigned> order) {
  if (auto constant = dyn_cast<AffineConstantExpr>(index)) {
    reach.first += scale * constant.getValue();
  } else if (auto loop = dyn_cast<AffineDimExpr>(index)) {
    auto at = llvm::find(order, loop.getPosition()) - order.begin();
    reach.steps[size_t(at)] += scale;
  } else if (auto both = cast<AffineBinaryOpExpr>(index);
             both.getKind() == AffineExprKind::Add) {
    addIndex(reach, both.getLHS(), scale, order);
    addIndex(reach, both.getRHS(), scale, order);
  } else {
    int64_t factor = cast<AffineConstantExpr>(both.getRHS()).getValue();
    addIndex(reach, both.getLHS(), scale * factor, order);
  }
}

Reach reachOf(const Nest &nest, OpOperand &operand) {
  linalg::GenericOp op = nest.op;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  View view = viewOf(op.isDpsInit(&operand) ? op.getTiedOpResult(&operand)
                                            : operand.get());
  Reach reach;
  reach.first = view.first;
  reach.steps.resize(nest.order.size());
  for (auto [index, stride] : llvm::zip_equal(map.getResults(), view.strides))
    addIndex(reach, index, stride, nest.order);
  return reach;
}

std::optional<APInt> uniformValue(Value tensor) {
  Attribute constant;
  if (matchPattern(tensor, m_Constant(&constant))) {
    if (auto integer = dyn_cast<IntegerAttr>(constant))
      return integer.getValue();
    if (auto dense = dyn_cast<DenseIntElementsAttr>(constant))
      if (dense.isSplat())
        return dense.getSplatValue<APInt>();
    return std::nullopt;
  }
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return uniformValue(fill.getInputs()[0]);
  // A conversion of a constant: its body, folded.
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInits() != 1)
    return std::nullopt;
  DenseMap<Value, Attribute> known;
  for (auto [operand, argument] :
       llvm::zip(generic.getInputs(), generic.getBody()->getArguments()))
    if (!matchPattern(operand, m_Constant(&known[argument])))
      return std::nullopt;
  for (Operation &op : generic.getBody()->without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value v : op.getOperands())
      operands.push_back(known.lookup(v));
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != 1)
      return std::nullopt;
    auto value = dyn_cast<Value>(results[0]);
    Attribute folded =
        value ? known.lookup(value) : cast<Attribute>(results[0]);
    if (!folded)
      return std::nullopt;
    known[op.getResult(0)] = folded;
  }
  auto result = dyn_cast_or_null<IntegerAttr>(
      known.lookup(generic.getBody()->getTerminator()->getOperand(0)));
  if (!result)
    return std::nullopt;
  return result.getValue();
}
} // namespace rhizome::gen::hls
