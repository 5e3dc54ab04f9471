// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's errors become failures: of the kind that they were given where they
// arose, which the functions that they pass need not know.
#pragma once

#include "rhizome/Support/Result.h"
#include "llvm/Support/Error.h"

namespace rhizome {
/// The same error with a kind. One that has a kind keeps it.
llvm::Error ofKind(Failure::Kind kind, llvm::Error error);

/// The failure that an error is; of `otherwise` if it was given no kind.
Failure failureOf(llvm::Error error, Failure::Kind otherwise);
} // namespace rhizome
