// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FrameFlow.h"
#include <algorithm>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

namespace {
/// What frames of a run may take together, roughly, and how many there are at
/// most.
constexpr size_t kMostBytes = size_t(256) << 20, kMostFrames = 4096;

/// A frame's values on the host, twice: its way and the reference.
size_t bytesOf(const HostModel &model) {
  size_t elements = 0;
  auto add = [&](ArrayRef<int64_t> shape) {
    size_t n = 1;
    for (int64_t size : shape)
      n *= size_t(size);
    elements += n;
  };
  for (const HostModel::Value &value : model.inputs())
    add(value.shape);
  for (const auto *ports : {&model.networkInputs(), &model.networkOutputs()})
    for (const BorderPort &port : *ports)
      add(port.shape);
  return 2 * sizeof(int64_t) * std::max<size_t>(elements, 1);
}
} // namespace

FrameFlow::FrameFlow(const HostModel &model, const FrameStream &stream,
                     FlowOptions wantedOptions)
    : model(model), stream(stream), options(std::move(wantedOptions)),
      keepsState(!model.states().empty()), kept(options.states) {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  most =
      std::clamp<size_t>(kMostBytes / bytesOf(model), 2 * cores, kMostFrames);
  const size_t all = std::max<size_t>(stream.size(), 1);
  if (model.isKeptByHost())
    theRoom = 1; // what is kept is in the next frame, which waits for this one
  else if (options.room)
    theRoom = options.room;
  else
    theRoom = std::min(all, most / 2); // the other half waits for its verdict
  most = std::max(most, theRoom);
  // What is kept goes from the verdict on one frame to that on the next.
  const size_t count = keepsState ? 1 : std::min(cores, all);
  for (size_t t = 0; t < count; ++t)
    threads.emplace_back([this] { work(); });
}

FrameFlow::~FrameFlow() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    isEnding = true;
  }
  forThreads.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

Error FrameFlow::make(FlowFrame &frame,
                      std::optional<std::vector<Tensor>> states) {
  Expected<Passage> passage = stream.frame(frame.number, std::move(states));
  if (!passage)
    return passage.takeError();
  if (isChecked(frame.number) && !keepsState)
    frame.reference = *passage;
  frame.task = passage->nextTask();
  frame.passage = std::move(*passage);
  return Error::success();
}

Error FrameFlow::prepare(FlowFrame &frame) {
  if (!keepsState)
    if (Error error = make(frame, std::nullopt))
      return error;
  Expected<size_t> at = frame.passage->runToRegion(0, frame.task);
  if (!at)
    return at.takeError();
  frame.task = *at;
  return Error::success();
}

Error FrameFlow::judge(FlowFrame &frame) {
  frame.passage->skipRegions();
  if (isChecked(frame.number)) {
    Expected<Passage> want = keepsState ? stream.frame(frame.number, wanted)
                                        : std::move(*frame.reference);
    if (!want)
      return want.takeError();
    if (Error error = want->run(interpreted(model)))
      return error;
    compareFrame(frame.number, frame.passage->networkOutputs().front(),
                 want->networkOutputs().front(), model, frame.verdict);
    if (keepsState)
      wanted = want->states();
    frame.reference.reset();
    frame.isChecked = true;
  }
  if (!options.wantsOutputs)
    return Error::success();
  Expected<Frames> outputs = frame.passage->outputs();
  if (!outputs)
    return outputs.takeError();
  frame.outputs = std::move(outputs->front());
  return Error::success();
}

void FrameFlow::work() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    forThreads.wait(lock, [this] {
      return isEnding || !toPrepare.empty() || !toJudge.empty();
    });
    if (isEnding)
      return;
    // The driver waits for what is to be prepared, nobody for a verdict.
    const bool isNew = !toPrepare.empty();
    std::deque<FlowFrame *> &queue = isNew ? toPrepare : toJudge;
    FlowFrame &frame = *queue.front();
    queue.pop_front();
    lock.unlock();
    Error error = isNew ? prepare(frame) : judge(frame);
    std::string text;
    if (error)
      text = "frame " + std::to_string(frame.number) + ": " +
             toString(std::move(error));
    lock.lock();
    if (!text.empty())
      frame.error = std::move(text);
    (isNew ? frame.isPrepared : frame.isJudged) = true;
    ++changes;
    forCaller.notify_all();
  }
}

Expected<FlowFrame *> FrameFlow::next() {
  if (!hasMore())
    return nullptr;
  const auto now = FlowFrame::Clock::now();
  std::unique_lock<std::mutex> lock(mutex);
  // As many ahead as keep all threads busy.
  const size_t ahead = keepsState ? 1 : 4 * threads.size();
  while (frames.size() < most && collected + frames.size() < stream.size() &&
         collected + frames.size() < given + ahead) {
    auto frame = std::make_unique<FlowFrame>();
    frame->number = collected + frames.size();
    FlowFrame &added = *frame;
    frames.push_back(std::move(frame));
    if (keepsState) {
      lock.unlock();
      Error error = make(added, model.isKeptByHost() ? kept : std::nullopt);
      if (error)
        return std::move(error);
      lock.lock();
    }
    toPrepare.push_back(&added);
    forThreads.notify_one();
  }
  if (given - collected >= frames.size()) {
    // All there may be are on their way or wait for their verdict.
    if (heldSince == FlowFrame::Clock::time_point())
      heldSince = now;
    return nullptr;
  }
  FlowFrame &frame = *frames[given - collected];
  if (!frame.isPrepared)
    return nullptr;
  if (!frame.error.empty())
    return createStringError(frame.error);
  if (heldSince != FlowFrame::Clock::time_point())
    held += std::chrono::duration<double>(now - heldSince).count();
  heldSince = {};
  ++given;
  return &frame;
}

void FrameFlow::answered(FlowFrame &frame) {
  if (model.isKeptByHost())
    kept = frame.passage->states();
  {
    std::lock_guard<std::mutex> guard(mutex);
    toJudge.push_back(&frame);
  }
  forThreads.notify_one();
}

Error FrameFlow::collect(function_ref<Error(const FlowFrame &frame)> take) {
  for (;;) {
    std::unique_ptr<FlowFrame> frame;
    {
      std::lock_guard<std::mutex> guard(mutex);
      if (frames.empty() || !frames.front()->isJudged)
        return Error::success();
      frame = std::move(frames.front());
      frames.pop_front();
      ++collected;
    }
    if (!frame->error.empty())
      return createStringError(frame->error);
    if (Error error = take(*frame))
      return error;
  }
}

void FrameFlow::wait(std::chrono::milliseconds longest) {
  std::unique_lock<std::mutex> lock(mutex);
  forCaller.wait_for(lock, longest, [this] { return changes != seen; });
  seen = changes;
}
