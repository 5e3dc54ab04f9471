// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tools behind synthesis are found.
#pragma once

#include "llvm/Support/Error.h"
#include <string>

namespace rhizome::synth {
/// The path of nextpnr-ice40, nextpnr-ecp5, icepack, ecppack and the like: of
/// PATH, or what the Python packages of YoWASP bring there or into .venv; an
/// error says what would bring it.
llvm::Expected<std::string> findRouterTool(llvm::StringRef program);
} // namespace rhizome::synth
