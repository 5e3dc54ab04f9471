// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of a package in words: the caller's arrays as frames of its unit's
// ports, what the evaluator makes of them, and results back.
#pragma once

#include "HardwareParts.h"
#include "rhizome/Package/Package.h"
#include "rhizome/runtime/drivers.h"

namespace rhizome::kernelcommands {
/// The words of all tensors, element by element and tensor by tensor.
using Words = std::vector<std::vector<std::vector<int64_t>>>;
/// Frames of a unit's ports, one after the other, as tensors of words.
using Frames = std::vector<std::vector<Tensor>>;

/// The kernel of a package, and the elements of a run through it.
class KernelWords {
public:
  /// Refuses a package whose model is not the kernel of its plan.
  static llvm::Expected<std::unique_ptr<KernelWords>>
  open(const Package &package, const KernelOptions &options);

  /// Reads a run's inputs; sets the number of elements, and names. Without
  /// `check` the evaluator converts the inputs and computes nothing.
  llvm::Error read(const KernelRunRequest &request, bool check,
                   HardwareRunResult &result);
  /// A frame has an element for each lane; the last element is repeated.
  Frames frames() const;
  /// How often it is.
  int64_t repeated() const;
  /// Compares what frames gave with the evaluator's words, and writes the files
  /// that the request asks for.
  llvm::Error give(const Frames &outputs, const KernelRunRequest &request,
                   HardwareRunResult &result);

  /// The same on this CPU, for a device's place: machine code on frames of
  /// bytes.
  llvm::Expected<runtime::Compute> compute() const;
  /// What a driver has to know of the package.
  runtime::Design design() const;
  /// Ports as a host packs their frames: in whole bytes.
  std::vector<BorderPort> inputPorts() const { return asBytes(node().inputs); }
  std::vector<BorderPort> outputPorts() const {
    return asBytes(node().outputs);
  }
  const PlannedKernel &planned() const { return *plan.kernel; }

private:
  Plan plan;
  std::string folder;
  NumberedKernel kernel;
  gen::loops::KernelParts parts;
  Words inputs, outputs; ///< by the evaluator
  bool isChecked = false;

  const PlannedNode &node() const { return plan.nodes.front(); }
  static std::vector<BorderPort> asBytes(std::vector<BorderPort> ports);
  llvm::Error evaluate(const InputValues &values, int64_t elements);
  llvm::Error convert(const InputValues &values, int64_t elements);
  std::vector<size_t> outputOrder() const;
  llvm::Error write(const KernelRunRequest &request, const Words &got) const;
};
} // namespace rhizome::kernelcommands
