// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the package in Icarus Verilog, where an unknown value is an X, in the
// test bench of Bench.cpp.
#include "Run.h"
#include "rhizome/Simulate/Bench.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "rhz_mistakes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

static Expected<std::vector<uint8_t>> parseHexLines(StringRef text,
                                                    unsigned beatBytes) {
  std::vector<uint8_t> bytes;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    if (line.size() != 2 * beatBytes)
      return createStringError("Icarus wrote the beat '%s', not %u bytes",
                               line.str().c_str(), beatBytes);
    for (unsigned i = beatBytes; i-- > 0;) {
      uint8_t byte;
      if (line.substr(2 * i, 2).getAsInteger(16, byte))
        return createStringError("Icarus wrote the beat '%s', which is not a "
                                 "number",
                                 line.str().c_str());
      bytes.push_back(byte);
    }
  }
  return bytes;
}

Expected<SimResult> sim::runIcarus(const Package &package,
                                   const Prepared &prepared,
                                   const SimOptions &options) {
  const Plan &plan = package.plan();
  const PlannedNode &node = plan.nodes.front();
  Expected<Sources> sources = readSources(package, node, options);
  if (!sources)
    return sources.takeError();
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  // So many of our LUTs and cycles take Icarus a second.
  constexpr double kWork = 8e5;
  if (options.onWait) {
    const double cycles =
        double(plan.predicted.latencyCycles) +
        double(plan.predicted.intervalCycles) * double(prepared.frames);
    options.onWait(formatv(
        "simulating {0} frames with four states in Icarus, about {1:f0} s, a "
        "hundred times as long as without …",
        prepared.frames,
        1 + cycles * double(std::max<int64_t>(plan.predicted.lut, 1)) / kWork));
  }
  Expected<std::string> folder = makeRunFolder(package, "icarus");
  if (!folder)
    return folder.takeError();
  std::string run = *folder;

  // Images are opened relative to where vvp runs. Our own files have other
  // endings than a package's.
  if (Error failure = package.copyImages(node, run))
    return std::move(failure);
  if (Error failure = writeSources(run, *sources))
    return std::move(failure);
  for (auto [k, bytes] : llvm::enumerate(prepared.inputs))
    if (Error failure =
            writeBytes(run + "/in" + std::to_string(k) + kBeats,
                       hexLines(bytes, node.inputs[k].dataWidth / 8)))
      return failure;
  for (auto [k, port] : llvm::enumerate(node.memoryPorts))
    if (Expected<std::string> text = bankText(package.dir(), node, port); !text)
      return text.takeError();
    else if (Error failure = writeBytes(
                 run + "/memory" + std::to_string(k) + kBeats, *text))
      return failure;
  if (Error failure =
          writeBytes(run + "/rhz_tb.sv",
                     benchText(node, {topOf(node, options), prepared.frames,
                                      hangLimit(plan, frameCycles(options)),
                                      options.stallsIn, options.stallsOut,
                                      options.seed, false})))
    return failure;
  std::vector<std::string> args = {"-g2012", "-o",     "sim.vvp",
                                   "-s",     "rhz_tb", "rhz_tb.sv"};
  for (const std::string &file : benchFiles(node)) {
    Expected<std::string> text = readFile(*data + "/sim/" + file);
    if (!text)
      return text.takeError();
    if (Error failure = writeBytes(run + "/" + file, *text))
      return std::move(failure);
    args.push_back(file);
  }
  args.insert(args.end(), sources->paths.begin(), sources->paths.end());
  Confinement wanted;
  wanted.writable = {run};
  Expected<std::optional<Confinement>> building = package.confinement(wanted),
                                       running = simulatorConfinement(
                                           package, node, run);
  if (Error failure = joinErrors(building.takeError(), running.takeError()))
    return std::move(failure);
  if (Error failure =
          runTool("iverilog", args, run, run + "/build.log",
                  /*showErrors=*/false, Addresses::Random, *building))
    return failure;
  if (Error failure =
          runTool("vvp", {"-n", "sim.vvp"}, run, run + "/log.txt",
                  /*showErrors=*/false, Addresses::Random, *running))
    return failure;
  Expected<std::string> log = readFile(run + "/log.txt");
  if (!log)
    return log.takeError();
  SimResult result;
  bool done = false;
  SmallVector<StringRef> lines;
  StringRef(*log).split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    if (line.consume_front("RHZ_ERROR "))
      return createStringError("the RTL of '%s' misbehaves in four-state "
                               "simulation: %s",
                               package.dir().c_str(), line.str().c_str());
    if (line.consume_front("RHZ_ENGINE ")) {
      auto [instance, code] = line.split(' ');
      int number = 0;
      (void)code.getAsInteger(10, number);
      return mistakeOf(package, instance, rhz::mistakeOf(number));
    }
    if (line.consume_front("RHZ_DONE "))
      done = !line.getAsInteger(10, result.cycles);
  }
  if (!done)
    return createStringError("Icarus ended early; its log is '%s/log.txt'",
                             run.c_str());
  result.outputs.resize(prepared.frames);
  for (auto [k, port] : llvm::enumerate(node.outputs)) {
    Expected<std::string> text =
        readFile(run + "/out" + std::to_string(k) + kBeats);
    if (!text)
      return text.takeError();
    unsigned beatBytes = port.dataWidth / 8;
    Expected<std::vector<uint8_t>> bytes = parseHexLines(*text, beatBytes);
    if (!bytes)
      return bytes.takeError();
    size_t frameBytes = port.beats() * beatBytes;
    if (bytes->size() != frameBytes * prepared.frames)
      return createStringError("Icarus wrote %zu bytes of output %zu instead "
                               "of %zu",
                               bytes->size(), k,
                               frameBytes * size_t(prepared.frames));
    for (int64_t f = 0; f < prepared.frames; ++f)
      result.outputs[f].push_back(
          unpackFrame(bytes->data() + f * frameBytes, port));
  }
  if (Error failure = removeTree(run))
    return std::move(failure);
  return result;
}
