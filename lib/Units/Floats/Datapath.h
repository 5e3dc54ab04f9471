// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic of `rtl` operations, written down without registers and cut into stages
// afterwards.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Words.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Solvers/Problem.h"
#include "llvm/ADT/DenseMap.h"

namespace rhizome::gen::floats {
/// Builds logic at the end of a block. Numbers are unsigned unless said
/// otherwise, and bit 0 is the lowest.
class Datapath {
public:
  Datapath(mlir::Block *block, mlir::Location loc, const cost::LogicPace &pace,
           const CostContext &device);

  using Value = mlir::Value;
  static int64_t width(Value v) { return v.getType().getIntOrFloatBitWidth(); }
  Value constant(int64_t bits, int64_t value);
  Value constant(int64_t bits, const llvm::APInt &value);
  Value zero(int64_t bits = 1) { return constant(bits, 0); }
  Value ones(int64_t bits = 1) { return constant(bits, -1); }
  /// `bits` bits from `low` on.
  Value extract(Value v, int64_t low, int64_t bits);
  Value bit(Value v, int64_t at) { return extract(v, at, 1); }
  Value top(Value v) { return bit(v, width(v) - 1); }
  /// The parts next to each other, the lowest first.
  Value join(mlir::ValueRange parts);
  /// In more bits, with zeros above.
  Value extend(Value v, int64_t bits);
  /// In more bits, with copies of the top one above.
  Value extendSigned(Value v, int64_t bits);
  /// Copies of one bit.
  Value spread(Value bit, int64_t bits) { return extendSigned(bit, bits); }

  Value both(Value x, Value y);
  Value either(Value x, Value y);
  Value differ(Value x, Value y);
  Value inverse(Value x);
  Value choose(Value condition, Value x, Value y);
  /// 1 if some bit is, if all are.
  Value any(Value v);
  Value all(Value v);
  Value equals(Value v, int64_t value);
  Value isLess(Value x, Value y);
  Value isLessSigned(Value x, Value y);

  /// x + y + carry, modulo 2^width.
  Value add(Value x, Value y, Value carry = Value());
  Value sub(Value x, Value y);
  /// The value of an index, of at most 64 bits.
  Value table(Value index, llvm::ArrayRef<int64_t> values, int64_t bits);
  /// All bits of a product.
  Value multiply(Value x, Value y);

  /// The zeros above the highest one, all if there is none.
  Value leadingZeros(Value v);
  Value shiftLeft(Value v, Value amount);
  /// Shifted to the right; `lost` is 1 if a one was shifted out.
  Value shiftRight(Value v, Value amount, Value &lost);

  /// Puts registers between stages and ends the block with the result; fills in
  /// the latency and the delays before the first and after the last register.
  void finish(Value clock, Value result, int64_t &latency,
              schedule::ChainedProblem::Delay &delay);

private:
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Block *block;
  cost::LogicPace pace;
  CostContext device;
  /// The first operation of a product's: its factors' signs are extended where
  /// it is, behind their registers.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> firstOf;

  mlir::Type bits(int64_t n) { return b.getIntegerType(unsigned(n)); }
  struct Zeros {
    Value isZero;
    Value count; ///< null for one bit
  };
  Zeros countZeros(Value v);
  Value blockOf(Value x, Value y);
  int64_t delayOf(mlir::Operation &op) const;
};
} // namespace rhizome::gen::floats
