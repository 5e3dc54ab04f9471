// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stand-in for XRT's header: see standin.cpp.
#pragma once
#include <string>

namespace xrt {
struct uuid {
  std::string program;
};

class device {
public:
  device() = default;
  explicit device(unsigned number);
  uuid load_xclbin(const std::string &program);
};
} // namespace xrt
