// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Post-training quantization from beginning to end: fold, observe, equalize
// where that helps, choose widths and ranges, insert the quantizers, and report
// the result.
#include "FloatLayers.h"
#include "ObservedModel.h"
#include "rhizome/Dialect/Osa/Osa.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::calibrate;

static Config configFor(const ObservedModel &network, const Options &options) {
  Config config;
  for (const Row &row : network.rows()) {
    auto found = options.layers.find(row.name);
    config.push_back(found == options.layers.end() ? options.bits
                                                   : found->second);
  }
  return config;
}

static llvm::Error checkNames(const ObservedModel &network,
                              const Options &options) {
  for (auto &[name, bits] : options.layers)
    if (llvm::none_of(network.rows(),
                      [&](const Row &row) { return row.name == name; })) {
      std::string known;
      for (const Row &row : network.rows())
        known += (known.empty() ? "'" : ", '") + row.name + "'";
      return llvm::createStringError("--bits names '%s', but the layers are %s",
                                     name.c_str(), known.c_str());
    }
  return llvm::Error::success();
}

/// The observed model, and the quality at the initial widths of the options.
static llvm::Expected<double> outputSnr(ObservedModel &network,
                                        const Options &options) {
  if (llvm::Error error = network.observe())
    return error;
  llvm::Expected<Quality> quality =
      network.measure(configFor(network, options));
  if (!quality)
    return quality.takeError();
  return quality->outputSnr;
}

/// Maximum number of products computed by all trials; beyond, nothing is
/// equalized.
constexpr double kMostTrialWork = 3e10;

/// Equalizes pair by pair, and keeps changes that improve the output.
static llvm::Error tryEqualizing(ModuleOp module, const Frames &frames,
                                 const Options &options,
                                 const Progress &progress,
                                 std::unique_ptr<ObservedModel> &network,
                                 Report &report) {
  size_t count = findPairs(network->main()).size();
  double work = 0;
  for (const Row &row : network->rows())
    work += double(row.macs);
  // A trial observes and measures.
  if (work * 2 * double(frames.size()) * double(count) > kMostTrialWork)
    return llvm::Error::success();
  double best = report.snrPlain;
  for (size_t i = 0; i < count; ++i) {
    if (progress)
      progress("equalize " + std::to_string(i + 1) + " of " +
               std::to_string(count));
    OwningOpRef<ModuleOp> copy = module.clone();
    Pair pair = findPairs(copy->lookupSymbol<func::FuncOp>("main"))[i];
    // The observations of the tensor between, per channel.
    std::vector<float> largest;
    std::string name = osa::nodeName(pair.first);
    for (auto [r, row] : llvm::enumerate(network->rows()))
      if (row.name == name && row.weights && row.point)
        largest = network->observed(r).largest;
    if (int64_t(largest.size()) !=
        cast<RankedTensorType>(pair.first->getOperand(1).getType())
            .getShape()[0])
      continue;
    equalize(pair, largest);
    auto next = std::make_unique<ObservedModel>(*copy, frames, options);
    llvm::Expected<double> snr = outputSnr(*next, options);
    if (!snr)
      return snr.takeError();
    if (*snr < best + 0.2)
      continue;
    best = *snr;
    ++report.equalized;
    network = std::move(next);
    equalize(findPairs(module.lookupSymbol<func::FuncOp>("main"))[i], largest);
  }
  return llvm::Error::success();
}

static void describe(ObservedModel &network, const Config &config,
                     const Quality &quality, Report &report) {
  for (auto [i, row] : llvm::enumerate(network.rows())) {
    Layer layer;
    layer.name = row.name;
    layer.op = row.op;
    layer.snr = quality.snr[i];
    if (row.weights)
      layer.weightBits = config[i].weights;
    if (row.point) {
      AffineFormat format = network.activation(i, config[i].activations);
      layer.activationBits = config[i].activations;
      layer.low = network.observed(i).low;
      layer.high = network.observed(i).high;
      layer.scale = format.scale[0];
      layer.zeroPoint = format.zero[0];
      layer.saturated = quality.saturated[i];
    }
    report.layers.push_back(layer);
  }
}

llvm::Expected<Report> calibrate::quantize(ModuleOp module,
                                           const Frames &frames,
                                           const Options &options,
                                           const Progress &progress) {
  if (frames.empty())
    return llvm::createStringError("the calibration data hold no frame");
  auto function = module.lookupSymbol<func::FuncOp>("main");
  foldIntoWeights(function);
  if (!placeQuantizers(function).hasFloatLayer())
    return llvm::createStringError(
        options.measuresNarrowings
            ? "no layer of this model has float weights to quantize: it has "
              "the widths of its file; take the float network it was made of"
            : "no layer of this model has float weights to quantize: drop "
              "--calibration");
  if (progress)
    progress("observe");
  auto network = std::make_unique<ObservedModel>(module, frames, options);
  if (llvm::Error error = checkNames(*network, options))
    return error;
  Report report;
  report.method = options.method == Method::MinMax       ? "min-max"
                  : options.method == Method::Percentile ? "percentile"
                                                         : "mse";
  report.frames = int64_t(frames.size());
  llvm::Expected<double> plain = outputSnr(*network, options);
  if (!plain)
    return plain.takeError();
  report.snrPlain = *plain;
  if (llvm::Error error =
          tryEqualizing(module, frames, options, progress, network, report))
    return error;
  Config config = configFor(*network, options);
  if (options.maxLoss || options.minSnr) {
    llvm::Expected<Quality> quality = network->measure(config);
    if (!quality)
      return quality.takeError();
    if (std::string why = missedBound(*quality, options); !why.empty())
      return llvm::createStringError(
          "the bound can't be kept: %s; allow more bits or more loss",
          why.c_str());
    llvm::Expected<Config> found =
        searchWidths(*network, config, options, progress);
    if (!found)
      return found.takeError();
    config = *found;
  }
  if (options.measuresNarrowings) {
    llvm::Expected<std::vector<RowNarrowing>> steps =
        measureNarrowings(*network, config, options, progress);
    if (!steps)
      return steps.takeError();
    for (const RowNarrowing &step : *steps)
      report.narrowings.push_back(
          {network->rows()[step.row].name, step.weights, step.to, step.noise});
  }
  llvm::Expected<Quality> quality = network->measure(config, true);
  if (!quality)
    return quality.takeError();
  report.snr = quality->outputSnr;
  report.agreement = quality->agreement;
  describe(*network, config, *quality, report);
  network->apply(module, config);
  return report;
}
