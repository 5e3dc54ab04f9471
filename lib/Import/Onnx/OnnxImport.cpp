// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The importer's entry: a file, or a model in memory.
#include "rhizome/Import/OnnxImport.h"
#include "Asked.h"
#include "Dynamic.h"
#include "Walk.h"
#include "rhizome/Import/OnnxAnew.h"
#include "rhizome/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
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
  if (graph->isOfKnownVersion) {
    const size_t known = refusals.size();
    bool needsExact = false;
    module =
        importGraph(context, *graph, directory, options, refusals, needsExact);
    if (needsExact && !options.integersOnHost) {
      ImportOptions exact = options;
      exact.integersOnHost = true;
      refusals.resize(known);
      module =
          importGraph(context, *graph, directory, exact, refusals, needsExact);
    }
  } else
    judgeOperations(context, *graph, options, refusals);
  if (refusals.size() == before)
    return module;
  // Shapes that do not fit may follow from these.
  std::string open = toGiveDimensions(*graph, options);
  for (size_t i = before; i < refusals.size() && !open.empty(); ++i)
    if (refusals[i].remedy.empty())
      refusals[i].remedy = open;
  return nullptr;
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
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return refuse(error.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return refuse("it is not a file");
  auto buffer = mapFile(path);
  if (!buffer)
    return refuse(llvm::toString(buffer.takeError()));
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
