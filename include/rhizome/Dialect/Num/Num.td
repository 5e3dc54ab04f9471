// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `num` dialect: in which numbers? Element types that carry signedness,
// width and the range of values that can occur. Rounding and overflow belong
// to operations, never to a type.
#ifndef RHIZOME_DIALECT_NUM_TD
#define RHIZOME_DIALECT_NUM_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Num_Dialect : Dialect {
  let name = "num";
  let cppNamespace = "::rhizome::num";
  let summary = "number formats of tensor elements";
  let description = [{
    Element types for tensors of `osa` and streams of `flow`. They are erased to
    signless integers before `linalg`.
  }];
  let useDefaultTypePrinterParser = 1;
}

def Num_Int : TypeDef<Num_Dialect, "Int"> {
  let mnemonic = "int";
  let summary = "an integer with signedness, width and the range that occurs";
  let description = [{
    `!num.int<s8>` is an 8-bit two's-complement integer with any value,
    `!num.int<u4>` an unsigned one, `!num.int<s8, -127:127>` one whose values lie
    in the closed range given.

    Constraints:
    - (C1) 1 ≤ width ≤ 64; unsigned at most 63.
    - (C2) lo ≤ hi, and both are representable.
  }];
  let parameters = (ins "bool":$isSigned, "unsigned":$width, "int64_t":$lo,
                        "int64_t":$hi);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of every value of `width` bits.
    static IntType getFull(mlir::MLIRContext *context, bool isSigned,
                           unsigned width);
    /// The narrowest type that holds lo..hi, with that range; unsigned if lo ≥ 0.
    static IntType getForRange(mlir::MLIRContext *context, int64_t lo,
                               int64_t hi);
    /// True if the range is all that the width can hold.
    bool isFullRange() const;
    bool contains(int64_t value) const {
      return getLo() <= value && value <= getHi();
    }
  }];
}

#endif
