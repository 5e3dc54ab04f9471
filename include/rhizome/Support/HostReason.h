// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why the host computes an operation: what the importer found, kept on its
// loops until the network is cut out.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rhizome {
/// A string attribute of the host's loops.
constexpr llvm::StringLiteral kWhyHost = "rhizome.why_host";
} // namespace rhizome
