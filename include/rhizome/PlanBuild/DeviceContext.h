// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device of the data files in the form used by generators and their costs.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/Target/Device.h"

namespace rhizome::planbuild {
/// The parameters of costs: the device's blocks, and its family's model.
llvm::Expected<gen::CostContext> costContextOf(const Device &device);

/// The properties of a device for generators, at this clock.
llvm::Expected<gen::DeviceContext> contextOf(const Device &device,
                                             double clockMhz);

/// The off-chip memories that designs of a device can read at this clock. The
/// ports of a memory that processors share with a design are its banks.
std::vector<gen::Memory> memoriesOf(const Device &device, double clockMhz);
} // namespace rhizome::planbuild
