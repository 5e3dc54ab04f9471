// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of a kernel, evaluated from its formulas: every sum over all its
// indices, in double precision. It does not use MLIR, so that the interpreter
// and the compiled code can both be compared with it.
#pragma once

#include "rhizome/Import/Kernel/Program.h"
#include <map>

namespace rhizome::kernel {
/// One application. `values` holds the inputs by name, row-major with their
/// halos, and receives every other variable. Variables of 32 bits are rounded
/// to single precision when they are assigned; number formats are not applied.
void evaluate(const Program &program,
              std::map<std::string, std::vector<double>> &values);
} // namespace rhizome::kernel
