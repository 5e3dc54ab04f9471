// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The depths of a design's buffers in two steps: what the first frames need
// tells soon whether the design fits at all.
#pragma once

#include "rhizome/Design/Design.h"
#include <memory>

namespace rhizome::gen {
/// The firings of all units for a frame: simulating it takes about as long.
int64_t firingsOf(flow::DesignOp design);

/// Sets the depths of the buffers before joins.
class BufferSizing {
public:
  /// `waits` tells that the design is expected to wait for its memories: then
  /// no run is tried that assumes it does not.
  explicit BufferSizing(flow::DesignOp design, bool waits = false);
  ~BufferSizing();
  /// To what the first frames need, which is hardly less than the whole.
  mlir::LogicalResult roughly();
  /// As sizeBuffers does, whether or not it was done roughly.
  mlir::FailureOr<std::optional<Timing>> fully();
  /// Whether the frames so far waited for memories.
  bool waitsForMemories() const;

private:
  struct Run;
  std::unique_ptr<Run> run;
};
} // namespace rhizome::gen
