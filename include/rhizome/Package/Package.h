// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled package, a folder: how it is written (completely or not at all)
// and how later steps open it. plan.json               the design and its
// prediction
//   checksums.json          of every file that later steps read
//   model/network.mlir      the integer model with its host parts
// model/golden/*.npy      frames and the interpreter's results
//   model/cpu.{o,h}         the model as machine code, with --cpu-object
//   nodes/<n>/rtl/*.sv      the hardware; *.hex images; files.f for tools
// segments/<n>/*          contents of off-chip memories
// results/                later measurements
#pragma once

#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Confine.h"
#include <memory>
#include <optional>

namespace rhizome {
/// The treatment of files that differ from what the compile wrote.
enum class Changes {
  Refuse,
  Accept, ///< for hardware that was edited by hand: reported, and accepted
  Trust,  ///< like Accept, and RTL may do anything that a simulator can
  Ignore, ///< no comparison: another process has just done it
};

/// From a command's options --accept-changes and --trust.
inline Changes changesFor(bool accept, bool trust) {
  return trust ? Changes::Trust : accept ? Changes::Accept : Changes::Refuse;
}

/// A package on disk.
class Package {
public:
  /// Opens a package; refuses a folder without plan.json, symbolic links and
  /// special files in it, a plan that parsePlan refuses, missing RTL files of
  /// the plan, and files that checksums.json does not list or that differ from
  /// it, all at once; and RTL that does more than a design does
  /// (docs/trust.md).
  static llvm::Expected<Package> open(llvm::StringRef dir,
                                      Changes changes = Changes::Refuse);

  const Plan &plan() const { return thePlan; }
  const std::string &dir() const { return root; }
  std::string path(llvm::StringRef relative) const;
  /// The path of a result: in results/ or, if the package cannot be
  /// written, in a folder of the user's cache for this package.
  std::string results(llvm::StringRef relative = "") const;
  /// Makes the folder of results(relative).
  llvm::Error makeResults(llvm::StringRef relative = "") const;
  /// The same, empty: what was there is removed.
  llvm::Error emptyResults(llvm::StringRef relative) const;
  /// Removes a result; nothing there is success.
  llvm::Error removeResult(llvm::StringRef relative) const;
  /// Writes results(relative) and makes its folder.
  llvm::Error writeResult(llvm::StringRef relative, llvm::StringRef text) const;
  llvm::Expected<std::string> readResult(llvm::StringRef relative) const;
  /// Whether its code may do all that the user may: --trust.
  bool isTrusted() const { return trusted; }
  /// How a program is started that works on the package's RTL, or on what has
  /// become of it: with this confinement, or without one if the package is
  /// trusted. Where nothing confines programs, an error unless this user's
  /// compiler has written the RTL on this machine.
  llvm::Expected<std::optional<Confinement>>
  confinement(Confinement wanted) const;
  /// Refuses text for a simulator that does more than a design does, unless
  /// the package is trusted; `name` is the file's.
  llvm::Error checkSource(llvm::StringRef name, llvm::StringRef text) const;
  /// Notes on an opened package for the user: accepted changes,
  /// results in another place.
  const std::vector<std::string> &notes() const { return theNotes; }
  /// An error if another package has replaced it.
  llvm::Error checkUnchanged() const;
  std::string modelPath() const { return path("model/network.mlir"); }
  std::string rtlPath(const PlannedNode &node) const {
    return path("nodes/" + thePlan.owner(node).name + "/rtl");
  }

  /// Copies the images of a node's memories into a folder, under their names.
  llvm::Error copyImages(const PlannedNode &node, llvm::StringRef folder) const;

private:
  std::string root;
  Plan thePlan;
  std::string checksums; ///< the text of checksums.json, "" without one
  std::string resultsRoot, resultsBase; ///< the latter is there
  std::vector<std::string> theNotes;
  bool trusted = false;

  llvm::Error check(Changes changes);
  llvm::Error checkFiles(llvm::StringRef dir);
  llvm::Error checkSegments() const;
  llvm::Error checkRtlFiles() const;
  llvm::Error chooseResults();
};

/// Writes a package to a temporary folder (".<name>.tmp-<pid>" next to the
/// target) and renames it at commit. Unless committed, the destructor, SIGINT
/// and SIGTERM remove it; a crash can leave only the temporary folder, which
/// the next writer of the same target removes. One thread creates it and uses
/// it.
class PackageWriter {
public:
  /// Refuses a target that exists and is neither a package, by its
  /// checksums.json and its plan's schema, nor an empty folder, and a link.
  static llvm::Expected<std::unique_ptr<PackageWriter>>
  create(llvm::StringRef target);
  /// Refuses whatever create() would refuse, and a target whose folder cannot
  /// be made, before any work is done; creates nothing.
  static llvm::Error check(llvm::StringRef target);
  ~PackageWriter();
  PackageWriter(const PackageWriter &) = delete;
  PackageWriter &operator=(const PackageWriter &) = delete;

  /// The temporary folder, for parts that write files themselves.
  const std::string &dir() const { return aside; }
  /// Makes "<dir>/<relative>" and its parents and returns its path.
  llvm::Expected<std::string> makeFolder(llvm::StringRef relative);
  llvm::Error writeFile(llvm::StringRef relative, llvm::StringRef contents);
  llvm::Error copyFile(llvm::StringRef relative, llvm::StringRef from);
  /// Writes plan.json, and files.f of every node.
  llvm::Error writePlan(const Plan &plan);
  /// Writes checksums.json and moves the package into its place, replacing an
  /// older one in one step. Needs plan.json. Measurements of the older one
  /// are kept if all checked files are the same.
  llvm::Error commit();
  /// Whether commit() removed measurements because they were of other hardware.
  bool removedResults() const { return resultsAreGone; }

private:
  PackageWriter(std::string target, std::string aside)
      : target(std::move(target)), aside(std::move(aside)) {}
  std::string target, aside;
  std::vector<std::string> rtl; ///< of the plan, below the package
  bool resultsAreGone = false;
  int slot = -1; ///< in the table of the signal handler
};
} // namespace rhizome
