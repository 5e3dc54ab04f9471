// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Number formats as values: which number a pattern of bits represents. The one
// textual syntax shared by the command line, kernel annotations and the types
// of the `num` dialect. Operations define how results are rounded into a
// format, and what happens if they do not fit (Arithmetic.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rhizome::numeric {
/// A pattern of at most 128 bits; those above the format's width are zero.
using Bits = unsigned __int128;

/// A format of integers, fixed-point or floating-point numbers. Integers are
/// fixed point without a fraction.
///
/// Fixed: the pattern n, two's complement if signed, represents n ·
/// 2^-fractionBits. `integerBits` includes the sign; either count may be
/// negative. Float: sign, exponent field, mantissa field, from the top.
/// Exponent field e in 1 … represents (1 + m/2^M) · 2^(e − bias); e = 0
/// represents m/2^M · 2^(1 − bias) with subnormals, otherwise zero for any m.
/// The highest e represents infinity (m = 0) and NaN unless the format is
/// `finite`, in which it is another binade.
struct Format {
  enum class Kind : uint8_t { Fixed, Float };
  Kind kind = Kind::Fixed;
  bool isSigned = true;   ///< fixed
  int integerBits = 0;    ///< fixed
  int fractionBits = 0;   ///< fixed
  int exponentBits = 0;   ///< float
  int mantissaBits = 0;   ///< float, without the hidden one
  int bias = 0;           ///< float
  bool subnormals = true; ///< float
  bool finite = false;    ///< float

  /// Widths that `check` accepts.
  static constexpr int maxFixedWidth = 128, maxFloatWidth = 64;

  static Format integer(int width, bool isSigned = true) {
    return fixed(width, 0, isSigned);
  }
  static Format fixed(int integerBits, int fractionBits, bool isSigned = true);
  /// IEEE 754's bias, 2^(E−1) − 1, unless one is given.
  static Format floating(int exponentBits, int mantissaBits,
                         std::optional<int> bias = {}, bool subnormals = true,
                         bool finite = false);
  static Format binary64() { return floating(11, 52); }
  static Format binary32() { return floating(8, 23); }

  /// Reads `int8` and `uint8` with any width, `fixed<24,40>`,
  /// `fixed<8,8,unsigned>` (or `ufixed<8,8>`), `float<5,10>`,
  /// `float<4,3,bias=7,flush,finite>`, also with round brackets, or one of
  /// `half`, `bfloat16`, `single`, `double` (f16, bf16, f32, f64); and as
  /// Vivado and hls4ml write it, width first, `ap_fixed<16,6>` or
  /// `ap_ufixed<16,6>`. Blanks are ignored. On failure `error` describes the
  /// problem. The former spelling `fixed:W,F` is accepted if `note` can report
  /// the current one, and refused if it is null.
  static std::optional<Format> parse(std::string_view text, std::string &error,
                                     std::string *note = nullptr);
  /// The shortest text that `parse` reads back.
  std::string str() const;
  /// "" if the format is supported, otherwise the reason.
  std::string check() const;

  bool isFloat() const { return kind == Kind::Float; }
  bool isFixed() const { return kind == Kind::Fixed; }
  bool isInteger() const { return isFixed() && fractionBits == 0; }
  int width() const {
    return isFixed() ? integerBits + fractionBits
                     : 1 + exponentBits + mantissaBits;
  }
  bool hasSign() const { return isFloat() || isSigned; }
  /// Float: exponents of the least normal and of the largest binade.
  int minExponent() const { return 1 - bias; }
  int maxExponent() const {
    return (1 << exponentBits) - (finite ? 1 : 2) - bias;
  }
  int ieeeBias() const { return (1 << (exponentBits - 1)) - 1; }
  /// The mask of the pattern's bits.
  Bits mask() const {
    return width() >= 128 ? ~Bits(0) : (Bits(1) << width()) - 1;
  }
  /// The largest and the smallest finite number, as patterns.
  Bits greatest() const;
  Bits least() const;

  bool operator==(const Format &) const = default;
};
} // namespace rhizome::numeric
