// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/cpu.h"
#include "rhizome/runtime/packing.h"
#include <cstring>
#include <memory>

namespace rhizome::runtime {
namespace {
size_t bytesOf(const rhz_cpu_tensor &tensor) {
  return size_t(tensor.elements) * tensor.storage_bits / 8;
}

/// Calls `use` with a value of the type in which the tensor's integers lie.
template <typename Use> void withType(const rhz_cpu_tensor &tensor, Use use) {
  switch (tensor.storage_bits) {
  case 8:
    return tensor.is_signed ? use(int8_t()) : use(uint8_t());
  case 16:
    return tensor.is_signed ? use(int16_t()) : use(uint16_t());
  case 32:
    return tensor.is_signed ? use(int32_t()) : use(uint32_t());
  default:
    return use(int64_t());
  }
}

/// Storage of a call: of whole words, so that every type is aligned.
class Values {
public:
  explicit Values(const rhz_cpu_model &model)
      : model(model), words(model.tensor_count) {}
  void *at(unsigned number) {
    std::vector<int64_t> &to = words[number];
    to.resize((bytesOf(model.tensors[number]) + 7) / 8);
    return to.data();
  }
  /// False if a value is none of the tensor's; `wrong` says which element.
  bool put(unsigned number, const int64_t *values, size_t &wrong) {
    const rhz_cpu_tensor &tensor = model.tensors[number];
    for (wrong = 0; wrong < size_t(tensor.elements); ++wrong)
      if (values[wrong] < tensor.lo || values[wrong] > tensor.hi)
        return false;
    withType(tensor, [&](auto type) {
      auto *to = static_cast<decltype(type) *>(at(number));
      for (size_t i = 0; i < size_t(tensor.elements); ++i)
        to[i] = decltype(type)(values[i]);
    });
    return true;
  }
  std::vector<int64_t> get(unsigned number) {
    const rhz_cpu_tensor &tensor = model.tensors[number];
    std::vector<int64_t> values(size_t(tensor.elements));
    withType(tensor, [&](auto type) {
      auto *from = static_cast<const decltype(type) *>(at(number));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = int64_t(from[i]);
    });
    return values;
  }
  /// "" or what was wrong with an integer that the task computed.
  std::string run(const rhz_cpu_task &task) {
    int64_t wrong[3] = {0, 0, 0};
    std::vector<void *> buffers;
    for (size_t k = 0; k < task.take_count; ++k)
      buffers.push_back(at(task.takes[k]));
    for (size_t k = 0; k < task.give_count; ++k)
      buffers.push_back(at(task.gives[k]));
    if (task.check_count)
      buffers.push_back(wrong);
    task.run(buffers.data());
    if (!wrong[0])
      return "";
    const rhz_cpu_check &check = task.checks[wrong[0] - 1];
    std::string text = std::string("'") + check.node + "': its " + check.what +
                       " at element " + std::to_string(wrong[2]) + " is " +
                       std::to_string(wrong[1]);
    if (check.lo <= check.hi)
      text += ", it must be from " + std::to_string(check.lo) + " to " +
              std::to_string(check.hi);
    return text;
  }

private:
  const rhz_cpu_model &model;
  std::vector<std::vector<int64_t>> words;
};

std::string outside(const rhz_cpu_tensor &tensor, size_t element) {
  return std::string("'") + tensor.name + "', element " +
         std::to_string(element) + ": is not from " +
         std::to_string(tensor.lo) + " to " + std::to_string(tensor.hi);
}

/// Tensors as frames of a device.
Bytes packed(Values &values, const rhz_cpu_model &model, unsigned number) {
  return link::packElements(values.get(number), model.tensors[number].width);
}
bool unpack(Values &values, const rhz_cpu_model &model, unsigned number,
            const Bytes &frame, std::string &error) {
  const rhz_cpu_tensor &tensor = model.tensors[number];
  if (frame.size() * 8 < size_t(tensor.elements) * tensor.width) {
    error = "the model takes other frames than these";
    return false;
  }
  std::vector<int64_t> codes = link::unpackElements(
      frame, tensor.width, tensor.is_signed, size_t(tensor.elements));
  size_t wrong = 0;
  if (values.put(number, codes.data(), wrong))
    return true;
  error = outside(tensor, wrong);
  return false;
}

/// The device's task of that number; null if there are not so many.
const rhz_cpu_task *regionOf(const rhz_cpu_model &model, size_t region) {
  for (size_t t = 0; t < model.task_count; ++t)
    if (model.tasks[t].on_device && region-- == 0)
      return &model.tasks[t];
  return nullptr;
}

/// What the device keeps, of each tensor in the model's list.
using Kept = std::vector<std::vector<int64_t>>;

Kept initialOf(const rhz_cpu_model &model) {
  Kept kept;
  for (size_t k = 0; k < model.kept_count; ++k) {
    const rhz_cpu_kept &one = model.kept[k];
    const size_t elements = size_t(model.tensors[one.tensor].elements);
    kept.emplace_back(elements);
    if (one.initial)
      kept.back().assign(one.initial, one.initial + elements);
  }
  return kept;
}

/// How many of the tensors that a task takes the device keeps.
size_t keptBy(const rhz_cpu_model &model, const rhz_cpu_task &task) {
  size_t count = 0;
  for (size_t k = 0; k < task.take_count; ++k)
    for (size_t i = 0; i < model.kept_count; ++i)
      count += task.takes[k] == model.kept[i].tensor;
  return count;
}

/// One job of the device.
bool runDevice(const rhz_cpu_model &model, size_t region, Kept &kept,
               const std::vector<Bytes> &inputs, std::vector<Bytes> &outputs,
               std::string &error) {
  const rhz_cpu_task *task = regionOf(model, region);
  if (!task || inputs.size() + keptBy(model, *task) != task->take_count) {
    error = "the model takes other frames than these";
    return false;
  }
  Values values(model);
  size_t wrong = 0; // what a task has given is right
  for (size_t k = 0; k < model.kept_count; ++k)
    values.put(model.kept[k].tensor, kept[k].data(), wrong);
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!unpack(values, model, task->takes[k], inputs[k], error))
      return false;
  if (error = values.run(*task); !error.empty())
    return false;
  for (size_t k = 0; k < model.kept_count; ++k)
    kept[k] = values.get(model.kept[k].next);
  for (size_t k = 0; k < task->give_count - task->inside_count; ++k)
    outputs.push_back(packed(values, model, task->gives[k]));
  return true;
}

/// False with a sentence if an element is none of the tensor's.
bool give(Values &values, const rhz_cpu_model &model,
          std::span<const void *const> inputs, size_t frame,
          std::string &error) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    const rhz_cpu_tensor &tensor = model.tensors[model.inputs[k]];
    const size_t first = frame * size_t(tensor.elements);
    size_t wrong = 0;
    if (tensor.is_float) {
      std::memcpy(values.at(model.inputs[k]),
                  static_cast<const float *>(inputs[k]) + first,
                  bytesOf(tensor));
    } else if (!values.put(model.inputs[k],
                           static_cast<const int64_t *>(inputs[k]) + first,
                           wrong)) {
      error = outside(tensor, wrong);
      return false;
    }
  }
  return true;
}

