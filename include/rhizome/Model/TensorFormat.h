// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number format of one tensor of a network (--tensor-format).
#pragma once

#include "rhizome/Numeric/Format.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace rhizome::model {
/// As parseNetworkFormat, of a tensor that may be an output of the model: these
/// may be wider.
std::optional<numeric::Format>
parseTensorFormat(llvm::StringRef text, std::string &error, std::string &note);
} // namespace rhizome::model
