// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the package's Verilator model around data/sim/harness.cpp, keeps it by
// content, and runs it. Frames go in and out in files of raw beats.
#include "Run.h"
#include "rhizome/Package/NodeChannels.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Simulate/Program.h"
#include "rhizome/Support/Resources.h"
#include "rhz_memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

namespace {
constexpr int64_t kShortFrame = 20000, kLongFrame = 4'000'000; // cycles
constexpr int64_t kManyFrames = 20, kFewFrames = 12;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// What it has in memories outside the chip: ports, those of them that write,
/// how their banks answer, the segments, seen from the RTL's folder, where
/// simulations run, and the spaces that the design has for itself.
std::string memoriesHeader(const PlannedNode &node) {
  std::string ports, writes, banks, segments, spaces;
  raw_string_ostream p(ports), w(writes), b(banks), s(segments), o(spaces);
  size_t writers = 0;
  for (auto [k, port] : enumerate(node.memoryPorts)) {
    const PlannedMemory &m = *node.memory(port.memory);
    auto t =
        rhz::MemoryTiming::of({m.banks, m.bytesPerS, m.latencyNs,
                               m.turnaroundNs, m.refreshEveryNs, m.refreshNs},
                              port.dataWidth / 8, node.clockMhz);
    p << " X(" << k << ", " << port.port << ")";
    if (port.writes()) {
      w << " X(" << writers++ << ", " << k << ", " << port.port << ")";
      o << " {" << k << ", " << port.spaceAddress << ", " << port.spaceBytes
        << "},";
    }
    b << " {\"" << port.port << "\", " << port.dataWidth / 8 << ", {"
      << t.beatTicks << ", " << t.latency << ", " << t.turnTicks << ", "
      << t.refreshEvery << ", " << t.refresh << "}},";
    for (const PlannedSegment &segment : node.segments)
      if (segment.memory == port.memory && segment.bank == port.bank &&
          segment.bytes > 0)
        s << " {" << k << ", " << segment.address << ", \"../../../"
          << segment.file << "\"},";
  }
  return "#define RHZ_MEMORIES(X)" + ports + "\n#define RHZ_WRITERS(X)" +
         writes + "\n#define RHZ_BANKS" + banks + "\n#define RHZ_SEGMENTS" +
         segments + "\n#define RHZ_SPACES" + spaces + "\n";
}

/// What tells the harness which ports a design has: number, name, bits of data.
std::string portsHeader(const PlannedNode &node) {
  auto list = [](const std::vector<BorderPort> &ports) {
    std::string text;
    for (auto [k, port] : enumerate(ports))
      text += " X(" + std::to_string(k) + ", " + port.port + ", " +
              std::to_string(port.dataWidth) + ")";
    return text;
  };
  std::string text = "#define RHZ_INPUTS(X)" + list(node.inputs);
  text += "\n#define RHZ_OUTPUTS(X)" + list(node.outputs);
  return text + "\n" + memoriesHeader(node);
}

/// Whether it has engines, whose units the harness watches.
bool hasEngines(const PlannedNode &node) {
  return any_of(node.actors, sim::isEngine);
}

/// The same of a node in its link endpoint.
std::string endpointHeader(const Plan &plan, const PlannedNode &node) {
  return "#define RHZ_LINK " + std::to_string(node.streamBits) +
         "\n#define RHZ_PARTS " +
         std::to_string(nodeConfiguration(plan, node).size()) + "\n" +
         memoriesHeader(plan.owner(node));
}

/// Few cycles a frame mean a wide design, which takes longer to compile than
/// to run; many cycles mean a narrow one.
std::string optimizationFor(int64_t intervalCycles) {
  const char *level = intervalCycles < 10000 ? "-O0" : "-O1";
  return std::string("OPT_FAST=") + level + " OPT_SLOW=-O0 OPT_GLOBAL=-O1";
}

/// Floating-point operators of which a design has so many that each is compiled
/// once, as a block of its own, and not as part of every instance's parent.
std::string blocksOf(ArrayRef<std::string> paths, ArrayRef<std::string> texts) {
  constexpr size_t kFewInstances = 64;
  std::string blocks;
  for (const std::string &path : paths) {
    StringRef name = sys::path::stem(path);
    if (!name.starts_with("rhz_float_"))
      continue;
    size_t instances = 0;
    for (const std::string &text : texts)
      instances += StringRef(text).count((name + " ").str());
    if (instances > kFewInstances)
      blocks += ("hier_block -module \"" + name + "\"\n").str();
  }
  return blocks.empty() ? "" : "`verilator_config\n" + blocks;
}

/// Of SystemVerilog, that Verilator and a compiler make a simulator of.
constexpr double kBytesPerSecond = 10000;

/// What stands around a design: a program that runs frames through it, or a
/// library that lets another program do so.
struct Bench {
  const char *source;     ///< in data/sim
  const char *headers[4]; ///< beside it, null where there are fewer
  const char *prefix;     ///< of the product's name, before the hash
  const char *suffix;     ///< behind it
  bool shared;            ///< a library
};
constexpr Bench kHarness = {
    "harness.cpp",
    {"rhz_bench.h", "rhz_memory.h", "rhz_units.h", "rhz_mistakes.h"},
    "sim-",
    "",
    false};
constexpr Bench kSystem = {
    "system.cpp", {"rhz_bench.h", "rhz_memory.h"}, "system-", "", false};
constexpr Bench kModel = {"model.cpp",
                          {"rhz_model.h", "rhz_bench.h", "rhz_memory.h"},
                          "model-",
                          ".so",
                          true};

/// In data/sim, for make.
constexpr const char *kPrecompiled = "precompiled.mk";
/// There, for Verilator: what the harness sees of engines.
constexpr const char *kUnits = "rhz_units.vlt";

/// Verilator's option for the kind of waveforms.
std::string traceOption(const SimOptions &options) {
  if (options.trace.empty())
    return "";
  return StringRef(options.trace).ends_with(".fst") ? "--trace-fst" : "--trace";
}

/// The compiler's results for parts that many simulators have in common, such
/// as those of Verilator's library, which ccache keeps. They are apart from the
/// user's: whatever builds a simulator writes there, and only simulators, which
/// are confined, consist of it.
struct Objects {
  std::string folder;
  std::vector<std::string> environment;
};

Expected<Objects> objectsOfUser() {
  Expected<std::string> cache = userCache();
  if (!cache)
    return cache.takeError();
  SmallString<256> folder(*cache + "/objects");
  if (std::error_code error = sys::fs::make_absolute(folder))
    return errorCodeToError(error);
  if (Error error = makeFolders(folder))
    return std::move(error);
  const std::string path = folder.str().str();
  return Objects{
      path,
      {"CCACHE_DIR=" + path, "CCACHE_TEMPDIR=" + path + "/tmp",
       "CCACHE_MAXSIZE=" + std::to_string(keptBytes() / 1000000) + "M",
       // For precompiled headers, which have no macros of time.
       "CCACHE_SLOPPINESS=pch_defines,time_macros"}};
}

/// Roughly, from what Verilator and the compiler take for our designs; with
/// traces everything is compiled twice as long.
std::string buildNotice(const PlannedNode &node, ArrayRef<std::string> texts,
                        bool isTraced) {
  size_t bytes = 0;
  for (const std::string &text : texts)
    bytes += text.size();
  const double seconds =
      (5 + double(bytes) / kBytesPerSecond) * (isTraced ? 2 : 1);
  return formatv(
      "building the simulator of {0}, about {1:f0} s; it is kept for "
      "later runs …",
      node.name, seconds);
}

Expected<sim::Simulator> build(const Package &package, const PlannedNode &node,
                               const SimOptions &options, const Bench &bench,
                               int64_t intervalCycles,
                               const std::string &ports) {
  const std::string &top = sim::topOf(node, options);
  Expected<sim::Sources> sources = sim::readSources(package, node, options);
  if (!sources)
    return sources.takeError();
  Expected<std::string> verilator = findTool("verilator");
  if (!verilator)
    return verilator.takeError();
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  const bool watches =
      bench.source == kHarness.source && !options.design && hasEngines(node);
  std::vector<std::pair<std::string, std::string>> files = {
      {"rhz_ports.h", ports + (watches ? "#define RHZ_ENGINES\n" : "") +
                          "#include \"V" + top + ".h\"\nusing Top = V" + top +
                          ";\n"}};
  std::vector<std::string> own = {bench.source, kPrecompiled};
  if (watches)
    own.push_back(kUnits);
  for (const char *header : bench.headers)
    if (header)
      own.push_back(header);
  for (const std::string &name : own) {
    Expected<std::string> text = readFile(*data + "/sim/" + name);
    if (!text)
      return text.takeError();
    files.emplace_back(name, std::move(*text));
  }
  // Programs are never taken from a package, which anybody may have made.
  Expected<KeptFiles> kept = KeptFiles::ofUser("simulators");
  if (!kept)
    return kept.takeError();
  std::vector<std::string> hashed = sources->texts;
  hashed.insert(hashed.end(), node.rtl.begin(), node.rtl.end());
  for (const auto &[name, text] : files)
    hashed.push_back(text);
  sys::fs::file_status tool;
  if (std::error_code error = sys::fs::status(*verilator, tool))
    return createStringError(error, "cannot read '%s'", verilator->c_str());
  hashed.push_back(
      *verilator + std::to_string(tool.getSize()) + " " +
      std::to_string(sys::toTimeT(tool.getLastModificationTime())));
  hashed.push_back(top + optimizationFor(intervalCycles));
  hashed.push_back(options.design ? "netlist" : "rtl");
  const std::string traced = traceOption(options);
  hashed.push_back(traced);
  std::string key = hashOf(hashed);

  sim::Simulator result;
  const std::string name = bench.prefix + key + bench.suffix;
  result.program = kept->path(name);
  if ((result.held = kept->take(name)))
    return result;
  if (options.onWait)
    options.onWait(buildNotice(node, sources->texts, !traced.empty()));
  auto start = std::chrono::steady_clock::now();
  Expected<std::string> folder = sim::makeRunFolder(package, "build");
  if (!folder)
    return folder.takeError();
  std::string work = *folder;
  // Verilator expands variables in paths, and GNU make splits paths at white
  // space and knows functions. So it is built elsewhere unless the path is
  // plain.
  bool elsewhere = any_of(work, [](char c) {
    return isASCII(c) && !isAlnum(c) && !StringRef("/_.+-").contains(c);
  });
  if (elsewhere)
    if (Error error = makeTemporaryFolder("rhizome-build").moveInto(work))
      return std::move(error);
  if (Error error = writeSources(work, *sources))
    return std::move(error);
  for (const auto &[name, text] : files)
    if (Error error = writeBytes(work + "/" + name, text))
      return error;
  std::vector<std::string> args = {"--cc",
                                   "--exe",
                                   "--build",
                                   "-j",
                                   "0",
                                   "--top-module",
                                   top,
                                   "-O3",
                                   "--assert",
                                   "--x-assign",
                                   "unique",
                                   "--x-initial",
                                   "unique",
                                   "--output-split",
                                   "20000",
                                   "-Mdir",
                                   "obj",
                                   "-o",
                                   "sim",
                                   "-CFLAGS",
                                   bench.shared ? "-I.. -fPIC" : "-I..",
                                   "-MAKEFLAGS",
                                   optimizationFor(intervalCycles)};
  if (bench.shared)
    args.insert(args.end(), {"-LDFLAGS", "-shared"});
  if (!traced.empty())
    args.push_back(traced);
  // clang compiles these files in two thirds of gcc's time.
  bool isClang = false;
  for (StringRef compiler : {"clang++-22", "clang++", "g++"})
    if (sys::findProgramByName(compiler)) {
      args.insert(args.end(), {"-MAKEFLAGS", ("CXX=" + compiler).str()});
      isClang = compiler.starts_with("clang");
      break;
    }
  if (sys::findProgramByName("ccache"))
    args.insert(args.end(), {"-MAKEFLAGS", "OBJCACHE=ccache"});
  // Vendors' models mix widths; bits of a netlist's buses depend on others.
  if (options.design)
    args.insert(args.end(), {"-Wno-WIDTH", "-Wno-UNOPTFLAT"});
  bool isFlat = true;
  if (traced.empty())
    if (std::string blocks = blocksOf(sources->paths, sources->texts);
        !blocks.empty()) {
      if (Error error = writeBytes(work + "/blocks.vlt", blocks))
        return error;
      args.insert(args.end(), {"--hierarchical", "blocks.vlt"});
      isFlat = false;
    }
  if (isClang && isFlat)
    args.insert(args.end(),
                {"-MAKEFLAGS", std::string("-f ../") + kPrecompiled});
  if (watches)
    args.push_back(kUnits);
  args.push_back(bench.source);
  args.insert(args.end(), sources->paths.begin(), sources->paths.end());
  std::string log = work + "/build.log";
  Expected<Objects> objects = objectsOfUser();
  if (!objects)
    return objects.takeError();
  Confinement wanted;
  wanted.writable = {work, objects->folder};
  Expected<std::optional<Confinement>> confinement =
      package.confinement(std::move(wanted));
  if (!confinement)
    return confinement.takeError();
  if (Error error = runTool("verilator", args, work, log,
                            /*showErrors=*/false, Addresses::Random,
                            *confinement, objects->environment))
    return error;
  Expected<KeptFiles::Held> held =
      kept->put(name, [&](const std::string &path) -> Error {
        if (Error error = copyFile(work + "/obj/sim", path))
          return error;
        if (std::error_code error = sys::fs::setPermissions(
                path,
                sys::fs::all_read | sys::fs::all_exe | sys::fs::owner_write))
          return createStringError(error, "cannot make the simulator '%s': %s",
                                   path.c_str(), error.message().c_str());
        return Error::success();
      });
  if (!held)
    return held.takeError();
  result.held = std::move(*held);
  for (const std::string &done : {work, *folder})
    if (Error error = removeTree(done))
      return std::move(error);
  result.buildSeconds = secondsSince(start);
  return result;
}

} // namespace

