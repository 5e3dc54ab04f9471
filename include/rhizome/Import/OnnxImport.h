// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import reads an ONNX file and gives real-level `osa`: the contents of the
// file, with its quantizers kept as quantize/dequantize pairs. It folds
// constants and infers all shapes; Transforms turns the result into
// integers.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Support/Refusal.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rhizome::importer {
struct ImportOptions {
  /// Shapes of graph inputs by name (`--shape name=1,3,32,32`). Without an
  /// entry, an unnamed or symbolic dimension is 1. A size of −N is a bound: at
  /// most N, and how many there are is a further input, named after the
  /// dimension.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Graph inputs with whole numbers, by name (`--input-type name=u8`):
  /// networks that were integerized into float tensors do not declare them.
  struct IntegerType {
    bool isSigned = false;
    unsigned width = 8;
  };
  std::map<std::string, IntegerType> inputTypes;
  /// Graph inputs that stay inputs although an initializer gives their default,
  /// which is then the attribute `rhizome.initial` of the argument.
  std::set<std::string> keptInputs;
  /// `--raw-integers`: F of the fixed-point format. Float tensors of rank 1 or
  /// more in the file hold integer codes; their real value is code / 2^F.
  std::optional<int> rawIntegerFraction;
  /// `--fixed-point-functions`: Softmax and layer normalizations are operations
  /// of the network, which between quantizers are computed in fixed point.
  bool fixedPointFunctions = false;
  /// Resource limits; a file that exceeds them is refused.
  struct Limits {
    int64_t bytes = INT32_MAX; ///< of the protobuf
    int64_t nodes = 1 << 20;   ///< of a graph with its functions written out
    /// Of all tensors computed by constant folding together.
    int64_t foldedElements = int64_t(1) << 28;
  };
  Limits limits;
  /// The host computes all integers, in their own types, and the network none:
  /// for models of which it would compute some in float32
  /// (`rhizome.wide`).
  bool integersOnHost = false;
};

/// Reads the ONNX file at `path` (IR version 3 to 14, opset 7 to 28).
///
/// The module holds one `func.func @main` of real-level `osa`. Arguments are
/// f32 tensors of the graph inputs' ONNX shapes, results those of the outputs
/// (i64 for indices), each with the attribute `rhizome.name`. An integer graph
/// input or output of up to 16 bits becomes f32 with a quantizer of scale 1;
/// the range of an integer input's type is its attribute `rhizome.range`.
/// Tensors of float16 and bfloat16 are f32, rounded after every operation by
/// loops that `host::dropRounding` removes.
/// Each operation's location is a NameLoc with the node's name, whose child is
/// a NameLoc with its ONNX operation. Needs no dialect loaded beforehand.
///
/// Returns null if anything is refused; `refusals` then lists everything that
/// was found, by node. Never throws and never aborts on a bad file.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             const ImportOptions &options,
                                             Refusals &refusals);

/// The same for a serialized model in memory; external data is searched in
/// `directory`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxBuffer(mlir::MLIRContext *context,
                                                   llvm::StringRef bytes,
                                                   llvm::StringRef directory,
                                                   const ImportOptions &options,
                                                   Refusals &refusals);
} // namespace rhizome::importer
