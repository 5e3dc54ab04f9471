// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rtl` dialect: how, in gates? Modules, instances of library cells, logic,
// registers and memories.
#ifndef RHIZOME_DIALECT_RTL_TD
#define RHIZOME_DIALECT_RTL_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rtl_Dialect : Dialect {
  let name = "rtl";
  let cppNamespace = "::rhizome::rtl";
  let summary = "hardware modules, printed as SystemVerilog by one emitter";
  let description = [{ Every signal is a signless integer iN. Module bodies are graph regions, so feedback needs no extra construct. The folders define the meaning of logic: with constant operands they give the constant result. }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Rtl_Bits : Type<And<[AnySignlessInteger.predicate,
    CPred<"::llvm::cast<::mlir::IntegerType>($_self).getWidth() > 0">]>,
    "signal of one bit or more", "::mlir::IntegerType">;

def Rtl_MemoryType : TypeDef<Rtl_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "a memory of `depth` words";
  let description = [{
    - (C1) there is at least one word, of at least one bit.

    ```mlir
    rtl.module @storage attributes {input_names = ["clk_i", "a_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %a: i3):
      %m = rtl.memory "storage" : !rtl.memory<6 x i20>
      %x = rtl.read %m[%a] at %clk : !rtl.memory<6 x i20>
      rtl.output %x : i20
    }
    ```
  }];
  let parameters = (ins "int64_t":$depth, "::mlir::IntegerType":$word);
  let assemblyFormat = "`<` $depth `x` $word `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bits of an address, at least one.
    unsigned addressBits();
  }];
}

def Rtl_Predicate : I32EnumAttr<"Predicate", "a comparison of two numbers", [
    I32EnumAttrCase<"Equal", 0, "equal">,
    I32EnumAttrCase<"NotEqual", 1, "not_equal">,
    I32EnumAttrCase<"SignedLess", 2, "signed_less">,
    I32EnumAttrCase<"SignedAtMost", 3, "signed_at_most">,
    I32EnumAttrCase<"UnsignedLess", 4, "unsigned_less">,
    I32EnumAttrCase<"UnsignedAtMost", 5, "unsigned_at_most">]> {
  let cppNamespace = "::rhizome::rtl";
  let genSpecializedAttr = 0;
}
def Rtl_PredicateAttr : EnumAttr<Rtl_Dialect, Rtl_Predicate, "predicate">;

def Rtl_Style : I32EnumAttr<"Style", "where synthesis puts a memory", [
    I32EnumAttrCase<"Distributed", 0, "distributed">,
    I32EnumAttrCase<"Block", 1, "block">,
    I32EnumAttrCase<"Ultra", 2, "ultra">]> {
  let cppNamespace = "::rhizome::rtl";
  let genSpecializedAttr = 0;
}
def Rtl_StyleAttr : EnumAttr<Rtl_Dialect, Rtl_Style, "style">;

def Rtl_NumberAttr : Attr<CPred<"::llvm::isa<::mlir::IntegerAttr>($_self)">,
                          "number of so many bits"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "::mlir::IntegerAttr";
  let convertFromStorage = "$_self";
}

class Rtl_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rtl_Dialect, mnemonic, traits>;