std::string sim::waveIn(const std::string &run, StringRef trace) {
  return run + "/wave" + sys::path::extension(trace).str();
}

Error sim::takeWave(const std::string &wave, StringRef trace) {
  if (trace.empty() || !sys::fs::exists(wave))
    return Error::success();
  return copyFile(wave, trace);
}

Expected<sim::Report> sim::readReport(const std::string &path) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  Report report;
  SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    auto [key, value] = line.split(' ');
    double number;
    if (key == "mistake")
      std::tie(report.engine, report.mistake) = value.split(' ');
    else if (key == "error")
      report.errors += (report.errors.empty() ? "" : "; ") + value.str();
    else if (!value.getAsDouble(number))
      report.numbers[key.str()] = number;
  }
  return report;
}

Expected<std::vector<EngineFrame>> sim::readUnits(const std::string &path) {
  std::vector<EngineFrame> engines;
  if (!sys::fs::exists(path))
    return engines;
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  SmallVector<StringRef> lines, words;
  StringRef(*text).split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    words.clear();
    line.split(words, ' ');
    if (words.size() == 3 && words[0] == "frame") {
      EngineFrame &engine = engines.emplace_back();
      words[1].consume_front("u_");
      engine.actor = words[1].str();
      if (!words[2].getAsInteger(10, engine.cycles))
        continue;
    }
    unsigned unit = 0;
    UnitEvent event;
    if (words.size() != 5 || engines.empty() ||
        words[0].getAsInteger(10, unit) ||
        unit >= engines.back().units.size() ||
        words[1].getAsInteger(10, event.begin) ||
        words[2].getAsInteger(10, event.end) ||
        words[3].getAsInteger(10, event.before) ||
        words[4].getAsInteger(10, event.stood))
      return createStringError("'%s' has the line '%s'", path.c_str(),
                               line.str().c_str());
    engines.back().units[unit].push_back(event);
  }
  return engines;
}

