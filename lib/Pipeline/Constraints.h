// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A DOSA constraint file as a request.
#pragma once

#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
/// --constraints: goal, shapes, devices and number format from a DOSA
/// constraint file. Entries without a meaning here are reported in `notes`.
llvm::Error applyConstraints(CompileRequest &request,
                             std::vector<std::string> &notes);
} // namespace rhizome::pipeline
