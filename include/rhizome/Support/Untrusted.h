// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text from untrusted sources: which names may become parts of paths and
// scripts, how such text is quoted in messages, and JSON whose depth is
// bounded. See docs/trust.md.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace rhizome {
/// The characters of names that become parts of paths and scripts, for
/// messages.
constexpr const char *kNameCharacters = "letters, digits and any of '_.+-'";

/// At most 255 of these characters, the first not one of '.+-'. Such a name
/// needs no quotes in a shell, in Tcl, in YAML or in a Yosys script, is not an
/// option of a program, and stays in the folder in which it is looked up.
bool isPlainName(llvm::StringRef text);

/// Plain names separated by '/'.
bool isPlainPath(llvm::StringRef text);

/// A name that Verilog accepts without escapes.
bool isIdentifier(llvm::StringRef text);

/// Text for messages: control characters as \n or \xNN. Of a text of more than
/// 200 bytes the first 80 and the last 120 are shown: a path's end tells most.
std::string printable(llvm::StringRef text);

/// Text as a terminal may get it: control characters, those of 8 bits in UTF-8
/// too, as \xNN, except line ends and tabs.
std::string withoutControls(llvm::StringRef text);

/// The same of all strings in a value.
void removeControls(llvm::json::Value &value);

/// For recursive parsers: refuses JSON and MLIR in which (), [], {} and <>,
/// outside of strings and comments, are nested deeper than 256 levels.
llvm::Error checkNesting(llvm::StringRef text);

/// What crashes MLIR's parser: deep nesting as above, dense arrays of index or
/// of an alias, such as `array<index: 1>` (LLVM 22), and bytecode.
llvm::Error checkMlirText(llvm::StringRef text);

/// llvm::json::parse after checkNesting.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);
} // namespace rhizome
