// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computations for the host, written as linalg.generic on tensors of f32 and
// i64 (within integer products also of 8, 16 and 32 bits): loops over a result
// and, inside, over reduced dimensions, with a scalar body. Everything that the
// host computes besides `osa` consists of these; the interpreter and the CPU
// path support no other primitive.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace rhizome::host {
using mlir::Value;

/// What a loop's body requires of an integer that the model computes, before it
/// becomes an address or a divisor (`Scalars::index`, `Scalars::divisor`). The
/// interpreter and machine code stop where it does not hold.
struct Check {
  std::string node;       ///< of the model
  std::string what;       ///< "index"
  int64_t lo = 0, hi = 0; ///< what it may be; anything but 0 if lo > hi

  /// The check of an operation in a loop's body; nullopt if it is none. Its
  /// operands are whether it holds, the value, and one that stands in for it.
  static std::optional<Check> of(mlir::Operation *op);
  /// A sentence without the node's name.
  std::string message(int64_t value, int64_t element) const;
};

/// Writes scalars of f32, i64 and i1 into a loop's body, and of f64 where
/// numbers are given by `number`; operands of one operation have one type.
class Scalars {
public:
  Scalars(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  Value real(double value);
  Value whole(int64_t value);
  /// A number of `like`'s type.
  Value number(double value, Value like);
  static bool isReal(Value v) {
    return llvm::isa<mlir::FloatType>(v.getType());
  }
  /// The loop's index along a dimension, as i64.
  Value index(unsigned dimension);
  /// `v` if it is from lo to hi; elsewhere the model stops, with `what` it is,
  /// and lo is what remains for code that cannot stop at once.
  Value within(Value v, int64_t lo, int64_t hi, llvm::StringRef what);
  /// `v` if it is not 0, and 1 where the model stops.
  Value divisor(Value v);
  /// tensor[indices], of i64 each.
  Value at(Value tensor, llvm::ArrayRef<Value> indices);

  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  /// Real division, or integer division towards zero.
  Value div(Value x, Value y, bool isUnsigned = false);
  /// The remainder with the sign of x.
  Value rem(Value x, Value y, bool isUnsigned = false);
  Value max(Value x, Value y, bool isUnsigned = false);
  Value min(Value x, Value y, bool isUnsigned = false);
  Value less(Value x, Value y, bool isUnsigned = false);    ///< i1
  Value notLess(Value x, Value y, bool isUnsigned = false); ///< x ≥ y, i1
  Value equal(Value x, Value y);                            ///< i1
  Value select(Value condition, Value x, Value y);
  Value both(Value x, Value y);
  Value either(Value x, Value y);
  Value exclusive(Value x, Value y);
  /// i64 to i1: not zero; and back: 0 or 1.
  Value truth(Value v);
  Value flag(Value v);
  /// i64 to f32, or to another type of reals.
  Value toReal(Value v, bool isUnsigned = false, mlir::Type type = {});
  Value toWhole(Value v); ///< reals to i64, towards zero
  /// i64 wrapped to a width, extended again.
  Value wrap(Value v, unsigned width, bool isSigned);
  /// A function of one real from the math dialect.
  template <typename Op> Value apply(Value x) { return Op::create(b, loc, x); }
  template <typename Op> Value apply(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  /// A real rounded to a number of the narrower type f16 or bf16: half to even,
  /// subnormals included, infinite beyond its range.
  Value rounded(Value x, mlir::FloatType half);
  /// The primitives of Numeric/Functions.h.
  Value neg(Value x) { return sub(number(-0.0, x), x); }
  Value abs(Value x) { return apply<mlir::math::AbsFOp>(x); }
  Value exp(Value x) { return apply<mlir::math::ExpOp>(x); }
  Value log(Value x) { return apply<mlir::math::LogOp>(x); }
  Value log1p(Value x) { return apply<mlir::math::Log1pOp>(x); }
  Value sqrt(Value x) { return apply<mlir::math::SqrtOp>(x); }
  Value tanh(Value x) { return apply<mlir::math::TanhOp>(x); }
  Value erf(Value x) { return apply<mlir::math::ErfOp>(x); }
  Value gaussian(Value x);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  Value checked(Value holds, Value v, Value instead, llvm::StringRef what,
                int64_t lo, int64_t hi);
};

/// A tensor that a loop reads with an affine map of its indices.
struct Operand {
  Value tensor;
  mlir::AffineMap map;
};

/// Writes loops.
class Loops {
public:
  Loops(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  using Body = llvm::function_ref<Value(Scalars &, mlir::ValueRange)>;
  using Shape = llvm::SmallVector<int64_t>;

  mlir::Type real() { return b.getF32Type(); }
  mlir::Type whole() { return b.getI64Type(); }
  static llvm::ArrayRef<int64_t> shapeOf(Value v);
  static bool isReal(Value v);
  static std::optional<Shape> broadcast(llvm::ArrayRef<int64_t> x,
                                        llvm::ArrayRef<int64_t> y);

  /// result[i…] = body(scalars of `operands`), dimensions of `shape` first,
  /// then those of `reduced`. With reduced dimensions or an initial value the
  /// body's last argument is the result so far, which `init` begins.
  Value loop(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> reduced,
             mlir::Type element, mlir::TypedAttr init,
             llvm::ArrayRef<Operand> operands, Body body);
  /// result[i…] = body(), which reads by index.
  Value each(llvm::ArrayRef<int64_t> shape, mlir::Type element, Body body) {
    return loop(shape, {}, element, {}, {}, body);
  }
  /// The result is initially `init` and is folded over `reduced`; the body's
  /// only argument is the result so far.
  Value fold(Value init, llvm::ArrayRef<int64_t> reduced, Body body);
  /// Elementwise with NumPy broadcasting, which the shapes must allow.
  Value map(llvm::ArrayRef<Value> in, mlir::Type element, Body body);
  /// Folds the flagged axes, which stay with size 1.
  Value reduce(Value in, llvm::ArrayRef<bool> axes, mlir::TypedAttr init,
               Body combine);
  /// Σ x[…,i,k] · y[…,k,j] over broadcast batches. Sums have the elements of x,
  /// or type `sums`, in which `product` then gives the product of two elements.
  Value matmul(Value x, Value y, mlir::Type sums = {}, Body product = {});
  Value reshape(Value v, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value v, llvm::ArrayRef<int64_t> permutation);
  /// The box at `begin` with strides that may be negative.
  Value slice(Value v, llvm::ArrayRef<int64_t> begin,
              llvm::ArrayRef<int64_t> step, llvm::ArrayRef<int64_t> size);
  Value concat(llvm::ArrayRef<Value> parts, int64_t axis);
  /// The same with `low` and `high` more elements of `value` along each axis.
  Value pad(Value v, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
            mlir::TypedAttr value);
  /// Every element as returned by `Scalars::rounded`, in its own loop, which
  /// `dropRounding` finds.
  Value rounded(Value v, mlir::FloatType half);
  /// Repeats along axes of size 1.
  Value expand(Value v, llvm::ArrayRef<int64_t> shape);

  Value max(Value in, llvm::ArrayRef<bool> axes, bool isUnsigned = false);
  Value min(Value in, llvm::ArrayRef<bool> axes, bool isUnsigned = false);
  Value sum(Value in, llvm::ArrayRef<bool> axes);
  Value mean(Value in, llvm::ArrayRef<bool> axes);
  Value softmax(Value in, int64_t axis, bool log);
  /// The index of the largest (or smallest) element along the one flagged
  /// axis, the first or last of equals; i64, the axis stays with size 1.
  Value argMax(Value in, llvm::ArrayRef<bool> axes, bool last,
               bool smallest = false, bool isUnsigned = false);

  mlir::TypedAttr number(double value, mlir::Type element);
  mlir::AffineExpr dim(unsigned i) { return b.getAffineDimExpr(i); }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Whether all that a loop of known size reads and writes by its maps lies
/// within its operands; an error at the loop if not. MLIR's verifier looks at a
/// loop's first and last trip only, and takes (i, j) -> (i - j), say.
llvm::LogicalResult checkAccesses(mlir::linalg::LinalgOp op);
/// The same of all loops in a module that others have written.
llvm::LogicalResult checkAccesses(mlir::ModuleOp module);

/// Removes the loops of `Loops::rounded`: values of float16 and bfloat16
/// tensors are then real, for when another number format replaces theirs.
void dropRounding(mlir::ModuleOp module);
} // namespace rhizome::host
