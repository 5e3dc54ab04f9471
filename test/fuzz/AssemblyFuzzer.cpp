// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of an engine as text.
#include "ProgramTarget.h"

using namespace rhizome;

RHIZOME_FUZZ_TARGET(assembly, text) {
  auto program = engine::parse(text);
  if (fuzz::isRefused(program ? llvm::Error::success() : program.takeError()))
    return;
  auto parsed = engine::parse(engine::print(*program));
  fuzz::require(bool(parsed));
  fuzz::require(*parsed == *program);
  fuzz::checkProgram(std::move(*program));
}
