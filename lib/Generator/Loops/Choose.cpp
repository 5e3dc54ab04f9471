// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exploration of a kernel's nests by prices of single operations. Nests with
// the same body have one datapath with as many copies for all of them, or each
// its own. For every such group there is a front of cycles and resources; the
// fronts are added up, and what another choice beats in everything is dropped.
#include "rhizome/Generator/Loops/Choose.h"
#include "Banks.h"
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Solvers/Solvers.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>
#include <numeric>

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
/// Resources that limit a choice, of those that a nest uses.
constexpr size_t kLimited[] = {0, 2, 3}; // LUTs, DSPs, block RAM

/// What is known of a nest before its copies are chosen.
struct Known {
  linalg::GenericOp op;
  bool maySplit = false;
  std::vector<int64_t> factors; ///< if they are decided
  SmallVector<int64_t, 4> sizes;
  std::vector<unsigned> parallels; ///< in the order of the result's indices
  std::vector<unsigned> sums;
  /// Operations: the loops of which each copy has its own, and its price.
  std::vector<std::pair<llvm::SmallBitVector, Resources>> operations;
  int64_t depth = 0;    ///< of one copy
  int64_t addition = 0; ///< cycles of one more level of a tree
  int64_t interval = 1; ///< if a sum waits in a register
  int64_t round = 1;    ///< from reading a sum in memory to having written it
};

/// Copies and terms of a group's nests.
struct Pick {
  std::vector<int64_t> copies; ///< by parallel loop
  std::vector<int64_t> terms;  ///< by reduction
};

/// Banks of a tensor along each dimension.
using Needs = std::vector<std::pair<Value, SmallVector<int64_t, 4>>>;

struct Point {
  int64_t cycles = 0;
  Needs banks;
  Resources resources;
  std::vector<std::pair<size_t, Pick>> picks; ///< by group
};

Resources priceOf(Operation &op, floats::Operators &operators,
                  const CostContext &context) {
  Resources r;
  if (auto named = operatorOf(op)) {
    Structure s = structureOfOperator(operators.of(*named).module, context);
    r = s.exact;
    for (double luts : s.terms)
      r.lut() += luts;
    return r;
  }
  auto bits = double(op.getResult(0).getType().getIntOrFloatBitWidth());
  if (isa<arith::MulIOp>(op)) {
    auto used = [](Value v) {
      Operation *from = v.getDefiningOp();
      return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(from)
                 ? int64_t(
                       from->getOperand(0).getType().getIntOrFloatBitWidth())
                 : int64_t(v.getType().getIntOrFloatBitWidth());
    };
    const int64_t a = used(op.getOperand(0)), b = used(op.getOperand(1));
    constexpr int64_t kLeastProduct = 9;
    if (context.dspWide > 0 && a + b >= kLeastProduct)
      r.dsp() = double(dspTiles(a, b, context));
    else
      r.lut() = double(a * b);
    r.ff() = double(a + b) + bits;
  } else if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(
                 op)) {
    r.lut() = bits;
    r.ff() = bits;
  } else if (isa<arith::CmpIOp>(op)) {
    r.lut() = double(op.getOperand(0).getType().getIntOrFloatBitWidth()) / 2;
  } else if (isa<arith::SelectOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
                 op)) {
    r.lut() = bits / 2;
  }
  return r;
}

/// Copies that need fewer rounds than fewer copies do.
std::vector<int64_t> copiesOf(int64_t size) {
  std::vector<int64_t> out;
  for (int64_t copies = 1; copies <= size; ++copies)
    if (copies == 1 ||
        cost::ceilDiv(size, copies) < cost::ceilDiv(size, copies - 1))
      out.push_back(copies);
  return out;
}

std::vector<int64_t> divisorsOf(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0)
      out.push_back(d);
  return out;
}

class Chooser {
public:
  Chooser(const ParallelLimits &limits, const cost::LogicPace &pace,
          const CostContext &context, MLIRContext *mlir)
      : limits(limits), pace(pace), context(context),
        operators(mlir, pace, context) {}

  bool add(const OpenNest &nest);
  std::vector<ParallelChoice> run(size_t count);

private:
  const ParallelLimits &limits;
  const cost::LogicPace &pace;
  const CostContext &context;
  floats::Operators operators;
  std::vector<Known> nests;
  std::vector<size_t> level; ///< by nest: as many are before it

