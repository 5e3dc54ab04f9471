// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in the pages, sources and build files that Rhizome writes; Quoting.h has
// the same for scripts.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace rhizome {
/// Text of a table's cell in Markdown, as code: no character of it is markup,
/// and it stays in its line.
std::string markdownCode(llvm::StringRef text);

/// The same as plain text, such as in a heading.
std::string markdownText(llvm::StringRef text);

/// A string literal of C and C++, with its quotation marks. No trigraph and no
/// digit after an escape changes what it holds.
std::string cString(llvm::StringRef text);

/// `text` with `value` at each place of `mark`. What `value` holds is not
/// looked at again.
std::string fillIn(llvm::StringRef text, llvm::StringRef mark,
                   llvm::StringRef value);
} // namespace rhizome
