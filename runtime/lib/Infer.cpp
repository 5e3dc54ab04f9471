// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/infer.h"
#include <cstring>

namespace rhizome::runtime {
namespace {
Port portOf(const rhz_border &border) {
  return {border.port, uint64_t(border.elements) * border.width,
          border.beat_bits};
}

size_t bytesOf(const rhz_tensor &tensor) {
  size_t size = tensor.type == RHZ_FLOAT32 ? sizeof(float) : sizeof(int64_t);
  return size_t(tensor.elements) * size;
}

/// Where frame `frame` of a tensor begins.
const uint8_t *at(const rhz_tensor &tensor, const void *values, size_t frame) {
  return static_cast<const uint8_t *>(values) + frame * bytesOf(tensor);
}
} // namespace

Design designOf(const rhz_model &model, std::string folder) {
  Design design;
  design.name = model.name;
  design.folder = std::move(folder);
  for (size_t k = 0; k < model.to_device_count; ++k)
    design.inputs.push_back(portOf(model.to_device[k]));
  for (size_t k = 0; k < model.from_device_count; ++k)
    design.outputs.push_back(portOf(model.from_device[k]));
  auto fileOf = [](const rhz_file &file) {
    return File{file.path, uint64_t(file.bytes), file.checksum};
  };
  for (size_t k = 0; k < model.image_count; ++k)
    design.images.push_back(fileOf(model.images[k]));
  for (size_t k = 0; k < model.segment_count; ++k) {
    const rhz_segment &segment = model.segments[k];
    design.segments.push_back({fileOf(segment.file), segment.memory,
                               segment.bank, segment.address, segment.port});
  }
  design.keepsState = model.kept_count > 0;
  if (const rhz_program *program = model.program)
    design.program = {program->file, program->kernel,
                      uint64_t(program->space_bytes)};
  Region next;
  for (size_t r = 0; r < model.region_count; ++r) {
    next.inputs = model.regions[r].to_device_count;
    next.outputs = model.regions[r].from_device_count;
    design.regions.push_back(next);
    next.firstInput += next.inputs;
    next.firstOutput += next.outputs;
  }
  return design;
}

Inference::Inference(const rhz_model &model, std::string folder,
                     std::unique_ptr<Driver> driver)
    : tables(model), folder(std::move(folder)), device(std::move(driver)) {
  reset();
}

void Inference::reset() {
  states.clear();
  for (size_t k = 0; k < tables.state_count; ++k) {
    const rhz_state &state = tables.states[k];
    Bytes &value = states.emplace_back(bytesOf(tables.inputs[state.input]));
    if (state.initial)
      std::memcpy(value.data(), state.initial, value.size());
  }
  // Opening it resets the device.
  failed |= tables.kept_count > 0 && outstanding > 0;
}

/// Where the elements of an input stand.
const void *Inference::valuesOf(size_t input,
                                std::span<const void *const> inputs,
                                size_t frame) const {
  for (size_t k = 0; k < tables.state_count; ++k)
    if (tables.states[k].input == int(input))
      return states[k].data();
  return at(tables.inputs[input], inputs[input], frame);
}

Status Inference::open(size_t frames) {
  outstanding = frames;
  Status status = device->open(designOf(tables, folder));
  if (status)
    status = device->allocate(outstanding);
  if (status)
    status = device->loadAll();
  failed = !status;
  return status;
}

Status Inference::send(std::span<const void *const> inputs, size_t frame) {
  for (size_t k = 0; k < tables.to_device_count; ++k) {
    const rhz_border &border = tables.to_device[k];
    const rhz_tensor &tensor = tables.inputs[border.tensor];
    Bytes bytes(rhz_frame_bytes(&border));
    int64_t element = 0;
    rhz_result result =
        rhz_to_frame(&border, valuesOf(size_t(border.tensor), inputs, frame),
                     bytes.data(), &element);
    if (result != RHZ_OK)
      return {Fault::Size,
              std::string("input '") + tensor.name + "', frame " +
                  std::to_string(frame) + ", element " +
                  std::to_string(element) +
                  (result == RHZ_NAN
                       ? ": NaN has no integer"
                       : ": is not from " + std::to_string(border.lo) + " to " +
                             std::to_string(border.hi))};
    if (Status status = device->write(k, bytes); !status)
      return status;
  }
  return device->launch();
}

Status Inference::receive(std::span<void *const> outputs, size_t frame) {
  if (Status status = device->wait(patience); !status)
    return status;
  for (size_t k = 0; k < tables.from_device_count; ++k) {
    const rhz_border &border = tables.from_device[k];
    const rhz_tensor &tensor = tables.outputs[border.tensor];
    Bytes bytes(rhz_frame_bytes(&border));
    if (Status status = device->read(k, bytes); !status)
      return status;
    void *values = outputs[size_t(border.tensor)];
    rhz_from_frame(&border, bytes.data(),
                   const_cast<uint8_t *>(at(tensor, values, frame)));
  }
  for (size_t k = 0; k < tables.state_count; ++k) {
    const size_t output = size_t(tables.states[k].output);
    const uint8_t *next = at(tables.outputs[output], outputs[output], frame);
    std::memcpy(states[k].data(), next, states[k].size());
  }
  return {};
}

/// After a failure.
Status Inference::reopen() {
  if (!failed)
    return {};
  device->close();
  return open(outstanding);
}

Status Inference::run(const rhz_cpu_model &code,
                      std::span<const void *const> inputs,
                      std::span<void *const> outputs, size_t frames) {
  if (Status status = reopen(); !status)
    return status;
  Status status = runOn(code, *device, patience, inputs, outputs, frames);
  failed = !status;
  return status;
}

Status Inference::infer(std::span<const void *const> inputs,
                        std::span<void *const> outputs, size_t frames) {
  if (inputs.size() != tables.input_count ||
      outputs.size() != tables.output_count)
    return {Fault::Size, "the model has " + std::to_string(tables.input_count) +
                             " inputs and " +
                             std::to_string(tables.output_count) + " outputs"};
  if (tables.region_count > 1)
    return {Fault::Unsupported,
            "the host computes between the " +
                std::to_string(tables.region_count) +
                " regions of this model; rhz_run does so, with the machine "
                "code that --cpu-object puts into the package"};
  if (Status status = reopen(); !status)
    return status;
  const size_t most = tables.state_count ? 1 : outstanding;
  size_t sent = 0;
  for (size_t done = 0; done < frames; ++done) {
    Status status;
    for (; status && sent < frames && sent - done < most; ++sent)
      status = send(inputs, sent);
    if (status)
      status = receive(outputs, done);
    failed = !status;
    if (failed)
      return status;
  }
  return {};
}
} // namespace rhizome::runtime
