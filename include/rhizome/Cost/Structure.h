// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inside the cost model: collects the structure of a unit. Registers and
// memories are counted exactly as synthesis maps them; logic is
// counted by kinds (terms), whose LUTs are given by the device family's model.
#pragma once

#include "rhizome/Cost/CostModel.h"
#include "rhizome/Unit/Units.h"
#include <vector>

namespace rhizome::gen::cost {
inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t clog2(int64_t n) {
  int64_t bits = 0;
  while ((int64_t(1) << bits) < n)
    ++bits;
  return bits;
}

/// Bits of an address of `n` places; a single place has one that is not used.
inline int64_t addressBits(int64_t n) { return n > 1 ? clog2(n) : 1; }

/// LUTs of a multiplexer of `count` bits. A six-input LUT selects among four,
/// two four-input LUTs do the same, the second one's condition through the
/// first.
int64_t choiceLuts(int64_t count, const CostContext &context);
/// The same of rhz_mux, which chooses among words of a beat: four at a time,
/// and beyond 16 words a sixth more, since Yosys takes large ones apart, as
/// bench/multiplexers.py measures.
double wordChoiceLuts(int64_t count, const CostContext &context);
/// Whether a multiplexer of this size has no free input at its last LUT for a
/// mask.
inline bool isChoiceFull(int64_t count) { return count % 3 == 1 && count > 1; }

/// Where the memory mapper puts a memory, and its resources.
struct Memory {
  double luts = 0, blocks = 0, ultras = 0, ffs = 0;
  double muxBits = 0;    ///< bits × (banks - 1) of the selected banks
  double choiceLuts = 0; ///< of this selection
  double enables = 0;    ///< of words in registers
};
/// With a register after its read port or without.
Memory memoryOf(int64_t words, int64_t width, const CostContext &context,
                bool registered = false);
/// A read-only memory in blocks.
Memory romOf(int64_t words, int64_t width, const CostContext &context);
/// A memory in UltraRAM or block RAM that is written.
Memory placedRam(int64_t words, int64_t width, bool ultra,
                 const CostContext &context);
/// A unit's rows or pages: `banks` memories of `words` words.
struct Store {
  int64_t words = 0, width = 0, banks = 1;
};
/// Whether it may be worth to have it in UltraRAM: that replaces several
/// blocks, at least two by each. Where one replaces fewer, blocks are never so
/// scarce: devices have two or three for each UltraRAM.
bool isForUltra(const Store &store, const CostContext &context);
/// Bits of one UltraRAM, and the width of its port.
constexpr int64_t kUltraWords = 4096, kUltraPort = 72;

/// A product of rhz_mul: w signed bits times x bits.
struct Product {
  int64_t w, x;
  bool xSigned = true;
  int64_t style = 0;         ///< 0: in LUTs
  int64_t kept = 128;        ///< bits of the product that are used
  int64_t zeros = 0;         ///< top bits of w that are known to be zero
  double share = 1;          ///< of w's bits that are not always zero
  double perX = 1, perW = 1; ///< products that share an x, a w
  bool ownsLate = true; ///< counts the registers of operands that are read late
  bool masksInLuts = false; ///< a single bit resets no register, even on AMD
};

/// Whether the product is w or zero, selected by the one bit of x: a register's
/// reset. In LUTs, narrower weights have the bit as a factor of their digits
/// (rhz_mul).
inline bool isMasked(const Product &of) {
  return of.x == 1 && !of.xSigned && (of.style || of.w > 2);
}

/// For a product in LUTs: top bits of an operand that only the second of two
/// stages reads. Registers before them form a row with the register in which
/// they wait.
struct LateBits {
  int64_t w = 0, x = 0;
};
LateBits lateBits(const Product &of);

/// Collects the structure of one unit.
class Builder {
public:
  Builder(const unit::Instance &instance, const CostContext &context,
          const MemoryImages *images)
      : a(instance), ctx(context), images(images) {}

  int64_t get(const char *key) const { return a.get(key); }
  const unit::Instance &instance() const { return a; }
  const CostContext &context() const { return ctx; }
  bool hasShiftRegisters() const { return ctx.shiftRegisters; }

  /// For a unit inside this one, whose structure add() then takes over.
  Builder inside(const unit::Instance &instance) const {
    return Builder(instance, ctx, images);
  }
  void add(const Structure &inner) {
    structure.exact += inner.exact;
    for (size_t t = 0; t < structure.terms.size(); ++t)
      structure.terms[t] += inner.terms[t];
    structure.heldBits += inner.heldBits;
  }

