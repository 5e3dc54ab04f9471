// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder of files that cost time to make and can be made again, each named by
// what it was made from. It is bounded: what was used longest ago goes first.
// Several processes may share it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace rhizome {
class KeptFiles {
public:
  /// A file that nobody removes as long as this lives.
  class Hold {
  public:
    explicit Hold(int descriptor) : descriptor(descriptor) {}
    ~Hold();
    Hold(const Hold &) = delete;
    Hold &operator=(const Hold &) = delete;

  private:
    int descriptor;
  };
  using Held = std::shared_ptr<Hold>;

  /// The folder `name` of the user's cache (userCache()), made if need be.
  static llvm::Expected<KeptFiles> ofUser(llvm::StringRef name);
  /// A folder that is there. `mostBytes` is what its files may take together.
  KeptFiles(std::string folder, uint64_t mostBytes);

  const std::string &folder() const { return where; }
  std::string path(llvm::StringRef name) const;

  /// Holds the file, which is now the one used last; null if it is not there.
  Held take(llvm::StringRef name) const;
  /// Puts a file in under this name, holds it, and removes others until the
  /// folder is within its bound. `write` fills the file at the path that it
  /// gets. If another process puts one in as well, that is the same.
  llvm::Expected<Held>
  put(llvm::StringRef name,
      llvm::function_ref<llvm::Error(const std::string &path)> write) const;
  /// Removes what was used longest ago until the rest is within the bound.
  /// What is held stays, whoever holds it.
  void trim() const;

private:
  std::string where;
  uint64_t mostBytes;
};

/// The bound of each folder of the user's cache: RHIZOME_CACHE_MB megabytes,
/// otherwise 2,000.
uint64_t keptBytes();
} // namespace rhizome
