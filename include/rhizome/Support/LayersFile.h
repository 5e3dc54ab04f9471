// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The name of the file that tells the layers of a unit's program: a generator
// has it among the images, a package in the node's folder, and later steps read
// it there. What it holds is in rhizome/Engine/Listing.h.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rhizome {
/// Behind the unit's name.
constexpr llvm::StringLiteral kLayersFile = ".layers.json";

inline bool isLayersFile(llvm::StringRef name) {
  return name.ends_with(kLayersFile);
}
} // namespace rhizome
