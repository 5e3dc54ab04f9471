// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels on the CPU: an object file of vector code for one processor with a C
// interface, the same compiled in memory, and the sources that C, C++ and
// Fortran programs include.
#pragma once

#include "rhizome/Import/Kernel/Signature.h"
#include <memory>

namespace rhizome::kernel {
/// The processor to compile for.
struct CpuTarget {
  std::string cpu = "native"; ///< or one of LLVM's names, e.g. "x86-64-v3"
};

/// An object file with the functions
///   void NAME_run(int64_t elements, int32_t threads, const rhz_array *arrays)
///   int32_t NAME_fortran(int32_t threads, CFI_cdesc_t *…)
/// (see rhizome_kernel.h for rhz_array). `kernel` is not changed.
llvm::Expected<std::string> compileObject(mlir::func::FuncOp kernel,
                                          const Signature &signature,
                                          const CpuTarget &target);

/// The same function NAME_run on the numbers themselves: for the part of a kernel
/// on integers that computes `outputs` from `inputs`. The arrays, inputs first,
/// are row-major and hold integers of their types' widths; custom floats call
/// Numeric/Runtime.h.
llvm::Expected<std::string> compileWords(mlir::func::FuncOp kernel,
                                         llvm::StringRef name,
                                         llvm::ArrayRef<mlir::Value> inputs,
                                         llvm::ArrayRef<mlir::Value> outputs,
                                         const CpuTarget &target);

/// rhz_array of rhizome_kernel.h: strides count elements, an element
/// stride of 0 means that all elements of a batch share the array.
struct KernelArray {
  void *data = nullptr;
  int64_t elementStride = 0;
  int64_t strides[8] = {};
};

/// A kernel compiled into this process.
class LoadedKernel {
public:
  /// Loads an object made by compileObject.
  static llvm::Expected<LoadedKernel> load(llvm::StringRef object,
                                           const Signature &signature);
  LoadedKernel(LoadedKernel &&);
  ~LoadedKernel();
  void run(int64_t elements, int threads, const KernelArray *arrays) const;

private:
  struct State;
  explicit LoadedKernel(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// The kernel as C99: a function on dense arrays and NAME_run.
llvm::Expected<std::string> printC99(mlir::func::FuncOp kernel,
                                     const Signature &signature);

/// The part of a kernel on integers or reals that computes `outputs` from
/// `inputs` as LLVM IR: void NAME(arrays), named by `names`.
llvm::Expected<std::string> printLlvm(mlir::func::FuncOp kernel,
                                      llvm::StringRef name,
                                      llvm::ArrayRef<mlir::Value> inputs,
                                      llvm::ArrayRef<mlir::Value> outputs,
                                      llvm::ArrayRef<std::string> names);

/// NAME.h: declarations for C, views for C++.
std::string printHeader(const Signature &signature);
/// NAME_kernel.f90: a module with checked subroutines.
std::string printFortranModule(const Signature &signature);
/// The name of a kernel's function and module in Python.
std::string pythonName(const Signature &signature);
/// NAME.py, which calls libNAME.so; `shared` is the text that all modules have.
std::string printPythonModule(const Signature &signature,
                              llvm::StringRef shared);
/// NAME.pyi.
std::string printPythonStub(const Signature &signature);
} // namespace rhizome::kernel