def Rtl_ModuleOp : Rtl_Op<"module", [IsolatedFromAbove, SingleBlock, Symbol,
                                     RegionKindInterface]> {
  let summary = "a module: block arguments are its inputs, rtl.output its outputs";
  let description = [{
    - (C1) one name per input, and every input is a signal.
    - (C2) the body ends with an `rtl.output` of one value per output name.
    - (C3) ports have different names, none empty.

    ```mlir
    rtl.module @swap attributes {input_names = ["a_i", "b_i"], output_names = ["x_o", "y_o"]} {
    ^bb0(%a: i8, %b: i4):
      rtl.output %b, %a : i4, i8
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$input_names,
                       StrArrayAttr:$output_names,
                       OptionalAttr<StrAttr>:$comment);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static mlir::RegionKind getRegionKind(unsigned) { return mlir::RegionKind::Graph; }
  }];
}

def Rtl_OutputOp : Rtl_Op<"output", [Terminator]> {
  let summary = "the values of a module's outputs, or of a circuit in a region";
  let description = [{
    ```mlir
    rtl.module @wire attributes {input_names = ["a_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8):
      rtl.output %a : i8
    }
    ```
  }];
  let arguments = (ins Variadic<Rtl_Bits>:$outputs);
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
}

def Rtl_InstanceOp : Rtl_Op<"instance", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "an instance of a module or of a library cell";
  let description = [{
    `parameters` maps names to i64 or string values; `input_names` and
    `output_names` are the callee's port names in the order of operands and
    results. A callee that is not a module of this file is a library cell.

    - (C1) one port name per operand and per result.
    - (C2) no port is connected twice.
    - (C3) parameters are i64 or strings.
    - (C4) if the callee is an `rtl.module` of this file: it has no parameters,
      and all its ports are connected, with signals of their widths.

    ```mlir
    rtl.module @delayed attributes {input_names = ["clk_i", "a_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %a: i8):
      %q = rtl.instance "u" "rhz_delay"(%clk, %a) {input_names = ["clk_i", "d_i"], output_names = ["q_o"], parameters = {Stages = 2}} : (i1, i8) -> i8
      rtl.output %q : i8
    }
    ```
  }];
  let arguments = (ins Variadic<Rtl_Bits>:$inputs, StrAttr:$name,
      StrAttr:$callee, DictionaryAttr:$parameters, StrArrayAttr:$input_names,
      StrArrayAttr:$output_names);
  let results = (outs Variadic<Rtl_Bits>:$outputs);
  let assemblyFormat =
      "$name $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Rtl_ConstantOp : Rtl_Op<"constant", [Pure, ConstantLike,
                                         AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant";
  let description = [{
    The value is written as a signed or an unsigned number of its bits.

    ```mlir
    rtl.module @five attributes {input_names = [], output_names = ["x_o", "y_o"]} {
      %c = rtl.constant 5 : i3
      %d = rtl.constant 0x123456789abcdef01234 : i80
      rtl.output %c, %d : i3, i80
    }
    ```
  }];
  let arguments = (ins Rtl_NumberAttr:$value);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::llvm::APInt getBits() { return getValue().getValue(); }
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "const ::llvm::APInt &":$value)>,
    // The low bits of the value, sign-extended beyond 64 bits.
    OpBuilder<(ins "::mlir::Type":$type, "int64_t":$value)>];
}

def Rtl_ConcatOp : Rtl_Op<"concat", [Pure]> {
  let summary = "concatenation of bits; the first operand is in the low bits";
  let description = [{
    - (C1) there is an operand, and the result has the sum of the operands' bits.

    ```mlir
    rtl.module @join attributes {input_names = ["a_i", "b_i"], output_names = ["x_o"]} {
    ^bb0(%a: i3, %b: i8):
      %c = rtl.concat %a, %b : (i3, i8) -> i11
      rtl.output %c : i11
    }
    ```
  }];
  let arguments = (ins Variadic<Rtl_Bits>:$inputs);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rtl_ExtractOp : Rtl_Op<"extract", [Pure]> {
  let summary = "the result's width of bits, starting at `low`";
  let description = [{
    - (C1) the bits are in the input.

    ```mlir
    rtl.module @slice attributes {input_names = ["a_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8):
      %s = rtl.extract %a from 3 : (i8) -> i4
      rtl.output %s : i4
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$input, I64Attr:$low);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$input `from` $low attr-dict `:` functional-type($input, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class Rtl_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Rtl_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let description = [{
    Operands and result have one width.

    ```mlir
    rtl.module @sum attributes {input_names = ["a_i", "b_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8, %b: i8):
      %s = rtl.add %a, %b : i8
      %d = rtl.sub %s, %b : i8
      %m = rtl.mul %d, %a : i8
      %c = rtl.and %m, %b : i8
      %o = rtl.or %c, %s : i8
      %x = rtl.xor %o, %d : i8
      rtl.output %x : i8
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$lhs, Rtl_Bits:$rhs);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasFolder = 1;
}
def Rtl_AddOp : Rtl_BinaryOp<"add", [Commutative]> { let summary = "sum, modulo 2^N"; }
def Rtl_SubOp : Rtl_BinaryOp<"sub"> { let summary = "difference, modulo 2^N"; }
def Rtl_MulOp : Rtl_BinaryOp<"mul", [Commutative]> {
  let summary = "product, modulo 2^N, with or without sign";
}
def Rtl_AndOp : Rtl_BinaryOp<"and", [Commutative]> { let summary = "bitwise and"; }
def Rtl_OrOp : Rtl_BinaryOp<"or", [Commutative]> { let summary = "bitwise or"; }
def Rtl_XorOp : Rtl_BinaryOp<"xor", [Commutative]> { let summary = "bitwise exclusive or"; }

def Rtl_NotOp : Rtl_Op<"not", [Pure, SameOperandsAndResultType]> {
  let summary = "every bit inverted";
  let description = [{
    ```mlir
    rtl.module @invert attributes {input_names = ["a_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8):
      %n = rtl.not %a : i8
      rtl.output %n : i8
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$input);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
  let hasFolder = 1;
}

class Rtl_ShiftOp<string mnemonic>
    : Rtl_Op<mnemonic, [Pure, AllTypesMatch<["input", "result"]>]> {
  let description = [{
    The amount is an unsigned number of any width; from the input's width on
    all of the input is shifted out. Shifts by constants are `rtl.extract`
    and `rtl.concat`.

    ```mlir
    rtl.module @shift attributes {input_names = ["a_i", "n_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8, %n: i4):
      %l = rtl.shift_left %a by %n : i8, i4
      %r = rtl.shift_right %l by %n : i8, i4
      %s = rtl.shift_right_signed %r by %n : i8, i4
      rtl.output %s : i8
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$input, Rtl_Bits:$amount);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$input `by` $amount attr-dict `:` type($input) `,` type($amount)";
  let hasFolder = 1;
}
def Rtl_ShiftLeftOp : Rtl_ShiftOp<"shift_left"> {
  let summary = "shift towards the high bits, with zeros shifted in";
}
def Rtl_ShiftRightOp : Rtl_ShiftOp<"shift_right"> {
  let summary = "shift towards the low bits, with zeros shifted in";
}
def Rtl_ShiftRightSignedOp : Rtl_ShiftOp<"shift_right_signed"> {
  let summary = "shift towards the low bits, with copies of the top bit shifted in";
}

def Rtl_CompareOp : Rtl_Op<"compare", [Pure, SameTypeOperands]> {
  let summary = "1 if the predicate holds for two numbers of one width";
  let description = [{
    ```mlir
    rtl.module @less attributes {input_names = ["a_i", "b_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8, %b: i8):
      %x = rtl.compare signed_less %a, %b : i8
      rtl.output %x : i1
    }
    ```
  }];
  let arguments = (ins Rtl_PredicateAttr:$predicate, Rtl_Bits:$lhs, Rtl_Bits:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
}

def Rtl_SignExtendOp : Rtl_Op<"sign_extend", [Pure]> {
  let summary = "the same two's-complement number in more bits";
  let description = [{
    - (C1) the result has as many bits as the input, or more.

    ```mlir
    rtl.module @widen attributes {input_names = ["a_i"], output_names = ["x_o"]} {
    ^bb0(%a: i4):
      %w = rtl.sign_extend %a : (i4) -> i8
      rtl.output %w : i8
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$input);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rtl_AtLeastOp : Rtl_Op<"at_least", [Pure]> {
  let summary = "1 if the input, two's complement or unsigned, is `bound` or more";
  let description = [{
    - (C1) the input can have the value `bound`.

    ```mlir
    rtl.module @compare attributes {input_names = ["a_i"], output_names = ["x_o"]} {
    ^bb0(%a: i4):
      %x = rtl.at_least %a, -3 {is_signed = true} : i4
      rtl.output %x : i1
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$input, I64Attr:$bound, BoolAttr:$is_signed);
  let results = (outs I1:$result);
  let extraClassDeclaration = [{
    /// Whether every input is at least the bound.
    bool isAlways();
  }];
  let assemblyFormat = "$input `,` $bound attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rtl_MuxOp : Rtl_Op<"mux", [Pure, AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "one of two values";
  let description = [{
    ```mlir
    rtl.module @choose attributes {input_names = ["s_i", "a_i", "b_i"], output_names = ["x_o"]} {
    ^bb0(%s: i1, %a: i4, %b: i4):
      %x = rtl.mux %s, %a, %b : i4
      rtl.output %x : i4
    }
    ```
  }];
  let arguments = (ins I1:$condition, Rtl_Bits:$on_true, Rtl_Bits:$on_false);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Rtl_LookupOp : Rtl_Op<"lookup", [Pure]> {
  let summary = "one of several constant values, by index";
  let description = [{
    - (C1) `values` holds 2^N entries for an index of N bits, N ≤ 12.
    - (C2) the result has at most 64 bits, and every entry fits, as a signed or
      an unsigned number.

    ```mlir
    rtl.module @square attributes {input_names = ["a_i"], output_names = ["x_o"]} {
    ^bb0(%a: i2):
      %x = rtl.lookup %a in [0, 1, 4, 9] : (i2) -> i4
      rtl.output %x : i4
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$index, DenseI64ArrayAttr:$values);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$index `in` $values attr-dict `:` functional-type($index, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rtl_RegisterOp : Rtl_Op<"register", [AllTypesMatch<["input", "result"]>,
                                         AttrSizedOperandSegments]> {
  let summary = "the input at the clock's last rising edge";
  let description = [{
    With `enable`, the value is kept at edges at which that is 0. With `reset`, it
    becomes the given constant at edges at which that is 0 (like `rst_ni`),
    enabled or not. Without, the initial value is arbitrary.

    - (C1) a reset and a reset value, of the register's width, occur together.

    ```mlir
    rtl.module @delay attributes {input_names = ["clk_i", "rst_ni", "en_i", "a_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %rst: i1, %en: i1, %a: i4):
      %q = rtl.register %a at %clk : i4
      %r = rtl.register %q at %clk enable %en reset %rst to -3 : i4 : i4
      rtl.output %r : i4
    }
    ```
  }];
  let arguments = (ins I1:$clock, Rtl_Bits:$input, Optional<I1>:$enable,
                       Optional<I1>:$reset, OptionalAttr<Rtl_NumberAttr>:$reset_value);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = [{
    $input `at` $clock (`enable` $enable^)? (`reset` $reset^)? (`to` $reset_value^)?
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$clock, "::mlir::Value":$input)>];
}

def Rtl_MemoryOp : Rtl_Op<"memory"> {
  let summary = "a memory, read and written by rtl.read and rtl.write";
  let description = [{
    Its words are initially `initial`, or arbitrary. All its ports have one
    clock. A read gives the contents before the edge; of two writes to one
    word at one edge the later operation wins. A read at an address from the
    depth on is arbitrary; a write there has no effect. `style` tells synthesis
    where the memory is to be: in LUTs, block RAM or UltraRAM.

    - (C1) `initial` has a value for each word, of its bits.
    - (C2) all ports have the same clock.

    ```mlir
    rtl.module @buffer attributes {input_names = ["clk_i", "we_i", "a_i", "d_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %we: i1, %a: i2, %d: i8):
      %m = rtl.memory "words" initial dense<[1, 2, 3, 4]> : tensor<4xi8> : !rtl.memory<4 x i8>
      rtl.write %d to %m[%a] at %clk enable %we : !rtl.memory<4 x i8>
      %x = rtl.read %m[%a] at %clk : !rtl.memory<4 x i8>
      rtl.output %x : i8
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<ElementsAttr>:$initial,
                       OptionalAttr<Rtl_StyleAttr>:$style);
  let results = (outs Rtl_MemoryType:$memory);
  let assemblyFormat = "$name (`initial` $initial^)? (`style` $style^)? attr-dict `:` qualified(type($memory))";
  let hasVerifier = 1;
}

class Rtl_PortOp<string mnemonic, list<Trait> traits = []>
    : Rtl_Op<mnemonic, !listconcat(traits, [
        TypesMatchWith<"the address numbers the words", "memory", "address",
            "::mlir::IntegerType::get($_self.getContext(), ::llvm::cast<::rhizome::rtl::MemoryType>($_self).addressBits())">])>;

def Rtl_ReadOp : Rtl_PortOp<"read", [
    TypesMatchWith<"the result is a word", "memory", "result",
                   "::llvm::cast<::rhizome::rtl::MemoryType>($_self).getWord()">]> {
  let summary = "a word of a memory, at the clock's last rising edge";
  let description = [{
    The address has the fewest bits that can number all words, at least one. With
    `enable`, the result is kept at edges at which that is 0.

    ```mlir
    rtl.module @rom attributes {input_names = ["clk_i", "en_i", "a_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %en: i1, %a: i2):
      %m = rtl.memory "rom" initial dense<[1, 2, 3]> : tensor<3xi8> : !rtl.memory<3 x i8>
      %x = rtl.read %m[%a] at %clk enable %en : !rtl.memory<3 x i8>
      rtl.output %x : i8
    }
    ```
  }];
  let arguments = (ins Rtl_MemoryType:$memory, Rtl_Bits:$address, I1:$clock,
                       Optional<I1>:$enable);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat =
      "$memory `[` $address `]` `at` $clock (`enable` $enable^)? attr-dict `:` qualified(type($memory))";
}

def Rtl_WriteOp : Rtl_PortOp<"write", [
    TypesMatchWith<"the data is a word", "memory", "data",
                   "::llvm::cast<::rhizome::rtl::MemoryType>($_self).getWord()">]> {
  let summary = "writes a word of a memory at the clock's rising edge";
  let description = [{
    Only at edges at which `enable`, if given, is 1. The address is as for
    `rtl.read`.

    ```mlir
    rtl.module @log attributes {input_names = ["clk_i", "a_i", "d_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %a: i9, %d: i8):
      %m = rtl.memory "log" : !rtl.memory<300 x i8>
      rtl.write %d to %m[%a] at %clk : !rtl.memory<300 x i8>
      %x = rtl.read %m[%a] at %clk : !rtl.memory<300 x i8>
      rtl.output %x : i8
    }
    ```
  }];
  let arguments = (ins Rtl_MemoryType:$memory, Rtl_Bits:$address, Rtl_Bits:$data,
                       I1:$clock, Optional<I1>:$enable);
  let assemblyFormat =
      "$data `to` $memory `[` $address `]` `at` $clock (`enable` $enable^)? attr-dict `:` qualified(type($memory))";
}

def Rtl_FileOp : Rtl_Op<"file"> {
  let summary = "a file of SystemVerilog";
  let description = [{
    The text that emission has printed for the modules next to it.

    - (C1) the name is a file name without folders, and the text is not
      empty.

    ```mlir
    module {
    rtl.file "top.sv" "module top; endmodule"
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$text);
  let assemblyFormat = "$name $text attr-dict";
  let hasVerifier = 1;
}

#endif
