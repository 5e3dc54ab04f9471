// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a program of ours ends when something that nobody expected happens: with
// an error and exit code 1, after everything that was begun is undone.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace rhizome {
/// Returns what `body` returns. Where memory does not suffice, where a size is
/// larger than any memory, or where LLVM gives up, it is left like a function
/// that fails, so that temporary files go, and the exit code is 1 after
/// `report` got the reason. The same happens, without the clean-up, if a thread
/// ends so; then the reason is on stderr. To be called once, by main().
int runProgram(llvm::function_ref<int()> body,
               llvm::function_ref<void(llvm::StringRef reason)> report);

/// The same with "error: REASON" on stderr.
int runProgram(llvm::function_ref<int()> body);
} // namespace rhizome
