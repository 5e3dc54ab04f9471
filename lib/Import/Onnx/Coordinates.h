// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which position of the input an output position of Resize means, exactly: all
// numbers in the file are rationals, floats included, and so are the
// coordinates. Network and host share it.
#pragma once

#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace rhizome::importer {
/// A rational; the denominator is positive.
struct Ratio {
  llvm::DynamicAPInt num{0}, den{1};

  static Ratio of(double value); ///< exactly; finite
  static Ratio of(int64_t num, int64_t den);
  double toDouble() const;
  bool operator<(const Ratio &other) const {
    return num * other.den < other.num * den;
  }
};

/// How Resize reads along one axis.
struct Resampling {
  std::string mode = "nearest", coordinates = "half_pixel",
              nearest = "round_prefer_floor";
  double cubic = -0.75;
  bool excludeOutside = false, antialias = false;
  double roiBegin = 0, roiEnd = 1; ///< of tf_crop_and_resize
};

/// The size of the result along an axis of `size` that is scaled: as ONNX's
/// shape inference and ONNX Runtime compute it, in float32.
int64_t scaledSize(int64_t size, double scale);

/// The coordinates of one axis of `in` elements that becomes one of `out`.
class SourceLine {
public:
  /// `scale` is out ÷ in unless the file gives another.
  SourceLine(const Resampling &how, int64_t in, int64_t out, Ratio scale);
  /// The element that is nearest by how.nearest, within the axis; none if that
  /// is no mode of ONNX's.
  std::optional<int64_t> nearest(int64_t place) const;
  /// The coordinate, rounded once.
  double at(int64_t place) const;
  /// Whether tf_crop_and_resize extrapolates there.
  bool isOutside(int64_t place) const;

  static bool isMode(llvm::StringRef nearest);

private:
  llvm::DynamicAPInt numerator(int64_t place) const {
    return slope * llvm::DynamicAPInt(place) + offset;
  }
  /// The coordinate of place x is (slope · x + offset) / den.
  llvm::DynamicAPInt slope{0}, offset{0}, den{1};
  int64_t in;
  bool isCrop;
  std::string mode;
};
} // namespace rhizome::importer
