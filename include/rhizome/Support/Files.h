// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How any file of others is read: no special file, and none that is larger than
// such files may be. Every reader opens its files here or with readFile() of
// Resources.h.
#pragma once

#include "rhizome/Support/Resources.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace rhizome {
/// Bytes of a file of text that a person writes, at most: devices, kernels,
/// steering files, labels.
inline constexpr uint64_t kMostTextBytes = uint64_t(64) << 20;

/// A whole file, mapped if it is large, or an error that names it; as
/// checkIsFile, and no file of more than `most` bytes. There may be no zero
/// after its last byte.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mapFile(llvm::StringRef path, uint64_t most = UINT64_MAX);

/// A copy of its bytes.
llvm::Expected<std::string> readFile(llvm::StringRef path, uint64_t most);

/// The same for what a person writes.
inline llvm::Expected<std::string> readText(llvm::StringRef path) {
  return readFile(path, kMostTextBytes);
}
} // namespace rhizome
