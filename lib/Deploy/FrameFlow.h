// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frames of a run around its driver: prepared before it and judged after
// it by threads of their own, in bounded numbers, so that the first frame
// leaves at once and memory does not grow with how many there are.
#pragma once

#include "rhizome/Model/Frames.h"
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace rhizome::deploy {
/// A frame from its values to its verdict.
struct FlowFrame {
  using Clock = std::chrono::steady_clock;
  size_t number = 0;
  std::optional<model::Passage> passage;
  std::optional<model::Passage> reference; ///< before its first task
  size_t task = 0;                         ///< the next one, or that which runs
  Clock::time_point begun;
  // What the threads have made of it.
  bool isPrepared = false, isJudged = false, isChecked = false;
  std::string error; ///< "": none
  model::Comparison verdict;
  std::vector<Tensor> outputs;
};

struct FlowOptions {
  bool check = true;     ///< compare with the interpreter
  size_t checkEvery = 1; ///< of so many frames the first
  bool wantsOutputs = false;
  /// What the host keeps, before the first frame; none: as after a reset.
  std::optional<std::vector<Tensor>> states;
  size_t room = 0; ///< frames at the driver; 0: as many as there may be at all
};

class FrameFlow {
public:
  FrameFlow(const model::HostModel &model, const model::FrameStream &stream,
            FlowOptions options);
  /// Waits for what its threads compute just now; the rest is left.
  ~FrameFlow();

  /// How many frames may be with the driver.
  size_t room() const { return theRoom; }
  /// The next frame to launch, its host tasks before the first region done;
  /// null if it is not ready, or must wait for frames that are judged.
  llvm::Expected<FlowFrame *> next();
  /// Whether frames are left that `next` has not given.
  bool hasMore() const { return given < stream.size(); }
  /// It is through its regions: to be judged.
  void answered(FlowFrame &frame);
  /// Takes the oldest frames that are judged, in order.
  llvm::Error
  collect(llvm::function_ref<llvm::Error(const FlowFrame &frame)> take);
  /// All frames were collected.
  bool isDone() const { return collected == stream.size(); }
  /// Until a thread is done with something, or so long.
  void wait(std::chrono::milliseconds longest);
  /// What the host keeps after the last frame that was answered.
  const std::optional<std::vector<Tensor>> &states() const { return kept; }
  /// `next` gives none before others are judged.
  bool isHeld() const { return heldSince != FlowFrame::Clock::time_point(); }
  /// How long frames that were ready waited for others to be judged.
  double heldSeconds() const { return held; }

private:
  void work();
  llvm::Error prepare(FlowFrame &frame);
  llvm::Error judge(FlowFrame &frame);
  llvm::Error make(FlowFrame &frame, std::optional<std::vector<Tensor>> states);
  bool isChecked(size_t number) const {
    return options.check && number % options.checkEvery == 0;
  }

  const model::HostModel &model;
  const model::FrameStream &stream;
  FlowOptions options;
  bool keepsState;
  size_t theRoom = 0, most = 0; ///< frames at the driver, frames in all
  std::deque<std::unique_ptr<FlowFrame>> frames; ///< from the oldest
  size_t given = 0, collected = 0;
  std::optional<std::vector<Tensor>> kept, wanted; ///< after the last frame
  double held = 0;
  FlowFrame::Clock::time_point heldSince;

  std::mutex mutex;
  std::condition_variable forThreads, forCaller;
  std::deque<FlowFrame *> toPrepare, toJudge;
  bool isEnding = false;
  uint64_t changes = 0, seen = 0;
  std::vector<std::thread> threads;
};
} // namespace rhizome::deploy
