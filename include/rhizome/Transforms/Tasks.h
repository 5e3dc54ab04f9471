// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of tasks that integerize() leaves (flow.tasks, see Flow.td), and
// what it asks about operations that host and FPGA could both compute.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include <functional>
#include <vector>

namespace rhizome {
/// The function that explore and build take: the FPGA's task, or all of them
/// merged into one function without a place, whose arguments and results are
/// theirs in order. Called @network; null if the host computes everything.
mlir::func::FuncOp fpgaNetwork(mlir::ModuleOp module);

/// An operation of @main, and where it could run.
struct PlaceableOp {
  mlir::Operation *op = nullptr;
  bool onHost = false, onFpga = false; ///< what is possible; one or both
  /// Makes codes of reals: the FPGA may begin behind it.
  bool quantizes = false;
  /// Regions of the FPGA run one after another; of an operation that the FPGA
  /// could compute the region, otherwise the one before which it runs.
  unsigned region = 0;
  int64_t bytes = 0;             ///< of its result, if it is copied
  std::vector<unsigned> readers; ///< operations of the list
};

/// Chooses a place for each operation of the list, which is in an order in
/// which they can run. An operation may only be on the FPGA if each that it
/// reads is, or quantizes.
using Placer =
    std::function<std::vector<flow::Place>(const std::vector<PlaceableOp> &)>;

/// True if an operation is worth a unit of its own on the FPGA only next to
/// layers: it changes single elements, or their places.
bool isGlue(mlir::Operation *op);
/// True if an operation computes nothing in either place.
bool isIdle(mlir::Operation *op);
} // namespace rhizome
