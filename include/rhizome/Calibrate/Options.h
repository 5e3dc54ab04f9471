// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options and the report of post-training
// quantization.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::calibrate {
/// How a range is chosen from observed values: all of them, all but a share at
/// the ends, or the range with the least squared rounding error.
enum class Method { MinMax, Percentile, MeanSquare };

/// Widths of a layer's weights and of the tensor that it produces.
struct Bits {
  unsigned weights = 8, activations = 8;
  bool operator==(const Bits &) const = default;
};

struct Options {
  Method method = Method::MeanSquare;
  double percentile = 99.9; ///< of Method::Percentile
  Bits bits;
  std::map<std::string, Bits> layers; ///< that differ, by node or input name
  /// Widths are lowered as long as at most this many percent of the frames
  /// change their class.
  std::optional<double> maxLoss;
  /// Likewise, as long as every output keeps this signal-to-noise ratio, in dB.
  std::optional<double> minSnr;
  /// Report::narrowings is wanted.
  bool measuresNarrowings = false;
};

/// One tensor that is rounded, or the last layer, which is not.
struct Layer {
  std::string name, op;
  unsigned weightBits = 0;     ///< 0: it has none
  unsigned activationBits = 0; ///< 0: its result stays exact
  double low = 0, high = 0;    ///< observed
  double scale = 0;
  int64_t zeroPoint = 0;
  double snr = 0; ///< dB, quantized network against float, here
  /// Share of the observed values that are beyond the codes and saturate.
  double saturated = 0;
};

/// One width, one bit less while all others keep the reals.
struct Narrowing {
  std::string layer;
  bool weights = false; ///< or activations
  unsigned to = 0;      ///< bits
  double noise = 0;     ///< added at the worst output, relative to the signal
};

struct Report {
  std::string method;
  int64_t frames = 0;
  std::vector<Layer> layers;
  double snr = 0;       ///< dB, at the worst output
  double agreement = 1; ///< share of frames with the float network's class
  /// Pairs of layers whose channels were equalized, and `snr` without that.
  int64_t equalized = 0;
  double snrPlain = 0;
  /// If asked for: of every layer whose widths are open, bit by bit down from
  /// the widths of the options.
  std::vector<Narrowing> narrowings;
};
} // namespace rhizome::calibrate
