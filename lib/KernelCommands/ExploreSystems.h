// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The systems of a kernel in one number format.
#pragma once

#include "HardwareParts.h"
#include "rhizome/KernelCommands/Systems.h"

namespace rhizome::kernelcommands {
/// All points in the format of the request's options, without an order, and
/// without a front.
Result<SystemResult> systemsOf(const HardwareRequest &request,
                               const planbuild::Targets &targets);
} // namespace rhizome::kernelcommands