  bool fits(const Resources &r) const {
    return r.uram() <= limits.most.uram() &&
           llvm::all_of(kLimited, [&](size_t kind) {
             return r.amount[kind] <= limits.most.amount[kind];
           });
  }
  /// A memory, as planMemories will place it: deep ones in UltraRAM if allowed.
  cost::Memory memoryOf(int64_t words, int64_t width) const {
    cost::Memory plain = cost::memoryOf(words, width, context, true);
    if (!limits.inUltra || plain.blocks == 0 || words < kDeepWords)
      return plain;
    return cost::placedRam(words, width, /*ultra=*/true, context);
  }
  bool isAlike(const Known &a, const Known &b) const;
  NestChoice choiceOf(const Known &nest, const Pick &pick) const;
  int64_t cyclesOf(const Known &nest, const Pick &pick) const;
  Resources memoriesOf(const Known &nest, const Pick &pick) const;
  Needs banksOf(const Known &nest, const Pick &pick) const;
  /// Adds what others need. False if fixed multiplexers cannot serve both.
  bool addBanks(Point &point, const Needs &banks) const;
  std::vector<Point> frontOf(size_t number, ArrayRef<size_t> group) const;
  std::vector<Point> frontOf(ArrayRef<std::vector<size_t>> groups) const;
  /// Drops points that so many others beat in everything.
  void prune(std::vector<Point> &points, size_t others) const;
  bool hasBanks(const ParallelChoice &choice) const;
};

bool Chooser::add(const OpenNest &nest) {
  Known known;
  known.op = nest.op;
  linalg::GenericOp op = nest.op;
  known.maySplit = nest.maySplit;
  known.factors = nest.factors;
  cutProducts(op, context);
  known.sizes = op.getStaticLoopRanges();
  auto base = layOut(op, NestChoice());
  if (!base)
    return false;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr index : out.getResults())
    known.parallels.push_back(cast<AffineDimExpr>(index).getPosition());
  for (unsigned loop = 0; loop < known.sizes.size(); ++loop)
    if (base->isReduction(loop))
      known.sums.push_back(loop);
  if (!known.factors.empty() &&
      known.factors.size() != known.parallels.size() + known.sums.size())
    return false;
  Nest *only = &*base;
  ScopedDiagnosticHandler quiet(op.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(schedule(only, DenseMap<Value, BankFactors>(), pace, operators)))
    return false;
  known.depth = base->depth();
  known.interval = base->schedule.interval;

  Block *body = op.getBody();
  const unsigned inputs = op.getNumDpsInputs();
  DenseMap<Value, llvm::SmallBitVector> loops;
  auto loopsOf = [&](AffineMap map) {
    llvm::SmallBitVector bits(unsigned(known.sizes.size()));
    for (unsigned loop = 0; loop < bits.size(); ++loop)
      if (map.isFunctionOfDim(loop))
        bits.set(loop);
    return bits;
  };
  for (OpOperand &operand : op->getOpOperands())
    loops[op.getMatchingBlockArgument(&operand)] =
        loopsOf(op.getMatchingIndexingMap(&operand));
  // The path of the sum, which a tree and a round through memory repeat.
  DenseMap<Value, int64_t> path;
  path[body->getArgument(inputs)] = 0;
  int64_t longest = 0;
  for (auto [at, inner] : llvm::enumerate(body->without_terminator())) {
    if (inner.getNumResults() != 1)
      return false;
    llvm::SmallBitVector bits(unsigned(known.sizes.size()));
    for (Value v : inner.getOperands()) {
      bits |= loops.lookup(v).size() ? loops.lookup(v) : bits;
      if (auto it = path.find(v); it != path.end()) {
        int64_t length = it->second + base->problem.latency[inputs + 1 + at];
        auto [to, isNew] = path.try_emplace(inner.getResult(0), length);
        to->second = std::max(to->second, length);
        longest = std::max(longest, to->second);
      }
    }
    loops[inner.getResult(0)] = bits;
    // Terms are added to each other as they are to the sum.
    if (path.contains(inner.getResult(0)))
      for (unsigned sum : known.sums)
        bits.set(sum);
    known.operations.push_back({bits, priceOf(inner, operators, context)});
  }
  known.addition = std::max<int64_t>(longest, known.interval > 1);
  known.round = std::max(longest, known.interval) + 3;
  nests.push_back(std::move(known));
  return true;
}

