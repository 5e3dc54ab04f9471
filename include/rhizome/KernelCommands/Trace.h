// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace of a kernel: its tensors on data, nest by nest, in reals and in its
// number formats.
#pragma once

#include "rhizome/Evaluate/Trace.h"
#include "rhizome/KernelCommands/Hardware.h"

namespace rhizome::kernelcommands {
/// The path is a kernel, a folder of a compiled one, or a package, whose result
/// is kept as results/trace.json. Refuses a kernel without number formats: it
/// does not round. `frames` is at most so many elements.
Result<evaluate::TraceResult> traceKernel(const HardwareRunRequest &request);
} // namespace rhizome::kernelcommands
