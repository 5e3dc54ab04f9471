// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External programs: how they are found and run; the folder of what is kept for
// later, and names by content.
#pragma once

#include "rhizome/Support/Confine.h"
#include "rhizome/Support/Folders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace rhizome {
/// The addresses of a program's memory: different in every run, or
/// always the same, for programs with bugs that depend on addresses.
/// Containers may forbid the latter; then it is like the former.
enum class Addresses { Random, Same };

/// A run of a program.
struct Process {
  std::string program;                ///< its path
  std::vector<std::string> arguments; ///< without the program's name
  std::string folder;                 ///< in which it runs
  std::string log;                    ///< file for its output
  bool showErrors = false;            ///< do not redirect stderr
  /// "NAME=value", in place of ours or in addition.
  std::vector<std::string> environment = {};
  Addresses addresses = Addresses::Random;
  /// Without: it may do all that the user may.
  std::optional<Confinement> confinement = {};
  int status = -1;    ///< once it has ended; 128 + signal if one killed it
  double seconds = 0; ///< of processor time
};

/// Runs processes, at most `limit` at a time. While a runner exists, SIGINT,
/// SIGTERM and SIGHUP kill the running processes, with all their children,
/// before their previous action. A process that still runs ends with its
/// runner.
class ProcessRunner {
public:
  explicit ProcessRunner(unsigned limit);
  ~ProcessRunner();
  ProcessRunner(const ProcessRunner &) = delete;
  ProcessRunner &operator=(const ProcessRunner &) = delete;

  bool isFull() const { return running.size() >= limit; }
  bool isIdle() const { return running.empty(); }
  /// Starts a process, which must outlive its run; a slot must be free.
  llvm::Error start(Process &process);
  /// Waits until a process has ended and returns it, null if none has ended
  /// within `most`.
  Process *
  wait(std::chrono::nanoseconds most = std::chrono::nanoseconds::max());

private:
  struct Running {
    pid_t pid;
    size_t slot; ///< in the signal handler's table
    Process *process;
  };
  unsigned limit;
  std::vector<Running> running;
};

/// The program's path (looked up in PATH unless it contains a '/'), or an error
/// that names the package which provides it.
llvm::Expected<std::string> findTool(llvm::StringRef program);

/// Runs a program from PATH in folder `cwd`, with its output redirected
/// to the file `log` (stderr is not redirected if `showErrors`). An exit status
/// other than 0 is an error that quotes the log's end.
llvm::Error runTool(llvm::StringRef program, llvm::ArrayRef<std::string> args,
                    llvm::StringRef cwd, llvm::StringRef log,
                    bool showErrors = false,
                    Addresses addresses = Addresses::Random,
                    const std::optional<Confinement> &confinement = {},
                    std::vector<std::string> environment = {});

/// The error of a tool that failed with `status`: its name and the log's end,
/// or a note that the log is missing.
llvm::Error toolError(llvm::StringRef program, int status, llvm::StringRef log);

/// The folder of this user's cached results:
/// $XDG_CACHE_HOME/rhizome, otherwise ~/.cache/rhizome. It may not exist.
llvm::Expected<std::string> userCache();

/// 16 hex digits of a hash of the texts.
std::string hashOf(llvm::ArrayRef<std::string> texts);
} // namespace rhizome
