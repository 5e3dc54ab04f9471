// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Least squares for cost models.
#pragma once

#include <vector>

namespace rhizome::characterize {
/// Non-negative coefficients with which the rows' sums approximate their
/// targets. Deviations are relative to `scale`; large ones are weighted less
/// than by their square so that few outliers do not dominate. A coefficient is
/// pulled towards the value in `towards` with the weight in `pull`.
std::vector<double> fitNonNegative(const std::vector<std::vector<double>> &rows,
                                   const std::vector<double> &targets,
                                   const std::vector<double> &scale,
                                   const std::vector<double> &pull,
                                   const std::vector<double> &towards);
} // namespace rhizome::characterize
