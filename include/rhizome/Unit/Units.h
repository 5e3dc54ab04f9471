// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of each unit kind of rtl/units as a struct, as
// returned by Instance::as<unit::Window>().
#pragma once

#include "rhizome/Unit/Unit.h"

namespace rhizome::unit {
#include "rhizome/Unit/Units.h.inc"
} // namespace rhizome::unit
