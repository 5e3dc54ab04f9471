// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every coordinate of ONNX's modes is affine in the output position: three
// integers, whatever the scale.
#include "Coordinates.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <cmath>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::DynamicAPInt;

static DynamicAPInt powerOfTwo(int exponent) {
  return DynamicAPInt(llvm::APInt(unsigned(exponent) + 2, 1).shl(exponent));
}

Ratio Ratio::of(double value) {
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);
  Ratio r;
  r.num = DynamicAPInt(int64_t(std::ldexp(mantissa, 53)));
  exponent -= 53;
  if (exponent >= 0)
    r.num *= powerOfTwo(exponent);
  else
    r.den = powerOfTwo(-exponent);
  DynamicAPInt common = gcd(abs(r.num), r.den);
  if (common > 1)
    r.num /= common, r.den /= common;
  return r;
}

Ratio Ratio::of(int64_t num, int64_t den) {
  Ratio r;
  r.num = DynamicAPInt(num);
  r.den = DynamicAPInt(den);
  return r;
}

/// A quotient as the nearest double.
static double quotient(const DynamicAPInt &num, const DynamicAPInt &den) {
  // Both are exact in doubles in all but absurd files.
  auto real = [](const DynamicAPInt &v) {
    constexpr int64_t limit = int64_t(1) << 62;
    if (v < limit && v > -limit)
      return double(int64_t(v));
    DynamicAPInt rest = abs(v);
    int shifts = 0;
    for (; rest >= limit; ++shifts)
      rest /= 2;
    double size = std::ldexp(double(int64_t(rest)), shifts);
    return v < 0 ? -size : size;
  };
  return real(num) / real(den);
}

double Ratio::toDouble() const { return quotient(num, den); }

int64_t importer::scaledSize(int64_t size, double scale) {
  return int64_t(std::floor(float(size) * float(scale)));
}

bool SourceLine::isMode(llvm::StringRef nearest) {
  return nearest == "round_prefer_floor" || nearest == "round_prefer_ceil" ||
         nearest == "floor" || nearest == "ceil";
}

SourceLine::SourceLine(const Resampling &how, int64_t in, int64_t out,
                       Ratio scale)
    : in(in), isCrop(how.coordinates == "tf_crop_and_resize"),
      mode(how.nearest) {
  const DynamicAPInt n(in), m(out), &p = scale.num, &q = scale.den;
  llvm::StringRef by = how.coordinates;
  if (by == "align_corners") {
    if (out > 1)
      slope = n - 1, den = m - 1;
    return;
  }
  if (isCrop) {
    Ratio first = Ratio::of(how.roiBegin), last = Ratio::of(how.roiEnd);
    DynamicAPInt begin = first.num * last.den, end = last.num * first.den;
    den = first.den * last.den;
    if (out > 1) {
      // first · (n − 1) + x · (last − first) · (n − 1) / (m − 1)
      slope = (end - begin) * (n - 1);
      offset = begin * (n - 1) * (m - 1);
      den *= m - 1;
    } else {
      offset = (begin + end) * (n - 1);
      den *= 2;
    }
    return;
  }
  if (by == "asymmetric") { // x / scale
    slope = q;
    den = p;
    return;
  }
  if (by == "pytorch_half_pixel" && out <= 1)
    return;
  // (x + ½) / scale, less ½ unless it is tf_half_pixel_for_nn.
  slope = q * 2;
  offset = q;
  den = p * 2;
  if (by == "tf_half_pixel_for_nn")
    return;
  offset -= p;
  if (by == "half_pixel_symmetric") // + n/2 · (1 − m / (scale · n))
    offset += n * p - m * q;
}

std::optional<int64_t> SourceLine::nearest(int64_t place) const {
  DynamicAPInt at = numerator(place), found(0);
  if (mode == "floor")
    found = floorDiv(at, den);
  else if (mode == "ceil")
    found = ceilDiv(at, den);
  else if (mode == "round_prefer_ceil")
    found = floorDiv(at * 2 + den, den * 2);
  else if (mode == "round_prefer_floor")
    found = ceilDiv(at * 2 - den, den * 2);
  else
    return std::nullopt;
  if (found < 0)
    return 0;
  return found >= in ? in - 1 : int64_t(found);
}

double SourceLine::at(int64_t place) const {
  return quotient(numerator(place), den);
}

bool SourceLine::isOutside(int64_t place) const {
  DynamicAPInt at = numerator(place);
  return isCrop && (at < 0 || at > den * DynamicAPInt(in - 1));
}
