// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that the host computes, as loops on tensors of f32 and i64 in
// ONNX's layout, and what several of them share. Integers are held in 64 bits
// and wrapped to their own width after arithmetic.
#pragma once

#include "Values.h"

namespace rhizome::importer {
namespace onhost {
// HostElementwise.cpp
llvm::LogicalResult unary(NodeContext &node);
llvm::LogicalResult activation(NodeContext &node);
llvm::LogicalResult binary(NodeContext &node);
llvm::LogicalResult test(NodeContext &node);
llvm::LogicalResult where(NodeContext &node);
llvm::LogicalResult clip(NodeContext &node);
llvm::LogicalResult castOp(NodeContext &node);

// HostReduce.cpp, HostNormalize.cpp
llvm::LogicalResult reduce(NodeContext &node);
llvm::LogicalResult arg(NodeContext &node);
llvm::LogicalResult cumulate(NodeContext &node);
llvm::LogicalResult topK(NodeContext &node);
llvm::LogicalResult softmax(NodeContext &node);
llvm::LogicalResult layerNormalization(NodeContext &node);
llvm::LogicalResult meanVarianceNormalization(NodeContext &node);
llvm::LogicalResult lpNormalization(NodeContext &node);
llvm::LogicalResult localResponse(NodeContext &node);
llvm::LogicalResult batchNormalization(NodeContext &node);
llvm::LogicalResult groupNormalization(NodeContext &node);

// HostIndex.cpp
llvm::LogicalResult gather(NodeContext &node);
llvm::LogicalResult gatherElements(NodeContext &node);
llvm::LogicalResult gatherND(NodeContext &node);
llvm::LogicalResult scatterElements(NodeContext &node);
llvm::LogicalResult scatterND(NodeContext &node);
llvm::LogicalResult oneHot(NodeContext &node);
llvm::LogicalResult reverse(NodeContext &node);
llvm::LogicalResult compress(NodeContext &node);

// HostMove.cpp
llvm::LogicalResult slice(NodeContext &node);
llvm::LogicalResult split(NodeContext &node);
llvm::LogicalResult concat(NodeContext &node);
llvm::LogicalResult expand(NodeContext &node);
llvm::LogicalResult tile(NodeContext &node);
llvm::LogicalResult pad(NodeContext &node);
llvm::LogicalResult blocks(NodeContext &node);
llvm::LogicalResult trilu(NodeContext &node);
llvm::LogicalResult size(NodeContext &node);
llvm::LogicalResult eyeLike(NodeContext &node);
llvm::LogicalResult range(NodeContext &node);

// HostProducts.cpp, HostEinsum.cpp, HostWindows.cpp
llvm::LogicalResult matMul(NodeContext &node);
llvm::LogicalResult gemm(NodeContext &node);
llvm::LogicalResult einsum(NodeContext &node);
llvm::LogicalResult conv(NodeContext &node);
llvm::LogicalResult convTranspose(NodeContext &node);
llvm::LogicalResult maxPool(NodeContext &node);
llvm::LogicalResult averagePool(NodeContext &node);
llvm::LogicalResult lpPool(NodeContext &node);

// HostResample.cpp, HostRecurrent.cpp, HostAttention.cpp
llvm::LogicalResult resize(NodeContext &node);
llvm::LogicalResult gridSample(NodeContext &node);
llvm::LogicalResult recurrent(NodeContext &node);
llvm::LogicalResult attention(NodeContext &node);

// HostRepeat.cpp: bodies with a trip count
llvm::LogicalResult scan(NodeContext &node);
llvm::LogicalResult loop(NodeContext &node);

// Branch.cpp: what an If takes, on either side
llvm::LogicalResult branch(NodeContext &node);

// HostQuantize.cpp
llvm::LogicalResult quantize(NodeContext &node);
llvm::LogicalResult dequantize(NodeContext &node);
llvm::LogicalResult dynamicQuantize(NodeContext &node);
llvm::LogicalResult floatQuant(NodeContext &node);

// HostExact.cpp: operations that are written out as others, as a whole.
llvm::LogicalResult exactConv(NodeContext &node);
llvm::LogicalResult exactMatMul(NodeContext &node);
llvm::LogicalResult exactBinary(NodeContext &node);
llvm::LogicalResult exactMean(NodeContext &node);
llvm::LogicalResult exactIntegerProduct(NodeContext &node);
} // namespace onhost

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

inline mlir::Type elementOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType()).getElementType();
}
/// Input `i` for the host; null (refused) if it is missing.
mlir::Value hostValue(NodeContext &node, size_t i);
/// A tensor for the host; `what` it is, for refusals.
mlir::Value hostValue(Place &place, const TensorRef &t,
                      const llvm::Twine &what);
