// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Load.h"
#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Import/Kernel/Decompose.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/LinalgLoops.h"
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace rhizome;
using namespace rhizome::kernel;
namespace affine = mlir::affine;
namespace presburger = mlir::presburger;
using namespace rhizome::kernelcommands;

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static std::string textOf(const mlir::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto at =
          diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
    os << at.getFilename().getValue() << ":" << at.getLine() << ":"
       << at.getColumn() << ": error: ";
  os << diagnostic << "\n";
  return text;
}

PlacedDiagnostics::PlacedDiagnostics(mlir::MLIRContext &context)
    : handler(&context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          all += textOf(diagnostic);
        return mlir::success();
      }) {}

llvm::Error PlacedDiagnostics::error(const llvm::Twine &remedy) const {
  return textError(all + "  remedy: " + remedy + "\n");
}

/// A name that has no other meaning in the module.
static std::string freeSymbol(mlir::ModuleOp module, std::string name) {
  std::string wanted = name;
  for (int i = 2; module.lookupSymbol(wanted); ++i)
    wanted = name + "_" + std::to_string(i);
  return wanted;
}

/// Nothing is loaded yet, in a context of its own unless one is given.
static Loaded emptyIn(mlir::MLIRContext *context) {
  Loaded loaded;
  if (!context)
    loaded.own = std::make_unique<mlir::MLIRContext>();
  loaded.context = context ? context : loaded.own.get();
  return loaded;
}

static llvm::Error finish(Loaded &loaded) {
  auto func = findKernel(*loaded.module);
  if (!func)
    return func.takeError();
  loaded.func = *func;
  // The kernel's name becomes that of files, functions and symbols.
  if (std::string name = kernelName(func->getSymName());
      name != func->getSymName()) {
    mlir::StringAttr free =
        mlir::StringAttr::get(loaded.context, freeSymbol(*loaded.module, name));
    if (failed(mlir::SymbolTable::replaceAllSymbolUses(*func, free,
                                                       *loaded.module)))
      return textError("the kernel calls itself");
    func->setSymNameAttr(free);
  }
  auto signature = signatureOf(*func);
  if (!signature)
    return signature.takeError();
  loaded.signature = std::move(*signature);
  return llvm::Error::success();
}

llvm::Expected<Loaded> kernelcommands::loadText(const Source &source,
                                                const std::string &name,
                                                const KernelOptions &options,
                                                mlir::MLIRContext *context) {
  Loaded loaded = emptyIn(context);
  Diagnostics diagnostics(source);
  auto program =
      parseProgram(source, {name, options.cfdlangCompat}, diagnostics);
  if (!program)
    return textError(diagnostics.render());
  loaded.module = buildModule(*loaded.context, *program, !options.keepOrder);
  if (llvm::Error error = finish(loaded))
    return std::move(error);
  return loaded;
}

/// Whether an index of an affine access can be on this side of a bound.
static bool mayBe(const affine::FlatAffineValueConstraints &trips,
                  const affine::AffineValueMap &map, unsigned dimension,
                  presburger::BoundType side, int64_t bound) {
  affine::FlatAffineValueConstraints found(trips);
  const unsigned index = found.appendDimVar(1);
  if (failed(found.addBound(presburger::BoundType::EQ, index,
                            map.getAffineMap().getSubMap({dimension}),
                            map.getOperands())))
    return true;
  found.addBound(side, index, bound);
  return !found.isIntegerEmpty();
}

/// Whether an affine access may be outside of its memref.
static bool mayLeave(mlir::Operation *op) {
  using presburger::BoundType;
  if (!mlir::isa<affine::AffineLoadOp, affine::AffineStoreOp>(op))
    return true; // of vectors, say
  llvm::SmallVector<mlir::Operation *> around;
  affine::getEnclosingAffineOps(*op, &around);
  affine::FlatAffineValueConstraints trips;
  if (failed(affine::getIndexSet(around, &trips)))
    return true;
  affine::MemRefAccess access(op);
  affine::AffineValueMap map;
  access.getAccessMap(&map);
  auto type = mlir::cast<mlir::MemRefType>(access.memref.getType());
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (mayBe(trips, map, unsigned(d), BoundType::LB, extent) ||
        mayBe(trips, map, unsigned(d), BoundType::UB, -1))
      return true;
  return false;
}

/// Whether affine loops stay within their buffers, and whether all that is
/// called is there; says where not.
static bool staysWithin(mlir::ModuleOp module) {
  bool isGood = true;
  module.walk([&](mlir::Operation *op) {
    auto refuse = [&](const char *why) {
      isGood = false;
      op->emitOpError(why);
    };
    if (mlir::isa<affine::AffineReadOpInterface,
                  affine::AffineWriteOpInterface>(op) &&
        mayLeave(op))
      refuse("reads or writes outside of its memref");
    if (auto function = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
        function && function.isExternal())
      refuse("has no body: a kernel calls nothing of others");
  });
  return isGood;
}

static llvm::Expected<Loaded> loadMlir(const std::string &path,
                                       const std::string &text,
                                       mlir::MLIRContext *context) {
  if (llvm::Error error = checkMlirText(text))
    return textError(path + ": " + llvm::toString(std::move(error)));
  Loaded loaded = emptyIn(context);
  loadForeignDialects(*loaded.context);
  PlacedDiagnostics diagnostics(*loaded.context);
  loaded.module =
      mlir::parseSourceString<mlir::ModuleOp>(text, loaded.context, path);
  if (!loaded.module || failed(osa::verifyResources(*loaded.module)) ||
      failed(host::checkAccesses(*loaded.module)))
    return textError(path + " is not a module that can be used:\n" +
                     diagnostics.text());
  if (llvm::Error error = finish(loaded))
    return textError(path + ": " + llvm::toString(std::move(error)));
  if (!staysWithin(*loaded.module))
    return diagnostics.error(
        "keep the indices within the extents, and all code in the file");
  decompose(*loaded.module);
  return loaded;
}

std::string kernelcommands::sourceOf(const std::string &path) {
  namespace fs = llvm::sys::fs;
  if (!fs::is_directory(path))
    return path;
  return path +
         (fs::exists(path + "/kernel.cfd") ? "/kernel.cfd" : "/kernel.mlir");
}

llvm::Expected<Loaded> kernelcommands::load(const std::string &path,
                                            const KernelOptions &options,
                                            mlir::MLIRContext *context) {
  auto text = readText(path);
  if (!text)
    return ofKind(Failure::Kind::Input,
                  textError(llvm::toString(text.takeError()) +
                            "\n  remedy: check the path"));
  if (importer::isMlir(*text))
    return loadMlir(path, *text, context);
  return loadText({path, *text}, kernelName(llvm::sys::path::stem(path)),
                  options, context);
}
