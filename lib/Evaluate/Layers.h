// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs frames through the integer model and the network without rounding, and
// compares their tensors where the network rounds.
#pragma once

#include "Saturation.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Evaluate/Trace.h"
#include "rhizome/Model/Frames.h"

namespace rhizome::evaluate {
/// The class that a graph's outputs name: an index if the model gives one,
/// else where the largest value of the first output stands.
int64_t classOf(const std::vector<Tensor> &outputs);

/// The network without rounding that belongs to a quantized one. If the
/// quantizers are `ours`, of calibration or of a number format, they leave
/// nothing behind. Of the file's own, those of activations with one scale
/// become the clips that they are as well.
mlir::OwningOpRef<mlir::ModuleOp> withoutRounding(mlir::ModuleOp quantized,
                                                  bool ours);

struct LayerTrace {
  std::vector<TracedLayer> layers;
  std::vector<TracedOutput> outputs;
  int64_t sameClass = -1;
  model::Frames exactOutputs; ///< [frame][output], without `exact` empty
};
/// `exact` is the network without rounding, null if there is none; tensors are
/// matched by names. `saturation` observes the integer model's runs.
llvm::Expected<LayerTrace> traceLayers(const model::HostModel &model,
                                       mlir::ModuleOp exact,
                                       const model::Frames &given,
                                       SaturationCounter &saturation);

/// dB at the outputs of a quantized network on reals, against `exact` results,
/// if the quantizers of these names do not saturate; nothing if it lacks one.
llvm::Expected<std::optional<double>>
snrWithoutSaturation(mlir::ModuleOp quantized,
                     llvm::ArrayRef<std::string> names,
                     const model::Frames &given, const model::Frames &exact);

/// The scale and zero point of a quantizer for each element of a tensor
/// of this shape.
class ElementScales {
public:
  ElementScales(osa::QuantizeOp quantize, llvm::ArrayRef<int64_t> shape);
  /// One of each, or one per channel, in a tensor with channels last.
  ElementScales(std::vector<float> scales, std::vector<int64_t> zeros)
      : scales(std::move(scales)), zeros(std::move(zeros)) {}
  float scale(size_t element) const { return scales[place(element, scales)]; }
  int64_t zero(size_t element) const { return zeros[place(element, zeros)]; }
  /// The reals of codes.
  std::vector<float> reals(const Tensor &codes) const;
  const std::vector<float> &allScales() const { return scales; }
  const std::vector<int64_t> &allZeros() const { return zeros; }

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
