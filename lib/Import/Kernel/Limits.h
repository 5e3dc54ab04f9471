// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large a kernel may be, written in the language or as a module.
#pragma once

#include <cstddef>

namespace rhizome::kernel {
/// A caller passes as many arrays; LLVM's time grows faster than their number.
inline constexpr size_t kMostArguments = 256;
} // namespace rhizome::kernel
