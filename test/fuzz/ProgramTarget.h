// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds for every program of an engine that is read: as bytes and as text
// it is the same one, and one that the verifier lets pass does what it may, and
// nothing else, on both faces, whoever is slow.
#pragma once

#include "FuzzTarget.h"
#include "rhizome/Engine/Faces.h"
#include "rhizome/Engine/Verifier.h"

namespace rhizome::fuzz {
inline engine::Core smallCore() {
  engine::Core core;
  core.name = "small";
  core.in = core.out = 4;
  core.words = 256;
  core.banks = 4;
  core.entries = 16;
  core.sum_bits = 27;
  core.queue = 4;
  core.depth = 8;
  core.tokens = 3;
  core.ports = 2;
  core.port_bits = 32;
  require(!llvm::errorToBool(engine::check(core)));
  return core;
}

/// What is around a program: as many words in the streams as it takes and
/// gives, if its instructions are right.
inline engine::Surroundings aroundOf(const engine::Program &program,
                                     const engine::Core &core) {
  engine::Surroundings around{{1024, 512}, 0, 0};
  for (const engine::Problem &problem : engine::verify(program, core, around))
    if (problem.instruction > 0)
      return around;
  for (const engine::Instruction &instruction : program.instructions) {
    std::vector<engine::Access> accesses;
    engine::infoOf(instruction.opcode)
        .accesses(core, instruction.values.data(), accesses);
    for (const engine::Access &access : accesses)
      if (access.space == engine::Space::Stream)
        (access.writes ? around.sent : around.received) += access.last() + 1;
  }
  return around;
}

inline void carryOut(const engine::Program &program, const engine::Core &core) {
  const engine::Surroundings around = aroundOf(program, core);
  if (!engine::verify(program, core, around, 1).empty())
    return;
  engine::State before(core);
  for (size_t port = 0; port < 2; ++port)
    for (int64_t i = 0; i < around.memoryWords[port] * core.in; ++i)
      before.memories[port].push_back(int8_t(37 * i + int64_t(port)));
  before.received.assign(size_t(around.received * core.in), 3);
  engine::State checked = before, native = before, other = before;
  require(!llvm::errorToBool(engine::runChecked(program, core, checked)));
  engine::runNative(program, core, native);
  require(native == checked);
  require(!llvm::errorToBool(engine::runChecked(program, core, other, 1)));
  require(other == checked);
  require(int64_t(checked.sent.size()) == around.sent * core.in);
}

/// `program` as it is, and with a head that fits.
inline void checkProgram(engine::Program program) {
  const engine::Core core = smallCore();
  carryOut(program, core);
  engine::seal(program, core);
  carryOut(program, core);
}
} // namespace rhizome::fuzz
