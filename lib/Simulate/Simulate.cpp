// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepares frames and runs tools; Verilator.cpp and Icarus.cpp do the rest.
#include "rhizome/Simulate/Simulate.h"
#include "Run.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <csignal>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

Expected<std::string> sim::findTool(StringRef program) {
  if (ErrorOr<std::string> found = sys::findProgramByName(program))
    return *found;
  return createStringError("the program '%s' is missing; Debian's package of "
                           "that name brings it ('rhizome doctor' shows all)",
                           program.str().c_str());
}

Error sim::runTool(StringRef program, ArrayRef<std::string> args, StringRef cwd,
                   StringRef log, bool showErrors) {
  Expected<std::string> path = findTool(program);
  if (!path)
    return path.takeError();
  Expected<std::string> env = findTool("env");
  if (!env)
    return env.takeError();
  // env(1) changes the folder; a chdir here would hit other threads.
  SmallVector<StringRef> argv = {*env, "-C", cwd, *path};
  argv.append(args.begin(), args.end());
  std::optional<StringRef> errors;
  if (!showErrors)
    errors = log;
  std::string message;
  int status = sys::ExecuteAndWait(
      *env, argv, std::nullopt, {StringRef(""), log, errors},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status == 0)
    return Error::success();
  std::string tail = message;
  if (Expected<std::string> text = readFile(log)) {
    StringRef end(*text);
    tail += end.take_back(1500).trim().str();
  } else {
    consumeError(text.takeError());
  }
  return createStringError("%s failed (status %d, log in '%s'): %s",
                           sys::path::filename(program).str().c_str(), status,
                           log.str().c_str(), tail.c_str());
}

Error sim::writeBytes(StringRef path, StringRef bytes) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (!error) {
    os << bytes;
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return createStringError(error, "cannot write '%s': %s", path.str().c_str(),
                             error.message().c_str());
  return Error::success();
}

std::string sim::hashOf(ArrayRef<std::string> texts) {
  SHA1 hash;
  for (const std::string &text : texts) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  }
  return toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}

Expected<sim::Sources> sim::readSources(const Package &package,
                                        const PlannedNode &node) {
  Sources sources;
  SmallString<256> folder(package.rtlPath(node));
  if (std::error_code error = sys::fs::make_absolute(folder))
    return errorCodeToError(error);
  std::vector<std::string> files = node.simulationModels;
  files.insert(files.end(), node.rtl.begin(), node.rtl.end());
  for (const std::string &file : files) {
    sources.paths.push_back((folder + "/" + file).str());
    Expected<std::string> text = readFile(sources.paths.back());
    if (!text)
      return text.takeError();
    sources.texts.push_back(std::move(*text));
  }
  return sources;
}

Expected<std::string> sim::makeRunFolder(const Package &package,
                                         StringRef kind) {
  SmallString<256> results(package.path("results/sim"));
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

int64_t sim::hangLimit(const Plan &plan) {
  const Prediction &p = plan.predicted;
  return std::max<int64_t>(100000,
                           20 * std::max(p.intervalCycles, p.latencyCycles));
}

Expected<SimResult>
rhizome::simulateRtl(const Package &package,
                     const std::vector<std::vector<Tensor>> &frames,
                     const SimOptions &options) {
  const Plan &plan = package.plan();
  if (plan.nodes.size() != 1)
    return createStringError("the package has %zu nodes; the level 'rtl' "
                             "simulates packages of one node",
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
  return options.fourState ? sim::runIcarus(package, prepared, options)
                           : sim::runVerilator(package, prepared, options);
}
