// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kind of a file, and its module: operations of unknown dialects are kept
// in generic form, so that all of them are refused by name and at once.
#include "Raise.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/LinalgLoops.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

bool importer::isMlir(StringRef bytes) {
  if (isBytecode(llvm::MemoryBufferRef(bytes, "")))
    return true;
  while (true) { // blanks and comments
    bytes = bytes.ltrim();
    if (!bytes.starts_with("//"))
      break;
    bytes = bytes.drop_until([](char c) { return c == '\n'; });
  }
  // An alias of a location, map or type, an operation, resources.
  if (bytes.starts_with("\"") || bytes.starts_with("{-#"))
    return true;
  if (bytes.consume_front("#") || bytes.consume_front("!"))
    return bytes.drop_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
        .ltrim(' ')
        .starts_with("=");
  return bytes.starts_with("module") || bytes.starts_with("builtin.module") ||
         bytes.starts_with("func.func");
}

void importer::loadReadable(MLIRContext &context) {
  context.loadDialect<
      affine::AffineDialect, arith::ArithDialect,
      bufferization::BufferizationDialect, cf::ControlFlowDialect,
      flow::FlowDialect, func::FuncDialect, linalg::LinalgDialect,
      marks::MarksDialect, math::MathDialect, memref::MemRefDialect,
      ml_program::MLProgramDialect, num::NumDialect, osa::OsaDialect,
      scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
}

OwningOpRef<ModuleOp>
importer::parseMlir(MLIRContext *context,
                    std::unique_ptr<llvm::MemoryBuffer> buffer, bool withValues,
                    std::string &problem) {
  const std::string name = buffer->getBufferIdentifier().str();
  if (isBytecode(*buffer)) {
    std::optional<std::string> text = textOfBytecode(buffer->getBuffer());
    if (!text) {
      problem = name + ": it is no bytecode that MLIR can read; write the "
                       "module as text";
      return {};
    }
    buffer = llvm::MemoryBuffer::getMemBufferCopy(*text, name);
  }
  if (llvm::Error error = checkMlirText(buffer->getBuffer())) {
    problem = name + ": " + llvm::toString(std::move(error));
    return {};
  }
  DialectRegistry registry;
  func::registerInlinerExtension(registry);
  context->appendDialectRegistry(registry);
  loadReadable(*context);
  const bool strict = !context->allowsUnregisteredDialects();
  context->allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return success();
      llvm::raw_string_ostream os(problem);
      std::string place = placeOf(diagnostic.getLocation());
      os << (problem.empty() ? "" : "; ") << place
         << (place.empty() ? "" : ": ") << diagnostic;
      return success();
    });
    auto source = std::make_shared<llvm::SourceMgr>();
    source->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(source, ParserConfig(context));
    if (module && withValues && failed(osa::verifyResources(*module)))
      module = {};
    if (module && failed(host::checkAccesses(*module)))
      module = {};
  }
  context->allowUnregisteredDialects(!strict);
  return module;
}

OwningOpRef<ModuleOp> importer::parseMlir(MLIRContext *context, StringRef path,
                                          bool withValues,
                                          std::string &problem) {
  auto buffer = mapFile(path);
  if (!buffer) {
    problem = llvm::toString(buffer.takeError());
    return {};
  }
  // The parser needs a zero at the end.
  return parseMlir(
      context,
      llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), path),
      withValues, problem);
}

std::string importer::placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    auto at = dyn_cast<FileLineColLoc>(inner);
    if (!at)
      return WalkResult::advance();
    place = (at.getFilename().getValue() + ":" + llvm::Twine(at.getLine()) +
             ":" + llvm::Twine(at.getColumn()))
                .str();
    return WalkResult::interrupt();
  });
  return place;
}

/// True for a network's parameters: a constant tensor with more
/// than one value.
static bool isParameter(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto values =
      constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
  return values && isa<RankedTensorType>(values.getType()) &&
         values.getElementType().isF32() &&
         (isa<DenseResourceElementsAttr>(values) || !values.isSplat());
}

MlirKind importer::kindOf(ModuleOp module) {
  bool marked = false, integers = false, reals = false, parameters = false;
  bool unknown = false, indices = false;
  auto isInteger = [](Type type) { return bool(num::elementInt(type)); };
  // Such as a network's tokens; kernels take reals only.
  auto isIndex = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && isa<IntegerType>(shaped.getElementType());
  };
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<osa::OsaDialect>(op->getDialect()))
      reals = true;
    parameters |= isParameter(op);
    unknown |= !op->isRegistered();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    marked |= function->hasAttr(marks::kKernel);
    integers |= !function.getArgumentTypes().empty() &&
                llvm::all_of(function.getArgumentTypes(), isInteger);
    indices |= function.isPublic() &&
               llvm::any_of(function.getArgumentTypes(), isIndex);
  });
  if (marked)
    return MlirKind::Kernel;
  if (integers)
    return MlirKind::IntegerNetwork;
  // Programs other than networks on f32 rarely contain parameters.
  const bool doubles =
      module
          .walk([](func::FuncOp function) {
            auto isDouble = [](Type type) {
              auto shaped = dyn_cast<ShapedType>(type);
              return isa<BaseMemRefType>(type) ||
                     (shaped && shaped.getElementType().isF64());
            };
            return llvm::any_of(function.getArgumentTypes(), isDouble)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  // The network importer names unknown operations.
  return reals || unknown || indices || (parameters && !doubles)
             ? MlirKind::Network
             : MlirKind::Kernel;
}

std::optional<MlirKind> importer::mlirKind(StringRef path) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string problem;
  OwningOpRef<ModuleOp> module =
      parseMlir(&context, path, /*withValues=*/false, problem);
  if (!module)
    return std::nullopt;
  return kindOf(*module);
}
