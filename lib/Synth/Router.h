// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the tools used after synthesis.
#pragma once

#include "llvm/Support/Error.h"
#include <string>

namespace rhizome::synth {
/// The path of nextpnr-ice40, nextpnr-ecp5, icepack, ecppack and the like: in
/// PATH, or installed there or in .venv by the Python packages of YoWASP; an
/// error says how to install it.
llvm::Expected<std::string> findRouterTool(llvm::StringRef program);
} // namespace rhizome::synth
