// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels inside Fortran and C++ files, between markers:
//   !$rhizome kernel NAME          #pragma rhizome kernel NAME
//   …                              …
//   !$rhizome end                  #pragma rhizome end
// A kernel's variables are variables of the program around it.
#pragma once

#include "rhizome/Import/Kernel/Signature.h"

namespace rhizome::kernel {
/// The language of a host file, by its name's ending.
enum class Host { Fortran, Cpp };
/// nullopt for other endings.
std::optional<Host> hostOf(llvm::StringRef path);

struct EmbeddedKernel {
  std::string name;
  Source source;       ///< its lines are those of the host file
  unsigned begin, end; ///< the markers' lines
};

/// The kernels of a host file, in order. Bad markers are errors.
std::vector<EmbeddedKernel> findEmbedded(Host host, const Source &file,
                                         Diagnostics &diagnostics);

/// The host file with a call in each kernel's place; every other line keeps its
/// number. `signatures` are those of `kernels`.
std::string replaceEmbedded(Host host, const Source &file,
                            llvm::ArrayRef<EmbeddedKernel> kernels,
                            llvm::ArrayRef<Signature> signatures);
} // namespace rhizome::kernel