Expected<sim::Simulator> sim::buildSystem(const Package &package,
                                          const PlannedNode &node,
                                          const SimOptions &options) {
  const Plan &plan = package.plan();
  return build(package, node, options, kSystem, plan.predicted.intervalCycles,
               systemHeader(node, *plan.kernel->system));
}

Expected<sim::Simulator> sim::buildModel(const Package &package,
                                         const PlannedNode &node,
                                         bool withEndpoint,
                                         const WaitNotice &onWait) {
  SimOptions options;
  options.onWait = onWait;
  if (withEndpoint) {
    // The same files, another module on top.
    PlannedNode wrapped = package.plan().owner(node);
    wrapped.top = node.nodeTop;
    return build(package, wrapped, options, kModel,
                 node.predicted.intervalCycles,
                 endpointHeader(package.plan(), node));
  }
  const PlannedNode &owner = package.plan().owner(node);
  return build(package, owner, options, kModel, node.predicted.intervalCycles,
               portsHeader(owner));
}

Expected<SimulatorProgram> rhizome::buildSimulator(const Package &package,
                                                   const WaitNotice &onWait) {
  SimOptions options;
  options.onWait = onWait;
  const Plan &plan = package.plan();
  const PlannedNode &node = plan.nodes.front();
  Expected<sim::Simulator> built =
      build(package, node, options, kHarness, plan.predicted.intervalCycles,
            portsHeader(node));
  if (!built)
    return built.takeError();
  SmallString<256> rtl(package.rtlPath(node));
  if (std::error_code error = sys::fs::make_absolute(rtl))
    return errorCodeToError(error);
  // Where it writes, the caller adds.
  Expected<std::optional<Confinement>> confinement =
      sim::simulatorConfinement(package, node, "");
  if (!confinement)
    return confinement.takeError();
  if (*confinement)
    (*confinement)->writable.clear();
  return SimulatorProgram{built->program, rtl.str().str(), sim::hangLimit(plan),
                          std::move(built->held), std::move(*confinement)};
}

