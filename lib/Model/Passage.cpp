// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Passage.h"
#include "rhizome/Model/Frames.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::model;

Passage::Passage(const HostModel &model, const Frames &given,
                 std::optional<std::vector<Tensor>> states)
    : model(&model), begin(states ? *states : model.initialStates()) {
  for (const std::vector<Tensor> &frame : given) {
    std::vector<Tensor> &all = values.emplace_back(model.tensorCount());
    for (auto [tensor, value] : zip_equal(model.inputTensors(), frame))
      all[tensor] = value;
  }
}

Passage Passage::ofCodes(const HostModel &model, const Frames &codes) {
  Passage passage(model);
  while (!model.tasks()[passage.next].onFpga)
    ++passage.next;
  const HostModel::Task &region = model.tasks()[passage.next];
  for (const std::vector<Tensor> &frame : codes) {
    std::vector<Tensor> &all = passage.values.emplace_back(model.tensorCount());
    for (auto [tensor, value] : zip_equal(region.takes, frame))
      all[tensor] = value;
  }
  return passage;
}

std::vector<Tensor> Passage::taken(const HostModel::Task &task,
                                   size_t frame) const {
  std::vector<Tensor> in;
  for (unsigned tensor : task.takes)
    in.push_back(values[frame][tensor]);
  return in;
}

void Passage::give(const HostModel::Task &task, size_t frame,
                   std::vector<Tensor> results) {
  // What only the FPGA keeps does not come back from a device.
  for (auto [tensor, value] : zip(task.gives, results))
    values[frame][tensor] = std::move(value);
}

size_t Passage::endOfRegions() const {
  size_t end = model->tasks().size();
  if (!model->states().empty())
    return end;
  while (end > 0 && !model->tasks()[end - 1].onFpga)
    --end;
  return end;
}

/// What the frame before has left for this one.
void Passage::carry(size_t frame) {
  for (auto [i, state] : enumerate(model->states()))
    values[frame][state.tensor] =
        frame == 0 ? begin[i] : values[frame - 1][state.next];
}

std::vector<Tensor> Passage::statesAfter(size_t frame) const {
  std::vector<Tensor> after;
  for (const HostModel::State &state : model->states())
    after.push_back(values[frame][state.next]);
  return after;
}

std::vector<Tensor> Passage::states() const {
  return values.empty() ? begin : statesAfter(values.size() - 1);
}

Error Passage::runFrame(size_t frame, size_t from, size_t to,
                        const RunFrame &fpga) {
  for (size_t t = from; t < to; ++t) {
    const HostModel::Task &task = model->tasks()[t];
    std::vector<Tensor> in = taken(task, frame);
    Expected<std::vector<Tensor>> out =
        task.onFpga ? fpga(frame, task, in) : model->runHost(task, in);
    if (!out)
      return out.takeError();
    give(task, frame, std::move(*out));
  }
  return Error::success();
}

Error Passage::runTasks(size_t from, size_t to, const RunFrame &fpga) {
  if (model->states().empty())
    return parallelFrames(int64_t(values.size()), [&](int64_t f) -> Error {
      return runFrame(size_t(f), from, to, fpga);
    });
  for (size_t f = 0; f < values.size(); ++f) {
    carry(f);
    if (Error error = runFrame(f, from, to, fpga))
      return createStringError("frame %zu: %s", f,
                               toString(std::move(error)).c_str());
  }
  return Error::success();
}

Error Passage::run(const Run &fpga) {
  auto of = [&](size_t, const HostModel::Task &task, ArrayRef<Tensor> in) {
    return fpga(task, in);
  };
  if (Error error = runTasks(next, std::max(next, endOfRegions()), of))
    return error;
  skipRegions();
  return Error::success();
}

Expected<size_t> Passage::runToRegion(size_t frame, size_t from) {
  if (from == next)
    carry(frame);
  for (const size_t end = endOfRegions(); from < end; ++from) {
    const HostModel::Task &task = model->tasks()[from];
    if (task.onFpga)
      break;
    Expected<std::vector<Tensor>> out =
        model->runHost(task, taken(task, frame));
    if (!out)
      return out.takeError();
    give(task, frame, std::move(*out));
  }
  return from;
}

