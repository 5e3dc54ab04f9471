// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures a package's hardware by synthesis: runs Yosys once on every distinct
// module and compares the counts with the plan. It reads the package only.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Synth/Depth.h"
#include <functional>

namespace rhizome {
namespace synth {
/// The Yosys commands for a family's netlist of module `top`, "" for an unknown
/// family. `hasDsp` is false for devices that lack the family's DSP blocks.
std::string familyScript(llvm::StringRef family, bool hasDsp,
                         llvm::StringRef top = "actor");
/// The families that familyScript knows.
std::vector<std::string> knownFamilies();
} // namespace synth

struct SynthProgress {
  size_t done = 0, total = 0; ///< runs of Yosys
  size_t cached = 0;          ///< modules found in the cache
  std::string running;        ///< actors whose modules are being synthesized
};

struct SynthOptions {
  std::string tool = "yosys"; ///< a program of PATH, or a path
  std::string cache;          ///< a folder, "" for the user's cache
  unsigned jobs = 2;          ///< parallel runs of Yosys
  std::function<void(const SynthProgress &)> progress; ///< may be empty
};

/// Actors of one cell with equal parameters and memory contents: one netlist.
struct SynthModule {
  std::string name;                ///< its first actor's
  std::string cell;                ///< "matvec" for rhz_matvec
  std::string node;                ///< the package's node
  std::string key;                 ///< hash of its sources, script and tool
  std::vector<std::string> actors; ///< all actors with this netlist
  synth::Counts predicted;         ///< of one actor, by the plan
  synth::Counts measured;          ///< of one actor
  synth::Depth depth;              ///< of the logic between registers
  double seconds = 0; ///< processor time of Yosys, maybe of an earlier run
  bool cached = false;
};

struct SynthNode {
  std::string name, device, family;
  std::map<std::string, int64_t> budget;
  synth::Counts predicted, measured; ///< of all actors
};

struct SynthResult {
  std::string tool; ///< what it calls itself, e.g. "Yosys 0.23 (…)"
  synth::Counts predicted, measured;
  std::vector<SynthNode> nodes;
  std::vector<SynthModule> modules; ///< in the plan's order
};

/// Synthesizes every distinct module of a package that is not in the cache.
/// The cache's key is the content: cells, parameters, memory images,
/// options, tool and its version; an interrupted run loses only the modules
/// in progress. SIGINT, SIGTERM and SIGHUP end the runs of Yosys first.
/// An error names the actor whose module failed and its log. The
/// result is also written to "<package>/results/synth.json".
llvm::Expected<SynthResult> synthesize(const Package &package,
                                       const SynthOptions &options);

/// {"predicted":{…},"measured":{…},"modules":[…],…}: what --json prints and
/// results/synth.json holds.
llvm::json::Object toJson(const SynthResult &result);

/// Predicted ÷ measured - 1, e.g. 0.1 for 10 % too much; nullopt for 0
/// measured.
std::optional<double> errorOf(const synth::Counts &predicted,
                              const synth::Counts &measured,
                              const std::string &resource);
} // namespace rhizome
