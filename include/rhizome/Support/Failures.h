// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts LLVM's errors to failures: the kind is set where an error
// occurs, and functions that pass it on need not know it.
#pragma once

#include "rhizome/Support/Result.h"
#include "llvm/Support/Error.h"

namespace rhizome {
/// The same error with a kind. An error that has a kind keeps it.
llvm::Error ofKind(Failure::Kind kind, llvm::Error error);

/// The failure for an error; of kind `otherwise` if it has none.
Failure failureOf(llvm::Error error, Failure::Kind otherwise);
} // namespace rhizome
