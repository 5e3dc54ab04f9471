// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the two simulators: sources, run folders, the prepared frames.
#pragma once

#include "rhizome/Simulate/Bench.h"
#include "rhizome/Simulate/Simulate.h"
#include "rhizome/Support/KeptFiles.h"
#include "rhizome/Support/Tools.h"
#include <map>
#include <optional>

namespace rhizome::sim {
/// Frames in the border's bytes: [port] -> all frames one after the other.
struct Prepared {
  std::vector<std::vector<uint8_t>> inputs;
  int64_t frames = 0; ///< given by the caller
};

/// The simulated files: contents, and the paths of copies below a run folder,
/// in its folder 'design', where nothing of ours is.
struct Sources {
  std::vector<std::string> paths;
  std::vector<std::string> texts;
};
llvm::Expected<Sources> readSources(const Package &package,
                                    const PlannedNode &node,
                                    const SimOptions &options);

/// Writes the copies.
llvm::Error writeSources(const std::string &folder, const Sources &sources);

/// The simulator of a design starts no program. It writes in `folder`, where
/// its frames are, and reads the package's images and segments.
llvm::Expected<std::optional<Confinement>>
simulatorConfinement(const Package &package, const PlannedNode &node,
                     const std::string &folder);

/// The simulated top module.
inline const std::string &topOf(const PlannedNode &node,
                                const SimOptions &options) {
  return options.design ? options.design->top : node.top;
}

/// The cycles that a board takes for a frame besides.
inline int64_t frameCycles(const SimOptions &options) {
  return options.design ? options.design->cyclesPerFrame : 0;
}

/// Makes "<package>/results/sim/<kind>-<pid>" and returns its path. Folders of
/// finished runs (their process is gone) are removed first; a failed run's
/// logs are thus kept until the next one.
llvm::Expected<std::string> makeRunFolder(const Package &package,
                                          llvm::StringRef kind);

/// The program that runs a design, built or found in the user's cache.
struct Simulator {
  std::string program;
  KeptFiles::Held held;    ///< keeps it there
  double buildSeconds = 0; ///< 0 if it was found
};
/// A node's design as a shared library with the interface of
/// data/sim/rhz_model.h, `withEndpoint` as rhz_node. Nodes that share files
/// share the library.
llvm::Expected<Simulator> buildModel(const Package &package,
                                     const PlannedNode &node, bool withEndpoint,
                                     const WaitNotice &onWait);

/// Waveforms are written in the run folder, and taken from there to where the
/// user wants them, also after a failure.
std::string waveIn(const std::string &run, llvm::StringRef trace);
llvm::Error takeWave(const std::string &wave, llvm::StringRef trace);

/// What a bench reports: lines "key value"; "error text" may repeat, and
/// "mistake engine text" is what one finds wrong with its program.
struct Report {
  std::map<std::string, double> numbers;
  std::string errors;
  std::string engine, mistake; ///< the instance, and what it says
};
llvm::Expected<Report> readReport(const std::string &path);

/// What an engine finds wrong with its program, as an error that says what to
/// do. `instance` is the unit's in the design.
llvm::Error mistakeOf(const Package &package, llvm::StringRef instance,
                      llvm::StringRef mistake);

/// What the harness has noted of engines' units (data/sim/rhz_units.h); nothing
/// if there is no such file.
llvm::Expected<std::vector<EngineFrame>> readUnits(const std::string &path);

/// The bench of a kernel's system, data/sim/system.cpp, and the header that
/// tells it the ports and how their banks answer.
llvm::Expected<Simulator> buildSystem(const Package &package,
                                      const PlannedNode &node,
                                      const SimOptions &options);
std::string systemHeader(const PlannedNode &node, const PlannedSystem &system);
/// A frame is a group of elements.
llvm::Expected<SimResult> runSystem(const Package &package,
                                    const Prepared &prepared,
                                    const SimOptions &options);

llvm::Expected<SimResult> runVerilator(const Package &package,
                                       const Prepared &prepared,
                                       const SimOptions &options);
llvm::Expected<SimResult> runIcarus(const Package &package,
                                    const Prepared &prepared,
                                    const SimOptions &options);
} // namespace rhizome::sim
