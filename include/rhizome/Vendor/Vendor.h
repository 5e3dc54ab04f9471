// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Build files for the tools of vendors. A flow is a folder of the data
// directory, flows/<name>/: a flow.json that says which devices it serves, and
// templates of the files. A new flow is a new folder.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Target/Device.h"

namespace rhizome::vendor {
/// One folder of flows/, as its flow.json describes it.
struct Flow {
  std::string name; ///< the folder's, here and below nodes/<n>/
  std::string tool; ///< for people: "AMD Vivado"
  /// Programs without which the files are of no use.
  std::vector<std::string> programs;
  /// Families that it serves, each with the name that the tool has for it.
  std::map<std::string, std::string> families;
  /// The shell that it serves, "" for a flow that asks for none.
  std::string shell;
  /// At most so many inputs, and so many outputs; 0: any number.
  int64_t maxStreams = 0;
  std::map<std::string, std::string> files; ///< name and what it is for
  std::string folder;                       ///< where the templates lie

  bool serves(const Device &device) const;
};

/// Every flow of the data directory, by name. A malformed flow.json is refused
/// with its path and place.
llvm::Expected<std::vector<Flow>> listFlows();

/// What fills the templates: a JSON object whose text depends on the node, the
/// device, the clock and the constants of a node top's channels only
/// (nodeConfiguration; empty without a link).
llvm::json::Object valuesOf(const PlannedNode &node, const Device &device,
                            double clockMhz,
                            const std::vector<uint16_t> &configuration = {});

/// Fills a template in the Mustache language, without any escaping. A name
/// that no value has is refused with its line; `path` is for messages.
llvm::Expected<std::string> fillTemplate(llvm::StringRef path,
                                         llvm::StringRef text,
                                         const llvm::json::Object &values);

/// Writes nodes/<node>/<flow>/ for every flow that serves the device. `notes`
/// gets a sentence for each that serves it but not this network.
llvm::Error writeFlows(PackageWriter &writer, const PlannedNode &node,
                       const Device &device, double clockMhz,
                       std::vector<std::string> &notes,
                       const std::vector<uint16_t> &configuration = {});
} // namespace rhizome::vendor
