// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `num` dialect: in which numbers? Element types that contain signedness,
// width and the range of values that can occur; formats of kernels and the
// arithmetic in them. Rounding and overflow belong to operations, never to a
// type.
#ifndef RHIZOME_DIALECT_NUM_TD
#define RHIZOME_DIALECT_NUM_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Num_Dialect : Dialect {
  let name = "num";
  let cppNamespace = "::rhizome::num";
  let summary = "number formats of tensor elements";
  let description = [{
    Element types for tensors of `osa` and streams of `flow`. They are erased to
    signless integers before `linalg`.

    In kernels `!num.fixed` and `!num.float` are element types of `linalg` on
    tensors, and the scalar operations below are in its bodies.
    `convert-num-to-arith` turns them into integers and integer arithmetic.
  }];
  let useDefaultTypePrinterParser = 1;
}

def Num_Int : TypeDef<Num_Dialect, "Int"> {
  let mnemonic = "int";
  let summary = "an integer with signedness, width and range of values";
  let description = [{
    `!num.int<s8>` is an 8-bit two's-complement integer with any value,
    `!num.int<u4>` an unsigned one, `!num.int<s8, -127:127>` one whose values are
    in the given closed range.

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
    /// Sign and width, without the range.
    numeric::Format getFormat() const {
      return numeric::Format::integer(int(getWidth()), getIsSigned());
    }
    /// True if the range is all that the width can hold.
    bool isFullRange() const;
    bool contains(int64_t value) const {
      return getLo() <= value && value <= getHi();
    }
  }];
}

def Num_Fixed : TypeDef<Num_Dialect, "Fixed"> {
  let mnemonic = "fixed";
  let summary = "a fixed-point number";
  let description = [{
    `!num.fixed<24, 40>` has 24 integer bits, including the sign, and 40
    fraction bits; `!num.fixed<8, 8, unsigned>` has no sign. Either count may be
    negative.

    Constraints:
    - (C1) the width, integer plus fraction bits, is in 1..128; fraction bits
      are in -128..256.
  }];
  let parameters = (ins "int":$integerBits, "int":$fractionBits,
                        "bool":$isSigned);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    numeric::Format getFormat() const;
  }];
}

def Num_CustomFloat : TypeDef<Num_Dialect, "CustomFloat"> {
  let mnemonic = "float";
  let summary = "a floating-point number of any widths";
  let description = [{
    `!num.float<5, 10>` has 5 exponent and 10 mantissa bits and is IEEE 754's
    half. `bias = 9` gives another exponent bias, `flush` a format without
    subnormal numbers, `finite` one without infinities and NaN, whose highest
    exponent is another binade of numbers.

    Constraints:
    - (C1) exponent bits are in 2..15, mantissa bits at least 1, the width with
      the sign at most 64, the bias in -65536..65536.
  }];
  let parameters = (ins "int":$exponentBits, "int":$mantissaBits, "int":$bias,
                        "bool":$subnormals, "bool":$finite);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    numeric::Format getFormat() const;
  }];
}

// The directions of IEEE 754.
def Num_Rounding : I32EnumAttr<"Rounding", "direction of rounding", [
    I32EnumAttrCase<"NearestEven", 0, "nearest_even">, // ties to the even one
    I32EnumAttrCase<"NearestAway", 1, "nearest_away">, // ties away from 0
    I32EnumAttrCase<"TowardZero", 2, "toward_zero">,
    I32EnumAttrCase<"Up", 3, "up">,
    I32EnumAttrCase<"Down", 4, "down">]> {
  let cppNamespace = "::rhizome::num";
}

def Num_Overflow : I32EnumAttr<"Overflow", "treatment of too large results", [
    I32EnumAttrCase<"Wrap", 0, "wrap">,         // modulo 2^width
    I32EnumAttrCase<"Saturate", 1, "saturate">, // the nearest number
    I32EnumAttrCase<"Infinity", 2, "infinity"> // as IEEE 754 defines
  ]> {
  let cppNamespace = "::rhizome::num";
}

// The orders of two numbers for which a comparison holds, by their bits: less,
// equal, greater, unordered.
def Num_Predicate : I32EnumAttr<"Predicate", "comparison of two numbers", [
    I32EnumAttrCase<"OLT", 1, "olt">, I32EnumAttrCase<"OEQ", 2, "oeq">,
    I32EnumAttrCase<"OLE", 3, "ole">, I32EnumAttrCase<"OGT", 4, "ogt">,
    I32EnumAttrCase<"ONE", 5, "one">, I32EnumAttrCase<"OGE", 6, "oge">,
    I32EnumAttrCase<"ORD", 7, "ord">, I32EnumAttrCase<"UNO", 8, "uno">,
    I32EnumAttrCase<"ULT", 9, "ult">, I32EnumAttrCase<"UEQ", 10, "ueq">,
    I32EnumAttrCase<"ULE", 11, "ule">, I32EnumAttrCase<"UGT", 12, "ugt">,
    I32EnumAttrCase<"UNE", 13, "une">, I32EnumAttrCase<"UGE", 14, "uge">]> {
  let cppNamespace = "::rhizome::num";
}