bool Chooser::isAlike(const Known &a, const Known &b) const {
  linalg::GenericOp x = a.op, y = b.op;
  if (a.parallels.size() != b.parallels.size() ||
      a.sums.size() != b.sums.size() || a.maySplit != b.maySplit ||
      a.factors != b.factors || x.getNumDpsInputs() != y.getNumDpsInputs() ||
      !OperationEquivalence::isRegionEquivalentTo(
          &x.getRegion(), &y.getRegion(),
          OperationEquivalence::IgnoreLocations))
    return false;
  for (unsigned i = 0; i <= x.getNumDpsInputs(); ++i) {
    OpOperand &p = x->getOpOperand(i), &q = y->getOpOperand(i);
    if (uniformValue(p.get()) != uniformValue(q.get()))
      return false;
    AffineMap in = x.getMatchingIndexingMap(&p);
    AffineMap out = y.getMatchingIndexingMap(&q);
    for (auto loops : {llvm::zip_equal(a.parallels, b.parallels),
                       llvm::zip_equal(a.sums, b.sums)})
      for (auto [loop, other] : loops)
        if (in.isFunctionOfDim(loop) != out.isFunctionOfDim(other))
          return false;
  }
  return true;
}

NestChoice Chooser::choiceOf(const Known &nest, const Pick &pick) const {
  NestChoice choice;
  choice.copies.assign(nest.sizes.size(), 1);
  for (auto [loop, copies] : llvm::zip_equal(nest.parallels, pick.copies))
    choice.copies[loop] = copies;
  bool hasSum = false;
  for (auto [loop, terms] : llvm::zip_equal(nest.sums, pick.terms))
    hasSum |= nest.sizes[loop] > terms;
  if (nest.interval == 1 || !hasSum)
    return choice;
  // Move parallel loops inward until a partial sum has been written back before
  // its next term arrives.
  std::vector<unsigned> inner;
  int64_t distance = 1;
  for (size_t p = nest.parallels.size(); p-- > 0 && distance < nest.round;) {
    const unsigned loop = nest.parallels[p];
    inner.insert(inner.begin(), loop);
    distance *= cost::ceilDiv(nest.sizes[loop], choice.copies[loop]);
  }
  if (distance == 1)
    return choice;
  for (unsigned loop : nest.parallels)
    if (!llvm::is_contained(inner, loop))
      choice.order.push_back(loop);
  llvm::append_range(choice.order, nest.sums);
  llvm::append_range(choice.order, inner);
  return choice;
}

int64_t Chooser::cyclesOf(const Known &nest, const Pick &pick) const {
  NestChoice choice = choiceOf(nest, pick);
  int64_t iterations = 1, levels = 0;
  for (auto [loop, copies] : llvm::zip_equal(nest.parallels, pick.copies))
    iterations *= cost::ceilDiv(nest.sizes[loop], copies);
  bool hasSum = false;
  for (auto [loop, terms] : llvm::zip_equal(nest.sums, pick.terms)) {
    iterations *= nest.sizes[loop] / terms;
    hasSum |= nest.sizes[loop] > terms;
    levels += cost::clog2(terms);
  }
  int64_t interval = 1;
  if (hasSum && nest.interval > 1) {
    interval = nest.interval;
    if (!choice.order.empty()) {
      int64_t distance = 1;
      for (size_t c = choice.order.size(); c-- > 0;) {
        const unsigned loop = choice.order[c];
        if (llvm::is_contained(nest.sums, loop))
          break;
        distance *= cost::ceilDiv(nest.sizes[loop], choice.copies[loop]);
      }
      interval = std::min(interval, cost::ceilDiv(nest.round, distance));
    }
  }
  return interval * (iterations - 1) + nest.depth + levels * nest.addition + 1;
}

/// Copies and terms by loop.
static std::vector<int64_t> waysOf(const Known &nest, const Pick &pick) {
  std::vector<int64_t> ways(nest.sizes.size(), 1);
  for (auto [loop, n] : llvm::zip_equal(nest.parallels, pick.copies))
    ways[loop] = n;
  for (auto [loop, n] : llvm::zip_equal(nest.sums, pick.terms))
    ways[loop] = n;
  return ways;
}

