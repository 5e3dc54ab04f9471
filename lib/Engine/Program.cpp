// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as bytes: encoder and decoder over the tables of fields.
#include "rhizome/Engine/Program.h"
#include <algorithm>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
constexpr unsigned kOpcodeBits = 3, kFirstWait = 3, kFirstGive = 8;
constexpr unsigned kBits = kInstructionBytes * 8;

void put(std::array<uint8_t, kInstructionBytes> &bytes, unsigned bit,
         unsigned count, uint64_t value) {
  for (unsigned i = 0; i < count; ++i)
    if (value >> i & 1)
      bytes[(bit + i) / 8] |= uint8_t(1 << ((bit + i) % 8));
}

uint64_t take(ArrayRef<uint8_t> bytes, unsigned bit, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i)
    value |= uint64_t(bytes[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
  return value;
}
} // namespace

void engine::seal(Program &program, const Core &core) {
  program.head.isa = kIsaHash;
  program.head.core = core.hash();
  program.head.instructions = int64_t(program.instructions.size());
  program.head.blocks = blocksInOrder(program.instructions, core);
}

int64_t engine::blocksInOrder(ArrayRef<Instruction> instructions,
                              const Parameters &core) {
  int64_t waiting = 0, most = 0;
  for (const Instruction &instruction : instructions) {
    const InstructionInfo &info = infoOf(instruction.opcode);
    waiting += info.pushes(core, instruction.values.data());
    most = std::max(most, waiting);
    waiting -= info.pops(core, instruction.values.data());
  }
  return most;
}

std::array<uint8_t, kInstructionBytes>
engine::encode(const Instruction &instruction) {
  std::array<uint8_t, kInstructionBytes> bytes = {};
  put(bytes, 0, kOpcodeBits, uint64_t(instruction.opcode));
  put(bytes, kFirstWait, kUnits, instruction.waits);
  put(bytes, kFirstGive, kUnits, instruction.gives);
  for (auto [n, field] : enumerate(infoOf(instruction.opcode).fields)) {
    assert(instruction.values[n] >= field.leastHeld() &&
           instruction.values[n] <= field.mostHeld() &&
           "fields fit their bits");
    put(bytes, field.bit, field.bits, uint64_t(instruction.values[n]));
  }
  return bytes;
}

Expected<Instruction> engine::decode(ArrayRef<uint8_t> bytes) {
  assert(bytes.size() == kInstructionBytes);
  Instruction instruction;
  instruction.opcode = Opcode(take(bytes, 0, kOpcodeBits));
  instruction.waits = uint8_t(take(bytes, kFirstWait, kUnits));
  instruction.gives = uint8_t(take(bytes, kFirstGive, kUnits));
  unsigned end = kFirstField;
  const InstructionInfo &info = infoOf(instruction.opcode);
  for (auto [n, field] : enumerate(info.fields)) {
    uint64_t value = take(bytes, field.bit, field.bits);
    if (field.isSigned && value >> (field.bits - 1) & 1)
      value -= uint64_t(1) << field.bits;
    instruction.values[n] = int64_t(value);
    end = field.bit + field.bits;
  }
  for (unsigned bit = end; bit < kBits; ++bit)
    if (take(bytes, bit, 1))
      return createStringError("bit %u of a '%s' is set, which no field has",
                               bit, info.name);
  return instruction;
}

std::vector<uint8_t> engine::toBytes(const Program &program) {
  std::vector<uint8_t> bytes;
  bytes.reserve((program.instructions.size() + 1) * kInstructionBytes);
  auto append = [&](const Instruction &instruction) {
    auto encoded = encode(instruction);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  };
  append(program.head);
  for_each(program.instructions, append);
  return bytes;
}

Expected<Program> engine::fromBytes(ArrayRef<uint8_t> bytes) {
  if (bytes.empty() || bytes.size() % kInstructionBytes != 0)
    return createStringError("a program has %zu bytes, not one or more "
                             "instructions of %u",
                             bytes.size(), kInstructionBytes);
  Program program;
  for (size_t n = 0; n * kInstructionBytes < bytes.size(); ++n) {
    Expected<Instruction> instruction =
        decode(bytes.slice(n * kInstructionBytes, kInstructionBytes));
    if (!instruction)
      return createStringError("instruction %zu: %s", n,
                               toString(instruction.takeError()).c_str());
    if (n > 0) {
      program.instructions.push_back(*instruction);
      continue;
    }
    if (instruction->opcode != Opcode::Head)
      return createStringError("a program begins with '%s', not with 'head'",
                               infoOf(instruction->opcode).name);
    if (instruction->waits || instruction->gives)
      return createStringError("the head waits for a token or gives one");
    program.head = instruction->as<isa::Head>();
  }
  if (program.head.instructions != int64_t(program.instructions.size()))
    return createStringError("the head says %lld instructions, and %zu follow",
                             (long long)program.head.instructions,
                             program.instructions.size());
  return program;
}

Expected<Program> engine::fromMemory(ArrayRef<uint8_t> memory) {
  if (memory.size() < kInstructionBytes)
    return fromBytes(memory);
  Expected<Instruction> head = decode(memory.take_front(kInstructionBytes));
  size_t count = 1;
  if (!head)
    return head.takeError();
  if (head->opcode == Opcode::Head)
    count += size_t(head->as<isa::Head>().instructions);
  if (count > memory.size() / kInstructionBytes)
    return createStringError("the head says %zu instructions, and the memory "
                             "ends before them",
                             count - 1);
  return fromBytes(memory.take_front(count * kInstructionBytes));
}
