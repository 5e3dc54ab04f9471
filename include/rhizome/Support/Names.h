// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How names of the model become names in generated files: legal in the file's
// language, recognizable, unique within a scope, and the same on every run.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace rhizome {
/// The languages in which Rhizome writes names. An identifier of any of them
/// consists of letters, digits and '_', so that it is one plain word in a
/// shell, in Tcl, in CMake, in a .cfg file and in LLVM IR as well; in YAML, it
/// goes through yamlScalar(), since "no" and "1e5" are no strings there.
enum class Language {
  Hardware, ///< SystemVerilog, Verilog, and the C++ model of Verilator
  C,        ///< C and C++, whatever standard headers the program includes
  Fortran,  ///< knows no case, and no more than 63 characters
  Python,
};

/// An identifier that the language accepts, made from any text: other
/// characters become "_" (runs of them one "_"), a leading digit, and for
/// programs a leading "_", gets an "n" before it, a reserved word or an empty
/// name a "_n" after it. Legal names without "__" come back unchanged, unless
/// they are longer than 120 characters (63 in Fortran): then a hash replaces
/// their end. Two texts may give the same identifier.
std::string identifier(Language language, llvm::StringRef text);

/// The same for SystemVerilog, Verilog and C++.
std::string legalName(llvm::StringRef text);

/// The name of a kernel, which names its files, its functions in C, C++,
/// Fortran and Python and its symbols: legal in all of them, also with the
/// endings that these functions have, and no function of their libraries. At
/// most 54 characters.
std::string kernelName(llvm::StringRef text);

/// The module of a kernel in Python: its name, unless a module that Python or
/// NumPy imports has it, or it is a keyword; then "_" follows.
std::string pythonModuleName(llvm::StringRef kernel);

/// The identifiers of one scope.
class NameScope {
public:
  explicit NameScope(Language language = Language::Hardware)
      : language(language) {}
  /// identifier(text), with "_2", "_3", … appended if it is already taken.
  std::string unique(llvm::StringRef text);
  /// Reserves `name` (already legal).
  void reserve(llvm::StringRef name) { taken.insert(keyOf(name)); }

private:
  /// What makes two names the same.
  std::string keyOf(llvm::StringRef name) const {
    return language == Language::Fortran ? name.lower() : name.str();
  }

  Language language;
  std::set<std::string> taken;
};
} // namespace rhizome
