// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random actors of a cell, within what the generators offer.
#pragma once

#include "rhizome/Generator/Generator.h"
#include <random>

namespace rhizome::pipeline {
/// One actor of the unit, its buffer sized and its memories placed; the images
/// that it names are added. Actors are small: synthesis takes seconds.
gen::Actor sampleActor(const std::string &unit, const std::string &name,
                       std::mt19937_64 &random,
                       const gen::DeviceContext &device,
                       gen::MemoryImages &images);
} // namespace rhizome::pipeline
