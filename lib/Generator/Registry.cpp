// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of generators.
#include "rhizome/Generator/Stream/Stream.h"

namespace rhizome::gen {
llvm::ArrayRef<std::unique_ptr<Generator>> allGenerators() {
  static const std::vector<std::unique_ptr<Generator>> generators = [] {
    std::vector<std::unique_ptr<Generator>> list;
    list.push_back(makeStreamGenerator());
    return list;
  }();
  return generators;
}
} // namespace rhizome::gen
