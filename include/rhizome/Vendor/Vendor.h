// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Build files for vendor tools. A flow is a folder of the data
// directory, flows/<name>/: a flow.json that lists the supported devices, and
// templates of the files. A new flow is a new folder.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Target/Board.h"
#include "rhizome/Target/Device.h"
#include <optional>

namespace rhizome::vendor {
/// A report of a tool, and the figures that are read from it.
struct FlowReport {
  std::string file; ///< below the flow's folder; may have '*' in its name
  /// By name (a resource, "slack_ns", "power_w", "version"): an extended
  /// regular expression, whose last group is the value.
  std::map<std::string, std::string> values;
  std::vector<std::string> required;   ///< those that must be there
  std::map<std::string, double> scale; ///< to our units, where they differ
};

/// How a flow's tool is run and what it leaves.
struct FlowRun {
  std::vector<std::string> command; ///< the program and its arguments
  /// By what the design is built as, "alone" or a board's host: the last
  /// argument, and the file that the tool makes.
  std::map<std::string, std::string> scripts, results;
  /// Variables that name a folder with bin/, if the program is not in PATH.
  std::vector<std::string> roots;
  bool needsPlatform = false; ///< the device's file must name one
  std::vector<FlowReport> reports;
};

/// One folder of flows/, described by its flow.json.
struct Flow {
  std::string name; ///< the folder's, here and in nodes/<n>/
  std::string tool; ///< for people: "AMD Vivado"
  /// The programs needed to use the files.
  std::vector<std::string> programs;
  /// Supported families, each with the tool's name for it.
  std::map<std::string, std::string> families;
  /// The supported shell, "" for any.
  std::string shell;
  /// Maximum number of inputs, and of outputs; 0: any number.
  int64_t maxStreams = 0;
  /// The files also serve designs that read memories outside the chip.
  bool memoryPorts = false;
  /// All streams must have one width, which is a power of two.
  bool oneWidth = false;
  /// Only for plans on several dies.
  bool dies = false;
  std::map<std::string, std::string> files; ///< name and purpose
  /// Those for boards in addition, by the board's host ("serial", "dma").
  std::map<std::string, std::map<std::string, std::string>> boardFiles;
  /// Which of `files` the system of a kernel has; templates of its own are in
  /// the folder `system`. None: the flow does not serve it.
  std::vector<std::string> systemFiles;
  std::optional<FlowRun> run; ///< if 'rhizome synth' can run its tool
  std::string folder;         ///< where the templates are

  bool serves(const Device &device) const;
};

/// Every flow of the data directory, by name. A malformed flow.json is refused
/// with its path and place.
llvm::Expected<std::vector<Flow>> listFlows();

/// A design on a board.
struct BoardProject {
  Board board;
  /// Names and texts of the sources around the design, its top module first;
  /// none unless the host is at a serial line.
  std::vector<std::pair<std::string, std::string>> rtl;
};

/// The values for the templates: a JSON object whose text depends only on the
/// node, the device, the clock, the constants of a node top's channels
/// (nodeConfiguration; empty without a link), the board and the system of a
/// kernel, each null without one.
llvm::json::Object valuesOf(const PlannedNode &node, const Device &device,
                            double clockMhz,
                            const std::vector<uint16_t> &configuration = {},
                            const BoardProject *board = nullptr,
                            const PlannedSystem *system = nullptr);

/// Fills in a template in the Mustache language; `path` says how values are
/// escaped. `{{> name}}` stands for the file of that name and the same ending
/// in the folder `partials`, which has none itself. An unknown name is refused
/// with its line.
llvm::Expected<std::string> fillTemplate(llvm::StringRef path,
                                         llvm::StringRef text,
                                         const llvm::json::Object &values,
                                         llvm::StringRef partials);

/// A build file, by its path below the node's folder.
struct FlowFile {
  std::string path, text;
};

/// The build files of a node for every flow that supports the device; the rest
/// as writeFlows.
llvm::Expected<std::vector<FlowFile>>
filesOf(const PlannedNode &node, const Device &device, double clockMhz,
        std::vector<std::string> &notes,
        const std::vector<uint16_t> &configuration = {},
        const BoardProject *board = nullptr,
        const PlannedSystem *system = nullptr);

/// Writes nodes/<node>/<flow>/ for every flow that supports the device. `notes`
/// gets a sentence for each flow that supports it but not this network. With a
/// board, also the files for it, and its sources in nodes/<node>/board.
llvm::Error writeFlows(PackageWriter &writer, const PlannedNode &node,
                       const Device &device, double clockMhz,
                       std::vector<std::string> &notes,
                       const std::vector<uint16_t> &configuration = {},
                       const BoardProject *board = nullptr,
                       const PlannedSystem *system = nullptr);
} // namespace rhizome::vendor
