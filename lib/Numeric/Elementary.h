// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// e^x and log x to about 190 bits, from which one rounding gives a result
// within one unit in the last place of every format.
#pragma once

#include "Exact.h"

namespace rhizome::numeric {
Exact<8> exponential(const Exact<8> &x);
Exact<8> logarithm(const Exact<8> &x);
} // namespace rhizome::numeric
