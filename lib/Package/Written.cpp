// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Written.h"
#include "rhizome/Support/Confine.h"
#include "rhizome/Support/Folders.h"
#include "rhizome/Support/KeptFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace rhizome {
std::vector<std::string> rtlOf(const Plan &plan) {
  std::vector<std::string> files;
  for (const PlannedNode &node : plan.nodes) {
    if (!node.rtlOf.empty())
      continue;
    for (const auto *list : {&node.rtl, &node.simulationModels})
      for (const std::string &file : *list)
        files.push_back("nodes/" + node.name + "/rtl/" + file);
  }
  return files;
}

/// A name that no other texts have, whoever chooses them.
static std::string nameOf(const std::vector<std::string> &texts) {
  SHA256 hash;
  for (const std::string &text : texts) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

void recordWritten(const std::vector<std::string> &texts) {
  if (wallHere() != Wall::None)
    return;
  // Without a cache, the user has to say --trust.
  Expected<KeptFiles> kept = KeptFiles::ofUser("written");
  if (!kept)
    return consumeError(kept.takeError());
  consumeError(kept->put(nameOf(texts),
                         [](const std::string &path) {
                           return writeBytes(path, "written\n");
                         })
                   .takeError());
}

bool isWrittenHere(const std::vector<std::string> &texts) {
  Expected<KeptFiles> kept = KeptFiles::ofUser("written");
  if (!kept)
    return consumeError(kept.takeError()), false;
  return kept->take(nameOf(texts)) != nullptr;
}
} // namespace rhizome
