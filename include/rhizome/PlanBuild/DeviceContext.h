// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device of the data files as generators and their costs see it.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/Target/Device.h"

namespace rhizome::planbuild {
/// What costs depend on: the device's blocks, and its family's model.
llvm::Expected<gen::CostContext> costContextOf(const Device &device);

/// What generators may know of a device, at this clock.
llvm::Expected<gen::DeviceContext> contextOf(const Device &device,
                                             double clockMhz);

/// The memories outside the chip that a device's designs can read.
std::vector<gen::Memory> memoriesOf(const Device &device);
} // namespace rhizome::planbuild
