// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules between phases: the first byte says after which one, the rest is the
// module. The phases that follow go on with it, or it is refused.
#include "Scratch.h"
#include "rhizome/Pipeline/Pipeline.h"

using namespace rhizome;
using namespace rhizome::pipeline;

RHIZOME_FUZZ_TARGET(phase, bytes) {
  constexpr Phase phases[] = {
      Phase::Import,  Phase::Normalize, Phase::Quantize, Phase::Integerize,
      Phase::Explore, Phase::Build,     Phase::Lower};
  if (bytes.empty())
    return;
  const auto which = size_t(uint8_t(bytes[0]) - '0') % std::size(phases);
  fuzz::Scratch scratch(bytes.drop_front());
  CompileRequest request;
  request.model.path = scratch.path();
  request.from = phases[which];
  request.to = Phase::Emit;
  request.output = "-";
  auto result = compileModel(request);
  if (!result)
    for (const Refusal &cause : result.failure().causes)
      fuzz::require(!cause.reason.empty() &&
                    result.failure().kind != Failure::Kind::Internal);
}
