// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel on an OpenCL device: each unit has two sets of buffers, so that one
// is written or read while the unit computes on the other.
#pragma once

#include "kernel_words.h"
#include "rhizome_host.h"
#include <memory>

namespace rhizome::host {
/// Functions throw a std::runtime_error that names the step, OpenCL's call and
/// its code.
class Device {
public:
  /// Opens a device and sends what stays, from the arrays of all arguments, of
  /// which the others are not read.
  Device(const Kernel &kernel, const rhz_host_options &options,
         const void *const *arrays);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Computes `elements` elements of the arrays, in the order of the arguments.
  void compute(int64_t elements, void *const *arrays);
  const std::string &name() const;
  int units() const;

private:
  class State;
  std::unique_ptr<State> state;
};
} // namespace rhizome::host

/// What the functions in C hold.
struct rhz_host {
  rhizome::host::Device device;
  std::string error;
};

namespace rhizome::host {
/// For the generated functions: NULL and the reason in `error`, which has room
/// for `size` bytes, if it fails.
rhz_host *open(const Kernel &kernel, const rhz_host_options *options,
               const void *const *arrays, char *error, size_t size);
/// 0, or -1 with the reason kept.
int compute(rhz_host *host, int64_t elements, void *const *arrays);
/// All in one.
int run(const Kernel &kernel, const rhz_host_options *options, int64_t elements,
        void *const *arrays, char *error, size_t size);
} // namespace rhizome::host
