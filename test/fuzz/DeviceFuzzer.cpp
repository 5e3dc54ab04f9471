// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device files that are used: a small kernel's network is planned for the
// device of the input, or the file is refused.
#include "Scratch.h"
#include "rhizome/Pipeline/Pipeline.h"

using namespace rhizome;
using namespace rhizome::pipeline;

RHIZOME_FUZZ_TARGET(device, bytes) {
  fuzz::Scratch scratch(bytes);
  CompileRequest request;
  request.model.path = RHIZOME_FUZZ_MODEL;
  request.device = scratch.path();
  auto result = exploreModel(request);
  if (!result)
    fuzz::require(!result.failure().reason().empty() &&
                  result.failure().kind != Failure::Kind::Internal);
}
