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

class Rtl_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rtl_Dialect, mnemonic, traits>;

def Rtl_ModuleOp : Rtl_Op<"module", [IsolatedFromAbove, SingleBlock, Symbol,
                                     RegionKindInterface]> {
  let summary = "a module: block arguments are its inputs, rtl.output its outputs";
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
  let arguments = (ins Variadic<AnySignlessInteger>:$outputs);
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
}

def Rtl_InstanceOp : Rtl_Op<"instance"> {
  let summary = "an instance of a module or of a library cell";
  let description = [{
    `parameters` maps names to i64 or string values; `input_names` and
    `output_names` are the callee's port names in the order of operands and results.
  }];
  let arguments = (ins Variadic<AnySignlessInteger>:$inputs, StrAttr:$name,
      StrAttr:$callee, DictionaryAttr:$parameters, StrArrayAttr:$input_names,
      StrArrayAttr:$output_names);
  let results = (outs Variadic<AnySignlessInteger>:$outputs);
  let assemblyFormat =
      "$name $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Rtl_ConstantOp : Rtl_Op<"constant", [Pure]> {
  let summary = "a constant of up to 64 bits";
  let arguments = (ins I64Attr:$value);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Rtl_ConcatOp : Rtl_Op<"concat", [Pure]> {
  let summary = "bits side by side; the first operand lies in the low bits";
  let arguments = (ins Variadic<AnySignlessInteger>:$inputs);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $result)";
}

def Rtl_ExtractOp : Rtl_Op<"extract", [Pure]> {
  let summary = "the result's width of bits from `low` on";
  let arguments = (ins AnySignlessInteger:$input, I64Attr:$low);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$input `from` $low attr-dict `:` functional-type($input, $result)";
}

class Rtl_SumOp<string mnemonic> : Rtl_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins AnySignlessInteger:$lhs, AnySignlessInteger:$rhs);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Rtl_AddOp : Rtl_SumOp<"add"> { let summary = "sum, modulo 2^N"; }
def Rtl_SubOp : Rtl_SumOp<"sub"> { let summary = "difference, modulo 2^N"; }
def Rtl_AndOp : Rtl_SumOp<"and"> { let summary = "bitwise and"; }

def Rtl_SignExtendOp : Rtl_Op<"sign_extend", [Pure]> {
  let summary = "the same two's-complement number in more bits";
  let arguments = (ins AnySignlessInteger:$input);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
  let hasVerifier = 1;
}

def Rtl_AtLeastOp : Rtl_Op<"at_least", [Pure]> {
  let summary = "1 if the input, two's complement or unsigned, is `bound` or more";
  let arguments = (ins AnySignlessInteger:$input, I64Attr:$bound, BoolAttr:$is_signed);
  let results = (outs I1:$result);
  let assemblyFormat = "$input `,` $bound attr-dict `:` type($input)";
}

def Rtl_MuxOp : Rtl_Op<"mux", [Pure, AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "one of two values";
  let arguments = (ins I1:$condition, AnySignlessInteger:$on_true, AnySignlessInteger:$on_false);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($result)";
}

def Rtl_LookupOp : Rtl_Op<"lookup", [Pure]> {
  let summary = "one of constant values, by number";
  let description = [{ - (C1) `values` holds 2^N entries for an index of N bits, N ≤ 12. }];
  let arguments = (ins AnySignlessInteger:$index, DenseI64ArrayAttr:$values);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$index `in` $values attr-dict `:` functional-type($index, $result)";
  let hasVerifier = 1;
}

def Rtl_RegisterOp : Rtl_Op<"register", [AllTypesMatch<["input", "result"]>]> {
  let summary = "the input at the clock's last rising edge; no reset, no enable";
  let arguments = (ins I1:$clock, AnySignlessInteger:$input);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$input `at` $clock attr-dict `:` type($result)";
}

#endif
