// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one module becomes a netlist: its sources and Yosys' script.
#pragma once

<<<<<<< HEAD
#include "rhizome/Synth/Synth.h"
#include <chrono>
#include <sys/types.h>

namespace rhizome::synth {
=======
#include "rhizome/Package/Package.h"

namespace rhizome::synth {
/// Yosys' commands for a family's netlist of module `top`, "" for an unknown
/// family. `hasDsp` is false for devices that lack the family's DSP blocks.
std::string familyScript(llvm::StringRef family, bool hasDsp,
                         llvm::StringRef top = "actor");

>>>>>>> main
/// The families that familyScript knows.
std::vector<std::string> knownFamilies();

/// Everything that a module's netlist depends on, as files by name: the cells
/// it uses, its memory images and "module.ys", the script.
struct Sources {
  std::vector<std::pair<std::string, std::string>> files;
};
llvm::Expected<Sources> sourcesOf(const Package &package,
                                  const PlannedNode &node,
                                  const PlannedActor &actor,
                                  llvm::StringRef script);

/// The name of the netlist that the script writes.
constexpr const char *kNetlistFile = "netlist.json";

/// The line in which a tool names its version.
llvm::Expected<std::string> versionOf(llvm::StringRef tool);
} // namespace rhizome::synth
