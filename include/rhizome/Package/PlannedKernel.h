// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel`, of a package that computes a kernel and not a network:
// which tensors follow each other in its two streams, and the cycles of its
// loop nests.
#pragma once

#include "rhizome/Numeric/Format.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// A tensor in a stream, a word for each element, row-major. Words hold the
/// pattern of the format, sign- or zero-extended.
struct PlannedTensor {
  std::string name;
  std::vector<int64_t> shape;
  numeric::Format format = numeric::Format::binary64();
  int64_t words() const;
  bool operator==(const PlannedTensor &) const = default;
};

/// A loop nest: an iteration starts every `interval` cycles, and its result is
/// written `depth` cycles later.
struct PlannedNest {
  std::string name;  ///< the variable, or its place in the kernel's file
  std::string place; ///< "helmholtz.cfd:13:5"
  std::vector<int64_t> loops; ///< iterations of each, outermost first
  int64_t iterations = 0, interval = 1, depth = 0, cycles = 0;
  bool operator==(const PlannedNest &) const = default;
};

/// One element after the other: tensors are read, nests compute in turn,
/// tensors are written.
struct PlannedKernel {
  std::string name;
  int64_t readCycles = 0, computeCycles = 0, writeCycles = 0;
  std::vector<PlannedNest> nests;
  std::vector<PlannedTensor> inputs, outputs; ///< in the streams' order
  bool operator==(const PlannedKernel &) const = default;
};

/// As in plan.json.
llvm::json::Value toJSON(const PlannedKernel &kernel);
bool fromJSON(const llvm::json::Value &value, PlannedKernel &kernel,
              llvm::json::Path path);
} // namespace rhizome
