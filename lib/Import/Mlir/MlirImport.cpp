// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a file to the module that the rest of the compiler takes.
#include "rhizome/Import/Mlir/MlirImport.h"
#include "Raise.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

/// Operations of dialects that nobody has lowered.
static void refuseUnknown(ModuleOp module, Refusals &refusals) {
  module.walk([&](Operation *op) {
    if (!op->isRegistered())
      refusals.push_back({placeOf(op->getLoc()),
                          op->getName().getStringRef().str(),
                          "the importer does not know this operation",
                          "lower the network to linalg on tensors "
                          "(torch-mlir: output_type=\"linalg-on-tensors\")"});
  });
}

/// The network of a module; null, with the problem, if it could not be parsed.
static OwningOpRef<ModuleOp> networkOf(OwningOpRef<ModuleOp> module,
                                       const std::string &problem,
                                       const MlirOptions &options,
                                       Refusals &refusals) {
  auto stop = [&](std::string reason, std::string remedy = "") {
    refusals.push_back({"", "", std::move(reason), std::move(remedy),
                        module ? Refusal::Fault::Model : Refusal::Fault::File});
    return OwningOpRef<ModuleOp>();
  };
  if (!module)
    return stop("the file is no module that can be read: " + problem,
                "write linalg on tensors (torch-mlir: "
                "output_type=\"linalg-on-tensors\") as text of MLIR 22, or in "
                "the generic form");
  if (kindOf(*module) == MlirKind::IntegerNetwork) {
    if (!options.shapes.empty() || !options.inputTypes.empty())
      return stop("the file holds a network of integers, whose inputs have "
                  "shapes and types",
                  "leave --shape and --input-type out");
    if (!completeIntegers(*module, refusals))
      return {};
    return module;
  }
  refuseUnknown(*module, refusals);
  if (!refusals.empty())
    return {};
  func::FuncOp main = isolateMain(*module, refusals);
  if (!main) {
    if (refusals.empty())
      return stop("the network's function cannot be put in one piece");
    return {};
  }
  settleBorder(main, options, refusals);
  if (!refusals.empty())
    return {};
  rememberOperations(main);
  raise(main);
  checkHost(main, refusals);
  if (!refusals.empty())
    return {};
  nameOperations(main);
  main.setPublic();
  if (failed(verify(*module)))
    return stop("the raised network is not valid",
                "report this model as a bug of the importer");
  return module;
}

OwningOpRef<ModuleOp> importer::importMlir(MLIRContext *context, StringRef path,
                                           const MlirOptions &options,
                                           Refusals &refusals) {
  std::string problem;
  auto module = parseMlir(context, path, /*withValues=*/true, problem);
  return networkOf(std::move(module), problem, options, refusals);
}

OwningOpRef<ModuleOp> importer::importMlirBuffer(MLIRContext *context,
                                                 StringRef bytes,
                                                 StringRef name,
                                                 const MlirOptions &options,
                                                 Refusals &refusals) {
  std::string problem;
  auto module =
      parseMlir(context, llvm::MemoryBuffer::getMemBufferCopy(bytes, name),
                /*withValues=*/true, problem);
  return networkOf(std::move(module), problem, options, refusals);
}
