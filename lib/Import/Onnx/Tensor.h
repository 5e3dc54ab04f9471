// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of one tensor of the file, and its element types. A tensor
// lives in two layouts, ONNX's and channels-last; each is made when somebody
// first asks for it, so that chains of channels-last operations need no
// transposes between them.
#pragma once

#include "Constant.h"
#include "rhizome/Dialect/Osa/Osa.h"

namespace rhizome::importer {
/// One quantizer or dequantizer behind a constant. `axis` is −1 if scale and
/// zero point hold one value.
struct QuantStep {
  bool quantize = false; ///< else dequantize
  std::vector<double> scale;
  std::vector<int64_t> zeroPoint;
  int64_t axis = -1;
  num::IntType type; ///< the integer side
  osa::Rounding rounding = osa::Rounding::HalfEven;
};

/// What is known of one ONNX tensor.
struct GraphTensor {
  Shape shape;        ///< as ONNX sees it
  mlir::Type element; ///< f32, !num.int or i64; null for other constants
  HostRef constant;   ///< a constant, before `steps`
  std::vector<QuantStep> steps;
  mlir::Value plain;    ///< in ONNX's layout, once asked for
  mlir::Value last;     ///< channels-last, once asked for
  bool unknown = false; ///< behind a refused node, shape not known
  mlir::Value host;     ///< as f32 or i64 for the host, once asked for
  int onnx = 0; ///< the file's element type, where `element` does not tell it
  /// The file gives the tensor an integer type; its whole numbers are carried
  /// as reals (element f32), between these bounds.
  std::optional<std::pair<int64_t, int64_t>> whole;

  bool isConstant() const { return constant != nullptr; }
  bool isPlainConstant() const { return constant && steps.empty(); }
  size_t rank() const { return shape.size(); }
  bool hasChannelsLast() const { return rank() == 3 || rank() == 4; }
};
using TensorRef = std::shared_ptr<GraphTensor>;

/// The bounds of integers of 64 bits, as far as they matter: wider than any
/// accumulator, narrow enough to compute with.
constexpr std::pair<int64_t, int64_t> kWideIntegers{-(int64_t(1) << 47),
                                                    (int64_t(1) << 47) - 1};

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The ONNX element type of a tensor.
int typeOf(const TensorRef &t);
/// The bounds of an integer type; nullopt for others and for uint64.
std::optional<std::pair<int64_t, int64_t>> wholeRange(int onnxType);
/// True for bool and the integers that the host computes with.
bool isWholeType(int onnxType);
bool isUnsigned(int onnxType);
/// The type of integers in the network; null for types it does not have.
num::IntType integerType(mlir::MLIRContext *context, int onnxType);
/// f16 or bf16; null for other types.
mlir::FloatType halfType(mlir::MLIRContext *context, int onnxType);

//===----------------------------------------------------------------------===//
// Shapes and constants
//===----------------------------------------------------------------------===//

inline mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape,
                                         mlir::Type element) {
  return mlir::RankedTensorType::get(shape, element);
}
/// A signal's or an image's shape and axes, channels-last.
Shape lastShape(llvm::ArrayRef<int64_t> shape);
int64_t lastAxis(int64_t axis, size_t rank);

TensorRef constantTensor(mlir::MLIRContext *context, HostRef host);
TensorRef transposed(const TensorRef &constant,
                     llvm::ArrayRef<int64_t> permutation);
/// Null if a quantizer's channel axis does not survive.
TensorRef reshaped(const TensorRef &constant, Shape shape);
} // namespace rhizome::importer
