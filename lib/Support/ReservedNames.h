// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that generated files must not use as names, by language: keywords,
// macros, functions of standard libraries, and modules.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rhizome::reserved {
/// Words that cannot name a module, a port or a wire in Verilog (2001 and
/// SystemVerilog), or a member of the C++ model that Verilator makes of it.
bool inHardware(llvm::StringRef name);

/// Keywords of C and C++, and macros of their headers, which replace a name
/// wherever it stands.
bool inC(llvm::StringRef name);

/// Functions of the C library, with which no other function may share a name.
bool asCFunction(llvm::StringRef name);

/// Keywords of Python.
bool inPython(llvm::StringRef name);

/// Modules of Python's library, and NumPy: a file of that name would be
/// imported in their place.
bool asPythonModule(llvm::StringRef name);
} // namespace rhizome::reserved
