// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package's checksums.json: path, size and checksum of every file that later
// steps read, so that none of them works on files that were removed, truncated
// or changed. Later measurements (results/), report.html, deploy.yaml and
// the vendor projects may be changed by a user and are not listed.
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
constexpr const char *kChecksums = "checksums.json";

struct FileChecksum {
  std::string path; ///< below the package, with '/'
  uint64_t bytes = 0;
  std::string hash; ///< XXH3 of 128 bits, 32 hex digits as xxhsum -H2 prints
  bool operator==(const FileChecksum &) const = default;
};

/// Whether later steps read this file.
bool isChecked(llvm::StringRef path);

/// The checksum of a file below a folder.
llvm::Expected<FileChecksum> checksumOf(llvm::StringRef folder,
                                        llvm::StringRef path);

/// The checksums of a folder's files, by path.
llvm::Expected<std::vector<FileChecksum>> checksumsOf(llvm::StringRef folder);

std::string printChecksums(const std::vector<FileChecksum> &files);
llvm::Expected<std::vector<FileChecksum>> parseChecksums(llvm::StringRef text);

/// The differences between a folder's files and the list: "'p' is missing",
/// "'p' has 3 bytes, not 5", "'p' was altered". Each file is read once, on all
/// threads.
std::vector<std::string> changesOf(llvm::StringRef folder,
                                   const std::vector<FileChecksum> &files);
} // namespace rhizome
