// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why the host computes an operation: the importer's reason, kept on its
// loops until the network is cut out. Also what remains of the quantizers in an
// integer model: which of them saturate, and the reals that their codes are.
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
/// On the module of an integer model, an array with a dictionary for each
/// quantizer that an operation of the FPGA computes: `name`, `op` (of the
/// file), `lo` and `hi` (its codes), `zero` and `scale`, one of each or one per
/// channel. An operation with that name gives its codes.
constexpr llvm::StringLiteral kQuantizers = "rhizome.quantizers";
} // namespace rhizome
