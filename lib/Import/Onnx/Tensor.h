// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The properties of one tensor of the file, and its element types. A tensor
// exists in two layouts, ONNX's and channels-last; each is made when it is
// first requested, so that chains of channels-last operations need no
// transposes between them.
#pragma once

#include "Constant.h"
#include "rhizome/Dialect/Osa/Osa.h"

namespace rhizome::importer {
/// One quantizer or dequantizer after a constant. `axis` is −1 if scale and
/// zero point hold one value.
struct QuantStep {
  bool quantize = false; ///< otherwise dequantize
  std::vector<double> scale;
  std::vector<int64_t> zeroPoint;
  int64_t axis = -1;
  num::IntType type; ///< the integer side
  osa::Rounding rounding = osa::Rounding::HalfEven;
};

/// An axis that holds data from 0 up to a size that is known when the model
/// runs; what comes after that is of no meaning. `size` is the graph input that
/// gives it.
struct Bound {
  int64_t axis = 0;
  std::string size;
  bool operator==(const Bound &) const = default;
};

/// The properties of one ONNX tensor.
struct GraphTensor {
  Shape shape;        ///< in ONNX's layout
  mlir::Type element; ///< f32, !num.int or i64; null for other constants
  HostRef constant;   ///< a constant, before `steps`
  std::vector<QuantStep> steps;
  mlir::Value plain;    ///< in ONNX's layout, once requested
  mlir::Value last;     ///< channels-last, once requested
  bool unknown = false; ///< after a refused node, shape not known
  mlir::Value host;     ///< as f32 or i64 for the host, once requested
  int onnx = 0; ///< the file's element type, if `element` does not determine it
  /// The tensor has an integer type in the file; its whole numbers are
  /// represented as reals (element f32), between these bounds.
  std::optional<std::pair<int64_t, int64_t>> whole;
  std::vector<Bound> bounds; ///< of its axes, ascending
  /// A constant in which a bound stands for the size.
  bool ofBound = false;

  bool isConstant() const { return constant != nullptr; }
  bool isPlainConstant() const { return constant && steps.empty(); }
  size_t rank() const { return shape.size(); }
  bool hasChannelsLast() const { return rank() == 3 || rank() == 4; }
};
using TensorRef = std::shared_ptr<GraphTensor>;

/// The relevant bounds of 64-bit integers: wider than any
/// accumulator, narrow enough to compute with.
constexpr std::pair<int64_t, int64_t> kWideIntegers{-(int64_t(1) << 47),
                                                    (int64_t(1) << 47) - 1};

/// Whole numbers from −2^24 to 2^24 are exact in float32, sums included.
constexpr int64_t kExactInFloat = int64_t(1) << 24;
inline bool isExactInFloat(std::pair<int64_t, int64_t> bounds) {
  return bounds.first >= -kExactInFloat && bounds.second <= kExactInFloat;
}

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
/// The type of integers in the network; null for unsupported types.
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
/// Where an axis comes to lie; −1 stays.
int64_t movedAxis(int64_t axis, llvm::ArrayRef<int64_t> permutation);
TensorRef transposed(const TensorRef &constant,
                     llvm::ArrayRef<int64_t> permutation);
/// Null if a quantizer's channel axis cannot be mapped.
TensorRef reshaped(const TensorRef &constant, Shape shape);
} // namespace rhizome::importer
