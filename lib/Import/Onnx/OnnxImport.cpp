// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The importer's entry: a file, or a model in memory.
#include "rhizome/Import/OnnxImport.h"
#include "Walk.h"
#include "rhizome/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace rhizome;

OwningOpRef<ModuleOp> importer::importOnnxBuffer(MLIRContext *context,
                                                 StringRef bytes,
                                                 StringRef directory,
                                                 const ImportOptions &options,
                                                 Refusals &refusals) {
  const size_t before = refusals.size();
  std::unique_ptr<Graph> graph = readGraph(bytes, options.limits, refusals);
  if (!graph)
    return {};
  OwningOpRef<ModuleOp> module;
  if (graph->isOfKnownVersion)
    module = importGraph(context, *graph, directory, options, refusals);
  else
    judgeOperations(context, *graph, options, refusals);
  return refusals.size() == before ? std::move(module) : nullptr;
}

OwningOpRef<ModuleOp> importer::importOnnx(MLIRContext *context, StringRef path,
                                           const ImportOptions &options,
                                           Refusals &refusals) {
  auto refuse = [&](std::string reason) {
    refusals.push_back(
        {"", "", std::move(reason), "check the path", Refusal::Fault::File});
    return OwningOpRef<ModuleOp>();
  };
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return refuse(error.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return refuse("it is not a file");
  auto buffer = mapFile(path);
  if (!buffer)
    return refuse(llvm::toString(buffer.takeError()));
  return importOnnxBuffer(context, (*buffer)->getBuffer(),
                          llvm::sys::path::parent_path(path), options,
                          refusals);
}
