// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one module becomes a netlist: its sources and Yosys' script.
#pragma once

#include "rhizome/Support/Tools.h"
#include "rhizome/Synth/Synth.h"

namespace rhizome::synth {
/// Everything that a module's netlist depends on, as files by name: the cells
/// it uses, its memory images and "module.ys", the script.
struct Sources {
  std::vector<std::pair<std::string, std::string>> files;
};
llvm::Expected<Sources> sourcesOf(const Package &package,
                                  const PlannedNode &node,
                                  const PlannedActor &actor,
                                  llvm::StringRef script);

/// What follows a family's script where modules keep their hierarchy while they
/// are mapped (rhz_choose_few): they are taken in.
constexpr const char *kTakeIn =
    "setattr -mod -unset keep_hierarchy\nflatten\nclean\n";

/// A path as Yosys' scripts take it. They know no escapes, so a path with a
/// quotation mark or a line's end is refused.
llvm::Expected<std::string> quoted(llvm::StringRef path);

/// The name of the netlist that the script writes.
constexpr const char *kNetlistFile = "netlist.json";

/// ABC, which maps logic for Yosys, aborts where bits 16 to 31 of the address
/// of a node happen to be 0 (an assertion in its lpkCut.c). Random addresses
/// are so now and then, the system's usual ones never.
constexpr Addresses kYosysAddresses = Addresses::Same;

/// The line in which a tool names its version.
llvm::Expected<std::string> versionOf(llvm::StringRef tool);
} // namespace rhizome::synth
