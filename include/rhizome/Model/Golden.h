// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package's golden vectors: a few frames of the model's inputs, the first
// ones of the user's data or drawn from a fixed seed, and what the interpreter
// made of them when it was compiled.
//   model/golden/input<k>.npy, output<k>.npy   [frame, shape…]
//   model/golden/source.json                   {"from":…,"files":[…]}
#pragma once

#include "rhizome/Model/Frames.h"
#include "rhizome/Package/Package.h"

namespace rhizome::model {
/// Frames that cost a compile little: four of a small network, one of a larger
/// one, none where a frame takes the interpreter more than a moment.
int64_t goldenFrames(mlir::ModuleOp model);

/// The same frames at the FPGA's ports; empty if there are none.
struct GoldenCodes {
  Frames inputs, outputs;
};

/// Writes so many frames for the model that the package holds already, the
/// first ones of `samples`; fewer if these have fewer. Without samples reals
/// are drawn from what the plan's border takes.
llvm::Expected<GoldenCodes> writeGolden(PackageWriter &writer, const Plan &plan,
                                        int64_t frames, const Samples &samples);

struct Golden {
  std::string from; ///< "input", "calibration", or "seed": they are drawn
  Frames inputs, outputs;
};
/// Nothing if the package has none.
llvm::Expected<std::optional<Golden>> readGolden(const Package &package,
                                                 const HostModel &model);
} // namespace rhizome::model
