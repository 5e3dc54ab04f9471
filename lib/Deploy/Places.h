// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the parties of a service are; the deployment manifest.
#pragma once

#include "rhizome/Deploy/Service.h"
#include "rhizome/Package/Package.h"

namespace rhizome::deploy {
/// The file in a package that says where its nodes are.
constexpr const char *kManifest = "deploy.yaml";

/// The places in a manifest: "address:port" by party's name.
llvm::Expected<std::map<std::string, std::string>>
readManifest(const std::string &path, const Plan &plan);

/// "address:port" by party's name. Refuses names that the plan does not know,
/// and what is no place, with the line of the manifest.
llvm::Expected<std::map<std::string, std::string>>
readPlaces(const Package &package, const PlacesRequest &request);

/// The text of a fresh manifest: all nodes, their files below `root`, places to
/// fill in.
std::string manifestText(const Plan &plan, llvm::StringRef root);
} // namespace rhizome::deploy
