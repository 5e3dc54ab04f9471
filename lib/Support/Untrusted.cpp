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

/// Whether a character of UTF-8 goes on with this byte.
static bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::string printable(StringRef text) {
  constexpr size_t kMost = 200, kFirst = 80;
  StringRef first = text, last;
  if (text.size() > kMost) {
    size_t end = kFirst, begin = text.size() - (kMost - kFirst);
    while (end > 0 && continues(text[end]))
      --end;
    while (begin < text.size() && continues(text[begin]))
      ++begin;
    first = text.take_front(end);
    last = text.drop_front(begin);
  }
  std::string shown;
  auto show = [&](StringRef part) {
    for (char c : part) {
      auto byte = static_cast<unsigned char>(c);
      if (c == '\n')
        shown += "\\n";
      else if (byte < 0x20 || byte == 0x7f)
        shown += "\\x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
      else
        shown += c;
    }
  };
  show(first);
  if (text.size() > kMost) {
    shown += "…";
    show(last);
  }
  return shown;
}

std::string withoutControls(StringRef text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, some of which begin commands of terminals.
    if (byte == 0xc2 && i + 1 < text.size() &&
        (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80)
      byte = static_cast<unsigned char>(text[++i]);
    else if ((byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t') {
      shown += text[i];
      continue;
    }
    shown += "\\x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
  }
  return shown;
}

void removeControls(json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    value = withoutControls(*text);
  else if (json::Array *array = value.getAsArray())
    for (json::Value &element : *array)
      removeControls(element);
  else if (json::Object *object = value.getAsObject())
    for (auto &[key, member] : *object)
      removeControls(member);
}

/// The end of the string or comment that begins at `i`; `i` if none does.
static size_t endOfOpaque(StringRef text, size_t i) {
  if (text[i] == '"') {
    for (++i; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\')
        ++i;
    return std::min(i + 1, text.size());
  }
  return text.substr(i).starts_with("//")
             ? std::min(text.find('\n', i), text.size())
             : i;
}

/// The deepest level; counting stops above `most`.
static unsigned nestingOf(StringRef text, unsigned most) {
  unsigned depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size() && deepest <= most; ++i) {
    if (size_t end = endOfOpaque(text, i); end > i) {
      i = end - 1;
      continue;
    }
    switch (text[i]) {
    case '(':
    case '[':
    case '{':
    case '<':
      deepest = std::max(deepest, ++depth);
      break;
    case '>':
      // An arrow is not a closing bracket.
      if (i > 0 && (text[i - 1] == '-' || text[i - 1] == '='))
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    }
  }
  return deepest;
}

/// The position of `array<` followed by index or an alias; npos if there is
/// none.
static size_t findIndexArray(StringRef text) {
  enum { Other, Array, Open } seen = Other;
  for (size_t i = 0; i < text.size();) {
    if (size_t end = endOfOpaque(text, i); end > i) {
      seen = text[i] == '"' ? Other : seen;
      i = end;
    } else if (isSpace(text[i])) {
      ++i;
    } else if (isAlpha(text[i]) || text[i] == '_') {
      StringRef word = text.substr(i).take_while(
          [](char c) { return isAlnum(c) || StringRef("_.$").contains(c); });
      if (seen == Open && word == "index")
        return i;
      seen = word == "array" ? Array : Other;
      i += word.size();
    } else {
      if (seen == Open && text[i] == '!')
        return i;
      seen = seen == Array && text[i] == '<' ? Open : Other;
      ++i;
    }
  }
  return StringRef::npos;
}

Error checkNesting(StringRef text) {
  constexpr unsigned kDeepest = 256;
  return nestingOf(text, kDeepest) <= kDeepest
             ? Error::success()
             : createStringError("it is nested deeper than %u levels",
                                 kDeepest);
}

Error checkMlirText(StringRef text) {
  // MLIR's reader of bytecode checks too little.
  if (text.starts_with("ML\xefR"))
    return createStringError(
        "it is bytecode of MLIR; write the module as text");
  if (Error error = checkNesting(text))
    return error;
  size_t at = findIndexArray(text);
  if (at == StringRef::npos)
    return Error::success();
  return createStringError("line %zu: elements of a dense array are index or "
                           "an alias of a type; write i64",
                           text.take_front(at).count('\n') + 1);
}

Expected<json::Value> parseJson(StringRef text) {
  if (Error error = checkNesting(text))
    return std::move(error);
  return json::parse(text);
}
} // namespace rhizome
