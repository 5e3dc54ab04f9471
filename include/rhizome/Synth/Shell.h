// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A design on a board: the top module around it, the sources of that, and its
// pins in the router's format.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Target/Board.h"
#include "rhizome/Target/Device.h"

namespace rhizome::synth {
/// The top module of a board, and of the bench around it.
constexpr const char *kBoardTop = "rhz_board";
constexpr const char *kBenchTop = "rhz_bench";

/// Null, or why the shell of this board cannot carry this node.
llvm::Error checkShell(const Plan &plan, const PlannedNode &node,
                       const Board &board);

/// The top module's text: the shell and the design.
std::string boardText(const PlannedNode &node, const Board &board);

/// The top module of a test bench with the node's ports: the far end of the
/// serial line and the board.
std::string benchText(const PlannedNode &node, const Board &board);

/// Names and texts of all that a board's top module consists of besides the
/// node's own RTL; itself first.
llvm::Expected<std::vector<std::pair<std::string, std::string>>>
boardRtl(const PlannedNode &node, const Board &board);

/// Absolute paths of the package's RTL and of what a shell needs.
llvm::Expected<std::vector<std::string>> rtlFiles(const Package &package,
                                                  const PlannedNode &node);

/// Pins and clock, as .pcf for iCE40 or .lpf for ECP5.
std::string constraintsText(const Board &board, const Router &router);

/// Cycles that a frame and its answer take on the line, of all regions.
int64_t lineCycles(const PlannedNode &node, const Board &board);
} // namespace rhizome::synth
