// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a datapath: LUTs of multiplexers, comparisons and tables,
// bits of carry chains and registers. Unused bits and bits that are always zero
// are not built.
#include "rhizome/Cost/Words.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace rhizome::gen::cost {
using Op = Word::Op;

namespace {
/// Number of low bits of a constant that are zero.
int64_t zerosBelow(int64_t value) {
  return value ? llvm::countr_zero(uint64_t(value)) : 63;
}

/// Bits from `low` up to `high` - 1.
struct Slice {
  int64_t low = std::numeric_limits<int64_t>::max(), high = 0;

  int64_t bits() const { return std::max<int64_t>(high - low, 0); }
  void join(Slice other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

/// A read of a node, and its stage.
struct Use {
  int stage;
  Slice slice;
};

/// The readers of each node, and which bits they read.
class Reads {
public:
  Reads(const WordGraph &c, const WordStages &s);

  std::vector<int64_t> zeros; ///< lowest bits of each node that are always zero
  std::vector<Slice> built;   ///< bits that any reader reads

  llvm::MutableArrayRef<Use> of(size_t node) {
    return llvm::MutableArrayRef(uses).slice(
        first[node], size_t(first[node + 1] - first[node]));
  }
  /// The bit above which a sum has bits of more than one operand.
  int64_t start(const Word &n) const {
    int64_t b = n.shift + zeros[n.b];
    switch (n.op) {
    case Op::Add:
      return std::max(b, zeros[n.a]);
    case Op::AddNot: // nothing carries into zeros above ones
      return std::max(n.shift, zeros[n.a]);
    case Op::Rsub:
      return zeros[n.a];
    default:
      return b;
    }
  }

private:
  void findZeros();
  void read(int node, int stage, int64_t low, int64_t high);
  void readOperands(size_t node, int stage);

  const WordGraph &c;
  std::vector<Use> uses; ///< the uses of node i start at `first[i]`
  std::vector<int> first, next;
};

void Reads::findZeros() {
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Word &n = c.nodes[i];
    if (n.op == Op::Constant)
      zeros[i] = zerosBelow(n.value);
    else if (n.op == Op::AddNot)
      zeros[i] = std::min(zeros[n.a], n.shift);
    else if (n.isSum())
      zeros[i] = std::min(zeros[n.a], n.shift + zeros[n.b]);
    else if (n.op == Op::Floor)
      zeros[i] = std::max<int64_t>(zeros[n.a] - n.shift, 0);
    else if (n.op == Op::Select)
      zeros[i] = std::min(zeros[n.b], zeros[n.c]);
  }
}

void Reads::read(int node, int stage, int64_t low, int64_t high) {
  int64_t bits = c.nodes[node].bits();
  Slice slice{std::clamp<int64_t>(low, 0, bits - 1),
              std::clamp<int64_t>(high, 1, bits)};
  built[node].join(slice);
  uses[next[node]++] = {stage, slice};
}

void Reads::readOperands(size_t node, int stage) {
  const Word &n = c.nodes[node];
  auto [low, high] = built[node];
  switch (n.op) {
  case Op::Input:
  case Op::Constant:
    break;
  case Op::Add:
  case Op::Sub:
  case Op::Rsub:
  case Op::AddNot: {
    int64_t from = std::min(low, start(n));
    read(n.a, stage, from, high);
    read(n.b, stage, from - n.shift, high - n.shift);
    break;
  }
  case Op::Floor:
    read(n.a, stage, low + n.shift, high + n.shift);
    break;
  case Op::Even:
    read(n.a, stage, 0, high + n.shift);
    break;
  case Op::AtLeast:
    read(n.a, stage, zerosBelow(n.value), 63);
    break;
  case Op::Select:
    read(n.a, stage, 0, 1);
    read(n.b, stage, low, high);
    read(n.c, stage, low, high);
    break;
  case Op::Table:
    read(n.a, stage, 0, 63);
    break;
  }
}

Reads::Reads(const WordGraph &c, const WordStages &s)
    : zeros(c.nodes.size(), 0), built(c.nodes.size()), c(c),
      first(c.nodes.size() + 1) {
  findZeros();
  for (size_t i = 0; i < c.nodes.size(); ++i)
    if (s.of[i] >= 0)
      for (int operand : {c.nodes[i].a, c.nodes[i].b, c.nodes[i].c})
        if (operand >= 0)
          ++first[operand + 1];
  for (int o : c.outputs)
    ++first[o + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  uses.resize(first.back());
  next.assign(first.begin(), first.end() - 1);
  for (int o : c.outputs)
    read(o, s.count, 0, c.outWidth);
  for (size_t i = c.nodes.size(); i-- > 0;)
    if (s.of[i] >= 0)
      readOperands(i, s.of[i]);
}

/// LUTs of a table: functions of as many index bits as a LUT has inputs, from
/// the lowest on, and multiplexers of these by the other bits. Equal and
/// inverted ones are built once, as in a reduced decision diagram.
/// Four-input LUTs take fewer for a bit that is seldom one, or seldom zero.
struct TableLuts {
  int64_t leaves = 0, choices = 0;

  TableLuts() = default;
  void add(const TableLuts &other) {
    leaves += other.leaves;
    choices += other.choices;
  }
  TableLuts(llvm::ArrayRef<int64_t> entries, int64_t bits, int64_t inputs);
};

/// The share of the LUTs of a dense function that a function with so many ones
/// takes: a power of its entropy, as measured on random functions of 6 to 10
/// bits.
double sparseShare(size_t ones, size_t of) {
  constexpr double kPower = 0.6;
  if (ones == 0 || ones == of)
    return 1;
  const double p = double(ones) / double(of);
  const double entropy = -p * std::log2(p) - (1 - p) * std::log2(1 - p);
  return std::pow(entropy, kPower);
}

TableLuts::TableLuts(llvm::ArrayRef<int64_t> entries, int64_t bits,
                     int64_t inputs) {
  // A function is encoded as twice its number plus whether it is inverted: 0
  // and 1 are the constants. All others are not inverted at the lowest index.
  llvm::DenseMap<std::tuple<int64_t, int, int>, int> numbers;
  std::vector<char> isBuilt = {true}; // or needs no LUT, by number
  const int64_t index = llvm::Log2_64(entries.size());
  const int64_t leaf = std::min(index, inputs);
  // A six-input LUT selects by two bits.
  const int64_t stride = inputs >= 6 ? 2 : 1;
  std::vector<int> row(entries.size());
  for (int64_t bit = 0; bit < bits; ++bit) {
    const TableLuts before = *this;
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = int(entries[i] >> bit & 1);
    const size_t ones = size_t(llvm::count(row, 1));
    for (int64_t level = 1; level <= index; ++level) {
      bool isCut = level >= leaf && (level - leaf) % stride == 0;
      for (size_t i = 0; i < entries.size() >> level; ++i) {
        int low = row[2 * i], high = row[2 * i + 1], inverted = low & 1;
        row[i] = low;
        if (low != high) {
          auto [known, isNew] = numbers.try_emplace(
              {level, low ^ inverted, high ^ inverted}, int(isBuilt.size()));
          if (isNew) // a bit of the index itself needs no LUT
            isBuilt.push_back(low < 2 && high < 2);
          row[i] = 2 * known->second + inverted;
        }
        if ((isCut || level == index) && !isBuilt[row[i] / 2]) {
          isBuilt[row[i] / 2] = true;
          ++(level <= leaf ? leaves : choices);
        }
      }
    }
    if (inputs >= 6)
      continue;
    const double share = sparseShare(ones, entries.size());
    auto scaled = [&](int64_t from, int64_t to) {
      return from + std::llround(double(to - from) * share);
    };
    leaves = scaled(before.leaves, leaves);
    choices = scaled(before.choices, choices);
  }
}

/// The LUTs and carry chains of a circuit on a family.
class Logic {
public:
  Logic(const WordGraph &c, const WordStages &s, Reads &r, int64_t inputs)
      : c(c), s(s), r(r), inputs(inputs), last(c.nodes.size()),
        constants(c.nodes.size()) {}

  int64_t luts = 0, sumBits = 0, compareBits = 0;
  TableLuts tableLuts;

  /// Nodes must be passed in order.
  void add(size_t node);

private:
  void addSum(size_t node);
  void addCompare(size_t node);
  void addChoice(size_t node);
  void addTable(const Word &n);
  /// LUTs of a function of this many bits, evaluated one bit after the other.
  void addLook(size_t node, int64_t bits) {
    int64_t count = llvm::divideCeil(bits - 1, inputs - 1);
    luts += count;
    last[node] = {bits - (count - 1) * (inputs - 1), 1, c.nodes[node].a};
  }

  bool isFixed(int i) const { return c.nodes[i].op == Op::Constant; }
  /// Selects between values, i.e. is not just its condition.
  bool isChoice(int i) const {
    const Word &n = c.nodes[i];
    return n.op == Op::Select && !(isFixed(n.b) && isFixed(n.c));
  }
  bool isWide() const { return inputs >= 6; }

  const WordGraph &c;
  const WordStages &s;
  Reads &r;
  const int64_t inputs; ///< of a LUT
  /// A node's last LUTs, which may be merged into its reader's: one per bit.
  struct Last {
    int64_t inputs = 1, luts = 0;
    int looksAt = -1; ///< the only node whose bits these read
  };
  std::vector<Last> last;
  /// Bits of a constant or of a selection that are known, and their values.
  struct Known {
    uint64_t mask = 0, value = 0;
  };
  std::vector<Known> constants;
  /// Low bits of nodes that sums of a stage take inverted.
  std::map<std::pair<int, int64_t>, int64_t> inverted;
  /// Of tables by number and index bits.
  std::map<std::pair<int64_t, int64_t>, TableLuts> tables;
};

/// Sums of this many bits are not carry chains; synth_xilinx and synth_ecp5 of
/// Yosys 0.23 (arith_map.v).
int64_t shortSum(bool isWide) { return isWide ? 2 : 4; }

void Logic::addSum(size_t node) {
  const Word &n = c.nodes[node];
  int64_t start = r.start(n), bits = r.built[node].high - start;
  if (c.adderBits(n) == 0 || bits <= 0)
    return;
  const bool isShort = bits <= shortSum(isWide());
  if (isFixed(n.a) || isFixed(n.b)) {
    // Before AMD's carry chains, a constant's bits are at most inverters.
    if (isShort)
      luts += bits - 1;
    else if (!isWide())
      sumBits += bits;
    return;
  }
  // Above an unsigned operand only the carry is added, which takes no LUT
  // before AMD's carry chains.
  auto end = [&](int i, int64_t shift) {
    const Word &m = c.nodes[i];
    return m.isSigned() ? r.built[node].high : m.bits() + shift;
  };
  int64_t shared = std::clamp<int64_t>(
      std::min(end(n.a, 0), end(n.b, n.shift)) - start, 0, bits);
  if (isShort) {
    luts += std::max(shared, 2 * shared - 2) + bits - shared;
    return;
  }
  sumBits += isWide() ? shared : bits;
  // Before the carry chains of four-input LUTs, an inverter takes a LUT, which
  // all sums of a stage share; AMD's LUTs invert what they add.
  if (n.op != Op::AddNot || isWide())
    return;
  const int64_t used = std::min(n.value, r.built[node].high - n.shift);
  int64_t &known = inverted[{n.b, s.of[node]}];
  sumBits += std::max<int64_t>(used - known, 0);
  known = std::max(known, used);
}

void Logic::addCompare(size_t node) {
  const Word &n = c.nodes[node];
  if (n.value == 0) // the sign
    return;
  const int64_t width = c.nodes[n.a].bits(), bits = width - zerosBelow(n.value);
  uint64_t magnitude = n.value < 0 ? -uint64_t(n.value) : n.value;
  // Comparisons in chunks of a LUT's inputs: two of these are logic, and more
  // are two LUTs each before a carry chain (cmp2lut.v, cmp2lcu.v).
  if (llvm::isPowerOf2_64(magnitude) ||
      width <= (isWide() ? 2 * inputs : inputs))
    addLook(node, bits);
  else if (isWide())
    luts += 2 * llvm::divideCeil(width, inputs);
  else
    compareBits += llvm::alignTo(width, 2);
}

void Logic::addChoice(size_t node) {
  const Word &n = c.nodes[node];
  auto [low, high] = r.built[node];
  const Known &yes = constants[n.b], &no = constants[n.c];
  const uint64_t both = yes.mask & no.mask;
  constants[node] = {both & ~(yes.value ^ no.value), yes.value & both};
  // A bit that selects between two constants is the condition or its inverse.
  auto bitsOf = [&](size_t i) {
    const Word &m = c.nodes[i];
    Slice built = r.built[i];
    uint64_t free = constants[m.b].mask & constants[m.c].mask;
    uint64_t here = llvm::maskTrailingOnes<uint64_t>(unsigned(built.bits()))
                    << built.low;
    return int64_t(llvm::popcount(here & ~free));
  };
  if (high <= low)
    return;
  // A constant directly before registers is their reset.
  auto isLater = [&](const Use &use) { return use.stage > s.of[node]; };
  if (isFixed(n.b) != isFixed(n.c) && llvm::all_of(r.of(node), isLater))
    return;
  // Operands without other readers may be merged into the LUTs: a multiplexer,
  // or the operand of a single bit or of a test of all bits.
  auto isPart = [&](int i) {
    return last[i].luts > 0 && s.of[i] == s.of[node] && r.of(i).size() == 1;
  };
  if (isFixed(n.b) && isFixed(n.c)) { // the comparison itself
    if (isPart(n.a))
      last[node] = last[n.a];
    return;
  }
  const int64_t bits = bitsOf(node);
  luts += bits;
  int64_t total = 0;
  llvm::SmallVector<int, 3> parts;
  for (int i : {n.a, n.b, n.c}) {
    total += !isFixed(i);
    if (isPart(i))
      parts.push_back(i);
  }
  // Tests of one value share its upper bits.
  auto isAlike = [&](int i) {
    return last[i].looksAt >= 0 && last[i].looksAt == last[parts[0]].looksAt &&
           last[i].inputs == last[parts[0]].inputs;
  };
  if (parts.size() > 1 && llvm::all_of(parts, isAlike) &&
      total + last[parts[0]].inputs - 1 <= inputs) {
    luts -= int64_t(parts.size());
    last[node] = {total + last[parts[0]].inputs - 1, bits};
    return;
  }
  llvm::erase_if(parts, [&](int i) { return bits > 1 && !isChoice(i); });
  llvm::stable_sort(
      parts, [&](int x, int y) { return last[x].inputs < last[y].inputs; });
  for (int i : parts)
    if (total - 1 + last[i].inputs <= inputs) {
      total += last[i].inputs - 1;
      luts -= last[i].luts;
    }
  last[node] = {total, bits};
}

void Logic::addTable(const Word &n) {
  int64_t index = c.nodes[n.a].bits();
  auto [known, isNew] = tables.try_emplace({n.value, index});
  if (isNew)
    known->second = TableLuts(c.entriesOf(n), n.bits(), inputs);
  tableLuts.add(known->second);
}

void Logic::add(size_t node) {
  const Word &n = c.nodes[node];
  switch (n.op) {
  case Op::Constant:
    constants[node] = {~uint64_t(0), uint64_t(n.value)};
    break;
  case Op::Add:
  case Op::Sub:
  case Op::Rsub:
  case Op::AddNot:
    addSum(node);
    break;
  case Op::Even: // whether any is one, and the bit that this clears
    addLook(node, std::max<int64_t>(n.shift - r.zeros[n.a], 0) + 1);
    break;
  case Op::AtLeast:
    addCompare(node);
    break;
  case Op::Select:
    addChoice(node);
    break;
  case Op::Table:
    addTable(n);
    break;
  case Op::Input:
  case Op::Floor:
    break;
  }
}

/// Registers, which are the same for all families.
struct Registers {
  int64_t ffBits = 0, rowBits = 0, rowStageBits = 0;

  void add(int stage, llvm::MutableArrayRef<Use> uses);
};

/// Registers between a node and its readers: rows of three and more are rows
/// for the cost model, too. Those after a reader hold what later ones read.
void Registers::add(int stage, llvm::MutableArrayRef<Use> uses) {
  llvm::sort(uses,
             [](const Use &a, const Use &b) { return a.stage > b.stage; });
  Slice later;
  for (size_t i = 0; i < uses.size(); ++i) {
    later.join(uses[i].slice);
    int from = i + 1 < uses.size() ? uses[i + 1].stage : stage;
    int64_t steps = uses[i].stage - from;
    if (steps >= 3) {
      rowBits += later.bits() * ((steps + 15) / 16);
      rowStageBits += later.bits() * steps;
    } else {
      ffBits += later.bits() * steps;
    }
  }
}
} // namespace

WordCounts countWords(const WordGraph &c, const WordStages &s) {
  Reads r(c, s);
  Logic wide(c, s, r, 6), narrow(c, s, r, 4);
  Registers registers;
  WordCounts counts;
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Word &n = c.nodes[i];
    if (s.of[i] < 0 && n.op != Op::Constant)
      continue;
    wide.add(i);
    narrow.add(i);
    if (n.op == Op::Constant)
      continue;
    counts.adders += n.isSum() && c.adderBits(n) > 0;
    registers.add(s.of[i], r.of(i));
  }
  auto logicOf = [](const Logic &l) {
    return WordCounts::Logic{l.luts, l.sumBits, l.compareBits,
                             l.tableLuts.leaves, l.tableLuts.choices};
  };
  counts.wide = logicOf(wide);
  counts.narrow = logicOf(narrow);
  counts.ffBits = registers.ffBits;
  counts.rowBits = registers.rowBits;
  counts.rowStageBits = registers.rowStageBits;
  return counts;
}
} // namespace rhizome::gen::cost
