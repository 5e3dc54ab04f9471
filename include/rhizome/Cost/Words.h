// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A combinational datapath as numbers: words with the values that occur in
// them, and what each is computed from. What logic it takes, how long that is,
// and what it counts to once it is cut into stages. Plain data, of which an
// exploration keeps and prices thousands; `rtl` operations are made of what is
// built (docs/decisions/2026-11-24-circuits.md).
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
    Floor,    ///< a >> shift, towards minus infinity
    Even,     ///< Floor, its lowest bit cleared where the low bits are all zero
    AtLeast,  ///< a >= value: 0 or 1
    Select,   ///< a ? b : c
    Table,    ///< tables[value][a - shift]
  };
  Op op = Op::Constant;
  int a = -1, b = -1, c = -1;
  int64_t shift = 0, value = 0;
  int64_t lo = 0, hi = 0; ///< the values that occur
  /// Two's complement where lo < 0, else unsigned.
  int64_t bits() const;
  bool isSigned() const { return lo < 0; }
  bool isSum() const {
    return op == Op::Add || op == Op::Sub || op == Op::Rsub;
  }
  /// Calls `use(operand)` for the words that it reads.
  template <typename Use> void forOperands(Use use) const {
    for (int operand : {a, b, c})
      if (operand >= 0)
        use(operand);
  }
};

struct WordGraph {
  /// Elements of the input's beat, and of what width and sign those of the
  /// output's beat are.
  int64_t inLanes = 0, inWidth = 1, outWidth = 1;
  std::vector<Word> nodes; ///< operands stand before their readers
  std::vector<int> outputs;
  std::vector<std::vector<int64_t>> tables;

  /// What a table's word gives, by the bits of its operand as they are.
  std::vector<int64_t> entriesOf(const Word &word) const;
  /// Bits of the adder that a sum needs: what passes below a shift needs none.
  int64_t adderBits(const Word &word) const;
  /// Readers of each word, those among words that some output needs and the
  /// outputs themselves; 0: nobody needs it.
  std::vector<int> readers() const;
};

/// How long the logic to a word is in its stage, as `rhizome synth` measures
/// it: in 32nds of a level of LUTs, a level each operation, a 32nd each bit of
/// a carry chain.
class WordDelays {
public:
  explicit WordDelays(const WordGraph &graph);

  struct Arrival {
    int64_t at = 0; ///< in 32nds of a level
    int chains = 0; ///< carry chains that the path to it passes
    void join(Arrival other);
  };
  /// Puts a word into a stage; those that it reads have theirs. Gives where
  /// what it reads in that stage is, and where its own value is.
  std::pair<Arrival, Arrival> place(int word, int64_t stage);

private:
  /// What is added where sums that nothing else reads are their reader's terms.
  struct Sum {
    int64_t terms = 0;
    Arrival latest;  ///< of the terms
    double most = 0; ///< that terms of their widths come to
  };

  bool isTerm(int word, int operand) const;
  Sum sumOf(int word) const;
  Arrival before(int word);
  Arrival behind(int word, Arrival before) const;
  int64_t delayOf(const Word &word) const;
  bool hasChain(const Word &word) const;

  const WordGraph &graph;
  std::vector<int> reads;
  std::vector<int64_t> stages;
  std::vector<Arrival> arrivals;
  std::vector<Sum> sums;
};

/// The stage of each word, −1 for those that nobody needs, and registers from
/// input to output.
struct WordStages {
  std::vector<int> of;
  int count = 0;
};

/// What a datapath in stages consists of, for LUTs of six inputs before AMD's
/// carry chains (wide) and of four (narrow). Bits that nobody reads or that
/// stay zero are not built.
struct WordCounts {
  struct Logic {
    int64_t luts = 0;         ///< of choices, looks at bits and short sums
    int64_t sumBits = 0;      ///< of carry chains that add
    int64_t compareBits = 0;  ///< of carry chains that compare, in pairs
    int64_t tableLeaves = 0;  ///< LUTs that look up parts of tables
    int64_t tableChoices = 0; ///< choices between these
  };
  Logic wide, narrow;
  int64_t adders = 0;
  /// Registers alone or in twos; rows of three and more, in LUTs that shift and
  /// as registers.
  int64_t ffBits = 0, rowBits = 0, rowStageBits = 0;
};
WordCounts countWords(const WordGraph &graph, const WordStages &stages);
} // namespace rhizome::gen::cost
