// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;

namespace rhizome {
bool isPlainName(StringRef text) {
  constexpr size_t kLongest = 255; // of a file's name
  return !text.empty() && text.size() <= kLongest &&
         (isAlnum(text[0]) || text[0] == '_') && all_of(text, [](char c) {
           return isAlnum(c) || StringRef("_.+-").contains(c);
         });
}

bool isPlainPath(StringRef text) {
  return !text.empty() && all_of(split(text, '/'), isPlainName);
}

bool isIdentifier(StringRef text) {
  return isPlainName(text) && !isDigit(text[0]) &&
         all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

std::string printable(StringRef text) {
  constexpr size_t kMost = 80;
  std::string shown;
  for (char c : text.take_front(kMost)) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      shown += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      shown += "\\x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
    else
      shown += c;
  }
  return text.size() > kMost ? shown + "…" : shown;
}

/// The deepest level; counting ends above `most`.
static unsigned nestingOf(StringRef text, unsigned most) {
  unsigned depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size() && deepest <= most; ++i)
    switch (text[i]) {
    case '"':
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      break;
    case '/':
      if (text.substr(i).starts_with("//"))
        i = std::min(text.find('\n', i), text.size());
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      deepest = std::max(deepest, ++depth);
      break;
    case '>':
      // An arrow closes nothing.
      if (i > 0 && (text[i - 1] == '-' || text[i - 1] == '='))
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    }
  return deepest;
}

Error checkNesting(StringRef text) {
  constexpr unsigned kDeepest = 256;
  return nestingOf(text, kDeepest) <= kDeepest
             ? Error::success()
             : createStringError("it is nested deeper than %u levels",
                                 kDeepest);
}

Expected<json::Value> parseJson(StringRef text) {
  if (Error error = checkNesting(text))
    return std::move(error);
  return json::parse(text);
}
} // namespace rhizome
