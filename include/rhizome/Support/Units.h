// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantities as text for people, in a unit that fits the value.
#pragma once

#include <string>

namespace rhizome {
/// A time in ns, us, ms or s with three significant digits: "105 ns",
/// "1.05 us", "252 ms".
std::string durationText(double seconds);

/// A rate with separators: a whole number from 1000, below it three significant
/// digits without zeros at their end. Halves are rounded up. The report
/// (10-basics.js) and Python (plan.py) do the same.
std::string rateText(double perSecond);
} // namespace rhizome
