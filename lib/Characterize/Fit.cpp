// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Non-negative least squares by active sets (Lawson and Hanson), reweighted.
#include "Fit.h"
#include <Eigen/Dense>
#include <cmath>

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {
VectorXd nonNegative(const MatrixXd &a, const VectorXd &b) {
  const Eigen::Index n = a.cols();
  VectorXd x = VectorXd::Zero(n);
  std::vector<Eigen::Index> active;
  for (Eigen::Index round = 0; round < 4 * n; ++round) {
    VectorXd gradient = a.transpose() * (b - a * x);
    Eigen::Index best = -1;
    for (Eigen::Index j = 0; j < n; ++j)
      if (std::find(active.begin(), active.end(), j) == active.end() &&
          gradient[j] > 1e-9 && (best < 0 || gradient[j] > gradient[best]))
        best = j;
    if (best < 0)
      break;
    active.push_back(best);
    while (!active.empty()) {
      MatrixXd part(a.rows(), active.size());
      for (size_t k = 0; k < active.size(); ++k)
        part.col(Eigen::Index(k)) = a.col(active[k]);
      VectorXd s = part.colPivHouseholderQr().solve(b);
      double step = 1;
      for (size_t k = 0; k < active.size(); ++k)
        if (s[Eigen::Index(k)] <= 0) {
          double from = x[active[k]];
          step = std::min(step, from / (from - s[Eigen::Index(k)] + 1e-300));
        }
      for (size_t k = 0; k < active.size(); ++k)
        x[active[k]] += step * (s[Eigen::Index(k)] - x[active[k]]);
      if (step >= 1)
        break;
      std::erase_if(active, [&](Eigen::Index j) {
        if (x[j] > 1e-12)
          return false;
        x[j] = 0;
        return true;
      });
    }
  }
  return x;
}
} // namespace

std::vector<double> rhizome::characterize::fitNonNegative(
    const std::vector<std::vector<double>> &rows,
    const std::vector<double> &targets, const std::vector<double> &scale,
    const std::vector<double> &pull, const std::vector<double> &towards) {
  const Eigen::Index m = Eigen::Index(rows.size());
  const Eigen::Index n = Eigen::Index(rows.empty() ? 0 : rows.front().size());
  MatrixXd a(m, n);
  VectorXd b(m), weight(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    double w = 1 / scale[size_t(i)];
    for (Eigen::Index j = 0; j < n; ++j)
      a(i, j) = rows[size_t(i)][size_t(j)] * w;
    b[i] = targets[size_t(i)] * w;
    weight[i] = 1;
  }
  // A term that hardly varies must not harm the conditioning.
  VectorXd x = VectorXd::Zero(n);
  for (int round = 0; round < 8; ++round) {
    MatrixXd rowsOf = MatrixXd::Zero(m + n, n);
    VectorXd goals = VectorXd::Zero(m + n);
    for (Eigen::Index i = 0; i < m; ++i) {
      rowsOf.row(i) = weight[i] * a.row(i);
      goals[i] = weight[i] * b[i];
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      rowsOf(m + j, j) =
          std::max(pull[size_t(j)], 1e-4 * std::max(1e-9, a.col(j).norm()));
      goals[m + j] = pull[size_t(j)] * towards[size_t(j)];
    }
    x = nonNegative(rowsOf, goals);
    VectorXd off = (a * x - b).cwiseAbs();
    for (Eigen::Index i = 0; i < m; ++i)
      weight[i] = 1 / std::sqrt(std::max(off[i], 0.03));
  }
  return {x.data(), x.data() + n};
}
