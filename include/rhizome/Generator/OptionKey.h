// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The identity of an option: fields, not a sentence. plan.json, --plan and
// --steer name options by it; its text is
//   generator/unit?name=value&name=value
// with the fields in the order in which the generator states them.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace rhizome::gen {
class OptionKey {
public:
  struct Field {
    std::string name, value;
    bool operator==(const Field &) const = default;
  };

  OptionKey() = default;
  OptionKey(llvm::StringRef generator, llvm::StringRef unit)
      : generator(generator), unit(unit) {}
  /// Names and values consist of letters, digits, '_', '-' and '.'.
  OptionKey &add(llvm::StringRef name, llvm::StringRef value);
  OptionKey &add(llvm::StringRef name, int64_t value);

  /// A field's value; none if the key does not state it.
  std::optional<llvm::StringRef> value(llvm::StringRef name) const;
  /// "stream/matvec?pe=4&simd=9&read=word&pixels=1&style=dsp".
  std::string text() const;
  /// Reads a key or a part of one: generator and unit may be omitted ("?pe=4",
  /// "matvec?pe=4"), and so may fields, in any order. Nullopt if `text` is not
  /// a key.
  static std::optional<OptionKey> parse(llvm::StringRef text);
  /// Whether `other` has everything that this key, or part of one, states.
  bool matches(const OptionKey &other) const;
  /// How many of the fields of this key `other` has.
  int common(const OptionKey &other) const;
  bool isEmpty() const { return unit.empty() && fields.empty(); }
  bool operator==(const OptionKey &) const = default;

private:
  std::string generator, unit;
  std::vector<Field> fields;
};
} // namespace rhizome::gen
