// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The native face: the semantics of the description over plain memory, with the
// sizes of a core known at compile time. Where they would be slow, matrices and
// what multiplies by constants, stand loops of the same meaning that vectorize.
#include "rhizome/Engine/Faces.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::engine;

// The fastest loops that the processor has.
#if defined(__x86_64__) && defined(__ELF__)
#define RHZ_CLONES __attribute__((target_clones("fma", "default")))
#else
#define RHZ_CLONES
#endif

namespace {
#include "rhizome/Engine/Semantics.inc"

/// Columns whose sums stay in registers at a time.
constexpr int kColumns = 16;

/// Adds the products of some words with `columns` columns of weights to their
/// sums. Single precision holds the sum of a word's products, at most 2^21.
template <int kPixels>
inline __attribute__((always_inline)) void
addTo(const int8_t *words, int64_t step, int rows, const float *weights,
      int64_t pitch, int columns, uint32_t *sums, int64_t next) {
  float sum[kPixels][kColumns] = {};
  for (int r = 0; r < rows; ++r)
    for (int p = 0; p < kPixels; ++p) {
      const float value = words[p * step + r];
      for (int n = 0; n < kColumns; ++n)
        sum[p][n] += value * weights[r * pitch + n];
    }
  for (int p = 0; p < kPixels; ++p)
    for (int n = 0; n < columns; ++n)
      sums[p * next + n] += uint32_t(int32_t(sum[p][n]));
}

/// The same for any number of words, which lie `step` bytes apart.
RHZ_CLONES void addProducts(const int8_t *words, int64_t step, int64_t pixels,
                            int rows, const float *weights, int64_t pitch,
                            int columns, uint32_t *sums, int64_t next) {
  for (; pixels >= 4; pixels -= 4, words += 4 * step, sums += 4 * next)
    addTo<4>(words, step, rows, weights, pitch, columns, sums, next);
  for (; pixels > 0; --pixels, words += step, sums += next)
    addTo<1>(words, step, rows, weights, pitch, columns, sums, next);
}

template <int kIn, int kOut> class Native {
public:
  Native(const Program &program, const Core &core, State &state)
      : core(core), state(state), queue(size_t(program.head.blocks)) {
    for (const Instruction &instruction : program.instructions)
      visit(instruction, [this](const auto &f) { this->perform(f); });
  }

  // What the semantics use.
  static constexpr int in() { return kIn; }
  static constexpr int out() { return kOut; }
  int8_t &scratch(int64_t word, int64_t byte) {
    return state.scratch[size_t(word * kIn + byte)];
  }
  int8_t &memory(int64_t port, int64_t word, int64_t byte) {
    return state.memories[size_t(port)][size_t(word * kIn + byte)];
  }
  int32_t &sum(int64_t bank, int64_t entry, int64_t column) {
    return state.sums[size_t((bank * core.entries + entry) * kOut + column)];
  }
  float &pushed(int64_t block, int64_t column, int64_t row) {
    return queue[(pushes + size_t(block)) % queue.size()].weights[row][column];
  }
  int wrap(int64_t value) const {
    const int unused = 32 - int(core.sum_bits);
    return int32_t(uint32_t(value) << unused) >> unused;
  }
  void receive(int64_t word) {
    receiveRow(1);
    for (int i = 0; i < kIn; ++i)
      scratch(word, i) = received(i);
  }
  void receiveRow(int64_t words) {
    row = taken * kIn;
    taken += size_t(words);
  }
  int8_t received(int64_t byte) { return state.received[row + size_t(byte)]; }
  void send(int64_t word) {
    const int8_t *bytes = &scratch(word, 0);
    state.sent.insert(state.sent.end(), bytes, bytes + kIn);
  }

private:
  template <typename T> void perform(const T &f) { carryOut(f, *this); }

  void perform(const isa::Weights &f) {
    carryOut(f, *this);
    pushes += size_t(f.blocks);
  }

  void perform(const isa::Matrix &f) {
    // Unsigned: they wrap.
    auto *sums = reinterpret_cast<uint32_t *>(&sum(f.bank, f.entry, 0));
    const int64_t count = f.rows * f.columns * kOut;
    if (!f.more)
      std::fill(sums, sums + count, 0);
    for (int64_t k2 = 0; k2 < f.taps2; ++k2)
      for (int64_t k1 = 0; k1 < f.taps1; ++k1)
        for (int64_t k0 = 0; k0 < f.taps0; ++k0) {
          const Block &block = queue[pops++ % queue.size()];
          const int64_t tap =
              f.place + k2 * f.step2 + k1 * f.step1 + k0 * f.step0;
          for (int64_t y = 0; y < f.rows; ++y)
            for (int n = 0; n < kOut; n += kColumns)
              addProducts(&scratch(tap + y * f.row_step, 0),
                          f.column_step * kIn, f.columns, kIn,
                          block.weights[0] + n, kPitch,
                          std::min(kOut, kColumns),
                          sums + y * f.columns * kOut + n, kOut);
        }
    // Sums that wrap may do so once in the end.
    for (int64_t i = 0; i < count; ++i)
      sums[i] = uint32_t(wrap(int32_t(sums[i])));
  }

  /// A multiplier or an offset of each lane, lowest bytes first. Of the last
  /// byte the low `bits` count.
  void constants(int64_t place, int count, int bits, int64_t (&to)[kIn]) {
    for (int c = 0; c < kIn; ++c) {
      uint64_t value = 0;
      for (int i = 0; i < count; ++i)
        value |= uint64_t(uint8_t(scratch(place + i, c))) << (8 * i);
      const int unused = 64 - 8 * (count - 1) - bits;
      to[c] = int64_t(value << unused) >> unused;
    }
  }

  /// Of each pixel and lane (a · m + b · n + o) >> shift, within the bounds.
  template <typename A, typename B>
  void scale(const isa::Vector &f, const int64_t (&m)[kIn],
             const int64_t (&n)[kIn], const int64_t (&o)[kIn], int64_t shift,
             A a, B b) {
    for (int64_t y = 0; y < f.rows; ++y)
      for (int64_t x = 0; x < f.columns; ++x) {
        int8_t *to =
            &scratch(f.place + y * f.place_row + x * f.place_column, 0);
        const auto *wordA = a(y, x);
        const auto *wordB = b(y, x);
        for (int c = 0; c < kIn; ++c) {
          int64_t value = (wordA[c] * m[c] + wordB[c] * n[c] + o[c]) >> shift;
          value = value < f.low ? f.low : value > f.high ? f.high : value;
          to[c] = int8_t(value);
        }
      }
  }

  void perform(const isa::Vector &f) {
    int64_t m[kIn], n[kIn] = {}, o[kIn];
    auto wordOfB = [&](int64_t y, int64_t x) {
      return &scratch(f.b + y * f.b_row + x * f.b_column, 0);
    };
    if (f.operation == isa::Vector::Requantize) {
      constants(f.constants, 5, 3, m);
      constants(f.constants + 5, 6, 7, o);
      auto sums = [&](int64_t y, int64_t x) {
        return &sum(f.bank, f.entry + y * f.columns + x, f.group * kIn);
      };
      scale(f, m, n, o, 17 + 8 * f.shift, sums, sums);
    } else if (f.operation == isa::Vector::Add) {
      constants(f.constants, 3, 8, m);
      constants(f.constants + 3, 3, 8, n);
      constants(f.constants + 6, 6, 7, o);
      // Operands count four times.
      for (int c = 0; c < kIn; ++c) {
        m[c] *= 4;
        n[c] *= 4;
      }
      auto wordOfA = [&](int64_t y, int64_t x) {
        return &scratch(f.a + y * f.a_row + x * f.a_column, 0);
      };
      scale(f, m, n, o, 8 * f.shift, wordOfA, wordOfB);
    } else {
      carryOut(f, *this);
    }
  }

  /// Columns of a block: those beyond the core's stay 0.
  static constexpr int kPitch = std::max(kOut, kColumns);
  struct Block {
    float weights[kIn][kPitch];
  };

  const Core &core;
  State &state;
  std::vector<Block> queue;
  size_t pushes = 0, pops = 0; ///< blocks so far
  size_t taken = 0, row = 0;   ///< words of the stream, bytes before its row
};
} // namespace

void engine::runNative(const Program &program, const Core &core, State &state) {
  auto run = [&]<int kIn>() {
    if (core.out == kIn)
      Native<kIn, kIn>(program, core, state);
    else
      Native<kIn, 2 * kIn>(program, core, state);
  };
  switch (core.in) {
  case 4:
    return run.template operator()<4>();
  case 8:
    return run.template operator()<8>();
  case 16:
    return run.template operator()<16>();
  case 32:
    return run.template operator()<32>();
  case 64:
    return run.template operator()<64>();
  case 128:
    return run.template operator()<128>();
  }
  llvm_unreachable("a core's words are a power of two from 4 to 128");
}
