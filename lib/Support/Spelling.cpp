// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Spelling.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

std::string rhizome::nearest(StringRef word,
                             const std::vector<std::string> &known,
                             unsigned letters) {
  std::string best;
  unsigned least = letters + 1;
  // Of names as near as each other, one that begins with the word.
  bool begins = false;
  for (const std::string &name : known) {
    const unsigned d = word.edit_distance_insensitive(name, true, letters + 1);
    const bool longer = StringRef(name).starts_with_insensitive(word);
    if (d < least || (d == least && d <= letters && longer && !begins)) {
      least = d;
      best = name;
      begins = longer;
    }
  }
  // Otherwise the only one that begins with it, or ends with it.
  for (bool atEnd : {false, true}) {
    std::vector<std::string> longer;
    for (const std::string &name : known)
      if (!word.empty() &&
          (atEnd ? StringRef(name).ends_with_insensitive(word)
                 : StringRef(name).starts_with_insensitive(word)))
        longer.push_back(name);
    if (best.empty() && longer.size() == 1)
      best = longer.front();
  }
  if (best.empty() && word.starts_with("--"))
    for (const std::string &name : known)
      if (StringRef(name).ends_with(word.drop_front()))
        best = name;
  return best;
}

std::string rhizome::meant(StringRef word,
                           const std::vector<std::string> &known,
                           unsigned letters) {
  const std::string best = nearest(word, known, letters);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::string rhizome::unknownName(StringRef what, StringRef word,
                                 const std::vector<std::string> &known,
                                 StringRef elsewhere) {
  // Two letters are the difference between two devices.
  std::string hint = meant(word, known, 1);
  if (hint.empty() && !elsewhere.empty())
    hint = ("; did you mean '" + elsewhere + "'?").str();
  return ("unknown " + what + " '" + word + "'" + hint +
          (hint.empty() ? "; known are " : " Known are "))
             .str() +
         llvm::join(known, ", ");
}
