// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A combinational datapath as data: words with their ranges of values and the
// operation that computes each. Gives the logic of a datapath, its delay,
// and its resources once it is cut into stages. Plain data, of which an
// exploration keeps and prices thousands; only the chosen ones become `rtl`
// operations (docs/decisions/2026-11-24-circuits.md).
#pragma once

#include <cstdint>
#include <vector>

namespace rhizome::gen::cost {
/// An exact integer operation and its result.
struct Word {
  enum class Op : uint8_t {
    Input,    ///< element `value` of the beat
    Constant, ///< `value`
    Add,      ///< a + (b << shift)
    Sub,      ///< a - (b << shift)
    Rsub,     ///< (b << shift) - a
    AddNot,   ///< a + ((2^value - 1 - b) << shift), a and b unsigned
    Floor,    ///< a >> shift, towards minus infinity
    Even, ///< Floor, with its lowest bit cleared if the low bits are all zero
    AtLeast, ///< a >= value: 0 or 1
    Select,  ///< a ? b : c
    Table,   ///< tables[value][a - shift]
  };
  Op op = Op::Constant;
  int a = -1, b = -1, c = -1;
  int64_t shift = 0, value = 0;
  int64_t lo = 0, hi = 0; ///< the range of values
  /// Two's complement if lo < 0, otherwise unsigned.
  int64_t bits() const;
  bool isSigned() const { return lo < 0; }
  bool isSum() const {
    return op == Op::Add || op == Op::Sub || op == Op::Rsub || op == Op::AddNot;
  }
  /// Calls `use(operand)` for the words that it reads.
  template <typename Use> void forOperands(Use use) const {
    for (int operand : {a, b, c})
      if (operand >= 0)
        use(operand);
  }
};

struct WordGraph {
  /// Number of elements of the input's beat, and width and sign of those of the
  /// output's beat.
  int64_t inLanes = 0, inWidth = 1, outWidth = 1;
  std::vector<Word> nodes; ///< operands precede their readers
  std::vector<int> outputs;
  std::vector<std::vector<int64_t>> tables;

  /// The entries of a table's word, by the bits of its operand.
  std::vector<int64_t> entriesOf(const Word &word) const;
  /// Bits of the adder of a sum: bits below a shift pass through without one.
  int64_t adderBits(const Word &word) const;
  /// Number of readers of each word: words that some output needs, and the
  /// outputs themselves; 0: not needed.
  std::vector<int> readers() const;
};

/// How long logic may be between registers, and how long carry chains take on a
/// device. A level is a LUT and the way to it.
struct LogicPace {
  int64_t budget;        ///< between registers, in 32nds of a level
  int64_t chain = 0;     ///< a carry chain in addition to its LUT, likewise
  int64_t chainBit = 32; ///< each of its bits, in 1024ths of a level

  LogicPace(int64_t budget, int64_t chain = 0, int64_t chainBit = 32)
      : budget(budget), chain(chain), chainBit(chainBit) {}
  bool operator==(const LogicPace &) const = default;
};

/// The delay of the logic to a word in its stage: a level per operation and
/// what carry chains take beyond it.
class WordDelays {
public:
  WordDelays(const WordGraph &graph, const LogicPace &pace);

  struct Arrival {
    int64_t at = 0; ///< in 32nds of a level, without the carries
    /// Bits that a carry passes on the way. Carries of consecutive sums
    /// overlap: all of them only move to the top.
    int64_t carries = 0;
    void join(Arrival other);
  };
  /// With the carries.
  int64_t total(Arrival arrival) const;
  /// Puts a word into a stage; its operands have theirs. Returns the delay of
  /// its operands in that stage and its own.
  std::pair<Arrival, Arrival> place(int word, int64_t stage);

private:
  Arrival before(int word);
  Arrival after(int word, Arrival before) const;
  int64_t delayOf(const Word &word) const;

  const WordGraph &graph;
  const LogicPace pace;
  std::vector<int64_t> stages;
  std::vector<Arrival> arrivals;
};

/// The stage of each word, −1 for words that are not needed, and registers from
/// input to output.
struct WordStages {
  std::vector<int> of;
  int count = 0;
};

/// The resources of a datapath in stages, for six-input LUTs before AMD's
/// carry chains (wide) and for four-input ones (narrow). Unused bits and bits
/// that are always zero are not built.
struct WordCounts {
  struct Logic {
    int64_t luts = 0;         ///< of multiplexers, bit tests and short sums
    int64_t sumBits = 0;      ///< of carry chains that add
    int64_t compareBits = 0;  ///< of carry chains that compare, in pairs
    int64_t tableLeaves = 0;  ///< LUTs that look up parts of tables
    int64_t tableChoices = 0; ///< multiplexers of these
  };
  Logic wide, narrow;
  int64_t adders = 0;
  /// Single registers or pairs; rows of three and more, as shift-register LUTs
  /// and as registers.
  int64_t ffBits = 0, rowBits = 0, rowStageBits = 0;
};
WordCounts countWords(const WordGraph &graph, const WordStages &stages);
} // namespace rhizome::gen::cost
