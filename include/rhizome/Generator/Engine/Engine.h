// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `engine` generator: a run of operations as a program of a core
// (rhizome/Engine), whose weights lie in a memory.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/Generator/UnitModel.h"

namespace rhizome::gen {
std::unique_ptr<Generator> makeEngineGenerator();
/// The model of its unit.
std::unique_ptr<UnitModel> makeEngineUnit();
} // namespace rhizome::gen