Expected<Frames> Passage::codes() {
  size_t first = next;
  while (first < model->tasks().size() && !model->tasks()[first].onFpga)
    ++first;
  assert((!model->isKeptByHost() || values.size() <= 1) &&
         "what the FPGA takes of a later frame depends on its answers");
  if (Error error = runTasks(next, first, nullptr))
    return error;
  next = first;
  Frames frames(values.size());
  if (first < model->tasks().size())
    for (auto [f, frame] : enumerate(frames))
      frame = taken(model->tasks()[first], f);
  if (first < model->tasks().size())
    for (std::vector<Tensor> &frame : frames)
      frame.resize(model->tasks()[first].inputPorts);
  return frames;
}

static bool same(const Frames &a, const Frames &b) {
  for (auto [x, y] : zip_equal(a, b))
    for (auto [s, t] : zip_equal(x, y))
      if (s.ints != t.ints)
        return false;
  return true;
}

/// Puts a design's answers in the places of the FPGA's tasks, and runs the
/// host's around them.
Error Passage::answer(const Frames &answers, size_t begin, size_t end,
                      bool isFirst) {
  auto given = [&](size_t f, const HostModel::Task &task,
                   ArrayRef<Tensor>) -> Expected<std::vector<Tensor>> {
    auto first = answers[f].begin() + int64_t(task.firstOutput);
    return std::vector<Tensor>(first, first + int64_t(task.outputPorts));
  };
  if (!model->states().empty())
    return runTasks(begin, end, given);
  for (size_t t = begin; t < end; ++t) {
    // Before the first region nothing changes.
    const HostModel::Task &task = model->tasks()[t];
    if (task.onFpga || isFirst || task.name != model->tasks().front().name)
      if (Error error = runTasks(t, t + 1, given))
        return error;
  }
  return Error::success();
}

Error Passage::runDesign(const Design &design, const Frames &predicted) {
  const bool isKept = !model->states().empty();
  const size_t begin = next, end = isKept ? model->tasks().size()
                                          : std::max(next, endOfRegions());
  if (model->regionCount() == 0)
    return run(nullptr);
  Frames codes = predicted;
  for (size_t round = 0; round < model->regionCount(); ++round) {
    Expected<Frames> answers = design(codes);
    if (!answers)
      return answers.takeError();
    if (Error error = answer(*answers, begin, end, round == 0))
      return error;
    next = end;
    Frames actual = networkInputs();
    if (same(actual, codes))
      break;
    codes = std::move(actual);
  }
  return Error::success();
}

Error Passage::runInTurn(const Design &design, const Frames &predicted) {
  for (size_t f = 0; f < values.size(); ++f) {
    Passage one(*model);
    one.begin = f ? Passage::statesAfter(f - 1) : begin;
    one.next = next;
    one.values.push_back(std::move(values[f]));
    one.carry(0);
    Expected<Frames> codes = predicted.empty()
                                 ? one.codes()
                                 : Expected<Frames>(Frames{predicted[f]});
    Error error = codes ? one.runDesign(design, *codes) : codes.takeError();
    values[f] = std::move(one.values.front());
    if (error)
      return error;
  }
  next = model->tasks().size();
  return Error::success();
}

Frames Passage::collect(bool inputs) const {
  Frames frames(values.size());
  for (auto [frame, all] : zip_equal(frames, values))
    for (const HostModel::Task &task : model->tasks())
      if (task.onFpga)
        for (unsigned tensor :
             inputs ? ArrayRef(task.takes).take_front(task.inputPorts)
                    : ArrayRef(task.gives).take_front(task.outputPorts))
          frame.push_back(all[tensor]);
  return frames;
}

Expected<Frames> Passage::outputs() {
  size_t end = model->tasks().size();
  if (Error error = runTasks(next, end, nullptr))
    return error;
  next = end;
  Frames frames(values.size());
  for (auto [frame, all] : zip_equal(frames, values))
    for (unsigned tensor : model->outputTensors())
      frame.push_back(all[tensor]);
  return frames;
}

Passage::Run model::interpreted(const HostModel &model) {
  return [&model](const HostModel::Task &task, ArrayRef<Tensor> in) {
    return model.interpret(task, in);
  };
}

Passage::Run model::compiled(const HostModel &model) {
  return [&model](const HostModel::Task &task, ArrayRef<Tensor> in) {
    return model.runCompiled(task, in);
  };
}
