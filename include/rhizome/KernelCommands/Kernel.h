// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of the commands on tensor kernels: compile, run and compare,
// embed. One request in, one result out, nothing printed.
#pragma once

#include "rhizome/Model/Coverage.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Support/Result.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include "rhizome/Transforms/SplitSums.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome::kernelcommands {
/// How a kernel is read and compiled.
struct KernelOptions {
  bool cfdlangCompat = false; ///< see kernel::ParseOptions
  bool keepOrder = false;     ///< floating point exactly as written
  bool gemm = false;          ///< contractions as matrix products
  std::string cpu = "native"; ///< or one of LLVM's names
  /// Rounding, overflow, and the number format of values without an annotation.
  FormatChoice numbers;
  bool exploreFormats = false; ///< compare formats instead of compiling
  /// Sums in another order than written, as chosen for hardware.
  std::vector<SumChoice> sums;
};

/// Which operations of a kernel, after its algebra and in its number formats,
/// become hardware, and why the others do not: compile with a device builds the
/// kernel if all of them do.
Result<model::CoverageResult> coverKernel(const std::string &path,
                                          const KernelOptions &options);

struct KernelRequest {
  std::string path;
  KernelOptions options;
  std::string output; ///< "" for "<kernel>.kernel" in the current folder
};

/// Arithmetic operations per run.
struct KernelWork {
  int64_t macs = 0, operations = 0;
};

struct KernelResult {
  std::string package;                      ///< the folder that was written
  std::vector<std::string> inputs, outputs; ///< names, in the caller's order
  double seconds = 0;
  KernelWork direct, chosen; ///< as written, and after the algebra
  bool isCounted = true;     ///< false: of loops whose trips are not constant
  int64_t matmuls = 0;       ///< with `gemm`
  /// After the algebra, in the language; one line per statement.
  std::vector<std::string> statements;
  std::vector<std::string> files; ///< in the folder
  std::vector<std::string> notes;
};

/// Parse, optimize, compile; writes NAME.o, libNAME.so, NAME.h,
/// rhizome_kernel.h, NAME.c, NAME_kernel.f90, NAME.py and NAME.mlir. With
/// `output` "-" nothing is written: the result describes what a compile would
/// give. A failure has the locations in the user's file.
Result<KernelResult> compileKernel(const KernelRequest &request);

struct KernelRunRequest {
  std::string path; ///< a kernel, or a folder made by compileKernel
  KernelOptions options;
  std::vector<std::string> inputs;  ///< .npz, or .npy in the arguments' order
  std::vector<std::string> outputs; ///< .npy files to write, one per output
  int64_t frames = 0;               ///< elements; 0: all of the data, or one
  int threads = 1;
  uint64_t seed = 1;
  /// Compare with direct evaluation; in number formats with the interpreter's
  /// bits.
  bool check = false;
};

struct KernelRunResult {
  int64_t frames = 0;
  int64_t mismatches = 0; ///< with `check`: elements of outputs that are off by
                          ///< more than 1e-12 (f32: 1e-5) of the largest
  std::string firstMismatch;
  double largestError = 0; ///< relative to the largest value
  double throughputPerS = 0;
  double seconds = 0;               ///< of computing
  std::vector<std::string> outputs; ///< names, in the order of their files
  /// One element was asked for by data without a dimension that counts them.
  bool isSingle = false;
  std::vector<std::string> notes;
};

/// Applies a kernel to data from files, or to seeded random data in [-1, 1].
Result<KernelRunResult> runKernel(const KernelRunRequest &request);

struct EmbedRequest {
  std::string path;   ///< a Fortran or C++ file with kernels between markers
  std::string output; ///< a folder
  KernelOptions options;
};
struct EmbedResult {
  std::vector<std::string> kernels, files;
};

/// Compiles the kernels of a host file and writes it with calls in place of
/// them.
Result<EmbedResult> embedKernels(const EmbedRequest &request);
} // namespace rhizome::kernelcommands
