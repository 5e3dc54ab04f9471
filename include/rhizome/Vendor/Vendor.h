// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Build files for vendor tools. A flow is a folder of the data
// directory, flows/<name>/: a flow.json that lists the supported devices, and
// templates of the files. A new flow is a new folder.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Target/Device.h"

namespace rhizome::vendor {
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
  std::string folder;                       ///< where the templates are

  bool serves(const Device &device) const;
};

/// Every flow of the data directory, by name. A malformed flow.json is refused
/// with its path and place.
llvm::Expected<std::vector<Flow>> listFlows();

/// The values for the templates: a JSON object whose text depends only on the
/// node, the device, the clock and the constants of a node top's channels
/// (nodeConfiguration; empty without a link).
llvm::json::Object valuesOf(const PlannedNode &node, const Device &device,
                            double clockMhz,
                            const std::vector<uint16_t> &configuration = {});

/// Fills in a template in the Mustache language, without any escaping. An
/// unknown name is refused with its line; `path` is for messages.
llvm::Expected<std::string> fillTemplate(llvm::StringRef path,
                                         llvm::StringRef text,
                                         const llvm::json::Object &values);

/// Writes nodes/<node>/<flow>/ for every flow that supports the device. `notes`
/// gets a sentence for each flow that supports it but not this network.
llvm::Error writeFlows(PackageWriter &writer, const PlannedNode &node,
                       const Device &device, double clockMhz,
                       std::vector<std::string> &notes,
                       const std::vector<uint16_t> &configuration = {});
} // namespace rhizome::vendor
