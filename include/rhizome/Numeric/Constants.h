// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of functions at given points, to more bits than any format has: what
// tables in hardware are made of.
#pragma once

#include <array>
#include <cstdint>

namespace rhizome::numeric {
/// e^x · 2^fraction and |log x| · 2^fraction for x = n / 2^scale, where n is
/// not zero, rounded to an integer; words from the lowest. Right to half a unit
/// and 2^-180.
std::array<uint64_t, 4> scaledExp(uint64_t n, int scale, int fraction);
std::array<uint64_t, 4> scaledLog(uint64_t n, int scale, int fraction);
} // namespace rhizome::numeric
