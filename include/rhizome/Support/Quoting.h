// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in the scripts that Rhizome writes: one function per language, so that
// text with spaces, quotes or line ends stays a single word there and is
// never executed. Names in plans and target files need none of this
// (Untrusted.h); paths and values that a user gives do.
#pragma once

#include "llvm/Support/Error.h"
#include <string>

namespace rhizome {
/// A word of a command line for a POSIX shell; in single quotes unless it is
/// plain.
std::string shellWord(llvm::StringRef text);

/// A word of a Tcl script (Vivado, Quartus and their constraints), also within
/// double quotes; characters with a meaning have a backslash.
std::string tclWord(llvm::StringRef text);

/// A scalar of YAML that reads back as this string; in double quotes if it
/// would read as anything else.
std::string yamlScalar(llvm::StringRef text);

/// Text of an HTML or SVG file, also within an attribute.
std::string markupText(llvm::StringRef text);

/// A path in a Yosys script. These have no escapes, so a path with a quotation
/// mark, a line end or a wildcard is refused.
llvm::Expected<std::string> yosysPath(llvm::StringRef path);
} // namespace rhizome
