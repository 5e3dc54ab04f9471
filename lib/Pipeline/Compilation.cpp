// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all ways through the phases have in common.
#include "Compilation.h"
#include "KernelCompilation.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

std::unique_ptr<Compilation> Compilation::of(CompileRequest request,
                                             ModuleOp module) {
  if (module.getBody()->empty() ? request.isKernel
                                : kernelcommands::holdsKernel(module))
    return std::make_unique<KernelCompilation>(std::move(request), module);
  return std::make_unique<NetworkCompilation>(std::move(request), module);
}

Compilation::Compilation(CompileRequest request, ModuleOp module)
    : request(std::move(request)), module(module),
      diagnostics(module.getContext()) {}

Status Compilation::run(Phase phase) {
  // Import and integerize of a network tell their progress themselves.
  if (request.progress && phase != Phase::Import && phase != Phase::Integerize)
    request.progress(infoOf(phase).name);
  if (Status ready = prepare(phase); !ready)
    return ready;
  if (Status done = perform(phase); !done || phase == Phase::Package)
    return done;
  record(phase);
  if (mlir::failed(verify(module)) || mlir::failed(verifyAfter(phase, module)))
    return Failure(Failure::Kind::Internal,
                   std::string("internal: the phase '") + infoOf(phase).name +
                       "' leaves what it must not: " + diagnostics.take());
  return Done();
}

Status Compilation::perform(Phase phase) {
  switch (phase) {
  case Phase::Import:
    return import();
  case Phase::Normalize:
    return normalize();
  case Phase::Quantize:
    return quantize();
  case Phase::Integerize:
    return integerize();
  case Phase::Explore:
    return explore();
  case Phase::Build:
    return build();
  case Phase::Lower:
    return lower();
  case Phase::Emit:
    return emit();
  case Phase::Package:
    return package();
  }
  llvm_unreachable("every phase returns");
}

std::string Compilation::text() {
  complete();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo(true, false));
  os << "\n";
  return text;
}