void take(Values &values, const rhz_cpu_model &model,
          std::span<void *const> outputs, size_t frame) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    const rhz_cpu_tensor &tensor = model.tensors[model.outputs[k]];
    const size_t first = frame * size_t(tensor.elements);
    if (tensor.is_float) {
      std::memcpy(static_cast<float *>(outputs[k]) + first,
                  values.at(model.outputs[k]), bytesOf(tensor));
    } else {
      std::vector<int64_t> ints = values.get(model.outputs[k]);
      std::memcpy(static_cast<int64_t *>(outputs[k]) + first, ints.data(),
                  ints.size() * sizeof ints[0]);
    }
  }
}

bool fits(const rhz_cpu_model &model, size_t inputs, size_t outputs,
          std::string &error) {
  if (inputs == model.input_count && outputs == model.output_count)
    return true;
  error = "the model has " + std::to_string(model.input_count) +
          " inputs and " + std::to_string(model.output_count) + " outputs";
  return false;
}
} // namespace

Compute computeOf(const rhz_cpu_model &model) {
  auto kept = std::make_shared<Kept>(initialOf(model));
  return [&model, kept](size_t region, const std::vector<Bytes> &inputs,
                        std::vector<Bytes> &outputs, std::string &error) {
    if (region != kBegin)
      return runDevice(model, region, *kept, inputs, outputs, error);
    *kept = initialOf(model);
    return true;
  };
}

