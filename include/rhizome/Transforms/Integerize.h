// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the real-level network to the exact integer one: the interface
// of the Transforms layer.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Numeric/Format.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Transforms/Tasks.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rhizome {
/// Why a network cannot be built in a number format, "" if it can.
std::string whyNotForNetworks(const numeric::Format &format);

struct IntegerizeOptions {
  std::optional<numeric::Format> fixed; ///< --number-format
  /// Formats that differ from `fixed`, by ONNX tensor or node name.
  std::map<std::string, numeric::Format> tensorFormats;
  /// Where operations run that both host and FPGA could compute; without it
  /// the FPGA gets them.
  Placer placer;
};

/// How one quantizer of the model is built.
struct QuantizerStats {
  std::string node;         ///< the quantizer's node
  std::string kind;         ///< requantize, threshold, table, scaled_add, none
  unsigned accumulatorBits; ///< of its operand
  unsigned multiplierBits;  ///< 1 if all multipliers are 1; 0 if none
  int64_t shift;
  int64_t thresholds; ///< per channel
  std::string op = {}; ///< of the file
  /// Its codes, and the reals that they are: one scale and zero point, or one
  /// per channel. Without scales it is none that rounds, such as a sign.
  int64_t lo = 0, hi = 0;
  std::vector<float> scales = {};
  std::vector<int64_t> zeros = {};
};

struct IntegerizeStats {
  std::vector<QuantizerStats> quantizers;
  /// Accumulator bits of every conv2d and dense, by node.
  std::vector<std::pair<std::string, unsigned>> accumulators;
  /// Fixed-point mode: constants that were saturated, by tensor, and of how
  /// many elements.
  struct Saturation {
    std::string tensor;
    int64_t saturated, elements;
  };
  std::vector<Saturation> saturations;
  /// Nodes that the host computes, with the reason if the FPGA could not
  /// compute one.
  Refusals host;
};

/// Turns `@main` (real level, from Import) into a graph of tasks
/// (flow.tasks), equal to it in exact arithmetic. The host's are called @host0,
/// @host1 and so on; @host0 takes all of the model's inputs. The FPGA's one is
/// called @network; if there are several, they are @region0, @region1 and so
/// on, and fpgaNetwork() merges them. The host computes whatever the FPGA does
/// not support, in any position. On failure `refusals` contains every reason
/// found, and the module must not be used further.
mlir::LogicalResult integerize(mlir::ModuleOp module,
                               const IntegerizeOptions &options,
                               Refusals &refusals, IntegerizeStats &stats);

/// Why the importer assigned operations of a real-level module to the host.
Refusals hostReasons(mlir::ModuleOp module);

/// Rounds the next value of each state of @main as its quantizer rounds the
/// state. Nothing changes in what a frame hands to the next one.
void tieStates(mlir::ModuleOp module);

/// The steps of the above, in order; each is also a pass of rhizome-opt.
mlir::LogicalResult applyFixedPoint(mlir::ModuleOp module,
                                    const IntegerizeOptions &options,
                                    Refusals &refusals, IntegerizeStats &stats);
void canonicalizeReal(mlir::ModuleOp module);
mlir::LogicalResult lowerToIntegers(mlir::ModuleOp module, Refusals &refusals,
                                    IntegerizeStats &stats,
                                    const Placer &placer);
} // namespace rhizome
