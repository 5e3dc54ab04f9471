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
  // Outside 2..15 `check` refuses the format, whatever its bias.
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
    // The sum may not overflow, hence the fraction first.
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
// The first name of a format is the one that is printed.
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

std::optional<Format> Format::parse(std::string_view given,
                                    std::string &error) {
  std::string text;
  for (char c : given)
    if (!std::isspace(static_cast<unsigned char>(c)))
      text += c;
  const std::string place = "'" + std::string(given) + "'";
  for (const Named &n : named)
    if (text == n.name)
      return floating(n.exponentBits, n.mantissaBits);
  auto fail = [&](const std::string &why) -> std::optional<Format> {
    error = place + " is not a number format: " + why;
    return std::nullopt;
  };
  size_t open = text.find_first_of("<(");
  std::string kind = text.substr(0, open);
  const bool isUnsigned = kind == "ufixed";
  if (isUnsigned)
    kind = "fixed";
  if (open == std::string::npos || (kind != "fixed" && kind != "float"))
    return fail("expected fixed<I,F>, float<E,M>, half, bfloat16, single or "
                "double");
  if (text.back() != (text[open] == '<' ? '>' : ')'))
    return fail("the closing bracket is missing");
  std::vector<std::string> parts(1);
  for (char c : text.substr(open + 1, text.size() - open - 2))
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  int first = 0, second = 0;
  if (parts.size() < 2 || !toInt(parts[0], first) || !toInt(parts[1], second))
    return fail(kind == "fixed" ? "expected fixed<integer bits,fraction bits>"
                                : "expected float<exponent bits,mantissa "
                                  "bits>");
  bool isFixed = kind == "fixed";
  Format f =
      isFixed ? fixed(first, second, !isUnsigned) : floating(first, second);
  for (size_t i = 2; i < parts.size(); ++i) {
    const std::string &flag = parts[i];
    if (isFixed && flag == "unsigned")
      f.isSigned = false;
    else if (isFixed && flag == "signed")
      f.isSigned = true;
    else if (!isFixed && flag == "flush")
      f.subnormals = false;
    else if (!isFixed && flag == "finite")
      f.finite = true;
    else if (isFixed || !flag.starts_with("bias=") ||
             !toInt(std::string_view(flag).substr(5), f.bias))
      return fail("'" + flag + "' is unknown; " +
                  (isFixed ? "unsigned may stand here"
                           : "bias=N, flush and finite may stand here"));
  }
  if (std::string why = f.check(); !why.empty())
    return fail(why);
  return f;
}
