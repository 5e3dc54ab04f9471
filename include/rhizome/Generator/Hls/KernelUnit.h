// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's loop nests in hardware: one pipeline per nest, scheduled, that
// take turns on memories of true depth, behind one input and one output
// stream.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Words.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Schedule/Problem.h"
#include <string>

namespace rhizome::gen::hls {
/// A nest as a pipelined loop. Reductions are the innermost loops; otherwise
/// the loops keep their order.
struct Nest {
  mlir::linalg::GenericOp op;
  std::vector<unsigned> order; ///< the loops, outermost first
  std::vector<int64_t> trips;  ///< in this order
  size_t outer = 0;            ///< loops that are not reductions
  /// An operation for every operand that is read, every operation of the body,
  /// and, last, the accumulator.
  schedule::LoopProblem problem;
  schedule::Schedule schedule;

  int64_t iterations() const;
  /// The cycle of an iteration in which its result is written, from 0.
  int64_t depth() const { return schedule.start.back(); }
  /// From its first iteration's start to its last result.
  int64_t cycles() const {
    return schedule.interval * (iterations() - 1) + depth() + 1;
  }
};

/// Something for which no hardware is built, at its place in the user's file.
struct Obstacle {
  mlir::Operation *op; ///< of the kernel's body, or the kernel
  mlir::Location where;
  std::string reason, remedy;
};

/// A kernel after `convert-num-to-arith`, as far as a unit computes it: all
/// that is between the conversions from and to floats.
struct KernelParts {
  std::vector<mlir::linalg::GenericOp> nests;
  std::vector<mlir::Value> inputs, outputs; ///< as in a KernelUnit
  std::vector<Obstacle> obstacles;          ///< all; without any it is built
};
/// Before conversion to integers: copies parts of tensors, and tensors that are
/// put together, wherever a part cannot be computed in its place.
void separateParts(mlir::func::FuncOp kernel);
/// Simplifies the nests in place.
KernelParts partsOf(mlir::func::FuncOp kernel);
/// True if an operation of a kernel is a conversion at the unit's border, or
/// has no logic of its own: constants and the initial values of sums.
bool isOutside(mlir::Operation &op);

/// What is built of a kernel, and the cycles of one run if the source always
/// offers and the sink always accepts: the three parts follow each other.
struct KernelUnit {
  /// Tensors of integers in the order of the streams: those that the unit does
  /// not compute, and those that something else reads. One element per beat.
  std::vector<mlir::Value> inputs, outputs;
  std::vector<Nest> nests;
  int64_t readCycles = 0, computeCycles = 0, writeCycles = 0;
  rtl::ModuleOp module;

  int64_t cycles() const { return readCycles + computeCycles + writeCycles; }
};

/// Builds all nests of a kernel. `pace` is the logic allowed between
/// registers; products are cut to the device's DSP blocks. The module, at the
/// builder's insertion point, has clk_i, rst_ni and the AXI4-Streams s_axis_0
/// and m_axis_0, whose TLAST ends a run; that of the input is not read. Fails
/// with a diagnostic for every obstacle.
mlir::FailureOr<KernelUnit> buildKernelUnit(mlir::func::FuncOp kernel,
                                            llvm::StringRef name,
                                            const cost::LogicPace &pace,
                                            const CostContext &context,
                                            mlir::OpBuilder &b);

/// The resources of a unit's module on a device.
Structure structureOf(rtl::ModuleOp module, const CostContext &context);
} // namespace rhizome::gen::hls
