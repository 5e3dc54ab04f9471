// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors in a kernel's text and their locations: lines and columns of
// the user's file, also if the kernel is inside a Fortran or C++ file.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>
#include <vector>

namespace rhizome::kernel {
/// A location in the user's file; both count from 1.
struct Place {
  unsigned line = 0, column = 0;
};

/// One error: the problem, its location, the remedy.
struct Diagnostic {
  Place at;
  std::string message;
  std::string remedy;    ///< "" if nothing is known
  Place other = {};      ///< the location that `note` refers to
  std::string note = {}; ///< "" if there is none
};

/// The text of a kernel. `text` begins at line `firstLine` of `file`.
struct Source {
  std::string file;
  std::string text;
  unsigned firstLine = 1;

  /// Line `line` of the file, "" outside the text.
  llvm::StringRef line(unsigned line) const;
};

/// All errors of one text, in the order of their locations.
class Diagnostics {
public:
  explicit Diagnostics(const Source &source) : source(source) {}
  /// Adds an error; returns it, for a note.
  Diagnostic &error(Place at, const llvm::Twine &message,
                    const llvm::Twine &remedy = "");
  bool empty() const { return list.empty(); }
  size_t size() const { return list.size(); }
  /// "file:line:column: error: …", the line, a caret, note and remedy, for each
  /// error (the first twenty).
  std::string render() const;

private:
  const Source &source;
  std::vector<Diagnostic> list;
};
} // namespace rhizome::kernel
