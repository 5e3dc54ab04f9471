// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Quantization.h"
#include "Output.h"
#include "rhizome/Model/Quantization.h"
#include "rhizome/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::model;
using namespace rhizome::evaluate;

static Calibration &calibrationOf(ModelRequest &request) {
  if (!request.calibration)
    request.calibration.emplace();
  return *request.calibration;
}

/// "W" or "W,A"; nullopt if it is neither.
static std::optional<calibrate::Bits> parseBits(StringRef text) {
  auto [weights, activations] = text.split(',');
  calibrate::Bits bits;
  if (weights.trim().getAsInteger(10, bits.weights) ||
      (text.contains(',') &&
       activations.trim().getAsInteger(10, bits.activations)))
    return std::nullopt;
  if (!text.contains(','))
    bits.activations = bits.weights;
  auto good = [](unsigned width) { return width >= 2 && width <= 16; };
  return good(bits.weights) && good(bits.activations) ? std::optional(bits)
                                                      : std::nullopt;
}

/// "W,A", "NAME=W,A", or a file with one of these per line.
static void addBits(Calibration &calibration, StringRef text, bool mayBeFile) {
  calibrate::Options &options = calibration.options;
  if (auto bits = parseBits(text)) {
    options.bits = *bits;
    calibration.hasWidths = true;
    return;
  }
  auto [name, widths] = text.rsplit('=');
  if (auto bits = parseBits(widths); bits && !name.empty()) {
    options.layers[name.trim().str()] = *bits;
    return;
  }
  const bool isFile = mayBeFile && sys::fs::exists(text);
  auto buffer = isFile ? readText(text) : Expected<std::string>(std::string());
  if (!buffer)
    throw CLI::ValidationError("--bits", toString(buffer.takeError()));
  if (!isFile)
    throw CLI::ValidationError(
        "--bits", "'" + text.str() +
                      "' is neither W, W,A nor NAME=W,A of 2 to 16 bits, nor "
                      "a file of these");
  SmallVector<StringRef> lines;
  StringRef(*buffer).split(lines, '\n');
  for (StringRef line : lines)
    if (line = line.split('#').first.trim(); !line.empty())
      addBits(calibration, line, false);
}

static void setMethod(calibrate::Options &options, StringRef text) {
  auto [name, share] = text.split(':');
  if (name == "min-max" && share.empty()) {
    options.method = calibrate::Method::MinMax;
  } else if (name == "mse" && share.empty()) {
    options.method = calibrate::Method::MeanSquare;
  } else if (name == "percentile" &&
             (share.empty() || !share.getAsDouble(options.percentile)) &&
             options.percentile > 50 && options.percentile <= 100) {
    options.method = calibrate::Method::Percentile;
  } else {
    throw CLI::ValidationError("--calibration-method",
                               "'" + text.str() +
                                   "' is not min-max, mse, percentile or "
                                   "percentile:99.9");
  }
}

void cli::addCalibration(CLI::App &command, ModelRequest &request) {
  CLI::Option *data =
      command
          .add_option_function<std::string>(
              "--calibration",
              [&request](const std::string &path) {
                DataRequest &data = calibrationOf(request).data;
                data.path = path;
                data.normalizeOption = "--calibration-normalize";
                data.imagesOption = "--calibration-images";
              },
              "quantize a float model, with ranges observed on these inputs "
              "(.npz with their names, .npy idx .png .jpg or a folder)")
          ->option_text("FILE");
  auto text = [&](const char *name, auto set, const char *type,
                  const char *help) {
    return command
        .add_option_function<std::string>(
            name,
            [&request, set](const std::string &value) {
              set(calibrationOf(request), value);
            },
            help)
        ->needs(data)
        ->type_name(type);
  };
  text(
      "--calibration-normalize",
      [](Calibration &c, const std::string &v) {
        if (!isNormalization(v))
          throw CLI::ValidationError("--calibration-normalize",
                                     "'" + v +
                                         "' is not 0..1, 0..255 or MEAN,STD");
        c.data.normalize = v;
      },
      "RANGE",
      "how its bytes are converted to the model's range, as for --normalize");
  text(
      "--calibration-images",
      [](Calibration &c, const std::string &v) {
        if (std::string wrong = wrongImageSteps(v); !wrong.empty())
          throw CLI::ValidationError("--calibration-images", wrong);
        c.data.images = v;
      },
      "STEPS", "what is done with its images before, as for --images");
  text(
      "--calibration-method",
      [](Calibration &c, const std::string &v) { setMethod(c.options, v); },
      "METHOD",
      "how ranges are chosen: mse, the least squared error (the default), "
      "min-max, percentile or percentile:P");
  auto number = [&](const char *name, auto set, auto range, const char *type,
                    const char *help) {
    return command
        .add_option_function<double>(
            name,
            [&request, set](double value) {
              set(calibrationOf(request), value);
            },
            help)
        ->needs(data)
        ->check(range)
        ->option_text(type);
  };
  number(
      "--calibration-frames",
      [](Calibration &c, double v) { c.frames = int64_t(v); },
      CLI::Range(1, 100000), "N",
      "use at most its first N frames, otherwise 200");
  command
      .add_option_function<std::vector<std::string>>(
          "--bits",
          [&request](const std::vector<std::string> &texts) {
            for (StringRef text : texts)
              addBits(calibrationOf(request), text, true);
          },
          "widths of weights and activations, 2 to 16, otherwise 8; NAME=W,A "
          "for one layer; or a file of such lines")
      ->needs(data)
      ->type_name("W[,A]")
      ->allow_extra_args(false);
  number(
      "--max-loss", [](Calibration &c, double v) { c.options.maxLoss = v; },
      CLI::Range(0.0, 100.0), "PERCENT",
      "lower the widths layer by layer, as long as at most this share of the "
      "calibration frames changes its class");
  number(
      "--min-snr", [](Calibration &c, double v) { c.options.minSnr = v; },
      CLI::Range(0.0, 150.0), "DB",
      "the same, as long as the outputs keep this signal-to-noise ratio");
}

