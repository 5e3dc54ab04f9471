// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel in many number formats: the error of each relative to double, and
// the cost of one multiply-add in it; ranges, and inputs that overflow.
#pragma once

#include "rhizome/Interp/Ranges.h"
#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/Target/Device.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include "llvm/ADT/StringRef.h"
#include <functional>

namespace rhizome::kernelcommands {
struct ExploreFormatsRequest {
  std::string kernel;               ///< a file: .cfd or .mlir
  KernelOptions options;            ///< how it is read
  std::vector<std::string> formats; ///< candidates; empty: a sweep
  std::string input;                ///< .npz with the arguments; "": random
  uint64_t seed = 1;
  int elements = 4;       ///< number of random inputs of the kernel
  double lo = -1, hi = 1; ///< range of random inputs and of the analysis
  FormatChoice choice;    ///< rounding, overflow, fused; its format is unused
  std::string device = kDefaultDevice; ///< whose multipliers are counted
  std::function<void(llvm::StringRef)> progress;
};

/// One format. Errors are those of all results of all elements.
struct FormatPoint {
  numeric::Format format;
  double meanSquare = 0, maximum = 0;
  double relative = 0;      ///< largest error over the largest result
  double signal = 0;        ///< mean square of the results in double
  uint64_t overflows = 0;   ///< results that exceeded the format
  bool canOverflow = false; ///< the range analysis cannot exclude it
  double luts = 0;          ///< of one multiply-add, all of it in LUTs
  int dsps = 0;             ///< of its multiplier in DSPs
  bool isPareto = false;
};

/// A place at which the kernel may overflow in a format.
struct OverflowPlace {
  std::string place; ///< file:line:column
  std::string what;  ///< the operation
  Interval range, limits;
  bool isCertain = false;
  double reached = 0;
  /// The input that proves it: argument's name and values.
  std::vector<std::pair<std::string, std::vector<double>>> input;
};

struct ExploreFormatsResult {
  std::vector<FormatPoint> points;            ///< by rising cost
  int64_t multiplications = 0, additions = 0; ///< per run
};

Result<ExploreFormatsResult>
exploreFormats(const ExploreFormatsRequest &request);

/// Range analysis of a kernel in the single format of `request.formats`: where
/// it may overflow.
Result<std::vector<OverflowPlace>>
checkRanges(const ExploreFormatsRequest &request);

/// The points as a picture: error over cost, with the Pareto front as a line.
std::string drawFormats(const ExploreFormatsResult &result,
                        llvm::StringRef title);
} // namespace rhizome::kernelcommands
