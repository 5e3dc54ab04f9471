// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ interface of the `osa` dialect: operations, the work interface, and
// access to constants and window geometry shared by all users.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Enums.h"

namespace rhizome::osa {
/// Work and traffic of one operation for one frame.
struct Work {
  int64_t macs = 0; ///< products accumulated
  int64_t ops = 0;  ///< other elementary operations (compare, add, table)
  /// Products and sums, counted individually: K products take K - 1 sums, and a
  /// bias one for each of its elements, as in EVEREST D4.2 and DOSA.
  int64_t flops = 0;
  int64_t paramBits = 0;  ///< constants read, each once
  int64_t inputBits = 0;  ///< activations in
  int64_t outputBits = 0; ///< activations out

  /// Operational intensity in flops per byte if weights are in DRAM
  /// (an engine): over inputs and parameters.
  double engineIntensity() const;
  /// The same if weights stay on chip (streaming): over inputs.
  double streamIntensity() const;
};

/// Geometry of a sliding window over `[1,H,W,C]`.
struct Window {
  int64_t height, width, channels;
  int64_t kernelH, kernelW, strideH, strideW, dilationH, dilationW;
  int64_t padTop, padLeft, padBottom, padRight;
  int64_t outHeight, outWidth;

  /// Rows that one window spans.
  int64_t spanH() const { return (kernelH - 1) * dilationH + 1; }
  int64_t spanW() const { return (kernelW - 1) * dilationW + 1; }
};

/// The window of a conv2d, max_pool, avg_pool or sum_pool; nullopt for others.
/// The output's size is taken from the result type.
std::optional<Window> getWindow(mlir::Operation *op);

/// Size of a window's output along one axis.
inline int64_t windowOutput(int64_t size, int64_t padLow, int64_t padHigh,
                            int64_t kernel, int64_t stride, int64_t dilation) {
  int64_t room = size + padLow + padHigh - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/// Implements OsaOpInterface::getWork for every op.
Work computeWork(mlir::Operation *op);

/// True for a ranked tensor of static shape whose elements satisfy the
/// predicate.
bool isTensorOf(mlir::Type type,
                llvm::function_ref<bool(mlir::Type)> isElement);

/// Refuses what the functions below cannot read: elements other than floats and
/// integers of whole bytes, and a resource that is missing, shorter or longer
/// than its type requires, by name and with both sizes. `what` begins the
/// message.
mlir::LogicalResult
verifyValues(mlir::ElementsAttr attr, llvm::StringRef what,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// The same for every attribute of the operations in `root`, whichever dialect
/// they belong to; to be called after parsing a file.
mlir::LogicalResult verifyResources(mlir::Operation *root);

/// The bytes of an attribute that passes verifyValues: its elements, or a
/// single one for a splat.
llvm::ArrayRef<char> rawValues(mlir::ElementsAttr attr);

/// Values of an integer ElementsAttr (dense or resource) as int64;
/// `isSigned` determines how storage bits extend.
std::vector<int64_t> intValues(mlir::ElementsAttr attr, bool isSigned = true);
/// Values of an f32 ElementsAttr (dense or resource).
std::vector<float> floatValues(mlir::ElementsAttr attr);
/// Values of the integer constant that produces `value`; nullopt if it is not
/// an osa.constant of integers.
std::optional<std::vector<int64_t>> constantInts(mlir::Value value);
/// `count` of the values of an integer constant, from the `first` on: a layer's
/// values all together would take eight times its bytes.
std::vector<int64_t> constantInts(mlir::Value value, size_t first,
                                  size_t count);
/// Whether the value is the result of an osa.constant of integers.
bool isConstantInts(mlir::Value value);
/// All values of such a constant, one after another.
void forConstantInts(mlir::Value value, llvm::function_ref<void(int64_t)> use);

/// A resource-blob attribute of f32 / of the narrowest storage for `type`.
/// `next` tells the place of each value in turn, if they are not in order.
mlir::ElementsAttr makeFloatAttr(mlir::MLIRContext *context,
                                 llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<float> values);
mlir::ElementsAttr makeIntAttr(mlir::MLIRContext *context, llvm::StringRef name,
                               llvm::ArrayRef<int64_t> shape, num::IntType type,
                               llvm::ArrayRef<int64_t> values,
                               llvm::function_ref<size_t()> next = nullptr);

/// The model node's name in an op's location ("" if none); names
/// in fused locations come from the first child that has one.
std::string nodeName(mlir::Location loc);
inline std::string nodeName(mlir::Operation *op) {
  return nodeName(op->getLoc());
}
} // namespace rhizome::osa

#include "rhizome/Dialect/Osa/OsaDialect.h.inc"

#include "rhizome/Dialect/Osa/OsaInterfaces.h.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/OsaOps.h.inc"

namespace rhizome::osa {
/// Bits, with a sign, of a requantizer's largest product and of its sum with
/// the offset, over the input's range.
unsigned sumBits(RequantizeOp op);
} // namespace rhizome::osa
