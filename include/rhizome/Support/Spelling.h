// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a misspelled word may mean, for messages.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace rhizome {
/// The name in `known` that differs from the word by at most so many letters;
/// or else the only one that begins with it, or an option that ends in it; ""
/// if there is none.
std::string nearest(llvm::StringRef word, const std::vector<std::string> &known,
                    unsigned letters = 2);
/// "; did you mean 'NAME'?": the nearest one; "" if there is none.
std::string meant(llvm::StringRef word, const std::vector<std::string> &known,
                  unsigned letters = 2);

/// "unknown device 'x'; did you mean 'y'? Known are y, z": `what` is the kind.
/// If no known one is near, `elsewhere` may be meant.
std::string unknownName(llvm::StringRef what, llvm::StringRef word,
                        const std::vector<std::string> &known,
                        llvm::StringRef elsewhere = "");
} // namespace rhizome
