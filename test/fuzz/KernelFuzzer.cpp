// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels in any notation, alone and inside files of Fortran and C++: refused
// with places, or a module that verifies and prints as a kernel that is read
// again.
#include "MlirTarget.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Import/Kernel/Embed.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Import/Kernel/Signature.h"

using namespace rhizome;
using namespace rhizome::kernel;

/// The kernel's signature, or nothing where it was refused.
static std::optional<Signature> read(mlir::MLIRContext &context,
                                     const Source &source,
                                     const ParseOptions &options,
                                     bool isPrinted = false) {
  Diagnostics diagnostics(source);
  std::optional<Program> program = parseProgram(source, options, diagnostics);
  fuzz::require(program.has_value() == diagnostics.empty());
  if (!program) {
    fuzz::require(!diagnostics.render().empty());
    return std::nullopt;
  }
  auto module = buildModule(context, *program, /*reassociate=*/!isPrinted);
  fuzz::require(module && succeeded(mlir::verify(*module)));
  auto func = findKernel(*module);
  if (fuzz::isRefused(func.takeError()))
    return std::nullopt;
  auto signature = signatureOf(*func);
  if (fuzz::isRefused(signature.takeError()))
    return std::nullopt;
  auto printed = printProgram(*func);
  if (!fuzz::isRefused(printed.takeError()) && !isPrinted)
    fuzz::require(read(context, {"printed", *printed}, {program->name}, true)
                      .has_value());
  return std::move(*signature);
}

RHIZOME_FUZZ_TARGET(kernel, bytes) {
  mlir::MLIRContext &context = fuzz::context();
  loadDialects(context);
  const Source source{"fuzzed.cfd", bytes.str()};
  for (bool compatible : {false, true})
    read(context, source, {"kernel", compatible});
  for (Host host : {Host::Fortran, Host::Cpp}) {
    Diagnostics diagnostics(source);
    std::vector<EmbeddedKernel> kernels =
        findEmbedded(host, source, diagnostics);
    if (!diagnostics.empty())
      continue;
    std::vector<Signature> signatures;
    for (const EmbeddedKernel &each : kernels)
      if (auto signature = read(context, each.source, {each.name}))
        signatures.push_back(std::move(*signature));
    if (signatures.size() == kernels.size())
      replaceEmbedded(host, source, kernels, signatures);
  }
}
