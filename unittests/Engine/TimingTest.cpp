// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cycle model on random programs: each ends, and its numbers fit together.
// How near it is to the RTL is for e2e.engine-rtl.
#include "rhizome/Engine/Timing.h"
#include "RandomProgram.h"
#include <gtest/gtest.h>

using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
const Mix kAll = {{Opcode::Load, Opcode::Pack, Opcode::Weights, Opcode::Weights,
                   Opcode::Matrix, Opcode::Matrix, Opcode::Vector,
                   Opcode::Vector, Opcode::Store},
                  40};

TEST(Timing, EveryProgramEnds) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int64_t in = std::array{4, 8, 16}[seed % 3];
    const Core core = coreOf(in, in * (1 + int64_t(seed & 1)), 32,
                             1 + int64_t(seed % 4), seed);
    const Case made = randomCase(core, kAll, seed);
    ASSERT_TRUE(verify(made.program, core, made.around).empty());
    const Prediction fast = predict(made.program, core);
    const Prediction slow = predict(made.program, core, {200, 200});
    EXPECT_LT(fast.cycles, slow.cycles);
    int64_t products = 0;
    for (size_t i = 0; i + 1 < made.program.instructions.size(); ++i) {
      EXPECT_LT(fast.spans[i].begin, fast.spans[i].end);
      EXPECT_LE(fast.spans[i].end, fast.cycles);
      const Instruction &instruction = made.program.instructions[i];
      if (instruction.opcode == Opcode::Matrix) {
        const auto f = instruction.as<isa::Matrix>();
        products += f.taps2 * f.taps1 * f.taps0 * f.rows * f.columns;
      }
    }
    EXPECT_EQ(fast.arrayCycles, products);
    for (int64_t runs : fast.runs)
      EXPECT_LE(runs, fast.cycles);
  }
}

/// A load of 64 words, then of each a product.
TEST(Timing, UnitsOverlap) {
  const Core core = coreOf(16, 16, 128, 1, 1);
  isa::Load load;
  load.channels = 64;
  isa::Weights weights;
  isa::Matrix matrix;
  matrix.columns = std::min<int64_t>(core.entries, 16);
  matrix.column_step = 1;
  Program program;
  program.instructions = {load, weights, matrix, isa::End{}};
  addTokens(program, core);
  seal(program, core);
  const Prediction made = predict(program, core);
  // The weights come while the load goes on, the products after it.
  EXPECT_LT(made.spans[1].end, made.spans[0].end + 40);
  EXPECT_GT(made.spans[2].begin, made.spans[0].end);
  EXPECT_EQ(made.readWords[0],
            int64_t(64 + 16 + 2 * (1 + program.instructions.size())));
}
} // namespace
