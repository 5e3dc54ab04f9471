// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text that anybody may have written: which names may become parts of paths and
// scripts, how such text is quoted in messages, and JSON whose depth is
// bounded. docs/trust.md says what is trusted.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace rhizome {
/// The characters of names that become parts of paths and scripts, for
/// messages.
constexpr const char *kNameCharacters = "letters, digits and any of '_.+-'";

/// At most 255 of these characters, the first none of '.+-'. Such a name needs
/// no quotes in a shell, in Tcl, in YAML or in a script of Yosys, is no option
/// of a program, and stays in the folder in which it is looked up.
bool isPlainName(llvm::StringRef text);

/// Plain names joined by '/'.
bool isPlainPath(llvm::StringRef text);

/// A name that Verilog takes without escapes.
bool isIdentifier(llvm::StringRef text);

/// Text as a message may print it: control characters as \n or \xNN, cut off
/// behind 80 bytes.
std::string printable(llvm::StringRef text);

/// For parsers that recurse: refuses JSON and MLIR in which (), [], {} and <>,
/// strings and comments apart, are nested deeper than 256 levels.
llvm::Error checkNesting(llvm::StringRef text);

/// What MLIR's parser does not survive: nesting as above, and dense arrays of
/// index or of an alias, such as `array<index: 1>`, at which LLVM 22 crashes.
llvm::Error checkMlirText(llvm::StringRef text);

/// llvm::json::parse behind checkNesting.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);
} // namespace rhizome
