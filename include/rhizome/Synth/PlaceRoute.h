// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a package to a placed and routed design: on a board with a serial line,
// then to a bitstream, or alone, to determine its clock. Also back: sources for
// simulating a board, from the RTL, the netlist or the bitstream.
#pragma once

#include "rhizome/Package/Checksums.h"
#include "rhizome/Package/Package.h"
#include <functional>
#include <map>
#include <optional>

namespace rhizome {
struct PlaceRouteOptions {
  /// A board's name or file; "" for the plan's board or, if it names none, the
  /// design alone, with its streams at arbitrary pins.
  std::string board;
  unsigned seed = 1; ///< of the placer
  /// Called with each step as it begins, e.g. "yosys"; may be empty.
  std::function<void(llvm::StringRef step)> progress;
};

/// The path that limits the clock.
struct CriticalPath {
  double ns = 0, logicNs = 0, routingNs = 0;
  int cells = 0;        ///< on the path, including carry cells
  std::string from, to; ///< signals, by their names in the RTL
  /// Actors on the path and the model's node of each, in path order.
  std::vector<std::pair<std::string, std::string>> actors;
};

struct PlaceRouteResult {
  std::string board; ///< "" for the design alone
  std::string device;
  std::string tools; ///< versions
  double clockMhz = 0, fmaxMhz = 0;
  /// By the tool's own kinds (ICESTORM_LC, TRELLIS_COMB, …): used, available.
  std::map<std::string, std::pair<int64_t, int64_t>> utilization;
  std::optional<CriticalPath> path; ///< the design's, if the tool reports one
  std::string bitstream; ///< its file; "" without a board or below the clock
  std::string flash;     ///< the command that loads it onto the board
  double seconds = 0;
  /// What boardSources reads later: the netlist and the bitstream.
  std::vector<FileChecksum> files;
  bool meetsClock() const { return fmaxMhz >= clockMhz; }
};

/// Synthesizes node 0 as a whole, places, routes and, for a board, packs. All
/// files are in "<package>/results/nextpnr" and the result's JSON is
/// "<package>/results/nextpnr.json". An error names the tool that failed and
/// its log, the resource that does not fit, or what is missing.
llvm::Expected<PlaceRouteResult>
placeAndRoute(const Package &package, const PlaceRouteOptions &options);

/// Whether the programs that make a board's bitstream are installed; an error
/// says which one is not.
llvm::Error checkRouterTools(llvm::StringRef board);

/// {"fmax_mhz":…,"bitstream":…,…}: what --json prints.
llvm::json::Object toJson(const PlaceRouteResult &result);

/// The level at which a board is simulated, from the far end of its serial
/// line.
enum class BoardLevel {
  Rtl,       ///< the package's RTL in the board's shell
  Netlist,   ///< the netlist given to the router
  Bitstream, ///< the contents of the bitstream, turned back into a netlist
};

/// Sources of a simulation whose top module has node 0's ports.
struct BoardSources {
  std::vector<std::string> files; ///< absolute, in order
  std::string top;
  int64_t cyclesPerFrame = 0; ///< that the serial line takes
};

/// Makes and lists them. Levels below the RTL need the files of placeAndRoute
/// as they were written, and refuse a netlist that does more than a design
/// does;
/// the bitstream is decoded by the IceStorm tools, which do not support UP5K
/// blocks.
llvm::Expected<BoardSources> boardSources(const Package &package,
                                          BoardLevel level);
} // namespace rhizome
