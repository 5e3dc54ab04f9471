// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inference on a model's tensors: quantize, pack, compute by a driver, unpack,
// dequantize. The tables are those of a package's generated header.
#pragma once

#include "rhizome/runtime/border.h"
#include "rhizome/runtime/cpu.h"
#include "rhizome/runtime/driver.h"
#include <memory>

namespace rhizome::runtime {
/// What a driver has to know of a model whose package lies in `folder`.
Design designOf(const rhz_model &model, std::string folder);

class Inference {
public:
  /// `model` outlives it.
  Inference(const rhz_model &model, std::string folder,
            std::unique_ptr<Driver> driver);

  /// Opens the driver and loads what the design's memories hold.
  /// `outstanding` frames, at most, are on their way at a time.
  Status open(size_t outstanding = 2);
  /// inputs[k] holds frames × elements of the model's input k in its type,
  /// outputs[k] gets those of output k. An input that is a state is kept here
  /// and may be null; a frame is then sent when the one before is back. After a
  /// failure, also one of `open`, the device is opened anew; the states are
  /// those of the last frame that came back, and what the device keeps begins
  /// anew.
  Status infer(std::span<const void *const> inputs,
               std::span<void *const> outputs, size_t frames = 1);
  /// The whole model on its own tensors, as runOn has them: the device's tasks
  /// by the driver, the host's by the machine code.
  Status run(const rhz_cpu_model &code, std::span<const void *const> inputs,
             std::span<void *const> outputs, size_t frames = 1);

  /// Brings the states back to how they begin. If the device keeps some, it is
  /// opened anew for the next frame, and by that reset.
  void reset();

  const rhz_model &model() const { return tables; }
  Driver &driver() { return *device; }
  Duration patience = std::chrono::seconds(10); ///< with each frame

private:
  Status reopen();
  Status send(std::span<const void *const> inputs, size_t frame);
  Status receive(std::span<void *const> outputs, size_t frame);

  const void *valuesOf(size_t input, std::span<const void *const> inputs,
                       size_t frame) const;

  const rhz_model &tables;
  std::string folder;
  std::unique_ptr<Driver> device;
  size_t outstanding = 0; ///< before `open`
  bool failed = false;
  std::vector<Bytes> states; ///< elements of each in its type
};
} // namespace rhizome::runtime