bool run(const rhz_cpu_model &model, std::span<const void *const> inputs,
         std::span<void *const> outputs, std::string &error) {
  if (!fits(model, inputs.size(), outputs.size(), error))
    return false;
  Values values(model);
  if (!give(values, model, inputs, 0, error))
    return false;
  for (size_t t = 0; t < model.task_count; ++t)
    if (error = values.run(model.tasks[t]); !error.empty())
      return false;
  take(values, model, outputs, 0);
  return true;
}

namespace {
/// Frames on their way through the tasks of host and device, in order.
class Passage {
public:
  Passage(const rhz_cpu_model &model, Driver &driver)
      : model(model), driver(driver) {}

  /// Begins with a frame: the host's tasks before the device's first.
  Status begin(std::span<const void *const> inputs, size_t frame) {
    std::string error;
    frames.push_back({std::make_unique<Values>(model), frame});
    if (!give(*frames.back().values, model, inputs, frame, error))
      return {Fault::Size, "frame " + std::to_string(frame) + ", " + error};
    return proceed(frames.back());
  }
  /// Waits for the oldest job and goes on with its frame.
  Status wait(Duration patience) {
    if (Status status = driver.wait(patience); !status)
      return status;
    Frame &frame = frames[jobs.front() - frames.front().number];
    jobs.pop_front();
    const rhz_cpu_task &task = model.tasks[frame.task++];
    const Region region = driver.design().region(frame.region++);
    for (size_t k = 0; k < region.outputs; ++k) {
      const size_t port = region.firstOutput + k;
      Bytes bytes(driver.design().outputs[port].frameBytes());
      if (Status status = driver.read(port, bytes); !status)
        return status;
      std::string error;
      if (!unpack(*frame.values, model, task.gives[k], bytes, error))
        return {Fault::Device, error};
    }
    return proceed(frame);
  }
  /// Takes the oldest frame's outputs; false if it is not through.
  bool end(std::span<void *const> outputs) {
    if (frames.empty() || frames.front().task < model.task_count)
      return false;
    take(*frames.front().values, model, outputs, frames.front().number);
    frames.pop_front();
    return true;
  }
  size_t onTheirWay() const { return frames.size(); }

private:
  struct Frame {
    std::unique_ptr<Values> values;
    size_t number;
    size_t task = 0, region = 0; ///< the next ones
  };

  /// The host's tasks up to the next of the device, which is launched.
  Status proceed(Frame &frame) {
    for (; frame.task < model.task_count; ++frame.task) {
      const rhz_cpu_task &task = model.tasks[frame.task];
      if (!task.on_device) {
        if (std::string error = frame.values->run(task); !error.empty())
          return {Fault::Size,
                  "frame " + std::to_string(frame.number) + ", " + error};
        continue;
      }
      const Region region = driver.design().region(frame.region);
      if (region.inputs + keptBy(model, task) != task.take_count ||
          region.outputs + task.inside_count != task.give_count)
        return {Fault::Size, "the machine code is another model's"};
      for (size_t k = 0; k < region.inputs; ++k)
        if (Status status =
                driver.write(region.firstInput + k,
                             packed(*frame.values, model, task.takes[k]));
            !status)
          return status;
      jobs.push_back(frame.number);
      return driver.launch(frame.region);
    }
    return {};
  }

  const rhz_cpu_model &model;
  Driver &driver;
  std::deque<Frame> frames;
  std::deque<size_t> jobs; ///< the frames of the driver's jobs, as launched
};
} // namespace

Status runOn(const rhz_cpu_model &model, Driver &driver, Duration patience,
             std::span<const void *const> inputs,
             std::span<void *const> outputs, size_t frames) {
  std::string error;
  if (!fits(model, inputs.size() + model.kept_count,
            outputs.size() + model.kept_count, error))
    return {Fault::Size, error};
  Passage passage(model, driver);
  size_t begun = 0;
  for (size_t done = 0; done < frames;) {
    Status status;
    while (status && begun < frames && passage.onTheirWay() < driver.room())
      status = passage.begin(inputs, begun++);
    if (status && driver.onTheirWay())
      status = passage.wait(patience);
    if (!status)
      return status;
    while (passage.end(outputs))
      ++done;
  }
  return {};
}
} // namespace rhizome::runtime
