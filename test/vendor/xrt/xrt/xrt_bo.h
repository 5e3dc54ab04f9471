// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stand-in for XRT's header: see standin.cpp.
#pragma once
#include "xrt_device.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

enum xclBOSyncDirection {
  XCL_BO_SYNC_BO_TO_DEVICE = 0,
  XCL_BO_SYNC_BO_FROM_DEVICE
};

namespace xrt {
class bo {
public:
  bo() = default;
  bo(const device &device, size_t bytes, int group);
  size_t size() const;
  void write(const void *from) { write(from, size(), 0); }
  void write(const void *from, size_t bytes, size_t seek);
  void read(void *to, size_t bytes, size_t skip);
  void sync(xclBOSyncDirection direction) { sync(direction, size(), 0); }
  void sync(xclBOSyncDirection direction, size_t bytes, size_t offset);

  struct Sides {
    std::vector<uint8_t> host, card;
    int group;
  };
  std::shared_ptr<Sides> sides;
};
} // namespace xrt
