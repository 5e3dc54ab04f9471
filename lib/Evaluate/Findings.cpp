// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A format fits if at most kToldShare of the values lie beyond it. Which one
// that is follows from the octaves of the values: an integer bit is one of
// them.
#include "Findings.h"
#include "rhizome/Dialect/Num/Num.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::evaluate;

/// The least n for which no code reaches 2^n or beyond: a signed format's
/// lowest code may be -2^n.
static int bitsOfCodes(const TracedLayer &layer) {
  const double reach = std::max(-layer.lowest, layer.highest + layer.scale / 2);
  return int(std::ceil(std::log2(reach)));
}

/// The format with so many integer bits (without the sign) and as many bits
/// in all, or as many of fraction.
static std::string formatWith(const TracedLayer &layer, int bits, bool widen) {
  const bool isSigned = layer.lo < 0;
  const int integer = bits + isSigned;
  const int fraction =
      widen ? -std::ilogb(layer.scale) : int(layer.bits()) - integer;
  return formatv("{0}fixed<{1},{2}>", isSigned ? "" : "u", integer, fraction);
}

void evaluate::findFaults(TracedLayer &layer) {
  if (!layer.real || layer.real->count == 0)
    return;
  const int has = bitsOfCodes(layer);
  if (layer.saturated() > kToldShare) {
    layer.finding = TracedLayer::Finding::Saturated;
    const int needs = std::max(has + 1, layer.octaves.bitsFor(kToldShare));
    if (!layer.format.empty())
      layer.better = formatWith(layer, needs, /*widen=*/false);
    return;
  }
  const int needs = layer.octaves.bitsFor(0);
  if (has - needs < 2 || layer.format.empty() ||
      layer.octaves.total() == layer.octaves.zeros)
    return;
  layer.finding = TracedLayer::Finding::Unused;
  layer.better = formatWith(layer, needs, /*widen=*/false);
}

