// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Quantization.h"

using namespace llvm;
using namespace rhizome;

json::Object model::toJson(const calibrate::Report &report) {
  json::Array layers;
  for (const calibrate::Layer &layer : report.layers) {
    json::Object object{{"name", json::fixUTF8(layer.name)},
                        {"op", layer.op},
                        {"snr_db", layer.snr}};
    if (layer.weightBits)
      object["weight_bits"] = layer.weightBits;
    if (layer.activationBits) {
      object["activation_bits"] = layer.activationBits;
      object["low"] = layer.low;
      object["high"] = layer.high;
      object["scale"] = layer.scale;
      object["zero_point"] = layer.zeroPoint;
      object["saturated"] = layer.saturated;
    }
    layers.push_back(std::move(object));
  }
  return json::Object{{"method", report.method},
                      {"frames", report.frames},
                      {"snr_db", report.snr},
                      {"agreement", report.agreement},
                      {"equalized_pairs", report.equalized},
                      {"snr_plain_db", report.snrPlain},
                      {"layers", std::move(layers)}};
}
