// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the files lie that come with the program: device data, simulation
// harness, cell library. The build tree and an installation differ only here: a
// program looks at ../.. only if it is in a build tree of rhizome's, which its
// CMakeCache.txt says, and at ../share/rhizome only if it is not.
#pragma once

#include "llvm/Support/Error.h"
#include <string>

namespace rhizome {
/// The folder that holds devices/ and sim/: $RHIZOME_DATA if set, else
/// ../../data (build tree) or ../share/rhizome (installed) from the program.
llvm::Expected<std::string> dataDir();

/// The cell library's folder, with src/ in it: $RHIZOME_RTL if set, else
/// ../../rtl or ../share/rhizome/rtl from the program.
llvm::Expected<std::string> rtlDir();

/// The runtime's folder, with include/ in it: $RHIZOME_RUNTIME if set, else
/// ../../runtime or ../share/rhizome/runtime from the program.
llvm::Expected<std::string> runtimeDir();

/// The folder with the sources of layer Numeric in include/rhizome/Numeric/ and
/// lib/Numeric/: $RHIZOME_NUMERIC if set, else ../.. or ../share/rhizome from
/// the program.
llvm::Expected<std::string> numericDir();

/// Refuses devices, sockets and pipes, which never end or never begin; the
/// shell's own pipes (/dev/fd/63) are taken. What is not there, or a folder, is
/// left to who reads it.
llvm::Error checkIsFile(llvm::StringRef path);

/// A whole file's bytes, or an error that names it; as checkIsFile.
llvm::Expected<std::string> readFile(llvm::StringRef path);
} // namespace rhizome