static std::string real(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

void evaluate::explainFault(TracedLayer &layer, Rounder rounder) {
  if (layer.finding == TracedLayer::Finding::None)
    return;
  const std::string codes = layer.format.empty()
                                ? std::to_string(layer.bits()) + "-bit codes"
                                : layer.format;
  const std::string range =
      real(layer.real->low) + " … " + real(layer.real->high);
  const std::string ends = real(layer.lowest) + " … " + real(layer.highest);
  if (layer.finding == TracedLayer::Finding::Unused) {
    const int unused = bitsOfCodes(layer) - layer.octaves.bitsFor(0);
    layer.reason = formatv("its values are {0}: {1} of the {2} bits of {3} "
                           "({4}) are never used",
                           range, unused, layer.bits(), codes, ends);
    layer.remedy = rounder == Rounder::NumberFormat
                       ? "--tensor-format '" + layer.name + "=" + layer.better +
                             "' rounds more finely"
                       : layer.better + " would round more finely";
    return;
  }
  layer.reason =
      formatv("{0:f1} % of its values are beyond {1} ({2}): they are {3}",
              100 * layer.saturated(), codes, ends, range);
  const int needs =
      std::max(bitsOfCodes(layer) + 1, layer.octaves.bitsFor(kToldShare));
  switch (rounder) {
  case Rounder::NumberFormat:
    layer.remedy = formatv(
        "more integer bits: --tensor-format '{0}={1}' in as many bits, "
        "'{0}={2}' with the same steps",
        layer.name, layer.better, formatWith(layer, needs, /*widen=*/true));
    return;
  case Rounder::Calibration:
    layer.remedy = "calibrate on data like these; --calibration-method min-max "
                   "leaves out none of the values that it observes";
    return;
  case Rounder::File:
    // Without a clip there is no telling what the range should be.
    double scale = layer.scale;
    if (layer.hi > layer.zero)
      scale = std::max(scale, layer.real->high / double(layer.hi - layer.zero));
    if (layer.lo < layer.zero)
      scale = std::max(scale, layer.real->low / double(layer.lo - layer.zero));
    layer.remedy = formatv(
        "none if the network was trained with these codes; otherwise quantize "
        "it with a scale of up to {0} where it is {1} now",
        real(scale), real(layer.scale));
    if (!layer.better.empty())
      layer.remedy += formatv(", e.g. as {0}", layer.better);
    return;
  }
}

static json::Value toJson(const Spread &spread) {
  if (!spread.count)
    return nullptr;
  return json::Object{
      {"low", spread.low}, {"high", spread.high}, {"rms", spread.rms()}};
}

static json::Value toJson(const std::optional<Spread> &spread) {
  return spread ? toJson(*spread) : json::Value(nullptr);
}

static json::Value toJson(const std::optional<double> &value) {
  return value ? json::Value(*value) : json::Value(nullptr);
}

/// From the first octave that is not empty to the last.
static json::Object toJson(const Octaves &octaves) {
  int first = 0, last = Octaves::kCount;
  while (first < last && octaves.counts[size_t(first)] == 0)
    ++first;
  while (last > first && octaves.counts[size_t(last - 1)] == 0)
    --last;
  json::Array counts;
  for (int i = first; i < last; ++i)
    counts.push_back(octaves.counts[size_t(i)]);
  return json::Object{{"first", Octaves::kFirst + first},
                      {"counts", std::move(counts)},
                      {"zeros", octaves.zeros}};
}

static json::Value findingOf(const TracedLayer &layer) {
  if (layer.finding == TracedLayer::Finding::None)
    return nullptr;
  return json::Object{
      {"kind", layer.finding == TracedLayer::Finding::Saturated ? "saturated"
                                                                : "unused"},
      {"reason", json::fixUTF8(layer.reason)},
      {"remedy", json::fixUTF8(layer.remedy)},
      {"better",
       layer.better.empty() ? json::Value(nullptr) : json::Value(layer.better)},
      {"gain_db", toJson(layer.gain)}};
}

json::Object evaluate::toJson(const TraceResult &result) {
  json::Array layers, outputs;
  for (const TracedLayer &layer : result.layers)
    layers.push_back(json::Object{{"name", json::fixUTF8(layer.name)},
                                  {"op", json::fixUTF8(layer.op)},
                                  {"input", layer.isInput},
                                  {"shape", json::Array(layer.shape)},
                                  {"bits", layer.bits()},
                                  {"signed", layer.lo < 0},
                                  {"scale", layer.scale},
                                  {"zero_point", layer.zero},
                                  {"per_channel", layer.perChannel},
                                  {"format", layer.format.empty()
                                                 ? json::Value(nullptr)
                                                 : json::Value(layer.format)},
                                  {"lowest", layer.lowest},
                                  {"highest", layer.highest},
                                  {"real", ::toJson(layer.real)},
                                  {"exact", layer.isExact},
                                  {"octaves", ::toJson(layer.octaves)},
                                  {"integer", ::toJson(layer.integer)},
                                  {"values", layer.values},
                                  {"below", layer.below},
                                  {"above", layer.above},
                                  {"saturated", layer.saturated()},
                                  {"snr_db", ::toJson(layer.snr)},
                                  {"lost_db", ::toJson(layer.lost)},
                                  {"finding", findingOf(layer)}});
  for (const TracedOutput &output : result.outputs)
    outputs.push_back(json::Object{{"name", json::fixUTF8(output.name)},
                                   {"real", ::toJson(output.real)},
                                   {"integer", ::toJson(output.integer)},
                                   {"snr_db", ::toJson(output.snr)}});
  return json::Object{
      {"model", json::fixUTF8(result.model)},
      {"data", json::fixUTF8(result.data)},
      {"frames", result.frames},
      {"same_class", result.sameClass < 0 ? json::Value(nullptr)
                                          : json::Value(result.sameClass)},
      {"snr_without_saturation_db", ::toJson(result.snrWithout)},
      {"worst", result.worst.empty()
                    ? json::Value(nullptr)
                    : json::Value(json::fixUTF8(result.worst))},
      {"layers", std::move(layers)},
      {"outputs", std::move(outputs)}};
}
