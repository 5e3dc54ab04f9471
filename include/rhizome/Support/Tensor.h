// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of values on the host: exchanged by the interpreter, the CPU path,
// the data readers and the simulator.
#pragma once

#include "rhizome/Numeric/Format.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// Row-major values with a shape. Integer tensors (`!num.int`, i64) use
/// `ints`, real ones (f32) `floats`; others have a `format` and use `doubles`
/// if it is double's, else `patterns`. The other vectors are empty.
struct Tensor {
  std::vector<int64_t> shape;
  bool isFloat = false;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::optional<numeric::Format> format = {};
  std::vector<double> doubles = {};
  std::vector<numeric::Bits> patterns = {};

  static Tensor ofInts(std::vector<int64_t> shape, std::vector<int64_t> v) {
    return {std::move(shape), false, std::move(v), {}, {}, {}, {}};
  }
  static Tensor ofFloats(std::vector<int64_t> shape, std::vector<float> v) {
    return {std::move(shape), true, {}, std::move(v), {}, {}, {}};
  }
  int64_t size() const {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    return n;
  }
};
} // namespace rhizome
