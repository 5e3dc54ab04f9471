// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a package to a placed and routed design: on a board with a serial line,
// then to a bitstream, or alone, for its clock. And back: what runs on a board
// as sources for a simulator, from the RTL, the netlist or the bitstream.
#pragma once

#include "rhizome/Package/Package.h"
#include <functional>
#include <map>
#include <optional>

namespace rhizome {
struct PlaceRouteOptions {
  /// A board's name or file; "" for the plan's board or, if it names none, the
  /// design alone, its streams at any pins.
  std::string board;
  unsigned seed = 1; ///< of the placer
  /// Told of each step as it begins, e.g. "yosys"; may be empty.
  std::function<void(llvm::StringRef step)> progress;
};

/// The path that bounds the clock.
struct CriticalPath {
  double ns = 0, logicNs = 0, routingNs = 0;
  int cells = 0;        ///< that it passes, carry cells included
  std::string from, to; ///< signals, by their names in the RTL
  /// Actors that it passes and the model's node of each, in its order.
  std::vector<std::pair<std::string, std::string>> actors;
};

struct PlaceRouteResult {
  std::string board; ///< "" for the design alone
  std::string device;
  std::string tools; ///< versions
  double clockMhz = 0, fmaxMhz = 0;
  /// Of the tool's own kinds (ICESTORM_LC, TRELLIS_COMB, …): used, available.
  std::map<std::string, std::pair<int64_t, int64_t>> utilization;
  std::optional<CriticalPath> path; ///< the design's, if the tool gives one
  std::string bitstream; ///< its file; "" without a board or below the clock
  std::string flash;     ///< the command that brings it onto the board
  double seconds = 0;
  bool meetsClock() const { return fmaxMhz >= clockMhz; }
};

/// Synthesizes node 0 as a whole, places, routes and, on a board, packs. All
/// files lie in "<package>/results/nextpnr" and the result's JSON is
/// "<package>/results/nextpnr.json". An error says which tool failed and where
/// its log lies, what does not fit, or what is missing.
llvm::Expected<PlaceRouteResult>
placeAndRoute(const Package &package, const PlaceRouteOptions &options);

/// {"fmax_mhz":…,"bitstream":…,…}: what --json prints.
llvm::json::Object toJson(const PlaceRouteResult &result);

/// What of a board is simulated, from the far end of its serial line.
enum class BoardLevel {
  Rtl,       ///< the package's RTL in the board's shell
  Netlist,   ///< what entered the router
  Bitstream, ///< what the bitstream holds, turned back into a netlist
};

/// Sources of a simulation whose top module has node 0's ports.
struct BoardSources {
  std::vector<std::string> files; ///< absolute, in order
  std::string top;
  int64_t cyclesPerFrame = 0; ///< that the serial line takes
};

/// Makes and lists them. Levels below the RTL need what placeAndRoute left;
/// the bitstream is decoded by the IceStorm tools, which know no UP5K blocks.
llvm::Expected<BoardSources> boardSources(const Package &package,
                                          BoardLevel level);
} // namespace rhizome
