// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that work on files which others have made run confined: they write
// in folders of theirs only, read what they need, and reach no network. By
// Landlock and a seccomp filter, otherwise by bubblewrap (docs/trust.md).
#pragma once

#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace rhizome {
/// What a confined program may do. Paths are absolute.
struct Confinement {
  /// Which programs it may start.
  enum class Programs {
    None,      ///< none: it is the only one
    Installed, ///< those of the system, of PATH and beside it
    Any        ///< also what it has written itself
  };
  /// In which it may make, change and remove files. The first one is its home,
  /// and holds its temporary files.
  std::vector<std::string> writable;
  /// Files and folders besides the system's and the program's own.
  std::vector<std::string> readable;
  /// Programs besides the system's, those of PATH and its own, with what is
  /// installed beside them.
  std::vector<std::string> tools = {};
  Programs programs = Programs::Installed;
  /// It keeps the user's home, reads all that the user may read, and may set
  /// modes and times of files (vendors' tools).
  bool isLarge = false;
  /// Processes that talk to each other, in a network of their own where the
  /// system allows that.
  bool hasNetwork = false;

  bool operator==(const Confinement &) const = default;
};

/// What confines programs on this machine.
enum class Wall { Landlock, Bubblewrap, None };

/// Found out once. RHIZOME_CONFINE=bubblewrap or none, for tests, leaves out
/// what would come first.
Wall wallHere();

/// A confinement, ready for one program.
class Cage {
public:
  /// `program`: the absolute path. It needs a wall, and refuses a writable
  /// folder that is missing.
  static llvm::Expected<Cage> make(const Confinement &confinement,
                                   llvm::StringRef program);
  Cage(Cage &&) noexcept;
  Cage &operator=(Cage &&) noexcept;
  ~Cage();

  /// Confines the calling thread, for good, and all that it starts; false, with
  /// errno, if the system refuses. It uses only what a child may use after
  /// fork(). With bubblewrap it does nothing.
  bool enter() const;
  /// Words before the program in its command line, the first one a program's
  /// path; none with Landlock. `folder` is where it runs.
  std::vector<std::string> words(llvm::StringRef folder) const;
  /// "NAME=value" for its environment.
  const std::vector<std::string> &environment() const;

private:
  struct Parts;
  explicit Cage(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts;
};

/// Confines the calling thread, for good: what it computes itself, and what it
/// starts. It needs Landlock. `program` is what it runs, a path.
llvm::Error confineThread(const Confinement &confinement,
                          llvm::StringRef program);
} // namespace rhizome
