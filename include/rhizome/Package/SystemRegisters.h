// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of a system that follow from others.
#pragma once

#include <cstdint>

namespace rhizome {
/// Offset of the ports' errors: bit n % 32 of word n / 32 is set when the
/// memory answers port n with an error, until it is read. `elements` is that of
/// the number of elements.
constexpr int64_t errorsOffset(int64_t elements) { return elements + 4; }
} // namespace rhizome
