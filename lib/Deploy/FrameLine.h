// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests and answers of `run --serve`, over two descriptors. Numbers have 64
// bits, little-endian. First an 'R' tells that the device is there. A request
// is the number of arrays and, of each, the number of bytes and the bytes of an
// .npy file; no arrays end it. The answer is the same; or the number -1, that
// of the bytes of a sentence, and the sentence: the request was wrong, the
// device is as before.
#pragma once

#include "rhizome/Support/Data.h"
#include <chrono>
#include <optional>

namespace rhizome::deploy {
class FrameLine {
public:
  FrameLine(int source, int sink) : source(source), sink(sink) {}

  /// The device is there.
  llvm::Error begin();
  /// Whether a request, or the end, comes within that time.
  bool isDue(std::chrono::milliseconds patience);
  /// The arrays of the next request; nothing at the end. What cannot be read is
  /// answered, and the next request returned.
  llvm::Expected<std::optional<std::vector<NamedTensor>>> next();
  /// Frames of each output.
  llvm::Error answer(llvm::ArrayRef<std::vector<Tensor>> outputs);
  llvm::Error refuse(const std::string &why);

private:
  bool read(void *bytes, size_t count);
  llvm::Error write(llvm::StringRef bytes);
  int source, sink;
};
} // namespace rhizome::deploy
