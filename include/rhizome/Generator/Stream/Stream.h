// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `stream` generator: folded streaming units. Sliding window +
// matrix-vector unit with PE × SIMD × pixels lanes, per-lane reductions,
// elementwise units.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/Generator/UnitModel.h"

namespace rhizome::gen {
std::unique_ptr<Generator> makeStreamGenerator();
/// The models of the units that only this generator uses.
std::vector<std::unique_ptr<UnitModel>> makeStreamUnits();
} // namespace rhizome::gen
