// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The board around a design, for vendors' build files.
#pragma once

#include "rhizome/Vendor/Vendor.h"

namespace rhizome::pipeline {
/// The board of a plan of one device, none if null, with the sources around the
/// design, where a vendor's tool needs them: nextpnr's are written when it runs.
/// A note says why there are none for a board.
llvm::Expected<std::optional<vendor::BoardProject>>
boardProjectOf(const Plan &plan, const PlannedNode &node, const Device &device,
               const Board *board, std::vector<std::string> &notes);
} // namespace rhizome::pipeline
