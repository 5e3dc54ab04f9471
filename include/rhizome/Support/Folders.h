// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files and folders below a place that others may have filled: no symbolic link
// is followed there, nothing that exists is written through, and what is
// deleted lies there. The layers that work on packages write in no other way.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rhizome {
/// A descriptor that is closed with its object.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  ~Descriptor();
  Descriptor(Descriptor &&other) noexcept : number(other.release()) {}
  Descriptor &operator=(Descriptor &&other) noexcept;
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return number; }
  int release() {
    int released = number;
    number = -1;
    return released;
  }

private:
  int number;
};

/// True if the path itself is a symbolic link, wherever it leads.
bool isLink(llvm::StringRef path);

/// Refuses, by name, links, devices, pipes and sockets in a folder, and folders
/// that are nested too deeply. Paths for which `isExempt` holds, below the
/// folder and with '/', are not looked into.
llvm::Error checkPlainTree(
    llvm::StringRef folder,
    llvm::function_ref<bool(llvm::StringRef relative)> isExempt =
        [](llvm::StringRef) { return false; });

/// Makes the folders of `relative` that are missing below `root`, which must be
/// there. A link among them is refused by name.
llvm::Error makeFolders(llvm::StringRef root, llvm::StringRef relative);

/// The same of a path of ours or of the user's, whose existing part may lead
/// through links; its last part must be a folder and no link.
llvm::Error makeFolders(llvm::StringRef path);

/// Makes a folder that was not there, and returns an error if it was.
llvm::Error makeNewFolder(llvm::StringRef path);

/// Makes a new folder with a name of its own in the system's folder for
/// temporary files.
llvm::Expected<std::string> makeTemporaryFolder(llvm::StringRef prefix);

/// Removes what is at the path, with everything below; of a link only itself.
/// Nothing there is success.
llvm::Error removeTree(llvm::StringRef path);
/// The same below `root`, to which `relative` leads through no link.
llvm::Error removeTree(llvm::StringRef root, llvm::StringRef relative);

/// The names in a folder, sorted; none if it is missing or a link.
std::vector<std::string> namesIn(llvm::StringRef folder);

/// Writes a new file. What has that name, a file or a link, is replaced, so
/// that no other name of it changes; anything else there is refused.
llvm::Error writeBytes(llvm::StringRef path, llvm::StringRef bytes);

/// Like writeBytes, by a rename: readers see all or nothing.
llvm::Error writeAtomically(llvm::StringRef path, llvm::StringRef bytes);

/// A new file with a copy of a file's bytes, which is not reached by a link.
llvm::Error copyFile(llvm::StringRef from, llvm::StringRef to);

/// Opens a new file for writing as writeBytes does, −1 if it cannot be. It uses
/// only what a child may use after fork().
int openNewFile(const char *path);

/// A file's bytes below `root`, reached through no link.
llvm::Expected<std::string> readFileBelow(llvm::StringRef root,
                                          llvm::StringRef relative);
} // namespace rhizome
