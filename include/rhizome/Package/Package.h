// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled package, a folder: how it is written (whole or not at all) and
// how later steps open it.
//   plan.json               what was built and promised
//   model/network.mlir      the integer model with its host parts
//   nodes/<n>/rtl/*.sv      the hardware; *.hex images; files.f for tools
//   results/                what was measured later
#pragma once

#include "rhizome/Package/Plan.h"
#include <memory>

namespace rhizome {
/// A package on disk.
class Package {
public:
  /// Opens a package; refuses a folder without plan.json, and what parsePlan
  /// refuses, and RTL files that the plan names but the folder lacks.
  static llvm::Expected<Package> open(llvm::StringRef dir);

  const Plan &plan() const { return thePlan; }
  const std::string &dir() const { return root; }
  std::string path(llvm::StringRef relative) const;
  std::string modelPath() const { return path("model/network.mlir"); }
  std::string rtlPath(const PlannedNode &node) const {
    return path("nodes/" + thePlan.owner(node).name + "/rtl");
  }

private:
  std::string root;
  Plan thePlan;
};

/// Writes a package aside (".<name>.tmp-<pid>" beside the target) and renames
/// it at commit. Unless committed, the destructor, SIGINT and SIGTERM remove
/// what was written; a crash can leave only the aside name, which the next
/// writer of the same target clears away. One thread creates it and uses it.
class PackageWriter {
public:
  /// Refuses a target that exists and is neither a package nor an empty folder.
  static llvm::Expected<std::unique_ptr<PackageWriter>>
  create(llvm::StringRef target);
  ~PackageWriter();
  PackageWriter(const PackageWriter &) = delete;
  PackageWriter &operator=(const PackageWriter &) = delete;

  /// The folder aside, for parts that write files themselves.
  const std::string &dir() const { return aside; }
  /// Makes "<dir>/<relative>" and its parents and returns its path.
  llvm::Expected<std::string> makeFolder(llvm::StringRef relative);
  llvm::Error writeFile(llvm::StringRef relative, llvm::StringRef contents);
  llvm::Error copyFile(llvm::StringRef relative, llvm::StringRef from);
  /// Writes plan.json, and files.f of every node.
  llvm::Error writePlan(const Plan &plan);
  /// Puts the package in its place, replacing an older one in one step. Needs
  /// plan.json.
  llvm::Error commit();

private:
  PackageWriter(std::string target, std::string aside)
      : target(std::move(target)), aside(std::move(aside)) {}
  std::string target, aside;
  int slot = -1; ///< in the table of the signal handler
};
} // namespace rhizome
