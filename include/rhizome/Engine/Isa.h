// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's instructions as data: what rtl/isa describes, and the form in
// which programs hold them. What their numbers mean for a core is the
// verifier's, what they do the faces'.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

namespace rhizome::engine {
#include "rhizome/Engine/Isa.h.inc"

/// An instruction of a program. Its fields stand in the order of the
/// description; those that it does not have are 0.
struct Instruction {
  Opcode opcode = Opcode::End;
  uint8_t waits = 0; ///< units of which it takes a token, a bit each
  uint8_t gives = 0; ///< units that get one
  std::array<int64_t, kMostFields> values = {};

  Instruction() = default;
  /// From a struct of namespace isa.
  template <typename T>
  Instruction(const T &fields, uint8_t waits = 0, uint8_t gives = 0)
      : opcode(T::kOpcode), waits(waits), gives(gives),
        values(fields.values()) {}

  /// Its fields; it must have this opcode.
  template <typename T> T as() const {
    assert(opcode == T::kOpcode && "an instruction of this kind");
    return T::of(values);
  }
  bool operator==(const Instruction &) const = default;
};

/// A parameter of a core, within bounds that no core leaves.
struct ParameterInfo {
  const char *name;
  int64_t Parameters::*member;
  int64_t least, most;
  const char *text;
};

struct FieldInfo {
  const char *name;
  unsigned bit, bits;
  bool isSigned;
  int64_t preset;                      ///< its value if a text has none
  llvm::ArrayRef<const char *> values; ///< their names, if they have any
  int64_t (*least)(const Parameters &core);
  int64_t (*most)(const Parameters &core);

  /// The values that its bits can hold.
  int64_t leastHeld() const {
    return isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  }
  int64_t mostHeld() const { return (int64_t(1) << (bits - isSigned)) - 1; }
};

/// A condition on the fields of one instruction.
struct RuleInfo {
  bool (*holds)(const Parameters &core, const int64_t *values);
  const char *expression;
  const char *text;
};

enum class Space : uint8_t { Scratch, Memory, Accumulator, Queue, Stream };

/// `count` steps of `stride` words.
struct Loop {
  int64_t count, stride;
};

/// The words of a space that an instruction reads or writes.
struct Access {
  Space space;
  bool writes;
  int64_t bank;  ///< the accumulators' bank, or the memory's port
  int64_t first; ///< word
  llvm::SmallVector<Loop, 5> loops;

  /// How many words it uses, each as often as it does.
  int64_t words() const {
    int64_t words = 1;
    for (const Loop &loop : loops)
      words *= loop.count;
    return words;
  }

  /// Its last word, if the numbers are in their fields' bounds.
  int64_t last() const {
    int64_t word = first;
    for (const Loop &loop : loops)
      word += (loop.count - 1) * loop.stride;
    return word;
  }
};

struct InstructionInfo {
  Opcode opcode;
  const char *name;
  Unit unit;
  llvm::ArrayRef<FieldInfo> fields;
  llvm::ArrayRef<RuleInfo> rules;
  /// Appends the accesses. The fields are in their bounds, and the rules hold.
  void (*accesses)(const Parameters &core, const int64_t *values,
                   std::vector<Access> &all);
  /// Blocks of weights that it appends to the queue, and takes from it.
  int64_t (*pushes)(const Parameters &core, const int64_t *values);
  int64_t (*pops)(const Parameters &core, const int64_t *values);
};

/// All instructions, by opcode.
llvm::ArrayRef<InstructionInfo> instructions();
inline const InstructionInfo &infoOf(Opcode opcode) {
  return instructions()[unsigned(opcode)];
}

llvm::ArrayRef<ParameterInfo> parameters();

/// "matrix".
const char *nameOf(Unit unit);

/// The bit of a unit in the masks of waits and gives.
inline uint8_t bitOf(Unit unit) { return uint8_t(1 << unsigned(unit)); }
} // namespace rhizome::engine
