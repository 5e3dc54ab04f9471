// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of generators: those of the compiler, then those that a program
// adds.
#include "rhizome/Generator/Dhm/Dhm.h"
#include "rhizome/Generator/Stream/Stream.h"
#include <algorithm>

namespace rhizome::gen {
static std::vector<std::unique_ptr<Generator>> &registry() {
  static std::vector<std::unique_ptr<Generator>> generators = [] {
    std::vector<std::unique_ptr<Generator>> list;
    list.push_back(makeStreamGenerator());
    list.push_back(makeDhmGenerator());
    return list;
  }();
  return generators;
}

llvm::ArrayRef<std::unique_ptr<Generator>> allGenerators() {
  return registry();
}

const Generator *findGenerator(llvm::StringRef name) {
  for (const auto &generator : registry())
    if (generator->name() == name)
      return generator.get();
  return nullptr;
}

void addGenerator(std::unique_ptr<Generator> generator) {
  assert(!findGenerator(generator->name()) && "names are unique");
  registry().push_back(std::move(generator));
}

std::unique_ptr<Generator> removeGenerator(llvm::StringRef name) {
  auto &list = registry();
  auto it = std::find_if(list.begin(), list.end(),
                         [&](const auto &g) { return g->name() == name; });
  assert(it != list.end() && "no such generator");
  std::unique_ptr<Generator> taken = std::move(*it);
  list.erase(it);
  return taken;
}
} // namespace rhizome::gen
