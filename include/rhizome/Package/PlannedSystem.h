// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel.system`: how the unit of a kernel is connected to
// off-chip memory and to a host. Programs on the host and the connectivity of
// vendors' tools follow from it. Kernel.td describes it.
#pragma once

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
#include "rhizome/Package/PlannedSystem.h.inc"

/// Register offset of the address of port `index`. The registers are those of
/// Vitis' protocol ap_ctrl_hs: control at 0x00, interrupts at 0x04, 0x08, 0x0c,
/// then the arguments.
constexpr int64_t addressOffset(int64_t index) { return 0x10 + 12 * index; }
} // namespace rhizome
