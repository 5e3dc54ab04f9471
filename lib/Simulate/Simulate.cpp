// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepares frames and runs tools; the rest is in Verilator.cpp and Icarus.cpp.
#include "rhizome/Simulate/Simulate.h"
#include "Run.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <csignal>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

/// The names of files of several folders, without a name twice.
static std::vector<std::string> namesOf(ArrayRef<std::string> files) {
  std::vector<std::string> names, folders;
  for (const std::string &file : files) {
    const std::string folder = sys::path::parent_path(file).str();
    auto at = llvm::find(folders, folder);
    if (at == folders.end())
      at = folders.insert(at, folder);
    names.push_back("design/" + std::to_string(at - folders.begin()) + "/" +
                    sys::path::filename(file).str());
  }
  return names;
}

Expected<sim::Sources> sim::readSources(const Package &package,
                                        const PlannedNode &node,
                                        const SimOptions &options) {
  Sources sources;
  std::vector<std::string> files;
  if (options.design) {
    files = options.design->files;
    sources.paths = namesOf(files);
  } else {
    files = node.simulationModels;
    files.insert(files.end(), node.rtl.begin(), node.rtl.end());
    for (std::string &file : files) {
      sources.paths.push_back("design/" + file);
      file = package.rtlPath(node) + "/" + file;
    }
  }
  for (const std::string &file : files) {
    Expected<std::string> text = readFile(file);
    if (!text)
      return text.takeError();
    sources.texts.push_back(std::move(*text));
  }
  return sources;
}

Error sim::writeSources(const std::string &folder, const Sources &sources) {
  for (auto [path, text] : llvm::zip_equal(sources.paths, sources.texts)) {
    if (Error error = makeFolders(folder, sys::path::parent_path(path)))
      return error;
    if (Error error = writeBytes(folder + "/" + path, text))
      return error;
  }
  return Error::success();
}

Expected<std::optional<Confinement>>
sim::simulatorConfinement(const Package &package, const PlannedNode &node,
                          const std::string &folder) {
  SmallString<256> rtl(package.rtlPath(node)),
      segments(package.path("segments"));
  for (SmallString<256> *path : {&rtl, &segments})
    if (std::error_code error = sys::fs::make_absolute(*path))
      return errorCodeToError(error);
  Confinement wanted;
  wanted.writable = {folder};
  wanted.readable = {rtl.str().str(), segments.str().str()};
  wanted.programs = Confinement::Programs::None;
  return package.confinement(std::move(wanted));
}

Expected<std::string> sim::makeRunFolder(const Package &package,
                                         StringRef kind) {
  SmallString<256> results(package.results("sim"));
  if (std::error_code error = sys::fs::make_absolute(results))
    return errorCodeToError(error);
  if (Error error = package.makeResults("sim"))
    return std::move(error);
  for (const std::string &entry : namesIn(results)) {
    pid_t pid = 0;
    StringRef name = entry;
    if (!name.rsplit('-').second.getAsInteger(10, pid) && pid > 0 &&
        sys::fs::is_directory(results + "/" + name) &&
        (pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH)))
      if (Error error = package.removeResult("sim/" + entry))
        return std::move(error);
  }
  std::string path = (results + "/" + kind + "-" + Twine(getpid())).str();
  if (Error error = makeNewFolder(path))
    return std::move(error);
  return path;
}

int64_t sim::hangLimit(const Plan &plan, int64_t moreCycles) {
  const Prediction &p = plan.predicted;
  int64_t frame = std::max(p.intervalCycles, p.latencyCycles) + moreCycles;
  return std::max<int64_t>(100000, 20 * (frame + p.loadCycles));
}

Error sim::mistakeOf(const Package &package, StringRef instance,
                     StringRef mistake) {
  instance.consume_front("u_");
  std::string files;
  for (const PlannedNode &node : package.plan().nodes)
    for (const PlannedSegment &segment : node.segments)
      if (sys::path::filename(segment.file) == instance)
        files = " (" + segment.file + ")";
  return createStringError("the engine '%s' of '%s' stops: %s%s; remedy: "
                           "compile the network again, with --core if the "
                           "hardware is another package's",
                           instance.str().c_str(), package.dir().c_str(),
                           mistake.str().c_str(), files.c_str());
}

Expected<SimResult>
rhizome::simulateRtl(const Package &package,
                     const std::vector<std::vector<Tensor>> &frames,
                     const SimOptions &options) {
  const Plan &plan = package.plan();
  if (plan.nodes.size() != 1)
    return createStringError(
        "the package has %zu nodes; the level 'rtl' "
        "simulates packages of one node; remedy: the level "
        "'cluster' simulates several",
        plan.nodes.size());
  const PlannedNode &node = plan.nodes.front();
  if (frames.empty())
    return createStringError("there are no frames to simulate");
  sim::Prepared prepared;
  prepared.frames = frames.size();
  prepared.inputs.resize(node.inputs.size());
  for (const std::vector<Tensor> &frame : frames) {
    if (frame.size() != node.inputs.size())
      return createStringError("the design has %zu inputs, a frame %zu",
                               node.inputs.size(), frame.size());
    for (size_t k = 0; k < frame.size(); ++k) {
      Expected<std::vector<uint8_t>> bytes =
          packFrame(frame[k], node.inputs[k]);
      if (!bytes)
        return bytes.takeError();
      llvm::append_range(prepared.inputs[k], *bytes);
    }
  }
  if (plan.kernel && plan.kernel->system) {
    if (options.fourState)
      return createStringError("a kernel's system is simulated in Verilator "
                               "only; remedy: leave out --four-state, or "
                               "compile without --system");
    return sim::runSystem(package, prepared, options);
  }
  return options.fourState ? sim::runIcarus(package, prepared, options)
                           : sim::runVerilator(package, prepared, options);
}
