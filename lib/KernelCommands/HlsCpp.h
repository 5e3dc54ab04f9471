// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as C++ for AMD's Vitis HLS.
#pragma once

#include "KernelFile.h"
#include "rhizome/Support/Refusal.h"

namespace rhizome::kernelcommands {
/// A tensor that the kernel's caller passes or gets, in the kernel's format.
struct HlsPort {
  mlir::Value value; ///< of the kernel in formats
  std::string name;  ///< a legal one, and the only one of the kernel's
  bool isOutput = false;
  int64_t words = 1;
  std::string type = {}; ///< in C++; printHlsCpp gives it
};
/// Inputs, then outputs, in the order of the kernel's arguments and results.
std::vector<HlsPort> portsOf(const NumberedKernel &kernel);

/// NAME.h and NAME.cpp.
struct HlsCpp {
  std::string header, source;
};
/// The top function takes its ports' arrays, then the number of elements.
/// Gives the ports; the kernel's named operations become general ones.
/// `frames` are those of a test bench. Refuses, all at once and at their
/// places, what has no C++ with the evaluator's bits.
Refusals printHlsCpp(const NumberedKernel &kernel, const FormatChoice &numbers,
                     int64_t frames, std::vector<HlsPort> &ports, HlsCpp &out);
} // namespace rhizome::kernelcommands
