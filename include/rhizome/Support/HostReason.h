// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why the host computes an operation: the importer's reason, kept on its
// loops until the network is cut out. Also which requantizers saturate.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rhizome {
/// A string attribute of the host's loops.
constexpr llvm::StringLiteral kWhyHost = "rhizome.why_host";
/// A remedy that would move it to the FPGA; a string attribute next to that
/// one.
constexpr llvm::StringLiteral kHostRemedy = "rhizome.host_remedy";
/// On a requantizer, an array of two booleans: whether values below the lowest
/// and above the highest code occur and saturate. An activation's own bend,
/// such as a Relu's, does not count.
constexpr llvm::StringLiteral kSaturates = "rhizome.saturates";
} // namespace rhizome
