// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one module becomes a netlist: its sources and Yosys' script, and the
// processes that run it.
#pragma once

#include "rhizome/Package/Package.h"
#include <sys/types.h>

namespace rhizome::synth {
/// Yosys' commands for a family's netlist of module `top`, "" for an unknown
/// family. `hasDsp` is false for devices that lack the family's DSP blocks.
std::string familyScript(llvm::StringRef family, bool hasDsp,
                         llvm::StringRef top = "actor");

/// The families that familyScript knows.
std::vector<std::string> knownFamilies();

/// Everything that a module's netlist depends on, as files by name: the cells
/// it uses, its memory images and "module.ys", the script.
struct Sources {
  std::vector<std::pair<std::string, std::string>> files;
};
llvm::Expected<Sources> sourcesOf(const Package &package,
                                  const PlannedNode &node,
                                  const PlannedActor &actor,
                                  llvm::StringRef script);

/// The name of the netlist that the script writes.
constexpr const char *kNetlistFile = "netlist.json";

/// The line in which a tool names its version.
llvm::Expected<std::string> versionOf(llvm::StringRef tool);

/// A run of Yosys in a folder.
struct Job {
  std::string folder; ///< holds the sources; the output goes to "log.txt"
  int status = -1;    ///< of the process, once it has ended
  double seconds = 0; ///< of processor time
};

/// Runs jobs, at most `jobs` at a time. While it exists SIGINT, SIGTERM and
/// SIGHUP kill the runs before they do what they did.
class Runner {
public:
  Runner(std::string tool, unsigned jobs);
  ~Runner();
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  bool isFull() const { return running.size() >= jobs; }
  bool isIdle() const { return running.empty(); }
  /// Starts a job; there must be room.
  llvm::Error start(Job &job);
  /// Waits until a job has ended and returns it.
  Job *wait();

private:
  struct Process {
    pid_t pid;
    size_t slot; ///< in the signal handler's table
    Job *job;
  };
  std::string tool;
  unsigned jobs;
  std::vector<Process> running;
};
} // namespace rhizome::synth
