// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The computation between an accumulator and the next quantizer: a
// piecewise-linear function of whole numbers with exact real coefficients, the
// quantizer's one rounding, and the positions at which their composition steps.
#pragma once

#include "rhizome/Dialect/Osa/Enums.h"
#include "rhizome/Transforms/ExactReal.h"
#include <optional>
#include <vector>

namespace rhizome {
/// A function from lo..hi to the reals: slope · x + offset on each piece.
class PiecewiseLinear {
public:
  struct Piece {
    int64_t from; ///< first x of the piece
    Real slope, offset;
    Real at(int64_t x) const { return slope * Real(x) + offset; }
    bool operator==(const Piece &) const = default;
  };

  static PiecewiseLinear affine(int64_t lo, int64_t hi, Real slope,
                                Real offset);
  static PiecewiseLinear identity(int64_t lo, int64_t hi) {
    return affine(lo, hi, Real(1), Real(0));
  }

  int64_t lo() const { return first; }
  int64_t hi() const { return last; }
  const std::vector<Piece> &pieces() const { return list; }
  /// The last x of piece `i`.
  int64_t end(size_t i) const {
    return i + 1 < list.size() ? list[i + 1].from - 1 : last;
  }
  bool isAffine() const { return list.size() == 1; }
  Real at(int64_t x) const;
  bool operator==(const PiecewiseLinear &) const = default;

  /// True if every coefficient can be combined with `other`.
  bool compatible(const Real &other) const;
  /// f · factor, f + term.
  void scale(const Real &factor);
  void shift(const Real &term);
  /// f where f ≥ 0, otherwise alpha · f.
  void leaky(const Real &alpha);
  /// max(f, bound), min(f, bound).
  void atLeast(const Real &bound);
  void atMost(const Real &bound);
  /// The function x ↦ f(−x).
  PiecewiseLinear mirrored() const;
  /// The same coefficients over another range; only for an affine function.
  PiecewiseLinear over(int64_t lo, int64_t hi) const;

  /// True if f never falls as x grows.
  bool neverFalls() const;

private:
  /// Splits at the border of {f < bound} and replaces f there by
  /// factor · f + term.
  void replaceBelow(const Real &bound, const Real &factor, const Real &term);

  int64_t first = 0, last = 0;
  std::vector<Piece> list;
};

using osa::Rounding;

/// osa.quantize for one channel. Its results are numbered by *levels*: the
/// level is the code itself, except for `Sign`, whose codes −1 and 1 are the
/// levels 0 and 1.
struct Quantizer {
  mpq_class scale = 1;
  int64_t zero = 0;
  int64_t lo = 0, hi = 0; ///< lowest and highest level
  Rounding rounding = Rounding::HalfEven;

  /// The level of a real number.
  int64_t level(const Real &value) const;
  /// The reals of level ≥ `level` are those above scale · (level − zero −
  /// halves/2), that point included if `closed`.
  struct Boundary {
    int halves;
    bool closed;
  };
  Boundary boundary(int64_t level) const;
  /// The code of a level: base + step · level.
  int64_t base() const { return rounding == Rounding::Sign ? -1 : 0; }
  int64_t step() const { return rounding == Rounding::Sign ? 2 : 1; }
};

/// A monotone step function over lo..hi, in a direction in which it rises.
struct Steps {
  bool falls = false;      ///< if so, everything below refers to −x
  int64_t lo = 0, hi = 0;  ///< the range of x (or −x)
  int64_t bottom = 0;      ///< level at lo
  std::vector<int64_t> at; ///< at[k]: first x with level > bottom + k
  int64_t top() const { return bottom + int64_t(at.size()); }
};

/// The steps of quantizer ∘ f; nullopt if f is not monotone.
std::optional<Steps> computeSteps(const PiecewiseLinear &f,
                                  const Quantizer &quantizer);
} // namespace rhizome
