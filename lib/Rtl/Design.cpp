// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a design's modules as files, callees first, and checks what the
// verifier does not: that no module contains itself, and that names stay
// different in SystemVerilog.
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Support/Names.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace rhizome;

namespace {
class Design {
public:
  Design(ModuleOp module) : module(module) {}
  LogicalResult order();
  std::vector<std::pair<std::string, rtl::ModuleOp>> files;

private:
  LogicalResult visit(rtl::ModuleOp op);
  ModuleOp module;
  llvm::StringMap<rtl::ModuleOp> byName;
  llvm::StringMap<int> state; // 1: being visited, 2: done
};

LogicalResult Design::visit(rtl::ModuleOp op) {
  int &mark = state[op.getSymName()];
  if (mark == 2)
    return success();
  if (mark == 1)
    return op.emitOpError("instantiates itself");
  mark = 1;
  for (auto instance : op.getBody().getOps<rtl::InstanceOp>()) {
    auto found = byName.find(instance.getCallee());
    if (found == byName.end())
      continue;
    if (failed(visit(found->second)))
      return failure();
  }
  state[op.getSymName()] = 2;
  files.emplace_back(legalName(op.getSymName()) + ".sv", op);
  return success();
}

LogicalResult Design::order() {
  llvm::StringMap<rtl::ModuleOp> byIdentifier;
  for (auto op : module.getOps<rtl::ModuleOp>()) {
    byName[op.getSymName()] = op;
    auto [it, isNew] = byIdentifier.try_emplace(legalName(op.getSymName()), op);
    if (!isNew) {
      auto diag = op.emitOpError("and another module are both called '")
                  << it->first() << "' in SystemVerilog";
      diag.attachNote(it->second.getLoc()) << "the other module";
      return failure();
    }
  }
  for (auto op : module.getOps<rtl::ModuleOp>())
    if (failed(visit(op)))
      return failure();
  return success();
}
} // namespace

LogicalResult
rhizome::emitDesign(ModuleOp module,
                    std::vector<std::pair<std::string, std::string>> &files) {
  Design design(module);
  if (failed(design.order()))
    return failure();
  for (auto &[file, op] : design.files) {
    std::string text;
    llvm::raw_string_ostream os(text);
    emitSystemVerilog(op, os);
    files.emplace_back(file, std::move(text));
  }
  return success();
}

LogicalResult rhizome::emitDesign(ModuleOp module, StringRef dir,
                                  std::vector<std::string> *files) {
  Design design(module);
  if (failed(design.order()))
    return failure();
  for (auto &[file, op] : design.files) {
    SmallString<256> path(dir);
    llvm::sys::path::append(path, file);
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    if (!error) {
      emitSystemVerilog(op, os);
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (error)
      return module.emitError("cannot write '")
             << path << "': " << error.message();
    if (files)
      files->push_back(file);
  }
  return success();
}
