// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Names.h"
#include "ReservedNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace rhizome;

/// Tools and file systems limit names; of Fortran, the standard does.
static size_t longestOf(Language language) {
  return language == Language::Fortran ? 63 : 120;
}

static bool isReserved(Language language, llvm::StringRef name) {
  switch (language) {
  case Language::Hardware:
    return reserved::inHardware(name);
  case Language::C:
    return reserved::inC(name) || reserved::inHardware(name);
  case Language::Fortran: // which has no reserved words
    return false;
  case Language::Python:
    return reserved::inPython(name);
  }
  llvm_unreachable("all languages return");
}

/// A hash of the whole text replaces what is too long.
static std::string shortened(std::string name, llvm::StringRef text,
                             size_t longest) {
  constexpr size_t kHash = 16;
  if (name.size() <= longest)
    return name;
  return name.substr(0, longest - kHash - 1) + "_" +
         llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, kHash);
}

std::string rhizome::identifier(Language language, llvm::StringRef text) {
  std::string name;
  for (char c : text) {
    if (llvm::isAlnum(c))
      name += c;
    else if (name.empty() || name.back() != '_')
      name += '_';
  }
  while (name.size() > 1 && name.back() == '_')
    name.pop_back();
  if (name.empty() || name == "_")
    name = "unnamed";
  // Names that begin with "_" are the implementation's, or not legal.
  if (llvm::isDigit(name.front()) ||
      (name.front() == '_' && language != Language::Hardware))
    name.insert(0, "n");
  if (isReserved(language, name))
    name += "_n";
  return shortened(std::move(name), text, longestOf(language));
}

std::string rhizome::legalName(llvm::StringRef text) {
  return identifier(Language::Hardware, text);
}

std::string rhizome::kernelName(llvm::StringRef text) {
  // What the generated modules of Fortran call their own things and use.
  static constexpr llvm::StringLiteral kFortran[] = {
      "check",    "c_double", "c_float",       "c_int", "int",
      "status",   "threads",  "iso_c_binding", "which", "arrays",
      "elements", "body",     "kernel"};
  std::string name = identifier(Language::C, text);
  const std::string lower = llvm::StringRef(name).lower();
  if (reserved::asCFunction(name) || llvm::is_contained(kFortran, lower))
    name += "_n";
  // The longest ending is "_elements".
  return shortened(std::move(name), text,
                   longestOf(Language::Fortran) -
                       llvm::StringRef("_elements").size());
}

std::string rhizome::pythonModuleName(llvm::StringRef kernel) {
  return kernel.str() +
         (reserved::inPython(kernel) || reserved::asPythonModule(kernel) ? "_"
                                                                         : "");
}

std::string NameScope::unique(llvm::StringRef text) {
  std::string base = identifier(language, text), name = base;
  for (unsigned k = 2; !taken.insert(keyOf(name)).second; ++k) {
    const std::string ending = "_" + std::to_string(k);
    // An ending must not make the name too long.
    name = base.substr(0, longestOf(language) - ending.size()) + ending;
  }
  return name;
}
