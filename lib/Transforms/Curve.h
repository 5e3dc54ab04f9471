// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one integer that are not piecewise linear: sigmoid(a·x + b),
// x·sigmoid(x), and other functions that a network computes from one tensor
// between two quantizers. They become tables or thresholds.
#pragma once

#include "rhizome/Transforms/StepFunction.h"
#include <memory>
#include <variant>

namespace rhizome {
/// A real number: exact if it is rational, otherwise bounded.
struct Number {
  bool exact = true;
  mpq_class value;               ///< if exact
  long double near = 0, off = 0; ///< else |number − near| ≤ off
  static Number of(mpq_class v) { return {true, std::move(v), 0, 0}; }
  static Number of(const Real &v);
  long double middle() const { return exact ? value.get_d() : near; }
};

/// An expression over piecewise-linear functions of one integer.
class Curve {
public:
  using Ref = std::shared_ptr<const Curve>;
  /// The operator between two operands.
  enum class Binary { Add, Sub, Mul, Div, Max, Min };
  /// The maximum, or the minimum, of the operand and a bound.
  struct Limit {
    bool atLeast;
    mpq_class bound;
  };

  /// A leaf: one function for all channels, or one each.
  explicit Curve(std::vector<PiecewiseLinear> leaf) : leaf(std::move(leaf)) {}
  Curve(osa::UnaryKind function, Ref operand)
      : kind(function), operands{std::move(operand)} {}
  Curve(Limit limit, Ref operand)
      : kind(std::move(limit)), operands{std::move(operand)} {}
  Curve(Binary join, Ref first, Ref second)
      : kind(join), operands{std::move(first), std::move(second)} {}

  /// The value at `x`; nullopt if it is undefined (log of 0, …).
  std::optional<Number> at(size_t channel, int64_t x) const;
  /// 1 if it is nondecreasing, −1 if it is nonincreasing, 0 if neither is
  /// known.
  int direction(size_t channel) const;

private:
  std::variant<osa::UnaryKind, Limit, Binary> kind; ///< if it has operands
  std::vector<PiecewiseLinear> leaf;
  std::vector<Ref> operands;
};

/// The quantizer's level of a number; nullopt if the bounds allow two.
std::optional<int64_t> levelOf(const Quantizer &quantizer, const Number &value);

/// The steps of quantizer ∘ curve over lo..hi; nullopt if the curve is not
/// known to be monotone, has more than `most` levels or a value that cannot be
/// decided.
std::optional<Steps> computeSteps(const Curve &curve, size_t channel,
                                  int64_t lo, int64_t hi,
                                  const Quantizer &quantizer, int64_t most);
} // namespace rhizome
