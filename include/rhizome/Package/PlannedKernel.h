// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel`, of a package that computes a kernel and not a network:
// which tensors follow each other in its streams, the cycles of its loop nests,
// and what is in its memories when. Kernel.td describes it.
#pragma once

#include "rhizome/Numeric/Format.h"
#include "rhizome/Package/PlannedSystem.h"
#include "rhizome/Package/UnitChoice.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rhizome {
#include "rhizome/Package/PlannedKernel.h.inc"

/// The numbers of the tensors in the stream of a port, in its order; `tensors`
/// are the kernel's inputs or its outputs. Empty if there is none, or if a
/// tensor is not among them.
std::vector<size_t> tensorsOfPort(const PlannedKernel &kernel,
                                  const std::vector<PlannedTensor> &tensors,
                                  const std::string &port);

/// How the words of elements lie in a port's beats: those of a lane are next to
/// each other, the first lane's in the low bits.
struct PortLayout {
  int64_t words = 1; ///< of a lane in a beat
  int64_t lanes = 1;
  int64_t beats = 0;           ///< of a frame: an element of every lane
  std::vector<size_t> tensors; ///< as tensorsOfPort
  std::vector<int64_t> first;  ///< by tensor: its first beat
  /// Where a word of a tensor, by its place in `tensors`, is in a frame.
  size_t wordAt(size_t tensor, int64_t lane, int64_t word) const {
    return size_t(((first[tensor] + word / words) * lanes + lane) * words +
                  word % words);
  }
  int64_t frameWords() const { return beats * lanes * words; }
};
PortLayout layoutOf(const PlannedKernel &kernel,
                    const std::vector<PlannedTensor> &tensors,
                    const std::string &port);
} // namespace rhizome
