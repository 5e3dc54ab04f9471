// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/cpu.h"
#include "rhizome/runtime/packing.h"
#include <cstring>

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
  void run(const rhz_cpu_task &task) {
    std::vector<void *> buffers;
    for (size_t k = 0; k < task.take_count; ++k)
      buffers.push_back(at(task.takes[k]));
    for (size_t k = 0; k < task.give_count; ++k)
      buffers.push_back(at(task.gives[k]));
    task.run(buffers.data());
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

/// One frame of what the device takes and gives.
bool runDevice(const rhz_cpu_model &model, const std::vector<Bytes> &inputs,
               std::vector<Bytes> &outputs, std::string &error) {
  size_t next = 0;
  for (size_t t = 0; t < model.task_count; ++t) {
    const rhz_cpu_task &task = model.tasks[t];
    if (!task.on_device)
      continue;
    // What a task takes comes from its ports, not from the task before it.
    Values values(model);
    for (size_t k = 0; k < task.take_count; ++k) {
      const rhz_cpu_tensor &tensor = model.tensors[task.takes[k]];
      const size_t bits = size_t(tensor.elements) * tensor.width;
      if (next == inputs.size() || inputs[next].size() * 8 < bits) {
        error = "the model takes other frames than these";
        return false;
      }
      std::vector<int64_t> codes =
          link::unpackElements(inputs[next++], tensor.width, tensor.is_signed,
                               size_t(tensor.elements));
      size_t wrong = 0;
      if (!values.put(task.takes[k], codes.data(), wrong)) {
        error = outside(tensor, wrong);
        return false;
      }
    }
    values.run(task);
    for (size_t k = 0; k < task.give_count; ++k)
      outputs.push_back(link::packElements(values.get(task.gives[k]),
                                           model.tensors[task.gives[k]].width));
  }
  return true;
}
} // namespace

Compute computeOf(const rhz_cpu_model &model) {
  return [&model](const std::vector<Bytes> &inputs, std::vector<Bytes> &outputs,
                  std::string &error) {
    return runDevice(model, inputs, outputs, error);
  };
}

bool run(const rhz_cpu_model &model, std::span<const void *const> inputs,
         std::span<void *const> outputs, std::string &error) {
  if (inputs.size() != model.input_count ||
      outputs.size() != model.output_count) {
    error = "the model has " + std::to_string(model.input_count) +
            " inputs and " + std::to_string(model.output_count) + " outputs";
    return false;
  }
  Values values(model);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const rhz_cpu_tensor &tensor = model.tensors[model.inputs[k]];
    size_t wrong = 0;
    if (tensor.is_float) {
      std::memcpy(values.at(model.inputs[k]), inputs[k], bytesOf(tensor));
    } else if (!values.put(model.inputs[k],
                           static_cast<const int64_t *>(inputs[k]), wrong)) {
      error = outside(tensor, wrong);
      return false;
    }
  }
  for (size_t t = 0; t < model.task_count; ++t)
    values.run(model.tasks[t]);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const rhz_cpu_tensor &tensor = model.tensors[model.outputs[k]];
    if (tensor.is_float) {
      std::memcpy(outputs[k], values.at(model.outputs[k]), bytesOf(tensor));
    } else {
      std::vector<int64_t> ints = values.get(model.outputs[k]);
      std::memcpy(outputs[k], ints.data(), ints.size() * sizeof ints[0]);
    }
  }
  return true;
}
} // namespace rhizome::runtime
