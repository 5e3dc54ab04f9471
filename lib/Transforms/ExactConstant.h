// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of the real-level network as exact numbers: integer codes times a
// rational scale, so that weights keep the codes stored in the model.
#pragma once

#include "mlir/IR/Value.h"
#include "rhizome/Transforms/Placement.h"
#include "rhizome/Transforms/StepFunction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace rhizome {
/// Whole numbers, each with as few bytes as all of them need, since there are
/// many weights.
class Codes {
public:
  Codes() = default;
  Codes(llvm::ArrayRef<int64_t> values)
      : Codes(values.size(), [&](size_t i) { return values[i]; }) {}
  /// The numbers of(0) … of(count − 1), each requested twice.
  template <class Of> Codes(size_t count, Of of) : count(count) {
    int64_t lo = 0, hi = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t value = of(i);
      lo = std::min(lo, value);
      hi = std::max(hi, value);
    }
    auto fill = [&]<class Word>(Word) {
      bytes = sizeof(Word);
      data = std::make_unique_for_overwrite<char[]>(count * sizeof(Word));
      for (size_t i = 0; i < count; ++i) {
        const auto word = Word(of(i));
        std::memcpy(&data[i * sizeof(Word)], &word, sizeof word);
      }
    };
    if (lo >= INT8_MIN && hi <= INT8_MAX)
      fill(int8_t());
    else if (lo >= INT16_MIN && hi <= INT16_MAX)
      fill(int16_t());
    else if (lo >= INT32_MIN && hi <= INT32_MAX)
      fill(int32_t());
    else
      fill(int64_t());
  }

  /// These bytes.
  static Codes ofBytes(llvm::ArrayRef<char> values) {
    Codes codes;
    codes.count = values.size();
    codes.data = std::make_unique_for_overwrite<char[]>(values.size());
    std::copy(values.begin(), values.end(), codes.data.get());
    return codes;
  }

  size_t size() const { return count; }
  /// All numbers.
  std::vector<int64_t> all() const {
    std::vector<int64_t> out(count);
    auto copy = [&]<class Word>(Word word) {
      for (size_t i = 0; i < count; ++i) {
        std::memcpy(&word, &data[i * sizeof word], sizeof word);
        out[i] = word;
      }
    };
    switch (bytes) {
    case 1:
      copy(int8_t());
      break;
    case 2:
      copy(int16_t());
      break;
    case 4:
      copy(int32_t());
      break;
    default:
      copy(int64_t());
    }
    return out;
  }
  int64_t operator[](size_t i) const {
    auto load = [&]<class Word>(Word word) {
      std::memcpy(&word, &data[i * sizeof word], sizeof word);
      return int64_t(word);
    };
    switch (bytes) {
    case 1:
      return load(int8_t());
    case 2:
      return load(int16_t());
    case 4:
      return load(int32_t());
    default:
      return load(int64_t());
    }
  }

private:
  std::shared_ptr<char[]> data; ///< never changed, so copies share it
  size_t count = 0;
  unsigned bytes = 1;
};

/// Maps elements of a tensor to one of several things: each `inner`
/// elements use the next one, and the first again after `count`.
struct Cycle {
  size_t inner = 1, count = 1;
  size_t operator()(size_t flat) const { return flat / inner % count; }
};

/// The value of element i is codes[i] · scales[group(i)].
struct ExactConstant {
  std::vector<int64_t> shape;
  Codes codes;
  Cycle cycle;                  ///< the groups of elements
  std::vector<uint32_t> groups; ///< if not empty, used instead of `cycle`
  std::vector<mpq_class> scales;

  size_t size() const { return codes.size(); }
  uint32_t group(size_t i) const {
    return groups.empty() ? uint32_t(cycle(i)) : groups[i];
  }
  /// True if all elements are in group 0.
  bool isOneGroup() const { return groups.empty() && cycle.count == 1; }
  /// The same of so many elements from the first on; maybe false if they are.
  bool isOneGroup(size_t first, size_t count) const {
    return isOneGroup() ||
           (groups.empty() && count > 0 &&
            first / cycle.inner == (first + count - 1) / cycle.inner);
  }
  mpq_class at(size_t i) const { return codes[i] * scales[group(i)]; }
};

/// The quantizer of an osa.quantize for position `i` of its scales.
Quantizer makeQuantizer(mlir::Operation *quantize, size_t i);
/// Number of distinct scales of a quantize or dequantize.
size_t scaleCount(mlir::Operation *op);

/// Which of these each element of a tensor of this shape uses.
Cycle scaleCycle(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);

/// Evaluates values that do not depend on the network's inputs.
class ConstantEvaluator {
public:
  /// The value, if it is constant; null if not, or if it contains a NaN or an
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
} // namespace rhizome
