// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cyclic banks. Along a dimension whose index is a loop with copies, neighbours
// are in different banks. If another nest needs more banks of the tensor, the
// loop's counter is split in two, so that one of them chooses the bank and the
// address stays linear in the other.
#include "Banks.h"
#include "Nest.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace rhizome::gen::loops {
Lanes Lanes::of(const Nest &nest) {
  std::vector<int64_t> sizes;
  for (unsigned loop : nest.copied)
    sizes.push_back(nest.loops.copies[loop]);
  return Lanes(std::move(sizes));
}

size_t Lanes::count(unsigned mask) const {
  size_t n = 1;
  for (size_t p = 0; p < sizes.size(); ++p)
    n *= mask >> p & 1 ? size_t(sizes[p]) : 1;
  return n;
}

size_t Lanes::index(unsigned mask, ArrayRef<int64_t> at) const {
  size_t n = 0;
  for (size_t p = 0; p < sizes.size(); ++p)
    if (mask >> p & 1)
      n = n * size_t(sizes[p]) + size_t(at[p]);
  return n;
}

std::vector<int64_t> Lanes::coordinates(unsigned mask, size_t lane) const {
  std::vector<int64_t> at(sizes.size());
  for (size_t p = sizes.size(); p-- > 0;)
    if (mask >> p & 1) {
      at[p] = int64_t(lane % size_t(sizes[p]));
      lane /= size_t(sizes[p]);
    }
  return at;
}

void Loops::addSplit(unsigned number, int64_t size, ArrayRef<int64_t> steps) {
  // What a counter visits of a whole and of the last round of the one before.
  int64_t whole = 0, last = size;
  for (size_t s = steps.size(); s-- > 0; whole = steps[s]) {
    const int64_t rounds = llvm::divideCeil(last, steps[s]);
    const int64_t trips = whole == 0 ? rounds : whole / steps[s];
    last -= (rounds - 1) * steps[s];
    if (trips > 1)
      add(number, trips, steps[s], rounds);
  }
}

int64_t Loops::iterationsOf(unsigned number) const {
  int64_t all = 1, whole = 1; ///< of the counters further in, last and else
  for (size_t c = loop.size(); c-- > 0;)
    if (loop[c] == number) {
      all += (lasts[c] - 1) * whole;
      whole *= trips[c];
    }
  return all;
}

int64_t Loops::iterations() const {
  int64_t all = 1;
  for (size_t c = 0; c < loop.size(); ++c)
    if (c == 0 || loop[c] != loop[c - 1])
      all *= iterationsOf(loop[c]);
  return all;
}

BankFactors BankFactors::one(Value tensor) {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  return {std::vector<int64_t>(shape.size(), 1), shape.vec(), 1};
}

int64_t bankCount(const BankFactors &banks) {
  return std::accumulate(banks.factors.begin(), banks.factors.end(),
                         banks.spread, std::multiplies<>());
}

int64_t bankWords(const BankFactors &banks) {
  int64_t words = 1;
  for (auto [size, factor] : llvm::zip_equal(banks.sizes, banks.factors))
    words *= llvm::divideCeil(size, factor);
  return llvm::divideCeil(words, banks.spread);
}

