// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of others and the files that go to and from them: how they are
// found and run, how files are written and named by content.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace rhizome {
/// The program's path (looked up in PATH unless it holds a '/'), or an error
/// that says which package brings it.
llvm::Expected<std::string> findTool(llvm::StringRef program);

/// Runs a program that is looked up in PATH, in folder `cwd`, its output going
/// to the file `log` (stderr left alone if `showErrors`). An exit status other
/// than 0 is an error that quotes the log's end.
llvm::Error runTool(llvm::StringRef program, llvm::ArrayRef<std::string> args,
                    llvm::StringRef cwd, llvm::StringRef log,
                    bool showErrors = false);

/// The error of a tool that failed with `status`: its name and the log's end;
/// `message` says what the system knows.
llvm::Error toolError(llvm::StringRef program, int status, llvm::StringRef log,
                      llvm::StringRef message = "");

llvm::Error writeBytes(llvm::StringRef path, llvm::StringRef bytes);

/// As writeBytes, by a file aside and a rename: readers see all or nothing.
llvm::Error writeAtomically(llvm::StringRef path, llvm::StringRef bytes);

/// 16 hex digits of the hash of texts.
std::string hashOf(llvm::ArrayRef<std::string> texts);
} // namespace rhizome
