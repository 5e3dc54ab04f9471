// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rtl` dialect: how, in gates? Modules, instances of library cells, wires.
#ifndef RHIZOME_DIALECT_RTL_TD
#define RHIZOME_DIALECT_RTL_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rtl_Dialect : Dialect {
  let name = "rtl";
  let cppNamespace = "::rhizome::rtl";
  let summary = "hardware modules, printed as SystemVerilog by one emitter";
  let description = [{ Every signal is a signless integer iN. Module bodies are graph regions, so that feedback needs no extra construct. }];
}

def Rtl_Bits : Type<And<[AnySignlessInteger.predicate,
    CPred<"::llvm::cast<::mlir::IntegerType>($_self).getWidth() > 0">]>,
    "signal of one bit or more", "::mlir::IntegerType">;

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
    results. A callee that is no module of this file is a cell of the library.

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

def Rtl_ConstantOp : Rtl_Op<"constant", [Pure]> {
  let summary = "a constant of up to 64 bits";
  let description = [{
    In more than 64 bits the value is extended by its sign.

    - (C1) the value fits the result, as a signed or an unsigned number.

    ```mlir
    rtl.module @five attributes {input_names = [], output_names = ["x_o"]} {
      %c = rtl.constant 5 : i3
      rtl.output %c : i3
    }
    ```
  }];
  let arguments = (ins I64Attr:$value);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Rtl_ConcatOp : Rtl_Op<"concat", [Pure]> {
  let summary = "bits side by side; the first operand lies in the low bits";
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
}

def Rtl_ExtractOp : Rtl_Op<"extract", [Pure]> {
  let summary = "the result's width of bits from `low` on";
  let description = [{
    - (C1) the bits lie in the input.

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
}

class Rtl_SumOp<string mnemonic> : Rtl_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let description = [{
    Operands and result have one width.

    ```mlir
    rtl.module @sum attributes {input_names = ["a_i", "b_i"], output_names = ["x_o"]} {
    ^bb0(%a: i8, %b: i8):
      %s = rtl.add %a, %b : i8
      %d = rtl.sub %s, %b : i8
      %c = rtl.and %d, %b : i8
      rtl.output %c : i8
    }
    ```
  }];
  let arguments = (ins Rtl_Bits:$lhs, Rtl_Bits:$rhs);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Rtl_AddOp : Rtl_SumOp<"add"> { let summary = "sum, modulo 2^N"; }
def Rtl_SubOp : Rtl_SumOp<"sub"> { let summary = "difference, modulo 2^N"; }
def Rtl_AndOp : Rtl_SumOp<"and"> { let summary = "bitwise and"; }

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
  let assemblyFormat = "$input `,` $bound attr-dict `:` type($input)";
  let hasVerifier = 1;
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
}

def Rtl_LookupOp : Rtl_Op<"lookup", [Pure]> {
  let summary = "one of constant values, by number";
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
}

def Rtl_RegisterOp : Rtl_Op<"register", [AllTypesMatch<["input", "result"]>]> {
  let summary = "the input at the clock's last rising edge; no reset, no enable";
  let description = [{
    ```mlir
    rtl.module @delay attributes {input_names = ["clk_i", "a_i"], output_names = ["x_o"]} {
    ^bb0(%clk: i1, %a: i4):
      %q = rtl.register %a at %clk : i4
      rtl.output %q : i4
    }
    ```
  }];
  let arguments = (ins I1:$clock, Rtl_Bits:$input);
  let results = (outs Rtl_Bits:$result);
  let assemblyFormat = "$input `at` $clock attr-dict `:` type($result)";
}

def Rtl_FileOp : Rtl_Op<"file"> {
  let summary = "a file of SystemVerilog";
  let description = [{
    What emission made of the modules beside it.

    - (C1) the name is that of a file, without folders, and the text is not
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
