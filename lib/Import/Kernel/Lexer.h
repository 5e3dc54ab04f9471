// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens of a kernel. Blanks and line breaks only separate; `//`, `/* */` and
// Fortran's `!` are comments, Fortran's `&` is a blank.
#pragma once

#include "rhizome/Import/Kernel/Diagnostic.h"

namespace rhizome::kernel {
struct Token {
  /// Bad: meaningless characters; they have been reported.
  enum class Kind { Name, Integer, Real, Symbol, Bad, End } kind = Kind::End;
  Place at;
  llvm::StringRef text;
  bool firstOfLine = false;

  bool is(llvm::StringRef symbol) const {
    return kind == Kind::Symbol && text == symbol;
  }
  bool isName() const { return kind == Kind::Name; }
};

/// All tokens followed by an End. Characters that begin none are errors.
std::vector<Token> tokenize(const Source &source, Diagnostics &diagnostics);
} // namespace rhizome::kernel
