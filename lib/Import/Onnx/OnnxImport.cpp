// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The importer's entry: a file, or a model in memory.
#include "rhizome/Import/OnnxImport.h"
#include "Dynamic.h"
#include "Walk.h"
#include "rhizome/Import/OnnxAnew.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

static OwningOpRef<ModuleOp> importBytes(MLIRContext *context, StringRef bytes,
                                         StringRef directory,
                                         const ImportOptions &options,
                                         bool anew, Refusals &refusals) {
  const size_t before = refusals.size();
  std::unique_ptr<Graph> graph = readGraph(bytes, options.limits, refusals);
  if (!graph)
    return {};
  if (anew)
    undoRounding(*graph);
  OwningOpRef<ModuleOp> module;
  if (graph->isOfKnownVersion)
    module = importGraph(context, *graph, directory, options, refusals);
  else
    judgeOperations(context, *graph, options, refusals);
  return refusals.size() == before ? std::move(module) : nullptr;
}

OwningOpRef<ModuleOp> importer::importOnnxBuffer(MLIRContext *context,
                                                 StringRef bytes,
                                                 StringRef directory,
                                                 const ImportOptions &options,
                                                 Refusals &refusals) {
  return importBytes(context, bytes, directory, options, false, refusals);
}

static OwningOpRef<ModuleOp> importFile(MLIRContext *context, StringRef path,
                                        const ImportOptions &options, bool anew,
                                        Refusals &refusals) {
  auto refuse = [&](std::string reason) {
    refusals.push_back(
        {"", "", std::move(reason), "check the path", Refusal::Fault::File});
    return OwningOpRef<ModuleOp>();
  };
  // A directory or device must not be opened as a file.
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return refuse(error.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return refuse("it is not a file");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return refuse(buffer.getError().message());
  return importBytes(context, (*buffer)->getBuffer(),
                     llvm::sys::path::parent_path(path), options, anew,
                     refusals);
}

OwningOpRef<ModuleOp> importer::importOnnx(MLIRContext *context, StringRef path,
                                           const ImportOptions &options,
                                           Refusals &refusals) {
  return importFile(context, path, options, false, refusals);
}

OwningOpRef<ModuleOp> importer::importOnnxAnew(MLIRContext *context,
                                               StringRef path,
                                               const ImportOptions &options,
                                               Refusals &refusals) {
  return importFile(context, path, options, true, refusals);
}
