// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Texts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace rhizome {
std::string markdownText(StringRef text) {
  std::string escaped;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      escaped += "&#92;x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
    else if (byte >= 0x80 || isAlnum(c) || StringRef(" .,:/-+()").contains(c))
      escaped += c;
    else
      escaped += "&#" + std::to_string(unsigned(byte)) + ";";
  }
  return escaped;
}

std::string markdownCode(StringRef text) {
  const bool isPlain = !text.empty() && all_of(text, [](char c) {
    return isAlnum(c) || StringRef("_.:/+-[]()").contains(c);
  });
  return isPlain ? ("`" + text + "`").str()
                 : "<code>" + markdownText(text) + "</code>";
}

std::string cString(StringRef text) {
  std::string escaped;
  raw_string_ostream(escaped).write_escaped(text, /*UseHexEscapes=*/false);
  // Two question marks begin a trigraph.
  return "\"" + fillIn(escaped, "?", "\\?") + "\"";
}

std::string fillIn(StringRef text, StringRef mark, StringRef value) {
  std::string filled;
  for (size_t at; (at = text.find(mark)) != StringRef::npos;
       text = text.substr(at + mark.size()))
    filled += (text.take_front(at) + value).str();
  return filled + text.str();
}
} // namespace rhizome
