// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package's golden vectors: a few frames of the model's inputs, drawn from a
// fixed seed, and what the interpreter made of them when it was compiled.
//   model/golden/input<k>.npy, output<k>.npy   [frame, shape…]
#pragma once

#include "rhizome/Model/Frames.h"
#include "rhizome/Package/Package.h"

namespace rhizome::model {
/// Frames that cost a compile little: four of a small network, one of a larger
/// one, none where a frame takes the interpreter more than a moment.
int64_t goldenFrames(mlir::ModuleOp model);

/// Writes so many frames for the model that the package holds already. Reals
/// are drawn from what the plan's border takes.
llvm::Error writeGolden(PackageWriter &writer, const Plan &plan,
                        int64_t frames);

struct Golden {
  Frames inputs, outputs;
};
/// Nothing if the package has none.
llvm::Expected<std::optional<Golden>> readGolden(const Package &package,
                                                 const HostModel &model);
} // namespace rhizome::model
