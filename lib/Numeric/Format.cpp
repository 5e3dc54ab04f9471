// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats: limits, names and text.
#include "rhizome/Numeric/Format.h"
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

using namespace rhizome::numeric;

Format Format::fixed(int integerBits, int fractionBits, bool isSigned) {
  Format f;
  f.kind = Kind::Fixed;
  f.isSigned = isSigned;
  f.integerBits = integerBits;
  f.fractionBits = fractionBits;
  return f;
}

Format Format::floating(int exponentBits, int mantissaBits,
                        std::optional<int> bias, bool subnormals, bool finite) {
  Format f;
  f.kind = Kind::Float;
  f.exponentBits = exponentBits;
  f.mantissaBits = mantissaBits;
  // Outside 2..15, `check` refuses the format, whatever its bias.
  bool usual = exponentBits >= 2 && exponentBits <= 15;
  f.bias = bias ? *bias : usual ? f.ieeeBias() : 0;
  f.subnormals = subnormals;
  f.finite = finite;
  return f;
}

std::string Format::check() const {
  auto range = [](const char *what, int value, int lo, int hi) {
    return value >= lo && value <= hi
               ? std::string()
               : std::string(what) + " " + std::to_string(value) +
                     " is not in " + std::to_string(lo) + ".." +
                     std::to_string(hi);
  };
  std::string why;
  if (isFixed()) {
    // The sum must not overflow, so the fraction is checked first.
    why = range("the number of fraction bits", fractionBits, -128, 256);
    if (why.empty())
      why = range("the number of integer bits", integerBits, -256, 256);
    if (why.empty())
      why = range("the width", width(), 1, maxFixedWidth);
    return why;
  }
  why = range("the number of exponent bits", exponentBits, 2, 15);
  if (why.empty())
    why = range("the number of mantissa bits", mantissaBits, 1,
                maxFloatWidth - 1 - exponentBits);
  if (why.empty())
    why = range("the bias", bias, -65536, 65536);
  return why;
}

Bits Format::greatest() const {
  if (isFixed())
    return isSigned ? mask() >> 1 : mask();
  Bits magnitude = mask() >> 1;
  return finite ? magnitude : magnitude - (Bits(1) << mantissaBits);
}

Bits Format::least() const {
  if (isFixed())
    return isSigned ? Bits(1) << (width() - 1) : 0;
  return greatest() | Bits(1) << (width() - 1);
}

namespace {
struct Named {
  const char *name;
  int exponentBits, mantissaBits;
};
// The first name of a format is used for printing.
constexpr std::array<Named, 8> named = {{{"half", 5, 10},
                                         {"f16", 5, 10},
                                         {"bfloat16", 8, 7},
                                         {"bf16", 8, 7},
                                         {"single", 8, 23},
                                         {"f32", 8, 23},
                                         {"double", 11, 52},
                                         {"f64", 11, 52}}};
} // namespace

std::string Format::str() const {
  if (isInteger())
    return (isSigned ? "int" : "uint") + std::to_string(integerBits);
  if (isFixed())
    return "fixed<" + std::to_string(integerBits) + "," +
           std::to_string(fractionBits) + (isSigned ? ">" : ",unsigned>");
  for (const Named &n : named)
    if (*this == floating(n.exponentBits, n.mantissaBits))
      return n.name;
  std::string text = "float<" + std::to_string(exponentBits) + "," +
                     std::to_string(mantissaBits);
  if (bias != ieeeBias())
    text += ",bias=" + std::to_string(bias);
  if (!subnormals)
    text += ",flush";
  if (finite)
    text += ",finite";
  return text + ">";
}

static bool toInt(std::string_view text, int &value) {
  auto end = text.data() + text.size();
  auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && stop == end && !text.empty();
}

namespace {
/// The text of a format, split into parts: `word<parts>` or `word:parts`.
struct Words {
  std::string word;
  char open = 0; ///< '<', '(' or ':'; 0 if nothing follows the word
  std::vector<std::string> parts;
  bool isClosed = false;

