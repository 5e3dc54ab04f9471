// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user's pins name: operations of a network, and options among what
// generators offer for them. The words of a key are its generator's: what an
// option needs of a device is told by the offer that has the key.
#pragma once

#include "Split.h"
#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// Whether a pin names the operation `at` of a network's.
bool pins(const Steering::Pin &pin, llvm::ArrayRef<OperationId> ids, size_t at);
/// The most specific pin for that operation, null if there is none.
const Steering::Pin *pinFor(const Steering &steering,
                            llvm::ArrayRef<OperationId> ids, size_t at);
/// Whether a pin names this offer.
bool isAsked(const Steering::Pin &pin, const gen::Offer &offer);
/// Whether a device with an off-chip memory would be offered the pinned option,
/// with weights that come from there.
bool needsMemory(const Steering::Pin &pin, mlir::Operation *op,
                 gen::DeviceContext device);
/// The prices at which the options and homes that a user names are offered.
MemoryPrices pricesFor(mlir::func::FuncOp network, const Cluster &cluster,
                       const Steering &steering);
} // namespace rhizome::explore
