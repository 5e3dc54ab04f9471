// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's OpenCL face on the first device that the machine has.
#pragma once

#include "rhizome/Engine/Faces.h"
#include "rhizome/Engine/OpenCl.h"
#include <memory>

namespace rhizome::engine::test {
class OpenClFace {
public:
  OpenClFace();
  ~OpenClFace();
  /// Why there is no device, or "".
  const std::string &missing() const;
  /// Carries a program out; returns what went wrong, or "". `sent` is how many
  /// words it sends. That something was written next to what it may write goes
  /// wrong, too.
  std::string run(const Program &program, const Core &core, int64_t sent,
                  State &state, const OpenClBounds &bounds = {});

private:
  struct Device;
  std::unique_ptr<Device> device;
};
} // namespace rhizome::engine::test
