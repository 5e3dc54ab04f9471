// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop problem of a nest: memories answer a cycle later, products have
// registers around them, other logic is chained up to the period, and a sum is
// carried from iteration to iteration.
#include "Nest.h"
#include "Banks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Solvers/Solvers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace rhizome::gen::loops {
int64_t Nest::lanes() const {
  int64_t n = 1;
  for (int64_t copies : loops.copies)
    n *= copies;
  return n;
}

bool Nest::isReduction(unsigned loop) const {
  linalg::GenericOp generic = op;
  return generic.getIteratorTypesArray()[loop] ==
         utils::IteratorType::reduction;
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

/// The delay of choosing among values by some bits of a counter.
static int64_t choiceDelay(int64_t choices, const cost::LogicPace &pace) {
  constexpr int64_t kLevel = 32;
  const int64_t levels = (llvm::Log2_64_Ceil(uint64_t(choices)) + 1) / 2;
  return std::min(kLevel * levels, pace.budget);
}

/// Fills in the problem of nests that share a datapath.
static schedule::LoopProblem
formulate(ArrayRef<Nest *> nests, const DenseMap<Value, BankFactors> &banks,
          const cost::LogicPace &pace, floats::Operators &operators) {
  constexpr int64_t kLevel = 32;
  Nest &nest = *nests[0];
  Block *body = nest.op.getBody();
  schedule::LoopProblem p;
  p.period = pace.budget;
  // Banks, and one more choice among the nests.
  auto readDelay = [&](unsigned i, bool isSum) {
    int64_t choices = 1;
    for (Nest *reader : nests) {
      OpOperand &operand = reader->op->getOpOperand(i);
      if (!isSum && !isRead(reader->op, operand))
        continue;
      Value tensor =
          baseOf(isSum ? Value(reader->op->getResult(0)) : operand.get());
      if (auto it = banks.find(tensor); it != banks.end()) {
        Access access = *accessOf(*reader, operand, it->second);
        choices = std::max(choices, int64_t(access.lanes[0].banks.size()) *
                                        access.spread);
      }
    }
    return choiceDelay(choices * int64_t(nests.size()), pace);
  };
  DenseMap<Value, int> made;
  const unsigned inputs = nest.op.getNumDpsInputs();
  for (unsigned i = 0; i < inputs; ++i) {
    bool isTensor = isa<RankedTensorType>(nest.op->getOperand(i).getType());
    int read = p.add(isTensor ? 1 : 0);
    if (isTensor)
      p.setDelay(read, 0, readDelay(i, false));
    made[body->getArgument(i)] = read;
  }
  // The sum before comes from memory, or from a register.
  int64_t distance = nest.distance;
  for (Nest *other : nests)
    distance = std::min(distance, other->distance);
  const bool isStored = nest.isStored;
  const int before = p.add(isStored ? 1 : 0);
  if (isStored) {
    p.setDelay(before, 0,
               std::min(pace.budget, readDelay(inputs, true) + kLevel));
    made[body->getArgument(inputs)] = before;
  }
  std::vector<int> carried;
  for (Operation &op : body->without_terminator()) {
    bool isProduct = isa<arith::MulIOp>(op);
    int at = p.add(isProduct ? kProductLatency : 0);
    if (auto named = operatorOf(op)) {
      const floats::Pipeline &made = operators.of(*named);
      p.latency[size_t(at)] = made.latency;
      p.setDelay(at, made.delay.before, made.delay.after);
    } else if (!isProduct && op.getNumOperands() > 0) {
      p.setDelay(at, delayOf(op, pace));
    }
    SmallVector<int> from;
    for (Value v : op.getOperands()) {
      if (auto it = made.find(v); it != made.end())
        from.push_back(it->second);
      else if (v == body->getArgument(inputs))
        carried.push_back(at);
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
  if (isStored && !body->getArgument(inputs).use_empty())
    p.carry(sum, before, distance);
  return p;
}

std::optional<Nest> layOut(linalg::GenericOp op, const NestChoice &choice,
                           bool withSums) {
  Nest nest;
  nest.op = op;
  nest.datapath = choice.datapath;
  auto sizes = op.getStaticLoopRanges();
  if (choice.copies.size() > sizes.size())
    return std::nullopt;
  nest.loops.copies = choice.copies;
  nest.loops.copies.resize(sizes.size(), 1);
  nest.loops.loop = choice.order;
  if (choice.order.empty())
    for (bool isReduction : {false, true})
      for (unsigned loop = 0; loop < sizes.size(); ++loop)
        if (nest.isReduction(loop) == isReduction)
          nest.loops.loop.push_back(loop);
  // Every loop once, and sums in their order.
  std::vector<unsigned> sorted = nest.loops.loop, sums;
  llvm::sort(sorted);
  for (auto [at, loop] : llvm::enumerate(sorted))
    if (loop != at)
      return std::nullopt;
  if (sorted.size() != sizes.size())
    return std::nullopt;
  for (unsigned loop : nest.loops.loop)
    if (nest.isReduction(loop))
      sums.push_back(loop);
  if (!llvm::is_sorted(sums))
    return std::nullopt;
  for (auto [loop, copies] : llvm::enumerate(nest.loops.copies))
    if (copies < 1 || copies > sizes[loop] ||
        (copies > 1 && !withSums && nest.isReduction(unsigned(loop))))
      return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr index : map.getResults())
    if (unsigned loop = cast<AffineDimExpr>(index).getPosition();
        nest.loops.copies[loop] > 1)
      nest.copied.push_back(loop);
  for (unsigned loop : sums)
    if (nest.loops.copies[loop] > 1)
      nest.copied.push_back(loop);
  return nest;
}

/// Iterations between two terms of one sum: those of the loops within the
/// innermost reduction.
static int64_t distanceOf(const Nest &nest) {
  int64_t distance = 1;
  for (size_t c = nest.loops.trips.size(); c-- > 0;) {
    const unsigned loop = nest.loops.loop[c];
    if (nest.isReduction(loop))
      return distance;
    if (c == 0 || nest.loops.loop[c - 1] != loop)
      distance *= nest.loops.iterationsOf(loop);
  }
  return 1;
}

/// True if other sums are added to before one is complete.
static bool storesSums(const Nest &nest) {
  bool isInSum = false;
  for (unsigned loop : nest.loops.loop) {
    if (isInSum && !nest.isReduction(loop))
      return true;
    isInSum |= nest.isReduction(loop);
  }
  return false;
}

bool areAlike(Nest &a, Nest &b) {
  // Multiplexers cost as much as one copy of anything but a product.
  if (a.lanes() == 1 && b.lanes() == 1 &&
      a.op.getBody()->getOps<arith::MulIOp>().empty())
    return false;
  if (a.datapath != b.datapath || a.copied.size() != b.copied.size() ||
      a.op.getNumDpsInputs() != b.op.getNumDpsInputs() ||
      storesSums(a) != storesSums(b))
    return false;
  for (auto [x, y] : llvm::zip_equal(a.copied, b.copied))
    if (a.loops.copies[x] != b.loops.copies[y])
      return false;
  if (!OperationEquivalence::isRegionEquivalentTo(
          &a.op.getRegion(), &b.op.getRegion(),
          OperationEquivalence::IgnoreLocations))
    return false;
  for (unsigned i = 0; i <= a.op.getNumDpsInputs(); ++i) {
    OpOperand &x = a.op->getOpOperand(i), &y = b.op->getOpOperand(i);
    if (uniformValue(x.get()) != uniformValue(y.get()))
      return false;
    // Copies must share the same values.
    AffineMap in = a.op.getMatchingIndexingMap(&x);
    AffineMap out = b.op.getMatchingIndexingMap(&y);
    for (auto [loop, other] : llvm::zip_equal(a.copied, b.copied))
      if (in.isFunctionOfDim(loop) != out.isFunctionOfDim(other))
        return false;
  }
  return true;
}

LogicalResult schedule(ArrayRef<Nest *> nests,
                       const DenseMap<Value, BankFactors> &banks,
                       const cost::LogicPace &pace,
                       floats::Operators &operators) {
  for (Nest *nest : nests) {
    nest->distance = distanceOf(*nest);
    nest->isStored = storesSums(*nest);
  }
  schedule::LoopProblem problem = formulate(nests, banks, pace, operators);
  linalg::GenericOp op = nests[0]->op;
  auto schedule = schedule::scheduleModulo(problem);
  if (!schedule)
    return op.emitError("this nest has no schedule");
  if (auto wrong = schedule::verify(problem, *schedule))
    return op.emitError("the schedule of this nest is wrong: ") << *wrong;
  for (Nest *nest : nests) {
    nest->problem = problem;
    nest->schedule = *schedule;
  }
  return success();
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
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto value = evaluateCall(call, operands);
      if (!value)
        return std::nullopt;
      known[op.getResult(0)] =
          IntegerAttr::get(op.getResult(0).getType(), *value);
      continue;
    }
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

bool isRead(linalg::GenericOp nest, OpOperand &input) {
  return isa<RankedTensorType>(input.get().getType()) &&
         !nest.getMatchingBlockArgument(&input).use_empty() &&
         !uniformValue(input.get());
}
} // namespace rhizome::gen::loops
