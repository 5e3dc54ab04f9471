// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Least squares for cost models.
#pragma once

#include <vector>

namespace rhizome::characterize {
/// Coefficients, none negative, with which the rows' sums come near their
/// targets. Deviations count relative to `scale`, large ones less than by their
/// square so that few odd rows do not pull at all others. A coefficient is
/// pulled to what `towards` says with the weight that `pull` gives it.
std::vector<double> fitNonNegative(const std::vector<std::vector<double>> &rows,
                                   const std::vector<double> &targets,
                                   const std::vector<double> &scale,
                                   const std::vector<double> &pull,
                                   const std::vector<double> &towards);
} // namespace rhizome::characterize
