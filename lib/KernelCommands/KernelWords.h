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

/// Some elements of a run.
struct Elements {
  int64_t first = 0; ///< of the run's
  Words inputs;
  Words outputs; ///< by the evaluator; empty if nothing is compared
};

/// The kernel of a package, and the elements of a run through it.
class KernelWords {
public:
  /// Refuses a package whose model is not the kernel of its plan.
  static llvm::Expected<std::unique_ptr<KernelWords>>
  open(const Package &package, const KernelOptions &options);

  /// Reads a run's inputs; sets the number of elements, and names. Without
  /// `check` the evaluator converts the inputs and computes nothing. Random
  /// inputs are drawn when their elements come.
  llvm::Error begin(const KernelRunRequest &request, bool check,
                    HardwareRunResult &result);
  /// The run's next elements, at most so many. Ends early once it is cancelled.
  llvm::Expected<Elements>
  next(int64_t most, const std::function<bool()> &isCancelled = nullptr);
  bool hasMore() const { return following < count; }
  /// How many elements `next` takes at once, so that a run begins and ends
  /// soon: some thousand words, and no more than what random inputs are drawn
  /// for.
  int64_t someElements() const;
  /// A frame has an element for each lane; the last element is repeated.
  Frames framesOf(const Elements &elements) const;
  /// How often it is.
  int64_t repeatedIn(const Elements &elements) const;
  /// Compares what the first frames gave with the evaluator's words, and keeps
  /// it for the files that the request asks for. Returns how many elements
  /// these were.
  int64_t judge(Elements elements, const Frames &outputs,
                HardwareRunResult &result);
  /// Writes these files.
  llvm::Error write() const;

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
  KernelRunRequest request;
  bool isChecked = false;
  int64_t count = 0, following = 0; ///< elements of the run; the next one
  /// The values of some of them, from files of all.
  InputValues values;
  int64_t firstValue = 0, valueCount = 0;
  /// The kernel cut off behind the unit's inputs, once it is asked for.
  mlir::OwningOpRef<mlir::ModuleOp> converter;
  Words kept; ///< for the files of outputs

  const PlannedNode &node() const { return plan.nodes.front(); }
  static std::vector<BorderPort> asBytes(std::vector<BorderPort> ports);
  llvm::Error draw();
  llvm::Error evaluate(Elements &elements, int64_t end,
                       const std::function<bool()> &isCancelled);
  llvm::Error convert(Elements &elements, int64_t end,
                      const std::function<bool()> &isCancelled);
  mlir::func::FuncOp cutOff();
  std::vector<Tensor> argumentsAt(int64_t element) const;
  std::vector<size_t> outputOrder() const;
};
} // namespace rhizome::kernelcommands
