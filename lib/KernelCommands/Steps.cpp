// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Steps.h"
#include "Load.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Generator/Loops/Views.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Transforms/Algebra.h"

using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;

static llvm::Error textError(Failure::Kind kind, const llvm::Twine &text) {
  return ofKind(kind,
                llvm::createStringError(llvm::inconvertibleErrorCode(), text));
}

//===----------------------------------------------------------------------===//
// The algebra
//===----------------------------------------------------------------------===//

static KernelWork work(mlir::func::FuncOp func, KernelResult &result) {
  Work out = workOf(func);
  std::optional<KernelWork> loops = workOfLoops(func);
  result.isCounted = loops.has_value();
  return loops ? KernelWork{out.macs + loops->macs,
                            out.operations + loops->operations}
               : KernelWork();
}

llvm::Error kernelcommands::normalizeKernel(mlir::func::FuncOp kernel,
                                            const KernelOptions &options,
                                            KernelResult &result) {
  result.direct = work(kernel, result);
  if (failed(factorizeProducts(kernel, options.gemm ? IndexOrder::First
                                                    : IndexOrder::InPlace)))
    return textError(Failure::Kind::Internal,
                     "the algebra failed on this kernel");
  if (auto text = printProgram(kernel)) {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(*text).split(lines, '\n', -1, false);
    for (llvm::StringRef line : lines)
      if (!line.starts_with("var ") && !line.starts_with("REAL(") &&
          !line.starts_with("elem "))
        result.statements.push_back(line.str());
  } else {
    llvm::consumeError(text.takeError());
  }
  result.chosen = work(kernel, result);
  if (options.gemm)
    result.matmuls = formMatmuls(kernel);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Number formats
//===----------------------------------------------------------------------===//

/// The formats of a kernel; returns whether there are any.
static llvm::Expected<bool> applyNumbers(mlir::func::FuncOp kernel,
                                         const KernelOptions &options) {
  if (!options.numbers.format && !isAnnotated(kernel))
    return false;
  PlacedDiagnostics diagnostics(*kernel.getContext());
  kernel.getContext()->loadDialect<num::NumDialect>();
  if (succeeded(rhizome::applyFormats(kernel, options.numbers)))
    return true;
  return ofKind(
      Failure::Kind::Unsupported,
      diagnostics.error("write it on tensors, with what formats have; without "
                        "--numbers and formats the CPU computes it in its own "
                        "floats"));
}

static llvm::Error orderSums(mlir::func::FuncOp kernel,
                             llvm::ArrayRef<SumChoice> sums) {
  if (succeeded(splitSums(kernel, sums)))
    return llvm::Error::success();
  return textError(Failure::Kind::Input,
                   "the orders of sums that were chosen are not those of this "
                   "kernel; remedy: compile it again");
}

llvm::Expected<bool>
kernelcommands::chooseNumbers(mlir::func::FuncOp kernel,
                              const KernelOptions &options) {
  auto hasFormats = applyNumbers(kernel, options);
  if (!hasFormats)
    return hasFormats.takeError();
  if (!*hasFormats && !options.sums.empty())
    gen::loops::generalizeAll(kernel);
  if (llvm::Error error = orderSums(kernel, options.sums))
    return std::move(error);
  return *hasFormats;
}

llvm::Error kernelcommands::lowerNumbers(mlir::ModuleOp module,
                                         bool isForUnits) {
  mlir::PassManager pm(module.getContext());
  pm.addPass(createConvertNumToArith({.callsQuotients = isForUnits}));
  if (succeeded(pm.run(module)))
    return llvm::Error::success();
  return textError(Failure::Kind::Internal,
                   "the kernel's numbers cannot be lowered to integers");
}

llvm::Error kernelcommands::numbersToCpu(mlir::func::FuncOp kernel,
                                         const KernelOptions &options) {
  auto chosen = chooseNumbers(kernel, options);
  if (!chosen)
    return chosen.takeError();
  return *chosen ? lowerNumbers(kernel->getParentOfType<mlir::ModuleOp>())
                 : llvm::Error::success();
}

llvm::Error kernelcommands::quantizeKernel(mlir::func::FuncOp kernel,
                                           const KernelOptions &options) {
  auto hasFormats = applyNumbers(kernel, options);
  if (!hasFormats)
    return hasFormats.takeError();
  if (!*hasFormats)
    gen::loops::generalizeAll(kernel);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Nests and integers
//===----------------------------------------------------------------------===//

/// Gives results that are inputs or parts of them, and those that are returned
/// twice, nests that copy them: hardware has a nest for each result.
static void copyResults(mlir::func::FuncOp func) {
  auto castOf = [](mlir::Value v) {
    auto op = v.getDefiningOp<mlir::linalg::GenericOp>();
    return op && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
                   op.getBody()->getOperations().size() == 2 &&
                   mlir::isa<num::CastOp>(op.getBody()->front())
               ? op
               : mlir::linalg::GenericOp();
  };
  // An input or a part of it, perhaps in the format in which it is taken.
  auto isInput = [&](mlir::Value v) {
    while (auto slice = v.getDefiningOp<mlir::tensor::ExtractSliceOp>())
      v = slice.getSource();
    if (auto cast = castOf(v))
      v = cast.getDpsInputs()[0];
    return mlir::isa<mlir::BlockArgument>(v);
  };
  llvm::SmallDenseSet<mlir::Value> seen;
  mlir::Operation *end = func.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(end->getOpOperands())) {
    // Before what makes the caller's floats of it.
    auto cast = castOf(result.get());
    mlir::OpOperand &use = cast ? *cast.getDpsInputOperand(0) : result;
    if (!mlir::isa<mlir::RankedTensorType>(use.get().getType()) ||
        (!isInput(use.get()) && seen.insert(use.get()).second))
      continue;
    mlir::Operation *reader = use.getOwner();
    if (reader != end && !reader->hasOneUse()) {
      // Another result has the same conversion.
      mlir::OpBuilder b(end);
      mlir::Operation *own = b.clone(*reader);
      result.set(own->getResult(0));
      reader = own;
    }
    mlir::OpOperand &from = reader == end ? result : reader->getOpOperand(0);
    mlir::Value copy = gen::loops::copyOf(from.get(), reader);
    if (auto name = func.getResultAttr(unsigned(i), marks::kName))
      copy.getDefiningOp()->setAttr(marks::kName, name);
    from.set(copy);
  }
}

void kernelcommands::separateNests(mlir::func::FuncOp kernel) {
  copyResults(kernel);
  gen::loops::separateParts(kernel);
}

/// Whether a value of the kernel has a number format.
static bool hasFormats(mlir::func::FuncOp kernel) {
  return kernel
      ->walk([](mlir::Operation *op) {
        return mlir::isa_and_present<num::NumDialect>(op->getDialect())
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

llvm::Expected<NumberedKernel>
kernelcommands::numberedOf(mlir::ModuleOp module,
                           llvm::ArrayRef<SumChoice> sums, bool isForUnits) {
  NumberedKernel out;
  // Without the plan and the RTL that later phases add.
  out.formats.module = mlir::ModuleOp::create(module.getLoc());
  for (auto func : module.getOps<mlir::func::FuncOp>())
    out.formats.module->push_back(func.clone());
  auto kernel = findKernel(*out.formats.module);
  if (!kernel)
    return kernel.takeError();
  out.formats.func = *kernel;
  if (llvm::Error error = orderSums(*kernel, sums))
    return std::move(error);
  out.integerModule = out.formats.module->clone();
  if (hasFormats(*kernel))
    if (llvm::Error error = lowerNumbers(*out.integerModule, isForUnits))
      return std::move(error);
  out.integers =
      out.integerModule->lookupSymbol<mlir::func::FuncOp>(kernel->getSymName());
  auto signature = signatureOf(*kernel);
  if (!signature)
    return signature.takeError();
  out.signature = std::move(*signature);
  return out;
}

llvm::Expected<NumberedKernel>
kernelcommands::readNumbered(const std::string &path,
                             const KernelOptions &options, bool isForUnits) {
  auto loaded = load(path, options);
  if (!loaded)
    return loaded.takeError();
  KernelResult unused;
  if (llvm::Error error = normalizeKernel(loaded->func, options, unused))
    return std::move(error);
  if (llvm::Error error = quantizeKernel(loaded->func, options))
    return std::move(error);
  separateNests(loaded->func);
  auto out = numberedOf(*loaded->module, options.sums, isForUnits);
  if (out)
    out->formats.context = std::move(loaded->own);
  return out;
}

llvm::Expected<KernelFile>
kernelcommands::readKernel(const std::string &path,
                           const KernelOptions &options) {
  auto loaded = load(sourceOf(path), options);
  if (!loaded)
    return loaded.takeError();
  KernelResult unused;
  if (llvm::Error error = normalizeKernel(loaded->func, options, unused))
    return std::move(error);
  loaded->context->loadDialect<num::NumDialect>();
  return KernelFile{std::move(loaded->own), std::move(loaded->module),
                    loaded->func};
}
