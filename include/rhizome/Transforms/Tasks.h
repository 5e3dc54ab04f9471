// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of tasks made by integerize() (flow.tasks, see Flow.td), and
// the placement of operations that both host and FPGA could compute.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include <functional>
#include <vector>

namespace rhizome {
/// The function for explore and build: the FPGA's task, or all of them
/// merged into one function without a place, whose arguments and results are
/// theirs in order. Called @network; null if the host computes everything.
mlir::func::FuncOp fpgaNetwork(mlir::ModuleOp module);

/// An operation of @main, and where it could run.
struct PlaceableOp {
  mlir::Operation *op = nullptr;
  bool onHost = false, onFpga = false; ///< what is possible; one or both
  /// Quantizes reals: an FPGA region may begin after it.
  bool quantizes = false;
  /// Regions of the FPGA run one after another; for an operation that the FPGA
  /// could compute, its region, otherwise the one before which it runs.
  unsigned region = 0;
  int64_t bytes = 0;             ///< of its result, if it is copied
  std::vector<unsigned> readers; ///< operations of the list
};

/// Chooses a place for each operation of the list, which is in a valid
/// execution order. An operation may only be on the FPGA if each of its
/// operands is, or if it quantizes.
using Placer =
    std::function<std::vector<flow::Place>(const std::vector<PlaceableOp> &)>;

/// True if a separate unit on the FPGA is only worthwhile next to
/// layers: the operation changes or moves single elements.
bool isGlue(mlir::Operation *op);
/// True if an operation takes no computation in either place.
bool isIdle(mlir::Operation *op);
} // namespace rhizome
