// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel means, evaluated as it is written: every sum over all its
// indices, in double precision. The reference for everything that is faster.
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
