// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of each scalar operation of arith, math and num, on integers, on
// the processor's reals and on patterns of any format: the single table that
// every evaluation of loops uses.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Interp/Interpreter.h"

namespace rhizome::interp {
/// The representation of a scalar.
enum class Kind : uint8_t { Integer, Single, Double, Pattern };

/// One scalar. Integers of any width, booleans and indices are sign-extended.
union Scalar {
  numeric::Bits pattern = 0;
  int64_t whole;
  double real;
  float single;
};

/// The representation of scalars of a type, or of elements of a tensor type;
/// nothing for types that have no scalars.
std::optional<Kind> kindOf(mlir::Type type);
/// The format of reals: of `num`'s types and of every MLIR float type.
std::optional<numeric::Format> realFormat(mlir::Type type);

/// An operation, ready to run.
struct Meaning {
  using Run = void (*)(Scalar &to, const Scalar &x, const Scalar &y,
                       const Scalar &z, const Meaning &meaning);
  Run run = nullptr;
  unsigned width = 64;   ///< of the first operand, if it is an integer
  unsigned toWidth = 64; ///< of the result, if it is an integer
  unsigned predicate = 0;
  Kind from = Kind::Integer, to = Kind::Integer;
  std::optional<numeric::Arithmetic> arithmetic; ///< of a result in a format
  numeric::Format fromFormat;                    ///< of a cast's operand
  mlir::Operation *op = nullptr;
  OverflowEvent *overflow = nullptr; ///< receives results that do not fit
};

/// Nothing if the operation is unknown.
std::optional<Meaning> meaningOf(mlir::Operation *op,
                                 OverflowEvent *overflow = nullptr);

/// The value of a scalar constant; nothing for other values.
std::optional<Scalar> scalarOf(mlir::arith::ConstantOp op);
/// A real as a scalar of `type`, rounded to nearest even.
Scalar scalarOf(double value, mlir::Type type);

/// The operations with known ranges and derivatives.
enum class Code : uint8_t {
  Input,
  Constant,
  Cast,
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  Fma,
  Sqrt,
  Exp,
  Log,
  Neg,
  Abs
};

/// Nothing for others, and for those on integers.
std::optional<Code> codeOf(mlir::Operation *op);

/// The arithmetic of an operation on reals: its own, or IEEE 754's.
numeric::Arithmetic arithmeticOfAny(mlir::Operation *op);
} // namespace rhizome::interp
