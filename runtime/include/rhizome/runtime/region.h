// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of a design: what is started and answered by itself. A model whose
// host computes between tasks of the device has several; they share no stream,
// so that a job of one waits for no job of another.
#pragma once

#include <cstddef>

namespace rhizome::runtime {
/// The ports of a region among those of the design, which lie side by side.
struct Region {
  size_t firstInput = 0, inputs = 0;
  size_t firstOutput = 0, outputs = 0;
  bool hasInput(size_t port) const {
    return port >= firstInput && port - firstInput < inputs;
  }
  bool hasOutput(size_t port) const {
    return port >= firstOutput && port - firstOutput < outputs;
  }
};
} // namespace rhizome::runtime
