// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the integer model deviates from the network without rounding.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Model/Frames.h"

namespace rhizome::evaluate {
class SaturationCounter;

/// `real` is the network from which the integer model was made. The network
/// without rounding is that without its quantizers if they come from
/// calibration, otherwise with clips in their place, as far as they have one
/// scale. `saturation` observes the integer network's runs.
llvm::Expected<std::vector<EvaluateResult::Layer>>
layerNoise(mlir::ModuleOp real, bool calibrated, const model::HostModel &model,
           const model::Frames &given, SaturationCounter &saturation);

/// The scale and zero point of a quantizer for each element of a tensor
/// of this shape.
class ElementScales {
public:
  ElementScales(osa::QuantizeOp quantize, llvm::ArrayRef<int64_t> shape);
  float scale(size_t element) const { return scales[place(element, scales)]; }
  int64_t zero(size_t element) const { return zeros[place(element, zeros)]; }

private:
  std::vector<float> scales;
  std::vector<int64_t> zeros; ///< each one, or one per channel
  size_t inner = 1;           ///< elements from one channel to the next

  template <class T>
  size_t place(size_t element, const std::vector<T> &values) const {
    return values.size() == 1 ? 0 : element / inner % values.size();
  }
};
} // namespace rhizome::evaluate