def Num_Number : AnyTypeOf<[Num_Fixed, Num_CustomFloat],
                           "a number in a format">;
def Num_Castable : AnyTypeOf<[Num_Fixed, Num_CustomFloat, F64, F32],
                             "a number in a format, f64 or f32">;

class Num_Op<string mnemonic, list<Trait> traits = []>
    : Op<Num_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

class Num_Arith<string mnemonic, string what, dag operands, string syntax>
    : Num_Op<mnemonic, [SameOperandsAndResultType]> {
  let summary = what;
  let description = !strconcat(what, [{; the exact result is rounded once.

    Constraints:
    - (C1) fixed point wraps or saturates; floats go to infinity or saturate,
      finite ones always saturate.

    ```mlir
    func.func @arithmetic(%a: !num.fixed<8, 8>, %b: !num.fixed<8, 8>) {
      %s = num.add %a, %b rounding(up) overflow(wrap) : !num.fixed<8, 8>
      %f = num.fma %a, %b, %s rounding(nearest_even) overflow(saturate) : !num.fixed<8, 8>
      %r = num.sqrt %f rounding(toward_zero) overflow(saturate) : !num.fixed<8, 8>
      return
    }
    ```
  }]);
  let arguments = !con(operands, (ins Num_Rounding:$rounding,
                                      Num_Overflow:$overflow));
  let results = (outs Num_Number:$result);
  let assemblyFormat = !strconcat(syntax, [{
    `rounding` `(` $rounding `)` `overflow` `(` $overflow `)` attr-dict
    `:` type($result)
  }]);
}

class Num_Unary<string mnemonic, string what>
    : Num_Arith<mnemonic, what, (ins Num_Number:$operand), "$operand">;
class Num_Binary<string mnemonic, string what>
    : Num_Arith<mnemonic, what, (ins Num_Number:$lhs, Num_Number:$rhs),
                "$lhs `,` $rhs">;

def Num_AddOp : Num_Binary<"add", "the sum">;
def Num_SubOp : Num_Binary<"sub", "the difference">;
def Num_MulOp : Num_Binary<"mul", "the product">;
def Num_DivOp : Num_Binary<"div", "the quotient">;
def Num_MinOp : Num_Binary<"min", "the lesser, NaN if either is">;
def Num_MaxOp : Num_Binary<"max", "the greater, NaN if either is">;
def Num_FmaOp : Num_Arith<"fma", "a product plus a third number",
  (ins Num_Number:$lhs, Num_Number:$rhs, Num_Number:$addend),
  "$lhs `,` $rhs `,` $addend">;
def Num_SqrtOp : Num_Unary<"sqrt", "the square root">;
def Num_ExpOp : Num_Unary<"exp", "e to the operand, within one unit">;
def Num_LogOp : Num_Unary<"log", "the natural logarithm, within one unit">;
def Num_NegOp : Num_Unary<"neg", "the operand with the other sign">;
def Num_AbsOp : Num_Unary<"abs", "the magnitude">;

def Num_CompareOp
    : Op<Num_Dialect, "compare", [Pure, SameTypeOperands]> {
  let summary = "a comparison of two numbers";
  let description = [{
    1 if the predicate, one of those of `arith.cmpf`, holds. If either operand
    is NaN, ordered ones (`olt`) do not hold and unordered ones (`ult`) do; in
    formats without NaN both are the same. −0 is equal to 0. `arith.select`
    chooses by the result.

    ```mlir
    func.func @relu(%a: !num.fixed<8, 8>, %zero: !num.fixed<8, 8>) -> !num.fixed<8, 8> {
      %c = num.compare olt, %a, %zero : !num.fixed<8, 8>
      %r = arith.select %c, %zero, %a : !num.fixed<8, 8>
      return %r : !num.fixed<8, 8>
    }
    ```
  }];
  let arguments = (ins Num_Predicate:$predicate, Num_Number:$lhs,
                       Num_Number:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)
  }];
}

def Num_CastOp : Num_Op<"cast"> {
  let summary = "a number in another format";
  let description = [{
    Converts between formats, f64 and f32, rounding once. A NaN becomes zero
    if the format has none; an infinity saturates or, wrapped, is zero.

    ```mlir
    %a = arith.constant 0.5 : f64
    %b = num.cast %a rounding(nearest_even) overflow(saturate) : f64 to !num.fixed<8, 24>
    ```

    Constraints:
    - (C1) as for arithmetic: the result's format has the overflow named; f64
      and f32 go to infinity.
  }];
  let arguments = (ins Num_Castable:$operand, Num_Rounding:$rounding,
                       Num_Overflow:$overflow);
  let results = (outs Num_Castable:$result);
  let assemblyFormat = [{
    $operand `rounding` `(` $rounding `)` `overflow` `(` $overflow `)` attr-dict
    `:` type($operand) `to` type($result)
  }];
}

#endif
