// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the system of a kernel's package: frames become groups in buffers of a
// simulated memory, as a host lays them out, and results come from there.
#include "Run.h"
#include "rhizome/Package/SystemGroups.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "rhz_memory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <map>

using namespace llvm;
using namespace rhizome;

static rhz::MemoryTiming timingOf(const PlannedNode &node,
                                  const PlannedSystem &system,
                                  const PlannedMover &port) {
  const PlannedMemory &m = *node.memory(system.memory);
  return rhz::MemoryTiming::of({m.banks, m.bytesPerS, m.latencyNs,
                                m.turnaroundNs, m.refreshEveryNs, m.refreshNs},
                               port.dataWidth / 8, node.clockMhz);
}

std::string sim::systemHeader(const PlannedNode &node,
                              const PlannedSystem &system) {
  std::string reads, writes, banks;
  int64_t count[2] = {0, 0};
  for (const PlannedMover &port : system.ports) {
    const rhz::MemoryTiming t = timingOf(node, system, port);
    (port.isWrite ? writes : reads) +=
        " X(" + std::to_string(count[port.isWrite]++) + ", " + port.port + ")";
    raw_string_ostream(banks)
        << " {\"" << port.port << "\", " << port.dataWidth / 8 << ", {"
        << t.beatTicks << ", " << t.latency << ", " << t.turnTicks << ", "
        << t.refreshEvery << ", " << t.refresh << "}},";
  }
  return "#define RHZ_READS(X)" + reads + "\n#define RHZ_WRITES(X)" + writes +
         "\n#define RHZ_BANKS" + banks + "\n";
}

namespace {
/// Which frame is at a place of a unit's buffers. Units share the frames; each
/// begins where the one before ends, and goes on in a circle.
struct Shares {
  int64_t frames, units, places;
  int64_t each() const { return (frames + units - 1) / units; }
  int64_t frameAt(int64_t unit, int64_t place) const {
    return (unit * each() + place) % frames;
  }
};

Error writeGroups(const std::string &file, const PlannedMover &port,
                  const std::vector<uint8_t> &frames, int64_t frameBytes,
                  int64_t unit, const Shares &shares) {
  const int64_t groups = port.isOnce ? 1 : shares.places;
  std::string bytes(size_t(groups * port.groupBytes), '\xa5');
  for (int64_t g = 0; g < groups; ++g)
    std::copy_n(frames.begin() + shares.frameAt(unit, g) * frameBytes,
                std::min(frameBytes, port.groupBytes),
                bytes.begin() + g * port.groupBytes);
  return writeBytes(file, bytes);
}

/// "D, u"
std::string tensorsOf(const Plan &plan, const PlannedMover &port) {
  std::string names;
  for (const PlannedStream &stream : plan.kernel->streams)
    if (stream.port == port.stream)
      for (const std::string &tensor : stream.tensors)
        names += (names.empty() ? "" : ", ") + tensor;
  return names;
}

int64_t frameBytesOf(const BorderPort &port) {
  return port.beats() * int64_t(port.dataWidth / 8);
}
} // namespace