namespace {
/// The view of what a nest reads or writes.
View viewOfOperand(linalg::GenericOp op, OpOperand &operand) {
  return viewOf(op.isDpsInit(&operand) ? Value(op.getTiedOpResult(&operand))
                                       : operand.get());
}

/// The indices of an operand's base.
std::vector<Index> indicesOf(linalg::GenericOp op, OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::vector<Index> out;
  for (const View::Dimension &d : viewOfOperand(op, operand).dims) {
    out.push_back({d.first, std::vector<int64_t>(map.getNumDims())});
    if (d.of)
      out.back().add(map.getResult(*d.of), d.step); // of nests: isLinear
  }
  return out;
}

/// The loop that an index is a multiple of, plus a constant.
std::optional<std::pair<unsigned, int64_t>> onlyLoop(const Index &index) {
  std::optional<std::pair<unsigned, int64_t>> found;
  for (auto [loop, scale] : llvm::enumerate(index.scale)) {
    if (scale == 0)
      continue;
    if (scale < 0 || found)
      return std::nullopt;
    found = {unsigned(loop), scale};
  }
  return found;
}

int64_t remainder(int64_t n, int64_t by) { return (n % by + by) % by; }

int64_t quotient(int64_t n, int64_t by) { return (n - remainder(n, by)) / by; }

std::optional<Access> accessBy(ArrayRef<Index> indices, const Loops &loops,
                               ArrayRef<unsigned> copied, const Lanes &lanes,
                               const BankFactors &banked) {
  constexpr size_t kMostChoices = 4096;
  Access out;
  out.spread = banked.spread;
  const std::vector<int64_t> &factors = banked.factors;
  for (auto [p, loop] : llvm::enumerate(copied))
    for (const Index &index : indices)
      out.mask |= index.scale[loop] != 0 ? 1u << p : 0;
  const size_t counters = loops.trips.size();
  size_t choices = 1;
  for (size_t c = 0; c < counters; ++c)
    for (auto [index, factor] : llvm::zip_equal(indices, factors))
      if (loops.trips[c] > 1 &&
          index.scale[loops.loop[c]] * loops.strides[c] % factor != 0) {
        out.selectors.push_back(c);
        choices *= size_t(loops.trips[c]);
        break;
      }
  if (choices > kMostChoices)
    return std::nullopt;
  for (size_t lane = 0; lane < lanes.count(out.mask); ++lane) {
    std::vector<int64_t> at = lanes.coordinates(out.mask, lane);
    Access::Lane &to = out.lanes.emplace_back();
    to.reach.steps.resize(counters);
    to.banks.resize(choices);
    int64_t stride = 1, banks = 1;
    for (size_t d = indices.size(); d-- > 0;) {
      const Index &index = indices[d];
      int64_t first = index.constant;
      for (auto [p, loop] : llvm::enumerate(copied))
        first += index.scale[loop] * at[p];
      for (size_t c = 0; c < counters; ++c)
        if (!llvm::is_contained(out.selectors, c))
          to.reach.steps[c] += index.scale[loops.loop[c]] * loops.strides[c] /
                               factors[d] * stride;
      // A selector that belongs to another dimension adds no fraction here.
      const int64_t base = quotient(first, factors[d]);
      for (size_t choice = 0; choice < choices; ++choice) {
        int64_t sum = first;
        size_t rest = choice;
        for (size_t s = out.selectors.size(); s-- > 0;) {
          const size_t c = out.selectors[s];
          sum += index.scale[loops.loop[c]] * loops.strides[c] *
                 int64_t(rest % size_t(loops.trips[c]));
          rest /= size_t(loops.trips[c]);
        }
        if (quotient(sum, factors[d]) != base)
          return std::nullopt;
        to.banks[choice] += remainder(sum, factors[d]) * banks;
      }
      to.reach.first += base * stride;
      stride *= int64_t(llvm::divideCeil(banked.sizes[d], factors[d]));
      banks *= factors[d];
    }
  }
  return out;
}
} // namespace

std::optional<Access> accessOf(const Nest &nest, OpOperand &operand,
                               const BankFactors &banks) {
  linalg::GenericOp op = nest.op;
  return accessBy(indicesOf(op, operand), nest.loops, nest.copied,
                  Lanes::of(nest), banks);
}

/// The loops over a part of a tensor, each in two counters where its dimension
/// is in banks.
static Loops loopsOverPart(ArrayRef<int64_t> shape, const View &view,
                           const BankFactors &banks) {
  Loops loops;
  loops.copies.assign(shape.size(), 1);
  std::vector<SmallVector<int64_t>> steps(shape.size(), {1});
  for (auto [d, factor] : llvm::zip_equal(view.dims, banks.factors))
    if (d.of && factor > 1 && d.step == 1 && d.first % factor == 0)
      steps[*d.of].push_back(factor);
  for (unsigned d = 0; d < shape.size(); ++d)
    loops.addSplit(d, shape[d], steps[d]);
  return loops;
}

