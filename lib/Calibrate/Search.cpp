// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Widths for a bound. The noise at the output caused by lowering one width
// alone is measured; noise adds up, so the widths are lowered in the order of
// noise per saved work, and bisection finds how far along the bound holds.
#include "ObservedModel.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::calibrate;

std::string calibrate::missedBound(const Quality &quality,
                                   const Options &options) {
  if (options.maxLoss && (1 - quality.agreement) * 100 > *options.maxLoss)
    return llvm::formatv("{0:f2} % of the frames change their class, {1:f2} % "
                         "are allowed",
                         (1 - quality.agreement) * 100, *options.maxLoss);
  if (options.minSnr && quality.outputSnr < *options.minSnr)
    return llvm::formatv("the output has a signal-to-noise ratio of {0:f1} dB, "
                         "{1:f1} dB are asked for",
                         quality.outputSnr, *options.minSnr);
  return "";
}

namespace {
constexpr unsigned kLeast = 2;
/// Noise is estimated well from few frames; the bound is checked on all.
constexpr size_t kSensitivityFrames = 40;

/// One width of one row, lowered by one bit.
struct Move {
  size_t row;
  bool weights;
  unsigned to;
  double price; ///< noise added per saved work
};
} // namespace

llvm::Expected<std::vector<RowNarrowing>>
calibrate::measureNarrowings(ObservedModel &network, const Config &config,
                             const Options &options, const Progress &progress) {
  const auto &rows = network.rows();
  auto fixed = [&](const Row &row) { return options.layers.count(row.name); };
  std::vector<RowNarrowing> steps;
  size_t done = 0, all = 0;
  for (size_t r = 0; r < rows.size(); ++r)
    if (!fixed(rows[r]))
      all += (rows[r].weights ? config[r].weights - kLeast : 0) +
             (rows[r].point ? config[r].activations - kLeast : 0);
  for (size_t r = 0; r < rows.size(); ++r)
    for (bool weights : {true, false}) {
      if (fixed(rows[r]) || !(weights ? rows[r].weights : rows[r].point))
        continue;
      double before = -1;
      unsigned width = weights ? config[r].weights : config[r].activations;
      for (unsigned bits = width; bits >= kLeast; --bits) {
        if (progress && bits < width)
          progress(llvm::formatv("sensitivity {0} of {1}", ++done, all).str());
        Config one(rows.size(), Bits{0, 0});
        (weights ? one[r].weights : one[r].activations) = bits;
        llvm::Expected<Quality> quality =
            network.measure(one, false, kSensitivityFrames);
        if (!quality)
          return quality.takeError();
        if (before >= 0)
          steps.push_back(
              {r, weights, bits, std::max(quality->noise - before, 0.0)});
        before = quality->noise;
      }
    }
  return steps;
}

/// The work that becomes narrower: this layer's, or its readers'.
static double workOf(const std::vector<Row> &rows, size_t row, bool weights) {
  double work = 1;
  if (weights)
    return work + double(rows[row].macs);
  for (size_t reader : rows[row].readers)
    work += double(rows[reader].macs);
  return work;
}

llvm::Expected<Config> calibrate::searchWidths(ObservedModel &network,
                                               Config config,
                                               const Options &options,
                                               const Progress &progress) {
  llvm::Expected<std::vector<RowNarrowing>> steps =
      measureNarrowings(network, config, options, progress);
  if (!steps)
    return steps.takeError();
  std::vector<Move> moves;
  for (const RowNarrowing &step : *steps) {
    double price = step.noise / workOf(network.rows(), step.row, step.weights);
    // Prices of one width only rise, so its moves stay in order.
    if (!moves.empty() && moves.back().row == step.row &&
        moves.back().weights == step.weights)
      price = std::max(price, moves.back().price);
    moves.push_back({step.row, step.weights, step.to, price});
  }
  llvm::sort(moves, [](const Move &a, const Move &b) {
    return std::tuple(a.price, a.row, a.weights, -int(a.to)) <
           std::tuple(b.price, b.row, b.weights, -int(b.to));
  });
  auto after = [&](size_t count) {
    Config result = config;
    for (size_t i = 0; i < count; ++i) {
      Bits &bits = result[moves[i].row];
      (moves[i].weights ? bits.weights : bits.activations) = moves[i].to;
    }
    return result;
  };
  size_t good = 0, bad = moves.size() + 1;
  while (bad - good > 1) {
    size_t middle = (good + bad) / 2;
    if (progress)
      progress(llvm::formatv("widths: {0} of {1} steps", middle, moves.size())
                   .str());
    llvm::Expected<Quality> quality = network.measure(after(middle));
    if (!quality)
      return quality.takeError();
    (missedBound(*quality, options).empty() ? good : bad) = middle;
  }
  return after(good);
}
