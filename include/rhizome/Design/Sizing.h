// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The depths of a design's buffers in steps: what the first tokens need tells
// at once whether the design may fit at all, what the first frames need soon.
#pragma once

#include "rhizome/Design/Design.h"
#include <functional>
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
  /// To the least for which the first tokens meet, without a run.
  void atLeast();
  /// To what the first frames need, which is hardly less than the whole. What
  /// `paced` needs with this interval, if one is given, is found beside it.
  /// Where memories are read, it is asked now and then if what the frame needs
  /// so far is too much; then its depths remain so.
  mlir::LogicalResult roughly(std::optional<int64_t> interval = {},
                              std::function<bool()> isTooMuch = {});
  bool isTooMuch() const; ///< it was
  /// To what the first frames need if their beats come evenly, a frame every so
  /// many cycles: units then run no further ahead. The design keeps this pace
  /// with these depths, since nothing comes later than in that run.
  mlir::LogicalResult paced(int64_t interval);
  /// As sizeBuffers does, whether or not it was done roughly.
  mlir::FailureOr<std::optional<Timing>> fully();
  /// Whether the frames so far waited for memories.
  bool waitsForMemories() const;

private:
  struct Run;
  std::unique_ptr<Run> run;
};
} // namespace rhizome::gen
