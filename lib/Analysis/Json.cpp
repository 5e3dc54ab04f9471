// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analysis as JSON. Unlimited values are null: JSON has no infinity.
#include "rhizome/Analysis/Analysis.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::analysis;
using llvm::json::Object;

static llvm::json::Value orNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : nullptr;
}

static Object toJson(const osa::Work &work) {
  return Object{{"macs", work.macs},
                {"flops", work.flops},
                {"param_bytes", double(work.paramBits) / 8},
                {"input_bytes", double(work.inputBits) / 8},
                {"output_bytes", double(work.outputBits) / 8},
                {"intensity_stream", work.streamIntensity()},
                {"intensity_engine", work.engineIntensity()}};
}

static Object toJson(const Carried &carried) {
  return Object{{"shape", llvm::json::Array(carried.shape)},
                {"bits", carried.bits},
                {"signed", carried.isSigned}};
}

Object analysis::toJson(const Needs &network) {
  llvm::json::Array inputs, operations, outputs;
  for (const Carried &input : network.inputs)
    inputs.push_back(::toJson(input));
  for (const Operation &o : network.operations) {
    llvm::json::Array from;
    for (int64_t index : o.from)
      from.push_back(index);
    Object entry = ::toJson(o.work);
    entry["node"] = llvm::json::fixUTF8(o.node);
    entry["op"] = o.op;
    entry["from"] = std::move(from);
    entry["result"] = ::toJson(o.result);
    operations.push_back(std::move(entry));
  }
  for (int64_t index : network.outputs)
    outputs.push_back(index);
  return Object{{"inputs", std::move(inputs)},
                {"operations", std::move(operations)},
                {"outputs", std::move(outputs)},
                {"total", ::toJson(network.total)}};
}

static Object toJson(const OperationRoofs &o) {
  Object compute, fastest;
  for (auto &[generator, perS] : o.roofs.compute)
    compute[generator] = orNull(perS);
  for (auto &[generator, perS] : o.fastest)
    fastest[generator] = orNull(perS);
  llvm::json::Array attainable;
  for (const Attainable &a : o.attainable)
    attainable.push_back(Object{{"weights", a.weights},
                                {"generator", a.generator},
                                {"possible", a.possible},
                                {"per_s", orNull(a.perS)},
                                {"bound", a.bound}});
  return Object{{"compute", std::move(compute)},
                {"network", orNull(o.roofs.network)},
                {"on_chip", orNull(o.roofs.onChip)},
                {"dram", orNull(o.roofs.dram)},
                {"fastest", std::move(fastest)},
                {"attainable", std::move(attainable)}};
}

Object analysis::toJson(const DeviceAnalysis &d) {
  llvm::json::Array operations;
  for (const OperationRoofs &o : d.operations)
    operations.push_back(::toJson(o));
  return Object{{"device", d.device},
                {"link", d.link},
                {"clock_mhz", d.clockMhz},
                {"network_bits_per_s", orNull(d.capacity.networkBitsPerS)},
                {"dram_bytes_per_s", d.capacity.dramBytesPerS},
                {"on_chip_bytes_per_s", d.capacity.onChipBytesPerS},
                {"on_chip_bytes", d.capacity.onChipBytes},
                {"operations", std::move(operations)},
                {"whole", ::toJson(d.whole)}};
}
