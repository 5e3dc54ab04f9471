// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How names of the model become names in hardware: legal in SystemVerilog,
// recognizable, unique within a scope, and the same on every run.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace rhizome {
/// An identifier that SystemVerilog, Verilog and C++ accept, made from any
/// text: other characters become "_" (runs of them one "_"), a leading digit
/// gets an "n" before it, a keyword or an empty name a "_n" after it. Legal
/// names without "__" come back unchanged, unless they are longer than 120
/// characters: then a hash replaces their end. Two texts may give the same
/// identifier.
std::string legalName(llvm::StringRef text);

/// The identifiers of one scope.
class NameScope {
public:
  /// legalName(text), with "_2", "_3", … appended if it is already taken.
  std::string unique(llvm::StringRef text);
  /// Reserves `name` (already legal).
  void reserve(llvm::StringRef name) { taken.insert(name.str()); }

private:
  std::set<std::string> taken;
};
} // namespace rhizome
