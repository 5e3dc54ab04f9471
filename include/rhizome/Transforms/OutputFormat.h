// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Number formats of a network's outputs, which may be wider than those inside.
#pragma once

#include "rhizome/Numeric/Format.h"
#include <string>

namespace rhizome {
/// Why no output of a network can have a number format, "" if it can.
std::string whyNotForOutputs(const numeric::Format &format);
} // namespace rhizome