  explicit Words(std::string_view given) {
    std::string text;
    for (char c : given)
      if (!std::isspace(static_cast<unsigned char>(c)))
        text += c;
    size_t at = text.find_first_of("<(:");
    word = text.substr(0, at);
    if (at == std::string::npos)
      return;
    open = text[at];
    std::string inside = text.substr(at + 1);
    const char close = open == '<' ? '>' : ')';
    isClosed = open == ':' || (!inside.empty() && inside.back() == close);
    if (isClosed && open != ':')
      inside.pop_back();
    parts.emplace_back();
    for (char c : inside)
      if (c == ',')
        parts.emplace_back();
      else
        parts.back() += c;
  }
  /// The first two parts, if they are numbers.
  bool numbers(int &first, int &second) const {
    return parts.size() >= 2 && toInt(parts[0], first) &&
           toInt(parts[1], second);
  }
};

/// `int8`, `uint8` and the like.
bool readInteger(std::string_view word, Format &f) {
  const bool isSigned = !word.starts_with("u");
  if (!isSigned)
    word.remove_prefix(1);
  int width = 0;
  if (!word.starts_with("int") || !toInt(word.substr(3), width) ||
      !std::isdigit(static_cast<unsigned char>(word[3])))
    return false;
  f = Format::integer(width, isSigned);
  return true;
}

// Each reader returns the error, "" if there is none; the caller checks the
// format's limits.

std::string readFixed(const Words &words, Format &f) {
  int integer = 0, fraction = 0;
  if (!words.numbers(integer, fraction))
    return "expected fixed<integer bits,fraction bits>";
  f = Format::fixed(integer, fraction, words.word == "fixed");
  for (size_t i = 2; i < words.parts.size(); ++i) {
    if (words.parts[i] != "unsigned" && words.parts[i] != "signed")
      return "'" + words.parts[i] + "' is unknown; unsigned may stand here";
    f.isSigned = words.parts[i] == "signed";
  }
  return "";
}

/// A fixed-point format given by its width.
std::string ofWidth(int width, int64_t fraction, bool isSigned, Format &f) {
  if (width < 1 || width > Format::maxFixedWidth)
    return "the width " + std::to_string(width) + " is not in 1.." +
           std::to_string(Format::maxFixedWidth);
  if (fraction < -256 || fraction > 256)
    return "the number of fraction bits " + std::to_string(fraction) +
           " is not in -256..256";
  f = Format::fixed(width - int(fraction), int(fraction), isSigned);
  return "";
}

std::string readApFixed(const Words &words, Format &f) {
  int width = 0, integer = 0;
  if (!words.numbers(width, integer))
    return "expected " + words.word + "<width,integer bits among them>";
  if (words.parts.size() > 2)
    return "'" + words.parts[2] +
           "' is about rounding or overflow, which belong to operations, not "
           "to formats; " +
           words.word + "<" + words.parts[0] + "," + words.parts[1] +
           "> is the format alone";
  return ofWidth(width, int64_t(width) - integer, words.word == "ap_fixed", f);
}

/// `fixed:W,F`, the former syntax of options of networks: W bits, F of them
/// fraction.
std::string readFormer(const Words &words, Format &f) {
  int width = 0, fraction = 0;
  if (words.parts.size() != 2 || !words.numbers(width, fraction))
    return "expected fixed<integer bits,fraction bits>";
  return ofWidth(width, fraction, true, f);
}

std::string readFloat(const Words &words, Format &f) {
  int exponent = 0, mantissa = 0;
  if (!words.numbers(exponent, mantissa))
    return "expected float<exponent bits,mantissa bits>";
  f = Format::floating(exponent, mantissa);
  for (size_t i = 2; i < words.parts.size(); ++i) {
    const std::string &flag = words.parts[i];
    if (flag == "flush")
      f.subnormals = false;
    else if (flag == "finite")
      f.finite = true;
    else if (!flag.starts_with("bias=") ||
             !toInt(std::string_view(flag).substr(5), f.bias))
      return "'" + flag +
             "' is unknown; bias=N, flush and finite may stand here";
  }
  return "";
}

using Reader = std::string (*)(const Words &, Format &);
/// The reader of what follows a word in brackets; null for unknown words.
Reader readerOf(const std::string &word) {
  if (word == "fixed" || word == "ufixed")
    return readFixed;
  if (word == "ap_fixed" || word == "ap_ufixed")
    return readApFixed;
  return word == "float" ? readFloat : nullptr;
}
} // namespace

std::optional<Format> Format::parse(std::string_view given, std::string &error,
                                    std::string *note) {
  const Words words(given);
  const std::string place = "'" + std::string(given) + "'";
  if (!words.open)
    for (const Named &n : named)
      if (words.word == n.name)
        return floating(n.exponentBits, n.mantissaBits);
  Reader reader = readerOf(words.word);
  const bool isFormer = words.open == ':' && words.word == "fixed";
  Format f;
  std::string why;
  if (isFormer)
    why = readFormer(words, f);
  else if (!words.open && readInteger(words.word, f))
    ;
  else if (!reader || !words.open || words.open == ':')
    why = "expected fixed<I,F>, ap_fixed<W,I>, int<bits>, float<E,M>, half, "
          "bfloat16, single or double";
  else if (!words.isClosed)
    why = "the closing bracket is missing";
  else
    why = reader(words, f);
  if (why.empty())
    why = f.check();
  if (why.empty() && isFormer && !note)
    why = "write " + f.str();
  if (!why.empty()) {
    error = place + " is not a number format: " + why;
    return std::nullopt;
  }
  if (isFormer)
    *note = place + " is the former spelling of " + f.str() +
            ": integer bits, the sign among them, and fraction bits";
  return f;
}
