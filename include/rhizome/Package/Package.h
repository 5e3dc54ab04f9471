// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled package, a folder: how it is written (whole or not at all) and
// how later steps open it.
//   plan.json               what was built and promised
//   checksums.json          of every file that later steps read
//   model/network.mlir      the integer model with its host parts
//   model/golden/*.npy      frames and the interpreter's answers
//   model/cpu.{o,h}         the model as machine code, with --cpu-object
//   nodes/<n>/rtl/*.sv      the hardware; *.hex images; files.f for tools
//   segments/<n>/*          what lies in memories outside the chip
//   results/                what was measured later
#pragma once

#include "rhizome/Package/Plan.h"
#include <memory>

namespace rhizome {
/// What is done about files that are not as the compile wrote them.
enum class Changes {
  Refuse,
  Accept, ///< for hardware that was edited by hand: they are told, and taken
  Trust,  ///< as Accept, and RTL may do whatever a simulator can
  Ignore, ///< nothing is compared: another process has done it just now
};

/// As a command's options --accept-changes and --trust say.
inline Changes changesFor(bool accept, bool trust) {
  return trust ? Changes::Trust : accept ? Changes::Accept : Changes::Refuse;
}

/// A package on disk.
class Package {
public:
  /// Opens a package; refuses a folder without plan.json, and what parsePlan
  /// refuses, RTL files that the plan names but the folder lacks, and files
  /// that are not as checksums.json lists them, all at once; RTL that does more
  /// than a design does (docs/trust.md).
  static llvm::Expected<Package> open(llvm::StringRef dir,
                                      Changes changes = Changes::Refuse);

  const Plan &plan() const { return thePlan; }
  const std::string &dir() const { return root; }
  std::string path(llvm::StringRef relative) const;
  /// The place of a result: below results/ or, if the package cannot be
  /// written, below a folder of the user's cache that is this package's alone.
  std::string results(llvm::StringRef relative = "") const;
  /// Makes the folder that results(relative) is.
  llvm::Error makeResults(llvm::StringRef relative = "") const;
  /// What a user should know of a package that was opened: accepted changes,
  /// results that go elsewhere.
  const std::vector<std::string> &notes() const { return theNotes; }
  /// An error if another package stands in its place by now.
  llvm::Error checkUnchanged() const;
  std::string modelPath() const { return path("model/network.mlir"); }
  std::string rtlPath(const PlannedNode &node) const {
    return path("nodes/" + thePlan.owner(node).name + "/rtl");
  }

private:
  std::string root;
  Plan thePlan;
  std::string checksums; ///< the text of checksums.json, "" without one
  std::string resultsRoot;
  std::vector<std::string> theNotes;

  llvm::Error check(Changes changes);
  llvm::Error checkSegments() const;
  llvm::Error checkRtlFiles() const;
  llvm::Error chooseResults();
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
  /// Refuses what create() would refuse, and a target whose folder cannot be
  /// made, before any work is done; makes nothing.
  static llvm::Error check(llvm::StringRef target);
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
  /// Writes checksums.json and puts the package in its place, replacing an
  /// older one in one step. Needs plan.json. What was measured of the older one
  /// stays if all files that are checked are the same.
  llvm::Error commit();
  /// Did commit() remove measurements, which were of other hardware?
  bool removedResults() const { return resultsAreGone; }

private:
  PackageWriter(std::string target, std::string aside)
      : target(std::move(target)), aside(std::move(aside)) {}
  std::string target, aside;
  bool resultsAreGone = false;
  int slot = -1; ///< in the table of the signal handler
};
} // namespace rhizome
