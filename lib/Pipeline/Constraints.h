// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constraint file of DOSA's as a request.
#pragma once

#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
/// --constraints: goal, shapes, devices and number format from a constraint
/// file of DOSA's. What has no meaning here is said in `notes`.
llvm::Error applyConstraints(CompileRequest &request,
                             std::vector<std::string> &notes);
} // namespace rhizome::pipeline
