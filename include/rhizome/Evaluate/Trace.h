// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of a network, layer by layer, or of a kernel, nest by nest, on
// data: without rounding, and in the arithmetic that the hardware equals bit
// for bit. What does not fit there, by how much that harms the outputs, and
// which format would hold it.
#pragma once

#include "rhizome/Model/Request.h"
#include "rhizome/Numeric/Format.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Support/Result.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>

namespace rhizome::evaluate {
/// The least share of saturated values that is told; of values that wrap, any.
constexpr double kToldShare = 0.001;

/// Of the values of a tensor, over all frames.
struct Spread {
  int64_t count = 0;
  double low = 0, high = 0;
  double squares = 0; ///< their sum

  void add(double value);
  double rms() const;
};

/// How many values have which magnitude.
struct Octaves {
  static constexpr int kFirst = -40, kCount = 72;
  /// [i]: 2^(kFirst + i) ≤ |value| < 2^(kFirst + i + 1); those beyond either
  /// end are in the first and last.
  std::array<int64_t, kCount> counts{};
  int64_t zeros = 0;

  void add(double value);
  int64_t total() const;
  /// The least n such that at most this share of the values is 2^n or larger.
  int bitsFor(double share) const;
};

/// How far values are from those that are wanted.
struct Noise {
  double signal = 0, noise = 0; ///< sums of squares

  void add(double want, double got);
  /// The ratio of both in dB; nothing without a signal, or with infinite noise.
  std::optional<double> decibels() const;
};

/// Where a network rounds: an input, or the end of a layer. Of a kernel: an
/// input, or a nest.
struct TracedLayer {
  std::string name, op;
  std::vector<int64_t> shape;
  bool isInput = false; ///< the host rounds here, before the FPGA
  // Its codes.
  int64_t lo = 0, hi = 0, zero = 0;
  double scale = 1; ///< the largest, if each channel has its own
  bool perChannel = false;
  double lowest = 0, highest = 0; ///< the reals of the first and the last code
  /// "fixed<1,7>", or "ufixed<…>" without a sign; "" if the scale is no power
  /// of two.
  std::string format;
  /// Of a kernel. A float has no `lo`, `hi` and `zero`; its `scale` is the
  /// smallest positive number.
  std::optional<numeric::Format> number;
  bool wraps = false; ///< what lies beyond wraps, or is infinite
  /// The values that it rounds: of the network without rounding if there is
  /// one with a layer of that name, otherwise of the integer model before it
  /// rounds, if it has them.
  std::optional<Spread> real;
  bool isExact = false; ///< `real` is of the network without rounding
  Octaves octaves;      ///< of `real`
  Octaves operands;     ///< of what a nest reads, which its format must hold
  Spread integer;       ///< the reals of the codes
  /// Values of the integer model, and how many lie beyond its codes; of
  /// thresholds and tables, which have none, those of `real`.
  int64_t values = 0, below = 0, above = 0;
  /// The integer model against the network without rounding, in dB, and how
  /// much less that is than before this layer.
  std::optional<double> snr, lost;

  enum class Finding {
    None,
    Saturated, ///< more than kToldShare of the values
    Unused,    ///< two integer bits or more, on these data
  };
  Finding finding = Finding::None;
  std::string reason, remedy;
  /// A format in as many bits, and one with the same steps; "" if there is none
  /// to name.
  std::string better, wider;
  /// dB that the outputs gain if only this layer does not saturate.
  std::optional<double> gain;

  double saturated() const {
    return values ? double(below + above) / double(values) : 0;
  }
  unsigned bits() const;
};

struct TracedOutput {
  std::string name;
  Spread integer;
  std::optional<Spread> real;
  std::optional<double> snr;
};

struct TraceRequest {
  /// Its path may be a package. What is computed for a layer as for a model
  /// file needs that, too: for a package `original` names it, "" for none.
  model::ModelRequest model;
  std::string original;
  bool acceptChanges = false, trust = false; ///< as for evaluate
  model::DataRequest data;                   ///< "": a package's golden vectors
  int64_t frames = 20;                       ///< the first ones, at most
  model::Progress progress;
};

struct TraceResult {
  std::string model;
  bool isKernel = false; ///< its layers are inputs and nests
  std::string data;      ///< what the frames are of, in words
  int64_t frames = 0;
  std::vector<TracedLayer> layers; ///< in order
  std::vector<TracedOutput> outputs;
  /// Frames in which the first output has its largest value at the same place
  /// as that of the network without rounding; -1 without one.
  int64_t sameClass = -1;
  /// dB at the outputs if no layer saturated, where one does.
  std::optional<double> snrWithout;
  std::string worst; ///< the layer that is first to be mended, "" if none
  std::vector<std::string> notes;
};
/// Runs the frames through both networks. For a package the result is kept as
/// results/trace.json, which the report shows.
Result<TraceResult> traceModel(const TraceRequest &request);

/// {"frames":…,"layers":[…],…}: docs/howto/look-inside.md describes it.
llvm::json::Object toJson(const TraceResult &result);
} // namespace rhizome::evaluate
