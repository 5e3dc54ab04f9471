// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For fuzz targets of functions that take a path.
#pragma once

#include "FuzzTarget.h"
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace rhizome::fuzz {
/// A file of `bytes` that has a path.
class Scratch {
public:
  explicit Scratch(llvm::StringRef bytes)
      : file(memfd_create("fuzzed.yaml", 0)) {
    require(write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  }
  Scratch(const Scratch &) = delete;
  ~Scratch() { close(file); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  int file;
};
} // namespace rhizome::fuzz
