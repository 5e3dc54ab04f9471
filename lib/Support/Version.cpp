// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Version.h"

namespace rhizome {
const char *version() { return "0.1.0"; }
} // namespace rhizome