  void ff(double n) { structure.exact.ff() += n; }
  void dsp(double n) { structure.exact.dsp() += n; }
  void term(Term t, double n) { structure.terms[size_t(t)] += n; }

  /// Equal registers in a row without a reset: three or more become a LUT on
  /// AMD.
  void delay(double bits, int64_t stages) {
    if (hasShiftRegisters() && stages >= 3)
      shift(bits * double(ceilDiv(stages, 16)));
    else
      ff(bits * double(stages));
  }
  void addMemory(const Memory &memory, int64_t words, int64_t width);
  void shift(double luts) {
    structure.exact.lut() += luts;
    structure.exact.lutram() += luts;
  }

  /// rhz_counter; whether its value and its last_o are used.
  void counter(int64_t count, bool last = true);
  /// Who uses an rhz_outbuf: whether anyone reads its credits, and whether the
  /// data goes straight into a register, which outbuf() then counts.
  struct Reader {
    bool takesCredits = true, isRegister = false;
  };
  /// rhz_outbuf.
  void outbuf(int64_t depth, int64_t width, Reader reader);
  void outbuf(int64_t depth, int64_t width) { outbuf(depth, width, {}); }
  /// rhz_sdpram in UltraRAM, or where synthesis puts it.
  void store(const Store &store, int64_t stages, bool ultra);
  /// rhz_sdpram; several instances that are written with the same data,
  /// that many at the same time.
  void ram(int64_t words, int64_t width, int64_t stages, int64_t banks = 1,
           int64_t together = 1);
  /// rhz_rom; returns the bits of a word that are not constant or copies of
  /// others: a share of `share` if the contents are not known.
  double rom(const char *file, const char *placedBy, int64_t words,
             int64_t width, int64_t stages, int64_t copies = 1,
             double share = 1);
  /// rhz_weight_ram, filled by a chain of `load` bits.
  void weightRam(int64_t words, int64_t width, int64_t stages, int64_t load,
                 bool ultra);
  /// The registers of a unit's factors up to its multipliers: `weights` from
  /// the WeightFile or a loaded memory, two for each bit, and `lanes`
  /// others, three of each.
  void factors(int64_t words, int64_t weights, double lanes, Product &of);
  /// The same if both come as streams: a register for each bit.
  void arriving(int64_t weights, double lanes, Product &of);
  const MemoryImage *image(const char *file) const;
  RomContents contents(const char *file, int64_t words, int64_t width,
                       double share) const;
  /// Products of rhz_mul, without their last registers.
  void products(double count, const Product &of);
  /// Those of a read-only memory's output bits that are not always
  /// zero.
  double usedShare(const char *file, int64_t words) const;
  /// The same for constants of w bits: half of a constant's bits are rows.
  void constantProducts(double count, int64_t w, int64_t x, int64_t kept);
  /// A product of x bits by the constant in w columns of an image from `at` on,
  /// with all its registers.
  void constantProduct(const MemoryImage &image, int64_t at, int64_t w,
                       int64_t x);
  /// rhz_sum of `n` terms of `width` bits, of which `kept` are used.
  void tree(double count, int64_t n, int64_t width, int64_t kept);
  /// The same, with only some nonzero terms.
  void tree(double count, const std::vector<char> &used, int64_t width,
            int64_t kept);
  /// Multiplexers with n inputs, per bit.
  void mux(double bits, int64_t choices);
  /// rhz_mux, which chooses among the words of a beat.
  void wordMux(double bits, int64_t words);
  /// An adder or comparison of this many bits.
  void adder(double count, int64_t bits);
  /// One with a constant operand: before AMD's carry chains, its bits
  /// are at most inverters.
  void constantAdder(double count, int64_t bits) {
    if (!hasShiftRegisters())
      adder(count, bits);
  }
  void compare(double count, int64_t bits);

  Structure structure;

private:
  /// The bits of an up-down counter that count as terms: a counter of more than
  /// a few bits is a carry chain followed by multiplexers.
  int64_t countBits(int64_t bits) const;
  /// Reads during writes must return the old word: registers and a comparison.
  void collision(int64_t words, int64_t width, int64_t banks = 1);

  const unit::Instance &a;
  const CostContext &ctx;
  const MemoryImages *images;
};
} // namespace rhizome::gen::cost
