// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Spelling.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

std::string rhizome::meant(StringRef word,
                           const std::vector<std::string> &known,
                           unsigned letters) {
  std::string best;
  unsigned least = letters + 1;
  for (const std::string &name : known)
    if (unsigned d = word.edit_distance(name, true, least); d < least) {
      least = d;
      best = name;
    }
  if (best.empty()) {
    std::vector<std::string> longer;
    for (const std::string &name : known)
      if (!word.empty() && StringRef(name).starts_with(word))
        longer.push_back(name);
    if (longer.size() == 1)
      best = longer.front();
  }
  if (best.empty() && word.starts_with("--"))
    for (const std::string &name : known)
      if (StringRef(name).ends_with(word.drop_front()))
        best = name;
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::string rhizome::unknownName(StringRef what, StringRef word,
                                 const std::vector<std::string> &known) {
  // Two letters are the difference between two devices.
  const std::string hint = meant(word, known, 1);
  return ("unknown " + what + " '" + word + "'" + hint +
          (hint.empty() ? "; known are " : " Known are "))
             .str() +
         llvm::join(known, ", ");
}
