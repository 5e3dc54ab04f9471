// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RTL is code: simulators execute it on the user's machine.
#pragma once

#include "llvm/Support/Error.h"

namespace rhizome {
/// Refuses SystemVerilog that does more than compute and print: system
/// tasks other than those of a design and its assertions ($system, $fopen, $c),
/// imported C (DPI), directives that read other files; and what tools split
/// into words and lines in different ways, so that each would see other
/// text. `name` is the file's.
llvm::Error checkRtl(llvm::StringRef name, llvm::StringRef text);
} // namespace rhizome
