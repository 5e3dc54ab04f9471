// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compile, coverage and simulate share about kernels in hardware.
#pragma once

#include "KernelFile.h"
#include "rhizome/Generator/Hls/KernelUnit.h"
#include "rhizome/Package/PlannedKernel.h"

namespace rhizome::kernelcommands {
/// Bits of the widest word of a stream.
inline constexpr unsigned kMostWordBits = 64;

/// The variable that an operation computes, or its line in the file.
std::string nameOf(mlir::Operation &op);
/// "helmholtz.cfd:13:5", "" if it is unknown.
std::string placeOf(mlir::Location loc);

/// The operations of the kernel on integers, with those in formats.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
matchingFormats(const NumberedKernel &kernel);
/// Tensors of a stream, by values of the kernel on integers.
std::vector<PlannedTensor> tensorsOf(const NumberedKernel &kernel,
                                     llvm::ArrayRef<mlir::Value> values);

/// All reasons why a kernel is not built in hardware, by place.
Refusals whyNoHardware(const NumberedKernel &kernel);
} // namespace rhizome::kernelcommands
