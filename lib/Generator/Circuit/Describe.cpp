// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a circuit consists of: bits of adders, comparisons, choices, tables and
// registers, which are parameters of its actor (small letters: the hardware has
// none). Bits that nobody reads or that stay zero are not built.
#include "rhizome/Generator/Circuit.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace rhizome::gen {
using Op = Circuit::Op;

namespace {
/// Lowest bits of a constant that are zero.
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

/// That a node is read, at what stage.
struct Use {
  int stage;
  Slice slice;
};

/// Who reads which bits of the nodes.
class Reads {
public:
  Reads(const Circuit &c, const Schedule &s);

  std::vector<int64_t> zeros; ///< lowest bits of each node that stay zero
  std::vector<Slice> built;   ///< what any reader reads

  llvm::MutableArrayRef<Use> of(size_t node) {
    return llvm::MutableArrayRef(uses).slice(
        first[node], size_t(first[node + 1] - first[node]));
  }
  /// The bit from which on a sum is more than one operand's bits.
  int64_t start(const Circuit::Node &n) const {
    int64_t b = n.shift + zeros[n.b];
    return n.op == Op::Add   ? std::max(b, zeros[n.a])
           : n.op == Op::Sub ? b
                             : zeros[n.a];
  }

private:
  void findZeros();
  void read(int node, int stage, int64_t low, int64_t high);
  void readOperands(size_t node, int stage);

