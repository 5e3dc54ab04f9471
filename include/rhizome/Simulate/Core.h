// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A core's program as a package holds it, carried out without hardware.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Support/Tensor.h"
#include "rhizome/Unit/Units.h"

namespace rhizome {
/// A node whose hardware is one core between two borders.
struct PlannedCore {
  const PlannedNode *node;
  unit::Engine unit;
  int64_t rowIn, rowOut; ///< elements of the borders' rows
};

/// The core that is all of a plan's hardware, or what there is instead: "has
/// no core that carries out programs".
llvm::Expected<PlannedCore> coreOf(const Plan &plan);

/// The outputs of these frames ([frame][input], with the plan's shapes and
/// ranges) by the program in the package's segments. What the verifier refuses
/// is an error.
llvm::Expected<std::vector<std::vector<Tensor>>>
runCore(const Package &package, const PlannedCore &core,
        const std::vector<std::vector<Tensor>> &frames);
} // namespace rhizome
