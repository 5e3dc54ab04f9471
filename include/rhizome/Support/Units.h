// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantities as text for people, in a unit that fits the value.
#pragma once

#include <string>

namespace rhizome {
/// A time in ns, us, ms or s with three significant digits: "105 ns",
/// "1.05 us", "252 ms".
std::string durationText(double seconds);
} // namespace rhizome