  const Circuit &c;
  std::vector<Use> uses; ///< those of node i from `first[i]` on
  std::vector<int> first, next;
};

void Reads::findZeros() {
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Circuit::Node &n = c.nodes[i];
    if (n.op == Op::Constant)
      zeros[i] = zerosBelow(n.value);
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
  const Circuit::Node &n = c.nodes[node];
  auto [low, high] = built[node];
  switch (n.op) {
  case Op::Input:
  case Op::Constant:
    break;
  case Op::Add:
  case Op::Sub:
  case Op::Rsub: {
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

Reads::Reads(const Circuit &c, const Schedule &s)
    : zeros(c.nodes.size(), 0), built(c.nodes.size()), c(c),
      first(c.nodes.size() + 1) {
  findZeros();
  for (size_t i = 0; i < c.nodes.size(); ++i)
    if (s.stage[i] >= 0)
      for (int operand : {c.nodes[i].a, c.nodes[i].b, c.nodes[i].c})
        if (operand >= 0)
          ++first[operand + 1];
  for (int o : c.outputs)
    ++first[o + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  uses.resize(first.back());
  next.assign(first.begin(), first.end() - 1);
  for (int o : c.outputs)
    read(o, s.stages, 0, c.outWidth);
  for (size_t i = c.nodes.size(); i-- > 0;)
    if (s.stage[i] >= 0)
      readOperands(i, s.stage[i]);
}

/// LUTs of a table: functions of as many index bits as a LUT has inputs, from
/// the lowest on, and choices between these by the other bits. Equal and
/// inverted ones are built once, as in a reduced decision diagram.
struct TableLuts {
  int64_t leaves = 0, choices = 0;

  TableLuts() = default;
  void add(const TableLuts &other) {
    leaves += other.leaves;
    choices += other.choices;
  }
  TableLuts(llvm::ArrayRef<int64_t> entries, int64_t bits, int64_t inputs);
};

TableLuts::TableLuts(llvm::ArrayRef<int64_t> entries, int64_t bits,
                     int64_t inputs) {
  // A function is twice its number plus whether it is inverted: 0 and 1 are the
  // constants. Of no other is the function at the lowest index inverted.
  llvm::DenseMap<std::tuple<int64_t, int, int>, int> numbers;
  std::vector<char> isBuilt = {true}; // or needs no LUT, by number
  const int64_t index = llvm::Log2_64(entries.size());
  const int64_t leaf = std::min(index, inputs);
  // A LUT of six inputs chooses by two bits.
  const int64_t stride = inputs >= 6 ? 2 : 1;
  std::vector<int> row(entries.size());
  for (int64_t bit = 0; bit < bits; ++bit) {
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = int(entries[i] >> bit & 1);
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
  }
}

/// The parameters that `describe` counts.
struct Counts {
  int64_t adders = 0, adderBits = 0; ///< of sums of two values
  int64_t sharedBits = 0;            ///< of these, what both values have
  int64_t offsetBits = 0;            ///< of sums with a constant
  int64_t offsetOnes = 0;            ///< of these constants' bits
  int64_t compareBits = 0;
  int64_t anyBits = 0; ///< of what is asked whether any is one
  int64_t selectBits = 0;
  TableLuts wide, narrow; ///< in LUTs of six inputs, of four
  int64_t ffBits = 0, rowBits = 0, rowStageBits = 0;

  void addNode(const Circuit &c, const Reads &r, size_t node);
  void addRegisters(int stage, llvm::MutableArrayRef<Use> uses);

private:
  /// Of tables by number and index bits.
  std::map<std::pair<int64_t, int64_t>, std::pair<TableLuts, TableLuts>> tables;
};

void Counts::addNode(const Circuit &c, const Reads &r, size_t node) {
  const Circuit::Node &n = c.nodes[node];
  auto fixed = [&](int i) { return c.nodes[i].op == Op::Constant; };
  switch (n.op) {
  case Op::Add:
  case Op::Sub:
  case Op::Rsub: {
    int64_t start = r.start(n), bits = r.built[node].high - start;
    if (c.adderBits(n) == 0 || bits <= 0)
      break;
    ++adders;
    if (n.op != Op::Add || (!fixed(n.a) && !fixed(n.b))) {
      adderBits += bits;
      // Above an operand without a sign only the carry is added.
      auto end = [&](int i, int64_t shift) {
        const Circuit::Node &m = c.nodes[i];
        return m.isSigned() ? r.built[node].high : m.bits() + shift;
      };
      int64_t shared = std::min(end(n.a, 0), end(n.b, n.shift)) - start;
      sharedBits += std::clamp<int64_t>(shared, 0, bits);
      break;
    }
    uint64_t value = fixed(n.a) ? uint64_t(c.nodes[n.a].value)
                                : uint64_t(c.nodes[n.b].value) << n.shift;
    offsetBits += bits;
    offsetOnes +=
        llvm::popcount(value >> start & llvm::maskTrailingOnes<uint64_t>(bits));
    break;
  }
  case Op::Even:
    anyBits += std::max<int64_t>(n.shift - r.zeros[n.a], 0);
    break;
  case Op::AtLeast: {
    // Zero is a look at the sign, a power of two at the bits from there on.
    if (n.value == 0)
      break;
    int64_t bits = c.nodes[n.a].bits() - zerosBelow(n.value);
    uint64_t magnitude = n.value < 0 ? -uint64_t(n.value) : n.value;
    (llvm::isPowerOf2_64(magnitude) ? anyBits : compareBits) += bits;
    break;
  }
  case Op::Select:
    if (!fixed(n.b) || !fixed(n.c))
      selectBits += r.built[node].bits();
    break;
  case Op::Table: {
    int64_t index = c.nodes[n.a].bits();
    auto [known, isNew] = tables.try_emplace({n.value, index});
    auto &[six, four] = known->second;
    if (isNew) {
      std::vector<int64_t> entries = c.entriesOf(n);
      six = TableLuts(entries, n.bits(), 6);
      four = TableLuts(entries, n.bits(), 4);
    }
    wide.add(six);
    narrow.add(four);
    break;
  }
  default:
    break;
  }
}

/// Registers between a node and its readers: rows of three and more are rows
/// for the cost model, too. Those behind a reader hold what later ones read.
void Counts::addRegisters(int stage, llvm::MutableArrayRef<Use> uses) {
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

void describe(Actor &actor, const Circuit &c, int64_t budget) {
  Schedule s = schedule(c, budget);
  Reads r(c, s);
  Counts count;
  auto fixed = [&](int i) { return c.nodes[i].op == Op::Constant; };
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Circuit::Node &n = c.nodes[i];
    if (s.stage[i] < 0 || n.op == Op::Constant)
      continue;
    count.addNode(c, r, i);
    count.addRegisters(s.stage[i], r.of(i));
    // Of two choices with a constant each, one right behind the other, a LUT
    // takes both.
    if (n.op != Op::Select || fixed(n.b) == fixed(n.c))
      continue;
    int other = fixed(n.b) ? n.c : n.b;
    const Circuit::Node &m = c.nodes[other];
    if (m.op == Op::Select && fixed(m.b) != fixed(m.c) &&
        s.stage[other] == s.stage[i] && r.of(other).size() == 1)
      count.selectBits -= r.built[other].bits();
  }
  for (auto [key, value] : std::initializer_list<Param>{
           {"levels", budget},
           {"stages", s.stages},
           {"inBits", c.inLanes * c.inWidth},
           {"outBits", int64_t(c.outputs.size()) * c.outWidth},
           {"adders", count.adders},
           {"adderBits", count.adderBits},
           {"sharedBits", count.sharedBits},
           {"offsetBits", count.offsetBits},
           {"offsetOnes", count.offsetOnes},
           {"compareBits", count.compareBits},
           {"anyBits", count.anyBits},
           {"selectBits", count.selectBits},
           {"tableLeaves", count.wide.leaves},
           {"tableChoices", count.wide.choices},
           {"narrowTableLeaves", count.narrow.leaves},
           {"narrowTableChoices", count.narrow.choices},
           {"ffBits", count.ffBits},
           {"rowBits", count.rowBits},
           {"rowStageBits", count.rowStageBits}})
    actor.set(key, value);
}
} // namespace rhizome::gen
