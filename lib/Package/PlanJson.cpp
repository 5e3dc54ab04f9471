// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writers and readers of plan.json's objects, generated from Plan.td, and what
// they call. Streamed objects have their keys in a readable order and numbers
// in their shortest exact form; those made as values have keys by the alphabet
// and 17 digits.
#include "PlanParts.h"
#include "rhizome/Package/SystemRegisters.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <charconv>
#include <cmath>

using namespace llvm;

namespace rhizome {
//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A number with the fewest digits that read back as the same double.
static void print(json::OStream &os, double value) {
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  os.rawValue(StringRef(digits, end - digits));
}

static void print(json::OStream &os, StringRef key, double value) {
  os.attributeBegin(key);
  print(os, value);
  os.attributeEnd();
}

static void print(json::OStream &os, StringRef key,
                  const std::vector<float> &values) {
  os.attributeArray(key, [&] {
    for (float value : values)
      print(os, double(value));
  });
}

static void print(json::OStream &os, StringRef key,
                  const std::map<std::string, double> &figures) {
  os.attributeObject(key, [&] {
    for (auto &[name, figure] : figures)
      print(os, name, figure);
  });
}

static void print(json::OStream &os, StringRef key,
                  const std::map<std::string, int64_t> &counts) {
  os.attributeObject(key, [&] {
    for (auto &[name, count] : counts)
      os.attribute(name, count);
  });
}

static void
print(json::OStream &os, StringRef key,
      const std::map<std::string, std::vector<std::string>> &lists) {
  os.attributeObject(key, [&] {
    for (auto &[name, list] : lists)
      os.attribute(name, json::Array(list));
  });
}

template <typename T>
static void printAt(json::OStream &os, StringRef key, const T &value) {
  os.attributeBegin(key);
  print(os, value);
  os.attributeEnd();
}

template <typename T>
static void printAt(json::OStream &os, StringRef key,
                    const std::vector<T> &all) {
  os.attributeArray(key, [&] {
    for (const T &one : all)
      print(os, one);
  });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A number that `number` holds in fewer than 64 bits.
template <typename T>
static bool readNarrow(json::ObjectMapper &map, StringLiteral key, T &number,
                       int64_t least, int64_t most, StringLiteral message,
                       json::Path path) {
  int64_t value = 0;
  if (!map.map(key, value))
    return false;
  if (value < least || value > most) {
    path.field(key).report(message);
    return false;
  }
  number = T(value);
  return true;
}

static bool readEither(json::ObjectMapper &map, StringLiteral key, StringRef no,
                       StringRef yes, bool &value, StringLiteral message,
                       json::Path path) {
  std::string word;
  if (!map.map(key, word))
    return false;
  value = word == yes;
  if (value || word == no)
    return true;
  path.field(key).report(message);
  return false;
}

template <typename T>
static bool readSpelled(json::ObjectMapper &map, StringLiteral key,
                        std::optional<T> (*read)(StringRef), T &value,
                        StringLiteral message, json::Path path) {
  std::string text;
  if (!map.map(key, text))
    return false;
  std::optional<T> known = read(text);
  if (known)
    value = *known;
  else
    path.field(key).report(message);
  return known.has_value();
}

static bool readReals(json::ObjectMapper &map, StringLiteral key,
                      std::vector<float> &to, json::Path path) {
  std::vector<double> values;
  if (!map.map(key, values))
    return false;
  to.assign(values.begin(), values.end());
  if (all_of(to, [](float value) { return std::isfinite(value); }))
    return true;
  path.field(key).report("expected numbers that a float holds");
  return false;
}

static bool readObject(const json::Value &in, StringLiteral key,
                       json::Object &to, json::Path path) {
  const json::Object *object = in.getAsObject()->getObject(key);
  if (object)
    to = *object;
  else
    path.field(key).report("expected object");
  return object;
}

static std::optional<numeric::Format> formatOf(StringRef text) {
  std::string problem;
  auto format = numeric::Format::parse(text.str(), problem);
  return format ? std::optional(*format) : std::nullopt;
}

bool isShape(ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  return all_of(sizes, [&](int64_t size) {
    if (size < 1 || size > (int64_t(1) << 40) / elements)
      return false;
    elements *= size;
    return true;
  });
}

bool areFiniteAndNotZero(ArrayRef<float> values) {
  return all_of(values, [](float v) { return v != 0 && std::isfinite(v); });
}

#include "rhizome/Package/Plan.cpp.inc"
} // namespace rhizome
