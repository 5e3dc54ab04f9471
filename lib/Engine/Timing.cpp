// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Engine/Timing.h"
using namespace rhizome;
using namespace rhizome::engine;
Prediction engine::predict(const Program &program, const Core &core,
                           const MemoryTiming &) {
  Prediction made;
  for (const Instruction &i : program.instructions) {
    if (i.opcode == Opcode::Matrix) {
      auto f = i.as<isa::Matrix>();
      made.cycles += std::max(f.rows * f.columns, core.out) * f.taps2 * f.taps1 * f.taps0;
    }
  }
  return made;
}
