// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel read from its file, in any notation, after its algebra passes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Import/Kernel/Signature.h"
#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>

namespace rhizome::kernelcommands {
struct KernelFile {
  std::unique_ptr<mlir::MLIRContext> context; ///< null: it is another's
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;

  mlir::MLIRContext *inContext() const {
    return mlir::func::FuncOp(func).getContext();
  }
};
/// In reals: formats are still annotations.
llvm::Expected<KernelFile> readKernel(const std::string &path,
                                      const KernelOptions &options);

/// A kernel in its number formats, and the same on integers; their operations
/// correspond one by one. Without formats both are in reals. Units of our own
/// have operators for quotients, which are calls then.
struct NumberedKernel {
  KernelFile formats;
  mlir::OwningOpRef<mlir::ModuleOp> integerModule;
  mlir::func::FuncOp integers;
  kernel::Signature signature;
};
llvm::Expected<NumberedKernel> readNumbered(const std::string &path,
                                            const KernelOptions &options,
                                            bool isForUnits = true);

/// The arithmetic of a kernel's affine and scf loops; nothing if their trips
/// are not constant.
std::optional<KernelWork> workOfLoops(mlir::func::FuncOp kernel);

/// An argument's values for all elements, row-major, in double.
struct Values {
  std::vector<double> data;
  bool shared = false; ///< one array for all elements
};
/// By the argument's name.
using InputValues = std::map<std::string, Values>;
/// The names of a kernel's inputs, or of its outputs, in the caller's order.
std::vector<std::string> inputNames(const kernel::Signature &signature);
std::vector<std::string> outputNames(const kernel::Signature &signature);
/// True if data were given, and none of them counts elements.
bool areSingle(const KernelRunRequest &request, const InputValues &values);
/// The formats in which a kernel in its formats computes on its arguments; none
/// for those that stay in the caller's floats.
std::vector<std::optional<numeric::Format>>
formatsOfInputs(mlir::func::FuncOp inFormats);
/// The inputs of a run, from its files or random ones; sets the number of
/// elements. Refuses what a format has no number for, such as NaN in fixed
/// point.
llvm::Expected<InputValues>
inputsOf(const KernelRunRequest &request, const kernel::Signature &signature,
         const std::vector<std::optional<numeric::Format>> &formats,
         int64_t &frames);
/// The arguments of an element for the interpreter.
std::vector<Tensor> argumentsOf(const kernel::Signature &signature,
                                const InputValues &values, int64_t frame);

/// How the kernel of a folder was compiled; run and simulate use the same
/// options.
inline constexpr const char *kernelOptionsFile = "options.json";
std::string kernelOptionsText(const KernelOptions &options);
/// `options` with the values of such a text.
llvm::Expected<KernelOptions> parseKernelOptions(llvm::StringRef text,
                                                 KernelOptions options);
/// `options` with the values from the folder's file.
llvm::Expected<KernelOptions> readKernelOptions(const std::string &folder,
                                                KernelOptions options);
} // namespace rhizome::kernelcommands
