// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses copies, terms and orders of a kernel's nests: the fewest cycles
// within a device's resources, or the fewest resources for some cycles.
#pragma once

#include "rhizome/Generator/Loops/KernelUnit.h"

namespace rhizome::gen::loops {
/// A nest as it is, and whether its sum may have several terms per iteration.
struct OpenNest {
  mlir::linalg::GenericOp op;
  bool maySplit = false;
  /// If they are decided: copies of the loops of the result's indices, then
  /// terms of the sums.
  std::vector<int64_t> factors = {};
};

/// A way to build all nests of a kernel.
struct ParallelChoice {
  std::vector<NestChoice> nests;
  std::vector<std::vector<int64_t>> terms; ///< by nest and loop
  int64_t cycles = 0;                      ///< of the nests, estimated
  Resources resources;                     ///< estimated
  bool operator==(const ParallelChoice &) const = default;
};

struct ParallelLimits {
  Resources most;
  int64_t cycles = 0; ///< that are few enough; 0: the fewest
  /// Deep memories are in UltraRAM, and not in block RAM.
  bool inUltra = false;
};

/// At most `count` choices, the best first. Each nest keeps its result's bits
/// but for sums that are split.
std::vector<ParallelChoice> chooseCopies(llvm::ArrayRef<OpenNest> nests,
                                         const ParallelLimits &limits,
                                         const cost::LogicPace &pace,
                                         const CostContext &context,
                                         size_t count);
} // namespace rhizome::gen::loops
