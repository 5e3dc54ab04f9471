// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the integer model and the network without rounding part.
#pragma once

#include "Frames.h"
#include "rhizome/Dialect/Osa/Osa.h"

namespace rhizome::pipeline {
class SaturationCounter;

/// `real` is what the integer model was made of. The network without rounding
/// is that without its quantisers if they follow from calibration, else with
/// clips in their place, as far as they have one scale. `saturation` watches
/// the integer network's runs.
llvm::Expected<std::vector<EvaluateResult::Layer>>
layerNoise(mlir::ModuleOp real, bool calibrated, const HostModel &model,
           const Frames &given, const Frames &integers, const Frames &carried,
           SaturationCounter &saturation);

/// The zero points of a quantizer, one or one per channel.
std::vector<int64_t> zeroPoints(osa::QuantizeOp quantize);
} // namespace rhizome::pipeline
