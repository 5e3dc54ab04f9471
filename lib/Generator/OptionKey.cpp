// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Generator/OptionKey.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>

namespace rhizome::gen {
/// Whether it is a word that needs no quoting in a key.
static bool isWord(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
  });
}

OptionKey &OptionKey::add(llvm::StringRef name, llvm::StringRef value) {
  assert(isWord(name) && isWord(value) && "a key consists of plain words");
  fields.reserve(6);
  fields.push_back({name.str(), value.str()});
  return *this;
}

OptionKey &OptionKey::add(llvm::StringRef name, int64_t value) {
  return add(name, std::to_string(value));
}

std::optional<llvm::StringRef> OptionKey::value(llvm::StringRef name) const {
  for (const Field &field : fields)
    if (field.name == name)
      return field.value;
  return std::nullopt;
}

std::string OptionKey::text() const {
  std::string text = generator.empty() ? unit : generator + "/" + unit;
  for (const Field &field : fields)
    text += (&field == &fields.front() ? "?" : "&") + field.name + "=" +
            field.value;
  return text;
}

std::optional<OptionKey> OptionKey::parse(llvm::StringRef text) {
  auto [path, list] = text.split('?');
  OptionKey key;
  key.unit = path;
  if (path.contains('/')) {
    auto [generator, unit] = path.split('/');
    if (!isWord(generator))
      return std::nullopt;
    key.generator = generator;
    key.unit = unit;
  }
  if ((!key.unit.empty() || path.contains('/')) && !isWord(key.unit))
    return std::nullopt;
  if (!text.contains('?'))
    return key;
  llvm::SmallVector<llvm::StringRef> parts;
  list.split(parts, '&');
  for (llvm::StringRef part : parts) {
    auto [name, value] = part.split('=');
    if (!isWord(name) || !isWord(value))
      return std::nullopt;
    key.fields.push_back({name.str(), value.str()});
  }
  return key;
}

int OptionKey::common(const OptionKey &other) const {
  return (generator.empty() || generator == other.generator) +
         (unit.empty() || unit == other.unit) +
         int(llvm::count_if(fields, [&](const Field &field) {
           return llvm::is_contained(other.fields, field);
         }));
}

bool OptionKey::matches(const OptionKey &other) const {
  return common(other) == 2 + int(fields.size());
}
} // namespace rhizome::gen
