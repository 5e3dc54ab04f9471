// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A format fits if at most kToldShare of the values lie beyond it. Which one
// that is follows from the octaves of the values: an integer bit is one of
// them.
#include "rhizome/Evaluate/Findings.h"
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
  const bool isSigned = layer.number ? layer.number->isSigned : layer.lo < 0;
  // A kernel's declarations have no negative widths.
  const int integer =
      layer.number ? std::max(bits + isSigned, int(isSigned)) : bits + isSigned;
  const int fraction =
      widen ? -std::ilogb(layer.scale) : int(layer.bits()) - integer;
  const numeric::Format found =
      numeric::Format::fixed(integer, fraction, isSigned);
  if (!found.check().empty() || (layer.number && fraction < 0))
    return "";
  return formatv("{0}fixed<{1},{2}>", isSigned ? "" : "u", integer, fraction);
}

/// A float with the exponents that so large numbers need.
static std::string floatWith(const numeric::Format &format, int bits,
                             bool widen) {
  int exponent = format.exponentBits;
  while (numeric::Format::floating(exponent, 1).maxExponent() < bits - 1)
    ++exponent;
  const int mantissa =
      format.mantissaBits - (widen ? 0 : exponent - format.exponentBits);
  const numeric::Format found = numeric::Format::floating(exponent, mantissa);
  return found.check().empty() ? found.str() : "";
}

/// Names the formats that hold numbers below 2^bits.
static void nameFormats(TracedLayer &layer, int bits) {
  auto named = [&](bool widen) {
    if (layer.number && layer.number->isFloat())
      return floatWith(*layer.number, bits, widen);
    return layer.format.empty() ? "" : formatWith(layer, bits, widen);
  };
  layer.better = named(/*widen=*/false);
  layer.wider = named(/*widen=*/true);
}

/// The least n such that at most this share of the values, and of a nest's
/// operands, is 2^n or larger.
static int bitsOfValues(const TracedLayer &layer, double share) {
  return std::max(layer.octaves.bitsFor(share), layer.operands.bitsFor(share));
}

void evaluate::findFaults(TracedLayer &layer) {
  if (!layer.real || layer.real->count == 0)
    return;
  const int has = bitsOfCodes(layer);
  const double told = layer.wraps ? 0 : kToldShare;
  if (layer.saturated() > told) {
    layer.finding = TracedLayer::Finding::Saturated;
    const int needs = std::max(has + 1, bitsOfValues(layer, told));
    nameFormats(layer, needs);
    return;
  }
  const int needs = bitsOfValues(layer, 0);
  const bool isFloat = layer.number && layer.number->isFloat();
  if (isFloat || has - needs < 2 || layer.format.empty() ||
      layer.octaves.total() == layer.octaves.zeros)
    return;
  layer.finding = TracedLayer::Finding::Unused;
  nameFormats(layer, needs);
}

static std::string real(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

/// 13.3, 0.02.
static std::string percentOf(double share) {
  std::string text;
  raw_string_ostream(text) << format(share < 0.001 ? "%.2g" : "%.1f",
                                     share * 100);
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
    const int unused = bitsOfCodes(layer) - bitsOfValues(layer, 0);
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
      formatv("{0} % of its values are beyond {1} ({2}){3}: they are {4}",
              percentOf(layer.saturated()), codes, ends,
              !layer.wraps              ? ""
              : layer.number->isFloat() ? " and become infinite"
                                        : " and wrap",
              range);
  switch (rounder) {
  case Rounder::NumberFormat:
    layer.remedy =
        formatv("more integer bits: --tensor-format '{0}={1}' in as many bits, "
                "'{0}={2}' with the same steps",
                layer.name, layer.better, layer.wider);
    return;
  case Rounder::Kernel:
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
  auto finite = [](double x) {
    return std::isfinite(x) ? json::Value(x) : json::Value(nullptr);
  };
  return json::Object{{"low", finite(spread.low)},
                      {"high", finite(spread.high)},
                      {"rms", finite(spread.rms())}};
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
    layers.push_back(json::Object{
        {"name", json::fixUTF8(layer.name)},
        {"op", json::fixUTF8(layer.op)},
        {"input", layer.isInput},
        {"shape", json::Array(layer.shape)},
        {"bits", layer.bits()},
        {"signed", layer.number ? layer.number->hasSign() : layer.lo < 0},
        {"scale", layer.scale},
        {"zero_point", layer.zero},
        {"per_channel", layer.perChannel},
        {"format", layer.format.empty() ? json::Value(nullptr)
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
      {"kernel", result.isKernel},
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
