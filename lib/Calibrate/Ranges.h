// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From observed values to scale and zero point.
#pragma once

#include "rhizome/Calibrate/Calibrate.h"
#include "rhizome/Transforms/Placement.h"

namespace rhizome::calibrate {
/// The observations of one tensor.
struct Observed {
  double low = 0, high = 0;   ///< including zero
  std::vector<float> samples; ///< ascending
  std::vector<float> largest; ///< magnitude of every channel (last axis)
};

/// The format of a tensor with `bits`. Unless `exact`, the scale has few bits,
/// so that sums of tensors stay small.
AffineFormat chooseRange(const Observed &seen, unsigned bits,
                         const Options &options, bool exact);

/// Symmetric scales with least squared error, one for each row.
AffineFormat chooseWeights(const std::vector<float> &weights, int64_t rows,
                           unsigned bits, const Options &options);
} // namespace rhizome::calibrate
