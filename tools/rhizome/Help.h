// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How --help looks: groups of commands and options, lines of at most 100
// columns, defaults and bounds as words. What an option means is said where
// the option is added.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <CLI/CLI.hpp>
#include <string>

namespace rhizome::cli {

/// Gives the commands and options of `app` their headings and the help of all
/// of them its form. To be called when all commands are added.
void arrangeHelp(CLI::App &app);

/// Help with its headings in bold, where that shows, on the standard output.
void printHelp(const CLI::App &app);

/// "; 'compile' does that …" for a word of another tool that is no command of
/// ours, e.g. "build"; "" for all others.
std::string otherWord(llvm::StringRef word);

/// What a parse error says, in the words of our other messages.
std::string parseMessage(const CLI::ParseError &error);

} // namespace rhizome::cli
