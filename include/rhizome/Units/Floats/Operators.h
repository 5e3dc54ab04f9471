// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point operators in hardware: a pipelined module for each operation
// in a format, with the results of `numeric::Arithmetic`, bit by bit, and what
// a schedule has to know of it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Words.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Numeric/Runtime.h"
#include "rhizome/Solvers/Problem.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace rhizome::gen::floats {
using numeric::Function;
/// "add", "exp" and so on.
llvm::StringRef nameOf(Function function);
/// Functions for which there are operators.
inline constexpr Function kFunctions[] = {
    Function::Add, Function::Sub,  Function::Mul, Function::Fma,
    Function::Div, Function::Sqrt, Function::Exp, Function::Log,
    Function::Min, Function::Max,  Function::Neg, Function::Abs};

/// An operation in a format of floats, or a conversion of which either format
/// is one.
struct Operator {
  Function function = Function::Add;   ///< not of conversions
  numeric::Format format;              ///< of the result
  std::optional<numeric::Format> from; ///< of the operand of a conversion
  numeric::Rounding rounding = numeric::Rounding::NearestEven;
  numeric::Overflow overflow = numeric::Overflow::Infinity;

  Operator(Function function, const numeric::Arithmetic &arithmetic)
      : function(function), format(arithmetic.format()),
        rounding(arithmetic.rounding()), overflow(arithmetic.overflow()) {}
  Operator(const numeric::Format &from, const numeric::Arithmetic &to)
      : Operator(Function::Add, to) {
    this->from = from;
  }
  bool isBuilt() const;
  const numeric::Format &operandFormat() const { return from ? *from : format; }
  /// Operands that it reads, each a pattern of their format.
  unsigned operands() const;
  /// A name of its module, such as `rhz_float_add_e8m23`.
  std::string name() const;
};

/// An operator as a pipeline that takes operands in every cycle.
struct Pipeline {
  rtl::ModuleOp module;
  /// Registers from operands to result.
  int64_t latency = 0;
  /// Logic before the first and after the last register, in 32nds of a level.
  schedule::ChainedProblem::Delay delay;
};

/// The operators of a design. Each is built once.
class Operators {
public:
  /// `pace` is the logic allowed between registers; products are cut to the
  /// device's DSP blocks.
  Operators(mlir::MLIRContext *context, const cost::LogicPace &pace,
            const CostContext &device);

  /// The operator's module has the inputs clk_i, a_i, b_i … and the output x_o.
  /// It has no reset: a result depends on operands of `latency` cycles before
  /// only.
  const Pipeline &of(const Operator &op);

  /// An instance, at the builder's insertion point in a module of `rtl`; the
  /// operator's module is put next to that.
  mlir::Value instance(const Operator &op, mlir::Value clock,
                       mlir::ValueRange operands, mlir::OpBuilder &b,
                       mlir::Location loc);

private:
  cost::LogicPace pace;
  CostContext device;
  mlir::OwningOpRef<mlir::ModuleOp> holder;
  llvm::StringMap<Pipeline> built;
};
} // namespace rhizome::gen::floats