/// Frames that a design that reads a memory has begun when the first of them
/// ends; 0 if it reads none.
static int64_t framesInFlight(const Plan &plan, const PlannedNode &node) {
  // In batches there are more, and until they are all there, what readers have
  // fetched ahead makes the first ones faster.
  const int64_t most = std::max<int64_t>(32, 8 * node.batch());
  if (llvm::none_of(node.memoryPorts,
                    [](const MemoryPort &p) { return p.bytesPerFrame > 0; }))
    return 0;
  const int64_t interval = std::max<int64_t>(1, plan.predicted.intervalCycles);
  return std::min(most,
                  (plan.predicted.latencyCycles + interval - 1) / interval);
}

Expected<SimResult> sim::runVerilator(const Package &package,
                                      const Prepared &prepared,
                                      const SimOptions &options) {
  const Plan &plan = package.plan();
  const PlannedNode &node = plan.nodes.front();
  SmallString<256> trace(options.trace);
  if (!trace.empty()) {
    if (std::error_code error = sys::fs::make_absolute(trace))
      return createStringError(error, "cannot write '%s': %s", trace.c_str(),
                               error.message().c_str());
    if (Error error = writeBytes(trace, ""))
      return std::move(error);
  }
  Expected<Simulator> simulator =
      build(package, node, options, kHarness, plan.predicted.intervalCycles,
            portsHeader(node));
  if (!simulator)
    return simulator.takeError();

  Expected<std::string> folder = makeRunFolder(package, "run");
  if (!folder)
    return folder.takeError();
  std::string run = *folder;
  bool measure = options.measure && !options.stallsIn && !options.stallsOut &&
                 options.trace.empty();
  // Of long frames, one distance takes minutes, too.
  const bool isOne =
      options.isSerial || plan.predicted.intervalCycles >= kLongFrame;
  int64_t total = prepared.frames, last = 0;
  if (measure) {
    // Frames in flight at once share memories: as many come before those that
    // are counted and after them.
    last = framesInFlight(plan, node);
    int64_t counted = isOne ? 2
                      : plan.predicted.intervalCycles < kShortFrame
                          ? kManyFrames
                          : kFewFrames;
    // Of batches, the first ones are not full, and the last one may not be.
    if (node.batch() > 1) {
      counted = std::max(counted, 4 * node.batch() + 1);
      last += node.batch();
    }
    total = std::max(total, last + counted) + last;
  }
  // What takes the place of frames in the last batch goes through afterwards.
  const int64_t busy = plan.predicted.intervalCycles * node.batch();
  std::vector<std::string> args = {
      "--frames",     std::to_string(prepared.frames),
      "--total",      std::to_string(total),
      "--last",       std::to_string(last),
      "--distances",  isOne ? "1" : "8",
      "--batch",      std::to_string(node.batch()),
      "--stalls-in",  std::to_string(options.stallsIn),
      "--stalls-out", std::to_string(options.stallsOut),
      "--seed",       std::to_string(options.seed),
      "--hang",       std::to_string(hangLimit(plan, frameCycles(options))),
      "--latency",    measure ? "1" : "0",
      "--busy",       std::to_string(busy),
      "--progress",   options.progress ? "1" : "0",
      "--units",      run + "/units.txt",
      "--report",     run + "/report.txt"};
  if (plan.tasks.isKeptByFpga())
    args.insert(args.end(), {"--keeps", "1"});
  const std::string wave = waveIn(run, trace);
  if (!trace.empty())
    args.insert(args.end(),
                {"--trace", wave, "--half-ps",
                 std::to_string(std::llround(500000 / plan.clockMhz))});
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    std::string file = run + "/in" + std::to_string(k) + ".bin";
    const std::vector<uint8_t> &bytes = prepared.inputs[k];
    if (Error error = writeBytes(
            file, StringRef(reinterpret_cast<const char *>(bytes.data()),
                            bytes.size())))
      return error;
    args.insert(args.end(),
                {"--in", file, std::to_string(node.inputs[k].beats()),
                 std::to_string(node.inputs[k].dataWidth / 8)});
  }
  for (size_t k = 0; k < node.outputs.size(); ++k)
    args.insert(args.end(), {"--out", run + "/out" + std::to_string(k) + ".bin",
                             std::to_string(node.outputs[k].beats()),
                             std::to_string(node.outputs[k].dataWidth / 8)});
  args.push_back("+verilator+rand+reset+2");
  args.push_back("+verilator+seed+" +
                 std::to_string(options.seed % 2147483646 + 1));

  SmallString<256> rtl(package.rtlPath(node));
  if (std::error_code error = sys::fs::make_absolute(rtl))
    return errorCodeToError(error);
  Expected<std::optional<Confinement>> confinement =
      simulatorConfinement(package, node, run);
  if (!confinement)
    return confinement.takeError();
  if (options.onWait && total > prepared.frames)
    options.onWait(formatv("simulating {0} frames, the {1} that were asked for "
                           "again and again, to measure the interval …",
                           total, prepared.frames));
  else if (options.onWait && !trace.empty())
    options.onWait("simulating with waveforms, which is many times slower …");
  // The images are read relative to the RTL's folder.
  Error failed = runTool(simulator->program, args, rtl, run + "/log.txt",
                         options.progress, Addresses::Random, *confinement);
  if (Error error = joinErrors(std::move(failed), takeWave(wave, trace)))
    return error;
  Expected<Report> report = readReport(run + "/report.txt");
  if (!report)
    return report.takeError();
  if (!report->engine.empty())
    return mistakeOf(package, report->engine, report->mistake);
  if (!report->errors.empty())
    return createStringError("the RTL of '%s' misbehaves in simulation: %s",
                             package.dir().c_str(), report->errors.c_str());

  SimResult result;
  result.buildSeconds = simulator->buildSeconds;
  result.simulator = simulator->program;
  result.cycles = report->numbers["cycles"];
  result.simCyclesPerS = report->numbers["cycles_per_s"];
  result.measured = measure;
  result.intervalCycles = report->numbers["interval"];
  result.latencyCycles = report->numbers["latency"];
  result.loadCycles = report->numbers["load"];
  if (Error error = readUnits(run + "/units.txt").moveInto(result.engines))
    return std::move(error);
  result.outputs.resize(prepared.frames);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    Expected<std::string> bytes =
        readFile(run + "/out" + std::to_string(k) + ".bin");
    if (!bytes)
      return bytes.takeError();
    size_t frameBytes =
        node.outputs[k].beats() * (node.outputs[k].dataWidth / 8);
    if (bytes->size() != frameBytes * prepared.frames)
      return createStringError("the simulation wrote %zu bytes of output %zu "
                               "instead of %zu",
                               bytes->size(), k,
                               frameBytes * size_t(prepared.frames));
    for (int64_t f = 0; f < prepared.frames; ++f)
      result.outputs[f].push_back(unpackFrame(
          reinterpret_cast<const uint8_t *>(bytes->data()) + f * frameBytes,
          node.outputs[k]));
  }
  if (Error error = removeTree(run))
    return std::move(error);
  return result;
}
