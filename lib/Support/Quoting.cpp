// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Quoting.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"

using namespace llvm;

namespace rhizome {
std::string shellWord(StringRef text) {
  if (isPlainPath(text.ltrim('/')))
    return text.str();
  // A single quote ends the quoted part and is escaped outside of it.
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string tclWord(StringRef text) {
  std::string escaped;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      escaped += formatv("\\u{0:x-4}", unsigned(byte)).str();
    else if (StringRef(" \"#$;[\\]{}").contains(c))
      escaped += {'\\', c};
    else
      escaped += c;
  }
  return escaped;
}

std::string markupText(StringRef text) {
  std::string escaped;
  raw_string_ostream os(escaped);
  printHTMLEscaped(text, os);
  return escaped;
}

std::string yamlScalar(StringRef text) {
  const bool isPath = text.contains('/') && isPlainPath(text);
  return isPath || yaml::needsQuotes(text) == yaml::QuotingType::None
             ? text.str()
             : "\"" + yaml::escape(text, /*EscapePrintable=*/false) + "\"";
}

Expected<std::string> yosysPath(StringRef path) {
  // Also within quotes it takes the last three for patterns of names.
  if (path.find_first_of("\"\n\r*?[") != StringRef::npos)
    return createStringError("Yosys can name no file whose path has a "
                             "quotation mark, a line end or any of '*?[': "
                             "'%s'; move the package",
                             printable(path).c_str());
  return ("\"" + path + "\"").str();
}
} // namespace rhizome