Resources Chooser::memoriesOf(const Known &nest, const Pick &pick) const {
  linalg::GenericOp op = nest.op;
  const std::vector<int64_t> ways = waysOf(nest, pick);
  Resources out;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || (!op.isDpsInit(&operand) && !isRead(op, operand)))
      continue;
    // One port for each copy: in a bank of its own, or in a copy of all.
    int64_t ports = 1, banks = 1;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned loop = 0; loop < nest.sizes.size(); ++loop)
      if (map.isFunctionOfDim(loop))
        ports *= ways[loop];
    for (AffineExpr index : map.getResults())
      if (auto loop = dyn_cast<AffineDimExpr>(index))
        banks *= ways[loop.getPosition()];
    cost::Memory m = memoryOf(cost::ceilDiv(type.getNumElements(), banks),
                              type.getElementTypeBitWidth());
    out.lut() += double(ports) * (m.luts + m.choiceLuts + m.enables);
    out.bram() += double(ports) * m.blocks;
    out.uram() += double(ports) * m.ultras;
    out.ff() += double(ports) * m.ffs;
  }
  return out;
}

Needs Chooser::banksOf(const Known &nest, const Pick &pick) const {
  linalg::GenericOp op = nest.op;
  const std::vector<int64_t> ways = waysOf(nest, pick);
  Needs out;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    SmallVector<int64_t, 4> banks;
    for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      banks.push_back(loop ? ways[loop.getPosition()] : 1);
    }
    Value tensor = op.isDpsInit(&operand) ? op->getResult(0) : operand.get();
    out.push_back({tensor, std::move(banks)});
  }
  return out;
}

bool Chooser::addBanks(Point &point, const Needs &banks) const {
  constexpr int64_t kMostBanks = 2048;
  constexpr double kLutsOfAChoice = 0.4;
  auto product = [](ArrayRef<int64_t> all) {
    return std::accumulate(all.begin(), all.end(), int64_t(1),
                           std::multiplies<>());
  };
  for (const auto &[tensor, wanted] : banks) {
    auto it = llvm::find_if(
        point.banks, [&](const auto &each) { return each.first == tensor; });
    if (it == point.banks.end()) {
      if (product(wanted) > kMostBanks)
        return false;
      point.banks.push_back({tensor, wanted});
      continue;
    }
    const int64_t before = product(it->second);
    for (auto [is, want] : llvm::zip_equal(it->second, wanted)) {
      if (is % want != 0 && want % is != 0)
        return false;
      is = std::max(is, want);
    }
    const int64_t all = product(it->second);
    if (all > kMostBanks)
      return false;
    auto type = cast<RankedTensorType>(tensor.getType());
    const int64_t width = type.getElementTypeBitWidth();
    Resources &r = point.resources;
    r.lut() += kLutsOfAChoice * double(width) *
               double(2 * all - before - product(wanted));
    // Each of the two reads all of these banks.
    auto add = [&](int64_t banks, double times) {
      cost::Memory m =
          memoryOf(cost::ceilDiv(type.getNumElements(), banks), width);
      r.lut() += times * double(banks) * m.luts;
      r.bram() += times * double(banks) * m.blocks;
      r.uram() += times * double(banks) * m.ultras;
    };
    add(all, 2);
    add(before, -1);
    add(product(wanted), -1);
  }
  return true;
}

void Chooser::prune(std::vector<Point> &points, size_t others) const {
  constexpr size_t kMost = 400;
  const size_t most = others > 1 ? 2 * kMost : kMost;
  auto key = [](const Point &p) {
    return std::make_tuple(p.cycles, p.resources.lut(), p.resources.dsp(),
                           p.resources.bram());
  };
  llvm::sort(points,
             [&](const Point &a, const Point &b) { return key(a) < key(b); });
  std::vector<Point> kept;
  for (Point &point : points) {
    size_t beaten = 0;
    for (size_t i = 0; i < kept.size() && beaten < others; ++i)
      beaten += llvm::all_of(kLimited, [&](size_t kind) {
        return kept[i].resources.amount[kind] <= point.resources.amount[kind];
      });
    if (beaten < others)
      kept.push_back(std::move(point));
  }
  // Of many, about equally many for each ratio of cycles.
  if (kept.size() > most) {
    std::vector<Point> fewer;
    for (size_t i = 0; i < most; ++i)
      fewer.push_back(std::move(kept[i * kept.size() / most]));
    kept = std::move(fewer);
  }
  points = std::move(kept);
}

