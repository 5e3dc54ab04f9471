// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of an engine as they lie in a memory.
#include "ProgramTarget.h"

using namespace rhizome;

RHIZOME_FUZZ_TARGET(program, bytes) {
  const llvm::ArrayRef<uint8_t> memory(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  auto program = engine::fromMemory(memory);
  if (fuzz::isRefused(program ? llvm::Error::success() : program.takeError()))
    return;
  const auto again = engine::toBytes(*program);
  fuzz::require(llvm::ArrayRef(again) == memory.take_front(again.size()));
  auto parsed = engine::parse(engine::print(*program));
  fuzz::require(bool(parsed));
  fuzz::require(*parsed == *program);
  fuzz::checkProgram(std::move(*program));
}