std::optional<std::vector<int64_t>> copiesFor(Value tensor, int64_t width) {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  std::vector<int64_t> copies(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 0 && width > 1;) {
    copies[d] = std::gcd(shape[d], width);
    width /= copies[d];
    if (width > 1 && copies[d] != shape[d])
      return std::nullopt;
  }
  if (width > 1)
    return std::nullopt;
  return copies;
}

Loops loopsOver(Value tensor, const BankFactors &banks, int64_t width) {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  if (View view = viewOf(tensor); view.base != tensor)
    return loopsOverPart(shape, view, banks);
  Loops loops;
  if (width > 1 && banks.spread > 1) {
    const int64_t steps =
        llvm::divideCeil(ShapedType::getNumElements(shape), width);
    loops.copies = {1};
    if (steps > 1)
      loops.add(0, steps, 1, steps);
    return loops;
  }
  loops.copies = *copiesFor(tensor, width);
  int64_t rows = 1; ///< of dimensions before that go on without a gap
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t factor = banks.factors[d];
    const bool goesOn = d + 1 < shape.size() && factor == 1 &&
                        banks.sizes[d + 1] == shape[d + 1] &&
                        shape[d + 1] % banks.factors[d + 1] == 0;
    if (goesOn) {
      rows *= shape[d];
      continue;
    }
    SmallVector<int64_t> steps = {loops.copies[d]};
    if (factor > steps[0])
      steps.push_back(factor);
    loops.addSplit(unsigned(d), rows * shape[d], steps);
    rows = 1;
  }
  return loops;
}

std::optional<Access> accessOver(Value tensor, const Loops &loops,
                                 const BankFactors &banks, int64_t width) {
  // Every word of a step has a bank of its own.
  if (width > 1 && banks.spread > 1) {
    Access out;
    for (int64_t word = 0; word < width; ++word)
      out.lanes.push_back(
          {{0, std::vector<int64_t>(loops.trips.size(), 1)}, {word}});
    return out;
  }
  std::vector<Index> indices;
  for (const View::Dimension &d : viewOf(tensor).dims) {
    Index &index = indices.emplace_back(
        Index{d.first, std::vector<int64_t>(loops.copies.size())});
    if (d.of)
      index.scale[*d.of] = d.step;
  }
  std::vector<unsigned> copied;
  std::vector<int64_t> sizes;
  for (auto [loop, copies] : llvm::enumerate(loops.copies))
    if (copies > 1) {
      copied.push_back(unsigned(loop));
      sizes.push_back(copies);
    }
  return accessBy(indices, loops, copied, Lanes(std::move(sizes)), banks);
}

namespace {
/// The operands that a nest reads, and what it writes, with their bases.
void forEachAccess(Nest &nest,
                   llvm::function_ref<void(OpOperand &, Value)> visit) {
  for (OpOperand &operand : nest.op->getOpOperands()) {
    if (nest.op.isDpsInit(&operand))
      visit(operand, baseOf(nest.op->getResult(0)));
    else if (isRead(nest.op, operand))
      visit(operand, baseOf(operand.get()));
  }
}

using Placed = llvm::MapVector<Value, BankFactors>;

/// Splits a nest's counters so that they agree with the banks. False if they
/// cannot; then `worst` is the tensor to blame.
bool splitCounters(Nest &nest, ArrayRef<unsigned> order, const Placed &banks,
                   Value &worst) {
  const size_t count = nest.loops.copies.size();
  auto sizes = nest.op.getStaticLoopRanges();
  // By loop: the strides of its counters, each a multiple of the one before.
  std::vector<std::vector<std::pair<int64_t, Value>>> wanted(count);
  forEachAccess(nest, [&](OpOperand &operand, Value tensor) {
    auto indices = indicesOf(nest.op, operand);
    for (auto [index, factor] :
         llvm::zip_equal(indices, banks.find(tensor)->second.factors))
      if (auto loop = onlyLoop(index); loop && factor > 1)
        wanted[loop->first].push_back(
            {factor / std::gcd(factor, loop->second), tensor});
  });
  Loops split;
  split.copies = nest.loops.copies;
  for (unsigned loop : order) {
    llvm::sort(wanted[loop], llvm::less_first());
    std::vector<int64_t> strides = {split.copies[loop]};
    for (auto [factor, tensor] : wanted[loop]) {
      if (factor <= strides.front() && strides.front() % factor == 0)
        continue;
      if (factor % strides.back() != 0) {
        worst = tensor;
        return false;
      }
      if (factor != strides.back())
        strides.push_back(factor);
    }
    split.addSplit(loop, sizes[loop], strides);
  }
  nest.loops = std::move(split);
  return true;
}
} // namespace