std::vector<Point> Chooser::frontOf(size_t number,
                                    ArrayRef<size_t> group) const {
  const Known &first = nests[group[0]];
  // The ways that every nest of the group has.
  std::vector<std::vector<int64_t>> ways;
  for (size_t p = 0; p < first.parallels.size(); ++p) {
    std::vector<int64_t> all;
    int64_t least = INT64_MAX;
    for (size_t n : group) {
      const int64_t size = nests[n].sizes[nests[n].parallels[p]];
      least = std::min(least, size);
      llvm::append_range(all, copiesOf(size));
    }
    llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    llvm::erase_if(all, [&](int64_t copies) { return copies > least; });
    ways.push_back(std::move(all));
  }
  for (size_t s = 0; s < first.sums.size(); ++s) {
    int64_t size = 0;
    for (size_t n : group)
      size = std::gcd(size, nests[n].sizes[nests[n].sums[s]]);
    ways.push_back(first.maySplit ? divisorsOf(size) : std::vector<int64_t>{1});
  }
  for (size_t w = 0; w < first.factors.size(); ++w) {
    if (w < first.parallels.size()
            ? first.factors[w] > ways[w].back()
            : !llvm::is_contained(ways[w], first.factors[w]))
      return {};
    ways[w] = {first.factors[w]};
  }
  constexpr size_t kMostWays = 200000;
  size_t all = 1;
  for (auto &each : ways)
    all *= each.size();
  while (all > kMostWays) {
    // Every second way of the loop that has the most.
    auto &most = *llvm::max_element(
        ways, [](auto &a, auto &b) { return a.size() < b.size(); });
    all /= most.size();
    std::vector<int64_t> fewer;
    for (size_t i = 0; i < most.size(); i += 2)
      fewer.push_back(most[i]);
    most = std::move(fewer);
    all *= most.size();
  }
  // Other groups may need other banks of the same tensors.
  const size_t others = group.size() == nests.size() ? 1 : 24;
  std::vector<Point> points;
  for (size_t each = 0; each < all; ++each) {
    size_t rest = each;
    Pick pick;
    std::vector<int64_t> of(first.sizes.size(), 1);
    for (size_t w = 0; w < ways.size(); ++w) {
      int64_t n = ways[w][rest % ways[w].size()];
      rest /= ways[w].size();
      bool isSum = w >= first.parallels.size();
      (isSum ? pick.terms : pick.copies).push_back(n);
      of[isSum ? first.sums[w - first.parallels.size()] : first.parallels[w]] =
          n;
    }
    Point point;
    for (const auto &[loops, price] : first.operations) {
      double copies = 1;
      for (unsigned loop : loops.set_bits())
        copies *= double(of[loop]);
      for (size_t kind : kLimited)
        point.resources.amount[kind] += copies * price.amount[kind];
    }
    if (!fits(point.resources))
      continue;
    for (size_t n : group)
      point.resources += memoriesOf(nests[n], pick);
    if (!fits(point.resources))
      continue;
    bool hasAllBanks = true;
    for (size_t n : group) {
      point.cycles += cyclesOf(nests[n], pick);
      hasAllBanks = hasAllBanks && addBanks(point, banksOf(nests[n], pick));
    }
    if (!hasAllBanks)
      continue;
    point.picks = {{number, std::move(pick)}};
    points.push_back(std::move(point));
    constexpr size_t kMostPoints = 4000;
    if (points.size() > kMostPoints)
      prune(points, others);
  }
  prune(points, others);
  return points;
}

std::vector<Point>
Chooser::frontOf(ArrayRef<std::vector<size_t>> groups) const {
  // Of two fronts, whose nests work at the same time or one after the other.
  auto together = [&](ArrayRef<Point> some, ArrayRef<Point> more,
                      bool areParallel) {
    std::vector<Point> out;
    for (const Point &a : some)
      for (const Point &b : more) {
        Point both;
        both.resources = a.resources;
        both.resources += b.resources;
        if (!fits(both.resources))
          continue;
        both.banks = a.banks;
        if (!addBanks(both, b.banks) || !fits(both.resources))
          continue;
        both.cycles =
            areParallel ? std::max(a.cycles, b.cycles) : a.cycles + b.cycles;
        both.picks = a.picks;
        llvm::append_range(both.picks, b.picks);
        out.push_back(std::move(both));
        constexpr size_t kMostPoints = 8000;
        if (out.size() > kMostPoints)
          prune(out, 1);
      }
    prune(out, 1);
    return out;
  };
  std::map<size_t, std::vector<Point>> levels;
  std::vector<Point> front = {Point()};
  for (auto [number, group] : llvm::enumerate(groups)) {
    std::vector<Point> more = frontOf(number, group);
    if (llvm::any_of(group,
                     [&](size_t n) { return level[n] != level[group[0]]; })) {
      front = together(front, more, false);
      continue;
    }
    auto [it, isNew] = levels.try_emplace(level[group[0]], more);
    if (!isNew)
      it->second = together(it->second, more, true);
  }
  for (const auto &[number, more] : levels)
    front = together(front, more, false);
  return front;
}

