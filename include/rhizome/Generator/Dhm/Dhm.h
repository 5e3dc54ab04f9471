// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `dhm` generator: direct hardware mapping. Every weight is part of a
// circuit, and all results of a pixel are computed at once.
#pragma once

#include "rhizome/Generator/Generator.h"

namespace rhizome::gen {
std::unique_ptr<Generator> makeDhmGenerator();
} // namespace rhizome::gen