/// What stands at `now` along the first axis of a sequence, a box of the other
/// axes; and the sequence with a value there.
mlir::Value sliceAt(Place &place, mlir::Value sequence, mlir::Value now,
                    llvm::ArrayRef<int64_t> begin,
                    llvm::ArrayRef<int64_t> size);
mlir::Value insertAt(Place &place, mlir::Value sequence, mlir::Value now,
                     mlir::Value v, llvm::ArrayRef<int64_t> begin);
/// All inputs are reals, except `others`.
llvm::LogicalResult requireReals(NodeContext &node,
                                 llvm::ArrayRef<size_t> others = {});
llvm::LogicalResult give(NodeContext &node, size_t i, mlir::Value v,
                         int onnxType);
mlir::Value scalarConstant(Place &place, double value, int onnxType);

/// Integers wrapped to their width.
mlir::Value wrapped(Place &place, mlir::Value v, int onnxType);
/// Elementwise with broadcasting; integers wrap to the type's width.
mlir::Value
eachOf(Place &place, llvm::ArrayRef<mlir::Value> in, int onnxType,
       llvm::function_ref<mlir::Value(host::Scalars &, mlir::ValueRange)> body);
/// What `op` computes of one scalar, and of two; shifts go left and remainders
/// have the sign of the divisor unless the form says otherwise.
struct BinaryForm {
  bool isUnsigned = false, goesRight = false, isFmod = false;
  /// The divisor may be 0, or −1: the model stops there, or wraps around.
  bool mayTrap = false;
};
mlir::Value scalarUnary(host::Scalars &s, llvm::StringRef op, mlir::Value x);
mlir::Value scalarBinary(host::Scalars &s, llvm::StringRef op, mlir::Value p,
                         mlir::Value q, const BinaryForm &form);
mlir::Value convertTo(Place &place, mlir::Value v, int from, int to);
mlir::Value computeBinary(NodeContext &node, llvm::StringRef op, mlir::Value x,
                          mlir::Value y, int onnxType);
mlir::Value times(NodeContext &node, mlir::Value x, mlir::Value y);
mlir::Value plus(NodeContext &node, mlir::Value x, mlir::Value y);

/// ONNX's MatMul: vectors become matrices and lose the axis again; null if the
/// shapes do not fit.
mlir::Value hostProduct(NodeContext &node, mlir::Value x, mlir::Value y,
                        mlir::Type sums = {}, host::Loops::Body product = {});
/// The convolution of the node without a bias, of reals or integers; null if
/// refused.
mlir::Value convolved(NodeContext &node, mlir::Value x, mlir::Value w);
/// The factors of a product, inputs 0 and 1, and what is added, input 2 or
/// null. Refuses element types for which ONNX does not define the product:
/// integers, or, if `takesWide`, integers of less than 32 bits.
struct Factors {
  mlir::Value x, y, addend;
};
std::optional<Factors> hostFactors(NodeContext &node, bool takesWide);
/// Refuses a bias that has not one value for each of `channels`.
llvm::LogicalResult onePerChannel(NodeContext &node, mlir::Value bias,
                                  int64_t channels);

/// Makes the node's results constants if its inputs are.
void foldResults(NodeContext &node);

/// The loops that are built from here on.
class LoopsSince {
public:
  explicit LoopsSince(ImportState &state);
  /// Says on each why it is no part of the network.
  void note(const Refusal &why);

private:
  mlir::Block *block;
  mlir::Operation *last; ///< before them; null if there is none
};
} // namespace rhizome::importer
