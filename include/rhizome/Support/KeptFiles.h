// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder of files that are expensive to make and can be made again, each
// named by a hash of its inputs. It is bounded: the least recently used files
// are removed first. Several processes may share it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace rhizome {
class KeptFiles {
public:
  /// A file that is not removed as long as this object exists.
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

  /// The folder `name` of the user's cache (userCache()), created if necessary.
  static llvm::Expected<KeptFiles> ofUser(llvm::StringRef name);
  /// An existing folder. `mostBytes` bounds the total size of its files.
  KeptFiles(std::string folder, uint64_t mostBytes);

  const std::string &folder() const { return where; }
  std::string path(llvm::StringRef name) const;

  /// Holds the file, which becomes the most recently used; null if it is
  /// missing.
  Held take(llvm::StringRef name) const;
  /// Adds a file with this name, holds it, and removes others until the
  /// folder is within its bound. `write` fills the file at the given
  /// path. Another process may add the same file at the same time.
  llvm::Expected<Held>
  put(llvm::StringRef name,
      llvm::function_ref<llvm::Error(const std::string &path)> write) const;
  /// Removes the least recently used files until the rest is within the bound.
  /// Held files stay, whichever process holds them.
  void trim() const;

private:
  std::string where;
  uint64_t mostBytes;
};

/// The bound of each folder of the user's cache: RHIZOME_CACHE_MB megabytes,
/// otherwise 2,000.
uint64_t keptBytes();
} // namespace rhizome
