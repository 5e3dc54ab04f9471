// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of plan.json that tells how a model runs: its tasks in order, and
// the copies between host and FPGA. Plan.td describes it.
#pragma once

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
#include "rhizome/Package/PlannedTasks.h.inc"
} // namespace rhizome
