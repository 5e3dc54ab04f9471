// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands: each adds its options to the parser and sets what to run. Exit
// codes: 0 done, 1 failed, 2 bad usage (the parser's).
#pragma once

#include "rhizome/Package/Package.h"
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace rhizome::cli {
/// Set by the command that was chosen; returns the exit code.
using Run = std::function<int()>;

/// --accept-changes and --trust for the commands that read a package.
inline void addPackageChecks(CLI::App &command, bool &accept, bool &trust) {
  command.add_flag("--accept-changes", accept,
                   "accept the package's files as they are, e.g. RTL edited "
                   "by hand, and list those that changed");
  command.add_flag(
      "--trust", trust,
      "the same, and allow its RTL everything that a simulator can do, such "
      "as writing files: for your own packages");
}

void addCompile(CLI::App &app, Run &run);
void addExplore(CLI::App &app, Run &run);
void addAnalyze(CLI::App &app, Run &run);
void addSimulate(CLI::App &app, Run &run);
void addRun(CLI::App &app, Run &run);
void addEmbed(CLI::App &app, Run &run);
void addEvaluate(CLI::App &app, Run &run);
void addTrace(CLI::App &app, Run &run);
void addPrecision(CLI::App &app, Run &run);
void addCoverage(CLI::App &app, Run &run);
void addFormats(CLI::App &app, Run &run);
void addCharacterize(CLI::App &app, Run &run);
void addSynth(CLI::App &app, Run &run);
void addReport(CLI::App &app, Run &run);
void addTargets(CLI::App &app, Run &run);
void addDoctor(CLI::App &app, Run &run);
void addCompletion(CLI::App &app, Run &run);
} // namespace rhizome::cli
