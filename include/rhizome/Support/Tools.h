// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of others and the files that go to and from them: how they are
// found and run, how files are written and named by content.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>
#include <vector>

namespace rhizome {
/// Where the system lays a program's memory: somewhere else in every run, or at
/// the same addresses, for programs with faults that depend on addresses.
/// Containers may forbid the latter; then it is as the former.
enum class Addresses { Random, Same };

/// A run of a program.
struct Process {
  std::string program;                ///< its path
  std::vector<std::string> arguments; ///< without the program's name
  std::string folder;                 ///< in which it runs
  std::string log;                    ///< file for its output
  bool showErrors = false;            ///< leave stderr alone
  std::string temporary = {};         ///< TMPDIR, if not empty
  Addresses addresses = Addresses::Random;
  int status = -1;    ///< once it has ended; 128 + signal if one killed it
  double seconds = 0; ///< of processor time
};

/// Runs processes, at most `limit` at a time. While one exists SIGINT, SIGTERM
/// and SIGHUP kill what runs, with all that it started, before they do what
/// they did. A process that still runs ends with its runner.
class ProcessRunner {
public:
  explicit ProcessRunner(unsigned limit);
  ~ProcessRunner();
  ProcessRunner(const ProcessRunner &) = delete;
  ProcessRunner &operator=(const ProcessRunner &) = delete;

  bool isFull() const { return running.size() >= limit; }
  bool isIdle() const { return running.empty(); }
  /// Starts a process, which must outlive its run; there must be room.
  llvm::Error start(Process &process);
  /// Waits until a process has ended and returns it.
  Process *wait();

private:
  struct Running {
    pid_t pid;
    size_t slot; ///< in the signal handler's table
    Process *process;
  };
  unsigned limit;
  std::vector<Running> running;
};

/// The program's path (looked up in PATH unless it holds a '/'), or an error
/// that says which package brings it.
llvm::Expected<std::string> findTool(llvm::StringRef program);

/// Runs a program that is looked up in PATH, in folder `cwd`, its output going
/// to the file `log` (stderr left alone if `showErrors`). An exit status other
/// than 0 is an error that quotes the log's end.
llvm::Error runTool(llvm::StringRef program, llvm::ArrayRef<std::string> args,
                    llvm::StringRef cwd, llvm::StringRef log,
                    bool showErrors = false,
                    Addresses addresses = Addresses::Random);

/// The error of a tool that failed with `status`: its name and the log's end,
/// or that the log is gone.
llvm::Error toolError(llvm::StringRef program, int status, llvm::StringRef log);

llvm::Error writeBytes(llvm::StringRef path, llvm::StringRef bytes);

/// As writeBytes, by a file aside and a rename: readers see all or nothing.
llvm::Error writeAtomically(llvm::StringRef path, llvm::StringRef bytes);

/// The folder in which this user's results are kept by content:
/// $XDG_CACHE_HOME/rhizome, otherwise ~/.cache/rhizome. It need not be there.
llvm::Expected<std::string> userCache();

/// 16 hex digits of the hash of texts.
std::string hashOf(llvm::ArrayRef<std::string> texts);
} // namespace rhizome
