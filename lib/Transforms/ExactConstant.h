// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of the real-level network as exact numbers: integer codes times a
// rational scale, so that weights keep the codes that the model stores.
#pragma once

#include "mlir/IR/Value.h"
#include "rhizome/Transforms/StepFunction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>
#include <vector>

namespace rhizome {
/// Element i is worth codes[i] · scales[groups[i]] (groups empty: all in 0).
struct ExactConstant {
  std::vector<int64_t> shape;
  std::vector<int64_t> codes;
  std::vector<uint32_t> groups;
  std::vector<mpq_class> scales;

  size_t size() const { return codes.size(); }
  uint32_t group(size_t i) const { return groups.empty() ? 0 : groups[i]; }
  mpq_class at(size_t i) const { return codes[i] * scales[group(i)]; }
};

/// The quantiser of an osa.quantize for position `i` of its scales.
Quantiser makeQuantiser(mlir::Operation *quantize, size_t i);
/// Number of different scales of a quantize or dequantize.
size_t scaleCount(mlir::Operation *op);

/// Which of these an element of a tensor of this shape takes.
class ScaleIndex {
public:
  ScaleIndex(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);
  size_t operator()(size_t flat) const { return flat / inner % count; }

private:
  size_t inner = 1, count = 1;
};

/// Evaluates what does not depend on the network's inputs.
class ConstantEvaluator {
public:
  /// The value, if it is constant; null if not, or if it holds a NaN or an
  /// infinity.
  std::shared_ptr<const ExactConstant> get(mlir::Value value);

private:
  std::shared_ptr<const ExactConstant> compute(mlir::Value value);
  llvm::DenseMap<mlir::Value, std::shared_ptr<const ExactConstant>> known;
};

/// The exact value of f32 numbers.
ExactConstant exactFloats(llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<float> values);

/// A permutation of elements: out[i] = in[map[i]].
std::vector<int64_t> transposeMap(llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> permutation);
/// For each element of `shape`, the element of a tensor of shape `from` that
/// NumPy broadcasting pairs it with.
std::vector<int64_t> broadcastMap(llvm::ArrayRef<int64_t> from,
                                  llvm::ArrayRef<int64_t> shape);
} // namespace rhizome