/// True if tensors have banks for all of the choice's accesses.
bool Chooser::hasBanks(const ParallelChoice &choice) const {
  std::vector<Nest> laidOut;
  for (auto [n, known] : llvm::enumerate(nests)) {
    NestChoice all = choice.nests[n];
    for (auto [copies, terms] : llvm::zip_equal(all.copies, choice.terms[n]))
      copies *= terms;
    auto nest = layOut(known.op, all, /*withSums=*/true);
    if (!nest)
      return false;
    laidOut.push_back(std::move(*nest));
  }
  bool isChanged = false;
  return placeInBanks(laidOut, {}, &isChanged).has_value() && !isChanged;
}

std::vector<ParallelChoice> Chooser::run(size_t count) {
  for (size_t n = 0; n < nests.size(); ++n) {
    level.push_back(0);
    for (size_t before = 0; before < n; ++before)
      if (llvm::is_contained(nests[n].op->getOperands(),
                             nests[before].op->getResult(0)))
        level[n] = std::max(level[n], level[before] + 1);
  }
  std::vector<std::vector<size_t>> together, alone;
  for (size_t n = 0; n < nests.size(); ++n) {
    alone.push_back({n});
    auto group = llvm::find_if(together, [&](const auto &members) {
      return isAlike(nests[members[0]], nests[n]);
    });
    if (group != together.end())
      group->push_back(n);
    else
      together.push_back({n});
  }
  std::vector<std::pair<Point, bool>> all;
  for (bool isTogether : {true, false}) {
    if (!isTogether && together.size() == alone.size())
      break;
    for (Point &point : frontOf(isTogether ? together : alone))
      all.push_back({std::move(point), isTogether});
  }
  auto share = [&](const Point &point) {
    double most = 0;
    for (size_t kind : kLimited)
      if (limits.most.amount[kind] > 0)
        most = std::max(most, point.resources.amount[kind] /
                                  limits.most.amount[kind]);
    return most;
  };
  if (limits.cycles > 0)
    llvm::erase_if(all, [&](const auto &each) {
      return each.first.cycles > limits.cycles;
    });
  llvm::sort(all, [&](const auto &a, const auto &b) {
    return limits.cycles > 0 ? share(a.first) < share(b.first)
                             : a.first.cycles < b.first.cycles;
  });
  std::vector<ParallelChoice> out;
  constexpr size_t kMostTried = 200;
  for (const auto &[tried, each] : llvm::enumerate(all)) {
    const auto &[point, isTogether] = each;
    if (out.size() == count || tried == kMostTried)
      break;
    ParallelChoice choice;
    choice.cycles = point.cycles;
    choice.resources = point.resources;
    choice.nests.resize(nests.size());
    choice.terms.resize(nests.size());
    for (const auto &[group, pick] : point.picks)
      for (size_t n : (isTogether ? together : alone)[group]) {
        choice.nests[n] = choiceOf(nests[n], pick);
        choice.nests[n].datapath = unsigned(group);
        choice.terms[n].assign(nests[n].sizes.size(), 1);
        for (auto [loop, terms] : llvm::zip_equal(nests[n].sums, pick.terms))
          choice.terms[n][loop] = terms;
      }
    if (hasBanks(choice))
      out.push_back(std::move(choice));
  }
  return out;
}
} // namespace

std::vector<ParallelChoice> chooseCopies(ArrayRef<OpenNest> nests,
                                         const ParallelLimits &limits,
                                         const cost::LogicPace &pace,
                                         const CostContext &context,
                                         size_t count) {
  if (nests.empty())
    return {};
  linalg::GenericOp first = nests[0].op;
  Chooser chooser(limits, pace, context, first.getContext());
  for (const OpenNest &nest : nests)
    if (!chooser.add(nest))
      return {};
  return chooser.run(count);
}
} // namespace rhizome::gen::loops
