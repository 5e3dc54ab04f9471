// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one module becomes a netlist: its sources and Yosys' script.
#pragma once

#include "rhizome/Support/Tools.h"
#include "rhizome/Synth/Synth.h"
#include <set>

namespace rhizome::synth {
/// Everything that a module's netlist depends on, as files by name: its
/// cells, its memory images and "module.ys", the script.
struct Sources {
  std::vector<std::pair<std::string, std::string>> files;
  /// Those of them that have names of the package's, or of its parameters'.
  std::set<std::string> design;
};
/// The folder of those in a run folder, where Yosys runs; nothing of ours is
/// there.
constexpr const char *kDesignFolder = "design";
/// Names of ours.
constexpr const char *kScript = "module.ys", *kOuter = "outer.sv";

llvm::Expected<Sources> sourcesOf(const Package &package,
                                  const PlannedNode &node,
                                  const PlannedActor &actor,
                                  llvm::StringRef script);

/// Follows a family's script if modules keep their hierarchy while they
/// are mapped (rhz_choose_few): flattens them.
constexpr const char *kTakeIn =
    "setattr -mod -unset keep_hierarchy\nflatten\nclean\n";

/// The name of the netlist that the script writes.
constexpr const char *kNetlistFile = "netlist.json";

/// ABC, which maps logic for Yosys, aborts if bits 16 to 31 of the address
/// of a node happen to be 0 (an assertion in its lpkCut.c). With random
/// addresses this happens occasionally, with the system's default ones never.
constexpr Addresses kYosysAddresses = Addresses::Same;

/// The line with a tool's version.
llvm::Expected<std::string> versionOf(llvm::StringRef tool);
} // namespace rhizome::synth
