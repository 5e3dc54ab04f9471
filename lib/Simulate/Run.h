// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the two simulators share: running tools, the cache, the prepared frames.
#pragma once

#include "rhizome/Simulate/Simulate.h"

namespace rhizome::sim {
/// Frames in the border's bytes: [port] -> all frames one after the other.
struct Prepared {
  std::vector<std::vector<uint8_t>> inputs;
  int64_t frames = 0; ///< given by the caller
};

/// Runs a program that is looked up in PATH, in folder `cwd`, its output going
/// to the file `log` (stderr left alone if `showErrors`). An exit status other
/// than 0 is an error that quotes the log's end.
llvm::Error runTool(llvm::StringRef program, llvm::ArrayRef<std::string> args,
                    llvm::StringRef cwd, llvm::StringRef log,
                    bool showErrors = false);

/// The program's path, or an error that says which package brings it.
llvm::Expected<std::string> findTool(llvm::StringRef program);

llvm::Error writeBytes(llvm::StringRef path, llvm::StringRef bytes);

/// 16 hex digits of the hash of texts.
std::string hashOf(llvm::ArrayRef<std::string> texts);

/// Absolute paths and contents of the node's RTL.
struct Sources {
  std::vector<std::string> paths;
  std::vector<std::string> texts;
};
llvm::Expected<Sources> readSources(const Package &package,
                                    const PlannedNode &node);

/// Makes "<package>/results/sim/<kind>-<pid>" and returns its path. Folders of
/// runs that ended (their process is gone) are removed first; a failed run's
/// logs thus stay until the next one.
llvm::Expected<std::string> makeRunFolder(const Package &package,
                                          llvm::StringRef kind);

/// Cycles without output that count as a hang.
int64_t hangLimit(const Plan &plan);

llvm::Expected<SimResult> runVerilator(const Package &package,
                                       const Prepared &prepared,
                                       const SimOptions &options);
llvm::Expected<SimResult> runIcarus(const Package &package,
                                    const Prepared &prepared,
                                    const SimOptions &options);
} // namespace rhizome::sim
