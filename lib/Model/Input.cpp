// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Input.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Support/Files.h"
#include "llvm/Support/FileSystem.h"

using namespace rhizome;
using namespace rhizome::model;

InputKind model::inputKind(llvm::StringRef path) {
  namespace fs = llvm::sys::fs;
  auto holdsKernel = [](const llvm::Twine &folder) {
    return fs::exists(folder + "/kernel.cfd") ||
           fs::exists(folder + "/kernel.mlir");
  };
  if (fs::is_directory(path))
    return holdsKernel(path)              ? InputKind::KernelFolder
           : holdsKernel(path + "/model") ? InputKind::KernelPackage
                                          : InputKind::Folder;
  const InputKind otherwise =
      path.ends_with(".cfd") ? InputKind::Kernel : InputKind::Onnx;
  auto buffer = mapFile(path);
  if (!buffer) { // the reader reports why it cannot be read
    llvm::consumeError(buffer.takeError());
    return otherwise;
  }
  if (!importer::isMlir((*buffer)->getBuffer()))
    return otherwise;
  const std::optional<importer::MlirKind> kind = importer::mlirKind(path);
  if (!kind)
    return InputKind::BrokenMlir;
  switch (*kind) {
  case importer::MlirKind::Kernel:
    return InputKind::Kernel;
  case importer::MlirKind::Network:
    return InputKind::MlirNetwork;
  case importer::MlirKind::IntegerNetwork:
    return InputKind::IntegerNetwork;
  }
  llvm_unreachable("all kinds return");
}
