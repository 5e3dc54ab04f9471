// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bounds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;

Error Bounds::take() const {
  return problem.empty() ? Error::success() : createStringError(problem);
}

void Bounds::refuse(const Twine &at, const Twine &why) {
  if (problem.empty())
    problem = (at + ": " + why).str();
}

void Bounds::name(const Twine &at, StringRef text, bool mayBeEmpty) {
  if (!(mayBeEmpty && text.empty()) && !isPlainName(text))
    refuse(at, "'" + printable(text) + "' is not a name: it may have " +
                   kNameCharacters);
}

void Bounds::identifier(const Twine &at, StringRef text, bool mayBeEmpty) {
  if (!(mayBeEmpty && text.empty()) && !isIdentifier(text))
    refuse(at, "'" + printable(text) + "' is not an identifier of Verilog");
}

void Bounds::path(const Twine &at, StringRef text) {
  if (!isPlainPath(text))
    refuse(at,
           "'" + printable(text) +
               "' is not a path below its folder, made of names that have " +
               kNameCharacters);
}

void Bounds::file(const Twine &at, StringRef text,
                  ArrayRef<StringRef> endings) {
  path(at, text);
  const StringRef name = sys::path::filename(text);
  if (none_of(endings, [&](StringRef ending) {
        return name.ends_with(ending) && name.size() > ending.size();
      }))
    refuse(at, "'" + printable(text) + "' must end in one of " +
                   join(endings, ", "));
}

void Bounds::source(const Twine &at, StringRef text) {
  file(at, text, {".sv", ".v", ".svh"});
}

void Bounds::number(const Twine &at, int64_t value, int64_t least,
                    int64_t most) {
  if (value < least || value > most)
    refuse(at, std::to_string(value) + " is not in " + std::to_string(least) +
                   ".." + std::to_string(most));
}

void Bounds::number(const Twine &at, double value, double most) {
  if (!(value >= 0) || value > most)
    refuse(at, "expected a number from 0 to " + std::to_string(most));
}

std::string rhizome::item(const Twine &list, size_t i) {
  return (list + "[" + Twine(i) + "]").str();
}
