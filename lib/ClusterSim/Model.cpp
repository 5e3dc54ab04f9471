// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/ClusterSim/Model.h"
#include "Library.h"
#include <algorithm>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

// After the last beat of the last frame, credits still travel back through the
// design, one cycle per actor.
static constexpr int64_t kSettleCycles = 256;

Model::Model() = default;

Expected<std::unique_ptr<Model>> Model::open(const std::string &path,
                                             const std::string &images,
                                             const PlannedNode &node,
                                             uint64_t seed) {
  std::unique_ptr<Model> model(new Model);
  Expected<std::unique_ptr<Library>> library = Library::open(
      path, images, seed, 0, {}, node.inputs.size(), node.outputs.size());
  if (!library)
    return library.takeError();
  model->library = std::move(*library);
  for (const BorderPort &port : node.inputs)
    model->inputs.push_back({port, {}, 0, 0});
  for (const BorderPort &port : node.outputs) {
    Output &output = model->outputs.emplace_back();
    output.port = port;
    output.beatData.resize(port.dataWidth / 8);
  }
  for (size_t k = 0; k < model->outputs.size(); ++k)
    model->library->outputs[k].data = model->outputs[k].beatData.data();
  return std::move(model);
}

Model::~Model() = default;

bool Model::canPush(size_t port) const {
  return inputs[port].frames.size() < 2;
}

void Model::push(size_t port, std::vector<uint8_t> frame) {
  Input &input = inputs[port];
  frame.resize(size_t(input.port.beats()) * (input.port.dataWidth / 8), 0);
  input.frames.push_back(std::move(frame));
}

void Model::hold(size_t port, bool held) { outputs[port].held = held; }

bool Model::pop(size_t port, std::vector<uint8_t> &frame) {
  Output &output = outputs[port];
  if (output.frames.empty())
    return false;
  frame = std::move(output.frames.front());
  output.frames.pop_front();
  // The medium carries data only up to the last element.
  int64_t bits = output.port.elements() * int64_t(output.port.element.width());
  frame.resize(size_t((bits + 7) / 8));
  return true;
}

bool Model::isIdle() const {
  if (quiet < kSettleCycles)
    return false;
  int64_t taken = inputs.front().taken;
  for (const Input &input : inputs)
    if (!input.frames.empty() || input.taken != taken)
      return false;
  for (const Output &output : outputs)
    if (output.given != taken || output.waiting || !output.frames.empty())
      return false;
  return true;
}

Error Model::cycle() {
  for (size_t k = 0; k < inputs.size(); ++k) {
    Input &input = inputs[k];
    rhz_stream &stream = library->inputs[k];
    stream.valid = !input.frames.empty();
    if (!stream.valid)
      continue;
    stream.last = input.beat == input.port.beats() - 1;
    stream.data = input.frames.front().data() +
                  input.beat * int64_t(input.port.dataWidth / 8);
  }
  for (size_t k = 0; k < outputs.size(); ++k)
    library->outputs[k].ready = outputs[k].beat > 0 || !outputs[k].held;
  library->cycle();
  ++counts.cycles;
  bool moved = false, starved = false, blocked = false;
  for (size_t k = 0; k < inputs.size(); ++k) {
    Input &input = inputs[k];
    const rhz_stream &stream = library->inputs[k];
    starved |= stream.ready && !stream.valid;
    if (!stream.ready || !stream.valid)
      continue;
    moved = true;
    if (++input.beat < input.port.beats())
      continue;
    input.beat = 0;
    ++input.taken;
    input.frames.pop_front();
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    Output &output = outputs[k];
    const rhz_stream &stream = library->outputs[k];
    auto broken = [&](const char *what) {
      return createStringError(
          "its output '%s' breaks the stream protocol at beat %lld of frame "
          "%lld: %s",
          output.port.port.c_str(), static_cast<long long>(output.beat),
          static_cast<long long>(output.given), what);
    };
    if (output.waiting && !stream.valid)
      return broken("a beat is withdrawn before it is taken");
    if (!stream.valid)
      continue;
    if (output.waiting && (output.beatData != output.waitingData ||
                           bool(stream.last) != output.waitingLast))
      return broken("a waiting beat changes");
    output.waiting = !stream.ready;
    if (output.waiting) {
      blocked = true;
      output.waitingData = output.beatData;
      output.waitingLast = stream.last;
      continue;
    }
    moved = true;
    if (bool(stream.last) != (output.beat == output.port.beats() - 1))
      return broken(stream.last ? "TLAST comes early" : "TLAST is missing");
    output.current.insert(output.current.end(), output.beatData.begin(),
                          output.beatData.end());
    if (++output.beat < output.port.beats())
      continue;
    output.beat = 0;
    ++output.given;
    output.frames.push_back(std::exchange(output.current, {}));
    if (k == 0)
      ++counts.frames;
  }
  counts.busy += moved;
  counts.starved += starved;
  counts.blocked += blocked;
  quiet = moved || blocked ? 0 : quiet + 1;
  return Error::success();
}
