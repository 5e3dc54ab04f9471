// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Ranges.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::calibrate;

/// Rounds up to the next number with seven significant bits.
static float coarse(double scale) {
  int exponent;
  double mantissa = std::frexp(scale, &exponent);
  return float(std::ldexp(std::ceil(mantissa * 128) / 128, exponent));
}

static AffineFormat formatOf(double low, double high, unsigned bits,
                             bool exact) {
  int64_t levels = (int64_t(1) << bits) - 1;
  if (!(high > low))
    high = low + 1;
  auto scaleOf = [&](double range, int64_t codes) {
    double scale = std::max(range / double(codes), 1e-30);
    return exact ? float(scale) : coarse(scale);
  };
  if (low >= 0)
    return {0, levels, {scaleOf(high, levels)}, {0}, -1};
  // Signed codes; the zero point is used only where it is worthwhile.
  int64_t end = int64_t(1) << (bits - 1);
  double reach = std::max(-low, high);
  float scale = scaleOf(high - low, levels);
  int64_t zero = -end - std::llround(low / double(scale));
  zero = std::clamp<int64_t>(zero, -end, end - 1);
  if (double(scaleOf(reach, end - 1)) < double(scale) * 1.07)
    return {-end, end - 1, {scaleOf(reach, end - 1)}, {0}, -1};
  return {-end, end - 1, {scale}, {int32_t(zero)}, -1};
}

static double squaredError(const std::vector<float> &samples,
                           const AffineFormat &format) {
  double sum = 0, scale = format.scale[0], zero = format.zero[0];
  for (float x : samples) {
    double q = std::nearbyint(x / scale) + zero;
    q = std::clamp(q, double(format.lo), double(format.hi));
    double e = x - (q - zero) * scale;
    sum += e * e;
  }
  return sum;
}

AffineFormat calibrate::chooseRange(const Observed &seen, unsigned bits,
                                    const Options &options, bool exact) {
  double low = seen.low, high = seen.high;
  const auto &sorted = seen.samples;
  if (options.method == Method::Percentile && !sorted.empty()) {
    double cut = (100 - options.percentile) / 100 * double(sorted.size() - 1);
    low = std::min(0.0, double(sorted[size_t(cut)]));
    high = std::max(0.0, double(sorted[sorted.size() - 1 - size_t(cut)]));
  }
  AffineFormat best = formatOf(low, high, bits, exact);
  if (options.method != Method::MeanSquare)
    return best;
  double least = squaredError(sorted, best);
  for (int step = 1; step < 40 && least > 0; ++step) {
    double share = 1 - 0.02 * step;
    AffineFormat next = formatOf(low * share, high * share, bits, exact);
    if (double error = squaredError(sorted, next); error < least) {
      least = error;
      best = next;
    }
  }
  return best;
}

AffineFormat calibrate::chooseWeights(const std::vector<float> &weights,
                                      int64_t rows, unsigned bits,
                                      const Options &options) {
  int64_t end = int64_t(1) << (bits - 1), row = int64_t(weights.size()) / rows;
  // One bit: only the signs. More: symmetric codes.
  AffineFormat format{-(end - 1), end - 1, {}, {}, 0};
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<float> values(weights.begin() + r * row,
                              weights.begin() + (r + 1) * row);
    float reach = 0;
    for (float w : values)
      reach = std::max(reach, std::fabs(w));
    float scale = reach > 0 ? reach / float(end - 1) : 1.0f, best = scale;
    if (options.method == Method::MeanSquare && reach > 0) {
      double least = -1;
      for (int step = 0; step < 40; ++step) {
        float tried = scale * float(1 - 0.02 * step);
        double error =
            squaredError(values, {format.lo, format.hi, {tried}, {0}, -1});
        if (least < 0 || error < least) {
          least = error;
          best = tried;
        }
      }
    }
    format.scale.push_back(std::max(best, 1e-30f));
    format.zero.push_back(0);
  }
  return format;
}
