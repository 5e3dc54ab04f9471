// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a vendor's tool over a package's RTL with build files that are made anew
// from the plan, in results/<flow>, and reads its reports. What a tool's
// command and reports look like is in its flow.json.
#pragma once

#include "rhizome/Vendor/Vendor.h"
#include <functional>
#include <optional>

namespace rhizome::vendor {
struct RunProgress {
  std::string node;
  std::string line; ///< the last one of the tool's output
  double seconds = 0;
};

struct RunOptions {
  /// A flow's name ("vivado"), or the path of its first program.
  std::string tool;
  /// The folder with the programs; otherwise PATH and the flow's own variables.
  std::string folder;
  double timeoutS = 0; ///< for each node; 0: as long as it takes
  /// The board around a node's design as it was when the package was compiled,
  /// if there is one; a sentence about what it lacks goes to the notes.
  std::function<llvm::Expected<std::optional<BoardProject>>(
      const Plan &, const PlannedNode &, const Device &, const Board *,
      std::vector<std::string> &notes)>
      boardProject;
  /// Called several times a second; may be empty.
  std::function<void(const RunProgress &)> progress;
};

/// A node's design after placement and routing.
struct RunNode {
  std::string name, device;
  double clockMhz = 0;
  std::map<std::string, int64_t> budget;
  /// By resource; of the design alone, without what a board or a platform adds.
  std::map<std::string, double> predicted, measured;
  /// Of the worst path of the design's clock, if the tool reports it. Negative:
  /// the clock is missed.
  std::optional<double> slackNs;
  /// Of all clocks of a platform around the design, which has others, too.
  std::optional<double> platformSlackNs;
  std::optional<double> powerW;
  std::string result; ///< the bitstream or checkpoint
  std::string log;
  double seconds = 0;

  /// The fastest clock by the slack.
  std::optional<double> fmaxMhz() const;
  bool meetsClock() const;
};

struct RunResult {
  std::string flow;    ///< "vivado"
  std::string tool;    ///< "AMD Vivado"
  std::string version; ///< as the reports give it
  std::string flash;   ///< the command that loads the bitstream onto the board
  std::vector<RunNode> nodes;
  bool meetsClock() const;
};

/// Whether `tool` names a flow that has a tool to run.
llvm::Expected<bool> isRunnable(llvm::StringRef tool);

/// The program's path: in `folder` if that is given, in PATH, or below what the
/// flow's variables name; an error says where it was looked for.
llvm::Expected<std::string>
findProgram(const Flow &flow, llvm::StringRef program, llvm::StringRef folder);

/// Builds every node that has RTL of its own. The package's own build files
/// are taken only if it is trusted: they are programs. All files are in
/// "<package>/results/<flow>", the result's JSON in
/// "<package>/results/<flow>.json", which exists only for a run that has
/// ended well (its clock may be missed). An error names the log, or the report
/// that lacks something.
llvm::Expected<RunResult> run(const Package &package,
                              const RunOptions &options);

/// {"tool":…,"nodes":[…],"predicted":{…},"measured":{…}}: what --json prints.
llvm::json::Object toJson(const RunResult &result);
} // namespace rhizome::vendor
