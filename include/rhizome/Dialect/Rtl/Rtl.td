// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rtl` dialect: how, in gates? Modules, instances of library cells, wires.
#ifndef RHIZOME_DIALECT_RTL_TD
#define RHIZOME_DIALECT_RTL_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
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

def Rtl_OutputOp : Rtl_Op<"output", [Terminator, ParentOneOf<["ModuleOp"]>]> {
  let summary = "the values of a module's outputs";
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

#endif
