// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of the engine: in memory, as the bytes that a core fetches, and as
// text for people. Both forms hold any instruction; whether a core may carry a
// program out is for the verifier to say.
#pragma once

#include "rhizome/Engine/Core.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rhizome::engine {
/// Instruction i of `instructions` is number i + 1 in messages; `head` is 0.
struct Program {
  isa::Head head;
  std::vector<Instruction> instructions; ///< the last one is `end`

  bool operator==(const Program &other) const {
    return head.values() == other.head.values() &&
           instructions == other.instructions;
  }
};

/// Sets the head of a program whose instructions are complete.
void seal(Program &program, const Core &core);

/// Blocks of weights that wait in the queue at most when each instruction ends
/// before the next one begins.
int64_t blocksInOrder(llvm::ArrayRef<Instruction> instructions,
                      const Parameters &core);

/// The 32 bytes of an instruction. Its fields must fit their bits.
std::array<uint8_t, kInstructionBytes> encode(const Instruction &instruction);

/// The instruction of 32 bytes, or that a bit is set that no field has.
llvm::Expected<Instruction> decode(llvm::ArrayRef<uint8_t> bytes);

/// The head and all instructions, as they stand in memory.
std::vector<uint8_t> toBytes(const Program &program);

/// A program of these bytes, or why there is none: a head that does not say its
/// length, a bit that no field has, no `end`.
llvm::Expected<Program> fromBytes(llvm::ArrayRef<uint8_t> bytes);

/// The program that begins there, whatever follows it.
llvm::Expected<Program> fromMemory(llvm::ArrayRef<uint8_t> memory);

/// "matrix wait(load,weights) give(vector) taps0=4 rows=2 columns=8".
std::string print(const Instruction &instruction);

/// The head and all instructions, each on a line.
std::string print(const Program &program);

/// The program of a text, or the place (line:column) of its first mistake. A
/// text may leave the head out; then `seal` is to follow.
llvm::Expected<Program> parse(llvm::StringRef text);
} // namespace rhizome::engine
