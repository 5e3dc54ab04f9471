// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that may have words in common move together.
#include "Alike.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
/// Words of a memory or the scratchpad, up to before `end`.
struct Stretch {
  Space space;
  int64_t bank, first, end;

  auto begin() const { return std::tuple(space, bank, first); }
};

bool hasWords(const Access &access) {
  return access.space == Space::Memory || access.space == Space::Scratch;
}
} // namespace

Likeness engine::likenessOf(ArrayRef<Instruction> instructions,
                            const Core &core) {
  constexpr int64_t kApart = int64_t(1) << 40;
  std::vector<std::vector<Access>> accesses(instructions.size());
  std::vector<Stretch> stretches;
  for (auto [instruction, own] : zip(instructions, accesses)) {
    infoOf(instruction.opcode).accesses(core, instruction.values.data(), own);
    for (const Access &access : own)
      if (hasWords(access))
        stretches.push_back(
            {access.space, access.bank, access.first, access.last() + 1});
  }
  llvm::sort(stretches, [](const Stretch &a, const Stretch &b) {
    return a.begin() < b.begin();
  });
  std::vector<Stretch> joined;
  for (const Stretch &next : stretches)
    if (!joined.empty() && joined.back().space == next.space &&
        joined.back().bank == next.bank && next.first < joined.back().end)
      joined.back().end = std::max(joined.back().end, next.end);
    else
      joined.push_back(next);

  std::vector<int64_t> numbers(joined.size(), -1); // in the order of their use
  int64_t used = 0;
  auto moved = [&](const Access &access) {
    const std::tuple place(access.space, access.bank, access.first);
    auto after = partition_point(
        joined, [&](const Stretch &s) { return s.begin() <= place; });
    const Stretch &stretch = *std::prev(after);
    int64_t &number = numbers[size_t(&stretch - joined.data())];
    if (number < 0)
      number = used++;
    const int64_t inBurst =
        access.space == Space::Memory ? access.first % kBurst : 0;
    return number * kApart + (access.first - stretch.first) * kBurst + inBurst;
  };
  std::vector<int64_t> key;
  for (auto [instruction, own] : zip(instructions, accesses)) {
    const InstructionInfo &info = infoOf(instruction.opcode);
    key.push_back(int64_t(instruction.opcode));
    append_range(key, paceOf(instruction));
    key.push_back(info.pushes(core, instruction.values.data()));
    key.push_back(info.pops(core, instruction.values.data()));
    for (const Access &access : own) {
      key.push_back(int64_t(access.space) << 8 | access.writes);
      key.push_back(access.bank);
      key.push_back(hasWords(access) ? moved(access) : access.first);
      for (const Loop &loop : access.loops) {
        key.push_back(loop.count);
        key.push_back(loop.stride);
      }
    }
  }
  const XXH128_hash_t hash =
      xxh3_128bits(ArrayRef(reinterpret_cast<const uint8_t *>(key.data()),
                            key.size() * sizeof(int64_t)));
  return {hash.high64, hash.low64};
}
