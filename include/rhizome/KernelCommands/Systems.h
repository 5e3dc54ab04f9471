// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's units side by side on a device with off-chip memory: which stages,
// copies and lanes give how many elements per second, and what ends it.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/KernelCommands/Hardware.h"
#include <functional>

namespace rhizome::kernelcommands {
/// Equal units of equal lanes. A unit has at most as many lanes as words fit
/// into a beat of a memory channel's port; each of its streams has a channel of
/// its own, from which or to which all lanes go with a beat each cycle.
struct SystemPoint {
  /// What is on a die, and the largest share of what routes there.
  struct Die {
    std::string name;
    int64_t units = 0;
    double share = 0;
    std::string resource;
  };

  size_t format = 0;      ///< of the result's formats, if there are any
  int64_t stages = 0;     ///< 0: serial
  int64_t sideBySide = 1; ///< copies of the largest nest's body
  int64_t words = 1;      ///< of a tensor in a beat of a stream
  int64_t products = 0;   ///< multiplications that a lane starts in a cycle
  bool isShared = true;   ///< tensors of a stage share memories
  std::vector<std::string> copies; ///< as --copies takes them
  int64_t interval = 0;            ///< cycles of an element in a lane
  std::string slowest;             ///< what takes these cycles
  gen::Resources lane;
  int64_t lanes = 0, units = 0, channels = 0;
  double elementsPerS = 0, operationsPerS = 0;
  double bytesPerS = 0;   ///< to and from memory
  double channelLoad = 0; ///< of the busiest channel's bandwidth
  double share = 0;       ///< the largest of any die's routable resources
  std::vector<Die> dies;
  std::string bound; ///< of a lane's fastest system: why it is no larger
  /// None is as fast at a smaller share, or with as small an error.
  bool isPareto = false;
};

/// A number format and the error of its results relative to double.
struct SystemFormat {
  numeric::Format format;
  double snrDb = 0;                 ///< infinite without any error
  double maximum = 0, relative = 0; ///< relative to the largest result
  uint64_t overflows = 0; ///< results that exceeded it: not on the front
  std::string obstacle;   ///< why it has no systems; "": it has
};

struct SystemRequest : HardwareRequest {
  /// To compare; with none, or one, the kernel's own or that of its options.
  std::vector<numeric::Format> formats = {};
  /// May be called from any thread, one at a time.
  std::function<void(llvm::StringRef)> progress = {};
};

struct SystemResult {
  std::vector<SystemPoint> points;   ///< by rising rate
  std::vector<SystemFormat> formats; ///< those compared; empty: one
  /// The fastest, without formats that overflowed if there are others.
  const SystemPoint &best() const;
  int64_t operations = 0; ///< of an element
  double clockMhz = 0;
  std::string device;
  std::vector<std::string> notes;
};

/// Builds one lane for each format, number of stages and copies, prices it, and
/// puts units of it on the dies of the device, as `compile` does, as far as
/// resources that route, wires between dies, channels and their bandwidth
/// allow.
Result<SystemResult> exploreSystems(const SystemRequest &request);

/// The full systems of several formats as a picture: their rate over their
/// error.
std::string drawSystems(const SystemResult &result, llvm::StringRef title);
} // namespace rhizome::kernelcommands
