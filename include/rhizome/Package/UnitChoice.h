// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel.choice`: all that was decided about how a kernel's unit
// is put together, by a user or by the search. A plan that is built again is
// built from this alone. In a request `words` 0 stands for one, or for what
// serves the goal, and empty `borders` for as many as its memories' banks
// allow. Kernel.td describes it.
#pragma once

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
#include "rhizome/Package/UnitChoice.h.inc"
} // namespace rhizome
