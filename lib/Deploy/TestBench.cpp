// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectors are what the interpreter gives at the device's ports, packed as
// the host packs them.
#include "rhizome/Deploy/TestBench.h"
#include "rhizome/Simulate/Bench.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;

/// Larger memories are not written a second time as text.
constexpr int64_t kMostMemoryBytes = int64_t(1) << 22;

static Expected<std::string> vectorsOf(const model::Frames &frames, size_t k,
                                       const BorderPort &port) {
  std::string text;
  for (const std::vector<Tensor> &frame : frames) {
    Expected<std::vector<uint8_t>> bytes = packFrame(frame[k], port);
    if (!bytes)
      return bytes.takeError();
    text += sim::hexLines(*bytes, port.dataWidth / 8);
  }
  return text;
}

namespace {
/// Writes the files of one folder.
class Folder {
public:
  Folder(PackageWriter &writer, const PlannedNode &node)
      : writer(writer), node(node), path("nodes/" + node.name + "/tb/") {}
  Error write(const Plan &plan, const model::GoldenCodes &codes);

private:
  Error vectors(const model::Frames &frames,
                const std::vector<BorderPort> &ports, const char *kind);
  json::Array portsOf(const std::vector<BorderPort> &ports, const char *kind);
  json::Array memoriesOf();
  std::string portsText();
  std::vector<std::string> sources() const;

  PackageWriter &writer;
  const PlannedNode &node;
  std::string path;
};
} // namespace

Error Folder::vectors(const model::Frames &frames,
                      const std::vector<BorderPort> &ports, const char *kind) {
  for (auto [k, port] : enumerate(ports)) {
    Expected<std::string> text = vectorsOf(frames, k, port);
    if (!text)
      return text.takeError();
    if (Error error = writer.writeFile(
            formatv("{0}rhz_tb_{1}{2}.hex", path, kind, k).str(), *text))
      return error;
  }
  return Error::success();
}

json::Array Folder::portsOf(const std::vector<BorderPort> &ports,
                            const char *kind) {
  json::Array list;
  for (auto [k, port] : enumerate(ports))
    list.push_back(
        json::Object{{"port", port.port},
                     {"beats", port.beats()},
                     {"vectors", formatv("rhz_tb_{0}{1}.hex", kind, k).str()}});
  return list;
}

json::Array Folder::memoriesOf() {
  json::Array list;
  for (auto [k, port] : enumerate(node.memoryPorts)) {
    json::Object memory{{"port", port.port},
                        {"contents", formatv("rhz_tb_memory{0}.hex", k).str()}};
    if (port.writes()) {
      memory["writes"] = true;
      memory["bytes"] = port.spaceAddress + port.spaceBytes;
    }
    list.push_back(std::move(memory));
  }
  return list;
}

std::vector<std::string> Folder::sources() const {
  std::vector<std::string> files = node.simulationModels;
  append_range(files, node.rtl);
  return files;
}

std::string Folder::portsText() {
  std::vector<std::string> files = sources();
  const bool reads = !node.memoryPorts.empty();
  if (reads)
    files.push_back("../tb/rhz_axi.sv");
  return formatv("{0:2}\n", json::Value(json::Object{
                                {"top", reads ? "rhz_axi" : node.top},
                                {"sources", json::Array(files)},
                                {"inputs", portsOf(node.inputs, "in")},
                                {"outputs", portsOf(node.outputs, "out")},
                                {"memories", memoriesOf()}}))
      .str();
}

Error Folder::write(const Plan &plan, const model::GoldenCodes &codes) {
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  for (auto [k, port] : enumerate(node.memoryPorts)) {
    Expected<std::string> text = sim::bankText(writer.dir(), node, port);
    if (!text)
      return text.takeError();
    if (Error error = writer.writeFile(
            formatv("{0}rhz_tb_memory{1}.hex", path, k).str(), *text))
      return error;
  }
  if (Error error = vectors(codes.inputs, node.inputs, "in"))
    return error;
  if (Error error = vectors(codes.outputs, node.outputs, "out"))
    return error;
  const int64_t frames = int64_t(codes.inputs.size());
  sim::BenchOptions options{node.top, frames, sim::hangLimit(plan)};
  options.checks = true;
  if (Error error =
          writer.writeFile(path + "rhz_tb.sv", sim::benchText(node, options)))
    return error;
  for (const std::string &file : sim::benchFiles(node))
    if (Error error = writer.copyFile(path + file, *data + "/sim/" + file))
      return error;
  if (Error error = writer.writeFile(
          path + "sources.mk", "# Below ../rtl, callees first.\nSOURCES := " +
                                   join(sources(), " \\\n  ") + "\n"))
    return error;
  if (Error error =
          writer.copyFile(path + "Makefile", *data + "/bench/Makefile"))
    return error;
  if (!node.memoryPorts.empty())
    if (Error error = writer.writeFile(path + "rhz_axi.sv", sim::axiText(node)))
      return error;
  if (Error error = writer.writeFile(path + "ports.json", portsText()))
    return error;
  return writer.copyFile(path + "test_rhizome.py",
                         *data + "/bench/test_rhizome.py");
}

Error deploy::writeTestBench(PackageWriter &writer, const Plan &plan,
                             const model::GoldenCodes &codes) {
  // Replicas are alike, and each computes the whole network.
  const bool isWhole = all_of(plan.nodes, [&](const PlannedNode &node) {
    return node.replica.count == int64_t(plan.nodes.size());
  });
  if (codes.inputs.empty() || !isWhole)
    return Error::success();
  const PlannedNode &node = plan.nodes.front();
  int64_t bytes = 0;
  for (const PlannedSegment &segment : node.segments)
    bytes += segment.bytes;
  if (bytes > kMostMemoryBytes)
    return Error::success();
  return Folder(writer, node).write(plan, codes);
}