std::optional<DenseMap<Value, BankFactors>>
placeInBanks(MutableArrayRef<Nest> nests, ArrayRef<Value> outputs,
             bool *isChanged) {
  Placed banks, written;
  bool isOver = false; ///< copies beyond a part write into the next one
  std::vector<std::vector<unsigned>> orders;
  for (Nest &nest : nests) {
    orders.push_back(nest.loops.loop);
    auto loopSizes = nest.op.getStaticLoopRanges();
    forEachAccess(nest, [&](OpOperand &operand, Value tensor) {
      BankFactors &to =
          banks.insert({tensor, BankFactors::one(tensor)}).first->second;
      auto indices = indicesOf(nest.op, operand);
      for (size_t d = 0; d < indices.size(); ++d) {
        auto loop = onlyLoop(indices[d]);
        if (!loop)
          continue;
        const auto [number, scale] = *loop;
        const int64_t copies = nest.loops.copies[number];
        int64_t both = std::lcm(to.factors[d], scale * copies);
        if (both <= to.sizes[d])
          to.factors[d] = both;
        const auto room = int64_t(
            llvm::alignTo(uint64_t(loopSizes[number]), uint64_t(copies)));
        to.sizes[d] =
            std::max(to.sizes[d], indices[d].constant + (room - 1) * scale + 1);
        isOver |= nest.op.isDpsInit(&operand) && room != loopSizes[number] &&
                  tensor != nest.op->getResult(0);
      }
      if (nest.op.isDpsInit(&operand))
        written[tensor] = to;
    });
  }
  if (isOver)
    return std::nullopt;
  DenseMap<Value, int> changes;
  for (;;) {
    Value worst;
    for (auto [nest, order] : llvm::zip_equal(nests, orders)) {
      if (!splitCounters(nest, order, banks, worst))
        break;
      forEachAccess(nest, [&](OpOperand &operand, Value tensor) {
        if (!accessOf(nest, operand, banks.find(tensor)->second))
          worst = tensor;
      });
      if (worst)
        break;
    }
    for (Value output : outputs) {
      auto it = banks.find(baseOf(output));
      if (worst || it == banks.end() ||
          accessOver(output, loopsOver(output, it->second), it->second))
        continue;
      worst = it->first;
      written.erase(worst);
    }
    if (!worst)
      break;
    if (isChanged)
      *isChanged = true;
    // It has the banks of its writer, or one.
    if (++changes[worst] > 1)
      return std::nullopt;
    std::vector<int64_t> &factors = banks.find(worst)->second.factors;
    if (auto it = written.find(worst); it != written.end())
      factors = it->second.factors;
    else
      llvm::fill(factors, 1);
  }
  DenseMap<Value, BankFactors> out;
  for (auto &[tensor, placed] : banks)
    out[tensor] = placed;
  return out;
}

bool splitForBanks(MutableArrayRef<Nest> nests, ArrayRef<Value> outputs,
                   const DenseMap<Value, BankFactors> &banks) {
  Placed placed;
  for (const auto &[tensor, of] : banks)
    placed.insert({tensor, of});
  for (Nest &nest : nests) {
    std::vector<unsigned> order = nest.loops.loop;
    order.erase(llvm::unique(order), order.end());
    Value worst;
    if (!splitCounters(nest, order, placed, worst))
      return false;
    forEachAccess(nest, [&](OpOperand &operand, Value tensor) {
      if (!accessOf(nest, operand, placed.find(tensor)->second))
        worst = tensor;
    });
    if (worst)
      return false;
  }
  return llvm::all_of(outputs, [&](Value output) {
    auto it = banks.find(baseOf(output));
    return it == banks.end() ||
           accessOver(output, loopsOver(output, it->second), it->second);
  });
}
} // namespace rhizome::gen::loops
