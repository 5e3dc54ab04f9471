// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package's golden vectors: a few frames of the model's inputs, drawn from a
// fixed seed, and the interpreter's results for them at compile time.
//   model/golden/input<k>.npy, output<k>.npy   [frame, shape…]
#pragma once

#include "rhizome/Model/Frames.h"
#include "rhizome/Package/Package.h"

namespace rhizome::model {
/// The number of frames that are cheap to compute: four of a small network, one
/// of a larger one, none if a frame takes the interpreter more than a moment.
int64_t goldenFrames(mlir::ModuleOp model);

/// Writes this many frames for the model that the package already contains.
/// Reals are drawn from the range of the plan's border.
llvm::Error writeGolden(PackageWriter &writer, const Plan &plan,
                        int64_t frames);

struct Golden {
  Frames inputs, outputs;
};
/// Nothing if the package has none.
llvm::Expected<std::optional<Golden>> readGolden(const Package &package,
                                                 const HostModel &model);
} // namespace rhizome::model
