// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model-specific files of a package's host/, as text: the header with
// tensors, scales, orders and files, and the pages for its users.
#pragma once

#include "rhizome/Package/Plan.h"
#include "rhizome/runtime/driver.h"
#include "llvm/Support/Error.h"

namespace rhizome::deploy {
/// A plan in the driver's form; the files in `folder` are read for their
/// checksums. Images and segments are those of a design of one node.
llvm::Expected<runtime::Design> designOf(const Plan &plan,
                                         llvm::StringRef folder);

/// A number as a literal.
std::string digitsOf(int64_t value);
/// rhizome_model.h: C99 and C++.
std::string modelHeader(const Plan &plan, const runtime::Design &design);
/// host/README.md.
std::string hostPage(const Plan &plan);
/// The package's README.md.
std::string packagePage(const Plan &plan, const std::string &testBench);
} // namespace rhizome::deploy
