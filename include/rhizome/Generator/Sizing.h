// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The depths of a design's buffers in two steps: what the first frames need
// tells soon whether the design fits at all.
#pragma once

#include "rhizome/Generator/Design.h"
#include <memory>

namespace rhizome::gen {
/// Sets the depths of the buffers before joins.
class BufferSizing {
public:
  explicit BufferSizing(flow::DesignOp design);
  ~BufferSizing();
  /// To what the first frames need, which is hardly less than the whole.
  mlir::LogicalResult roughly();
  /// As sizeBuffers does, whether or not it was done roughly.
  mlir::FailureOr<std::optional<Timing>> fully();

private:
  struct Run;
  std::unique_ptr<Run> run;
};
} // namespace rhizome::gen
