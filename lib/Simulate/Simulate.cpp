// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepares frames and runs tools; the rest is in Verilator.cpp and Icarus.cpp.
#include "rhizome/Simulate/Simulate.h"
#include "Run.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <csignal>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

Expected<sim::Sources> sim::readSources(const Package &package,
                                        const PlannedNode &node,
                                        const SimOptions &options) {
  Sources sources;
  SmallString<256> folder(package.rtlPath(node));
  if (std::error_code error = sys::fs::make_absolute(folder))
    return errorCodeToError(error);
  std::vector<std::string> files = node.simulationModels;
  files.insert(files.end(), node.rtl.begin(), node.rtl.end());
  for (std::string &file : files)
    file = (folder + "/" + file).str();
  if (options.design)
    files = options.design->files;
  for (const std::string &file : files) {
    sources.paths.push_back(file);
    Expected<std::string> text = readFile(sources.paths.back());
    if (!text)
      return text.takeError();
    sources.texts.push_back(std::move(*text));
  }
  return sources;
}

Expected<std::string> sim::makeRunFolder(const Package &package,
                                         StringRef kind) {
  SmallString<256> results(package.results("sim"));
  if (std::error_code error = sys::fs::make_absolute(results))
    return errorCodeToError(error);
  std::error_code error;
  for (sys::fs::directory_iterator it(results, error), end; it != end && !error;
       it.increment(error)) {
    pid_t pid = 0;
    StringRef name = sys::path::filename(it->path());
    if (!name.rsplit('-').second.getAsInteger(10, pid) && pid > 0 &&
        sys::fs::is_directory(it->path()) &&
        (pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH)))
      sys::fs::remove_directories(it->path());
  }
  std::string path = (results + "/" + kind + "-" + Twine(getpid())).str();
  if (std::error_code error =
          sys::fs::create_directories(path, true, sys::fs::all_all))
    return createStringError(error, "cannot make the folder '%s': %s",
                             path.c_str(), error.message().c_str());
  return path;
}

int64_t sim::hangLimit(const Plan &plan, int64_t moreCycles) {
  const Prediction &p = plan.predicted;
  int64_t frame = std::max(p.intervalCycles, p.latencyCycles) + moreCycles;
  return std::max<int64_t>(100000, 20 * (frame + p.loadCycles));
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