Expected<SimResult> sim::runSystem(const Package &package,
                                   const Prepared &prepared,
                                   const SimOptions &options) {
  const Plan &plan = package.plan();
  const PlannedNode &node = plan.nodes.front();
  const PlannedSystem &system = *plan.kernel->system;
  SmallString<256> trace(options.trace);
  if (!trace.empty())
    if (std::error_code error = sys::fs::make_absolute(trace))
      return errorCodeToError(error);
  Expected<Simulator> simulator = buildSystem(package, node, options);
  if (!simulator)
    return simulator.takeError();
  Expected<std::string> folder = makeRunFolder(package, "run");
  if (!folder)
    return folder.takeError();
  const std::string run = *folder;
  const bool measure = options.measure && !options.stallsIn &&
                       !options.stallsOut && options.trace.empty();
  Shares shares{prepared.frames, system.units, 0};
  shares.places = std::max(
      shares.each(),
      measure
          ? measuredGroups(system, cyclesOf(*plan.kernel),
                           timingOf(node, system, system.ports[0]).refreshEvery)
          : 1);
  const int64_t lanes = plan.kernel->lanes;
  std::vector<std::string> args = {
      "--stalls", std::to_string(std::max(options.stallsIn, options.stallsOut)),
      "--seed",   std::to_string(options.seed),
      "--hang",   std::to_string(hangLimit(plan)),
      "--single", std::to_string(measure ? lanes : 0),
      "--report", run + "/report.txt"};
  if (!trace.empty())
    args.insert(args.end(),
                {"--trace", waveIn(run, trace), "--half-ps",
                 std::to_string(std::llround(500000 / plan.clockMhz))});
  // High addresses, too.
  std::map<int64_t, int64_t> next;
  constexpr int64_t kBase = int64_t(5) << 32, kPage = 4096;
  std::map<std::string, size_t> inputs, outputs;
  for (auto [k, port] : enumerate(node.inputs))
    inputs[port.port] = k;
  for (auto [k, port] : enumerate(node.outputs))
    outputs[port.port] = k;
  auto fileOf = [&](int64_t unit, const PlannedMover &port) {
    return run + "/" + port.port + "." + std::to_string(unit) + ".bin";
  };
  for (int64_t u = 0; u < system.units; ++u) {
    // The last group may be short of elements.
    int64_t elements = shares.places * lanes;
    if (u + 1 == system.units && options.missing < lanes)
      elements -= options.missing;
    args.insert(args.end(), {"--unit", std::to_string(elements)});
    for (const PlannedMover &port : system.ports) {
      const std::string file = fileOf(u, port);
      const int64_t bank = port.banks[size_t(u)];
      const int64_t bytes = (port.isOnce ? 1 : shares.places) * port.groupBytes;
      int64_t &at = next.try_emplace(bank, kBase).first->second;
      args.insert(args.end(),
                  {"--buffer", std::to_string(bank), std::to_string(at),
                   std::to_string(bytes), std::to_string(port.beats()),
                   port.isWrite ? "-" : file, port.isWrite ? file : "-",
                   tensorsOf(plan, port)});
      if (u == 0 && port.port == options.faultyPort)
        args.insert(args.end(), {"--fault", std::to_string(options.fault)});
      at += (bytes / kPage + 2) * kPage;
      if (port.isWrite)
        continue;
      const size_t k = inputs.at(port.stream);
      if (Error error = writeGroups(file, port, prepared.inputs[k],
                                    frameBytesOf(node.inputs[k]), u, shares))
        return error;
    }
  }
  args.push_back("+verilator+rand+reset+2");
  args.push_back("+verilator+seed+" +
                 std::to_string(options.seed % 2147483646 + 1));
  Expected<std::optional<Confinement>> confinement =
      simulatorConfinement(package, node, run);
  if (!confinement)
    return confinement.takeError();
  Error failed = runTool(simulator->program, args, run, run + "/log.txt",
                         /*showErrors=*/false, Addresses::Random, *confinement);
  if (Error error =
          joinErrors(std::move(failed), takeWave(waveIn(run, trace), trace)))
    return error;
  Expected<Report> report = readReport(run + "/report.txt");
  if (!report)
    return report.takeError();
  if (!report->errors.empty())
    return createStringError(
        options.fault ? "'%s' in simulation: %s"
                      : "the RTL of '%s' misbehaves in simulation: %s",
        package.dir().c_str(), report->errors.c_str());
  SimResult result;
  result.buildSeconds = simulator->buildSeconds;
  result.simulator = simulator->program;
  result.cycles = int64_t(report->numbers["cycles"]);
  result.simCyclesPerS = report->numbers["cycles_per_s"];
  result.measured = measure;
  result.intervalCycles = report->numbers["interval"];
  result.latencyCycles = int64_t(report->numbers["latency"]);
  result.outputs.assign(size_t(prepared.frames),
                        std::vector<Tensor>(node.outputs.size()));
  for (const PlannedMover &port : system.ports) {
    if (!port.isWrite)
      continue;
    const size_t k = outputs.at(port.stream);
    const auto frameBytes = size_t(frameBytesOf(node.outputs[k]));
    std::vector<std::string> first(size_t(prepared.frames));
    for (int64_t u = 0; u < system.units; ++u) {
      Expected<std::string> bytes = readFile(fileOf(u, port));
      if (!bytes)
        return bytes.takeError();
      bytes->resize(size_t(shares.places * port.groupBytes));
      for (int64_t g = 0; g < shares.places; ++g) {
        const auto f = size_t(shares.frameAt(u, g));
        // Without what a last beat has beyond the words.
        const int64_t used = port.words * port.lanes * port.wordBits / 8;
        std::string group =
            bytes->substr(size_t(g * port.groupBytes), size_t(used));
        if (!first[f].empty() && first[f] != group)
          return createStringError("unit %lld of '%s' gives another result for "
                                   "an element that is computed again",
                                   (long long)u, package.dir().c_str());
        first[f] = group;
        group.resize(frameBytes);
        result.outputs[f][k] = unpackFrame(
            reinterpret_cast<const uint8_t *>(group.data()), node.outputs[k]);
      }
    }
  }
  if (Error error = removeTree(run))
    return std::move(error);
  return result;
}