void cli::reportQuantization(const ModelRequest &request, json::Object &into) {
  if (!request.calibration || request.calibration->report->layers.empty())
    return;
  into["quantization"] = model::toJson(*request.calibration->report);
}

static std::string significant(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

void cli::printQuantization(const ModelRequest &request) {
  if (!request.calibration || request.calibration->report->layers.empty())
    return;
  const calibrate::Report &report = *request.calibration->report;
  const bool saturates =
      llvm::any_of(report.layers, [](const calibrate::Layer &layer) {
        return layer.saturated > kToldShare;
      });
  std::vector<std::string> head = {"layer",       "operation", "weights",
                                   "activations", "observed",  "scale",
                                   "zero",        "SNR dB"};
  if (saturates)
    head.push_back("saturated %");
  Table table(std::move(head));
  for (const calibrate::Layer &layer : report.layers) {
    bool rounds = layer.activationBits;
    std::vector<std::string> cells = {
        shortened(layer.name),
        layer.op,
        layer.weightBits ? std::to_string(layer.weightBits) : "",
        rounds ? std::to_string(layer.activationBits) : "",
        rounds ? formatv("{0:f3} … {1:f3}", layer.low, layer.high).str() : "",
        rounds ? significant(layer.scale) : "",
        rounds ? std::to_string(layer.zeroPoint) : "",
        decimal(layer.snr, 1)};
    if (saturates)
      cells.push_back(layer.saturated > kToldShare
                          ? decimal(layer.saturated * 100, 2)
                          : "");
    table.add(std::move(cells));
  }
  outs() << "quantized after training: " << report.method << " over "
         << report.frames << " frames";
  if (report.equalized)
    outs() << ", " << report.equalized << " pairs of layers equalized ("
           << decimal(report.snrPlain, 1) << " dB without)";
  outs() << "\n";
  table.print();
  outs() << "  output     " << decimal(report.snr, 1) << " dB, "
         << percent(report.agreement) << " of the frames keep their class\n";
}

void cli::reportSaturation(const std::vector<Saturation> &saturation,
                           json::Object &into) {
  json::Array list;
  for (const Saturation &s : saturation)
    list.push_back(json::Object{{"name", json::fixUTF8(s.name)},
                                {"op", json::fixUTF8(s.op)},
                                {"values", s.values},
                                {"low", s.low},
                                {"high", s.high}});
  into["saturation"] = std::move(list);
}

void cli::printSaturation(const std::vector<Saturation> &saturation) {
  Table table({"quantizer", "operation", "below %", "above %"});
  auto share = [](int64_t part, int64_t whole) {
    return whole ? double(part) / double(whole) : 0;
  };
  for (const Saturation &s : saturation)
    if (share(s.low + s.high, s.values) > kToldShare)
      table.add({shortened(s.name), s.op,
                 decimal(share(s.low, s.values) * 100, 2),
                 decimal(share(s.high, s.values) * 100, 2)});
  if (table.empty())
    return;
  outs() << "\nvalues that saturate, beyond a quantizer's codes\n";
  table.print();
}
