// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-normalize --rhizome-quantize | FileCheck %s --check-prefix=QUANTIZE
// RUN: %opt %s --rhizome-quantize --rhizome-integerize | FileCheck %s --check-prefix=INTEGERIZE
// RUN: %opt %s --rhizome-integerize -o %t.integers.mlir --mlir-print-debuginfo
// RUN: %opt %t.integers.mlir --rhizome-explore -o %t.plan.mlir --mlir-print-debuginfo
// RUN: FileCheck %s --check-prefix=EXPLORE < %t.plan.mlir
// RUN: %opt %t.plan.mlir --rhizome-build -o %t.designs.mlir --mlir-print-debuginfo
// RUN: FileCheck %s --check-prefix=BUILD < %t.designs.mlir
// RUN: %opt %t.designs.mlir --rhizome-lower | FileCheck %s --check-prefix=LOWER
// RUN: %opt %t.designs.mlir --rhizome-lower --rhizome-emit -o %t.text.mlir --mlir-print-debuginfo
// RUN: FileCheck %s --check-prefix=EMIT < %t.text.mlir
// RUN: rm -rf %t.rhz
// RUN: %opt %t.text.mlir --rhizome-package=output=%t.rhz -o /dev/null
// RUN: FileCheck %s --check-prefix=PACKAGE < %t.rhz/plan.json
// RUN: echo "module {}" > %t.empty.mlir
// RUN: %opt %t.empty.mlir --rhizome-import=model=%t.integers.mlir | FileCheck %s --check-prefix=IMPORT
// Each phase alone, run on the output of the one before.

// QUANTIZE: func.func @main
// QUANTIZE: osa.dense

// INTEGERIZE-DAG: func.func @host0
// INTEGERIZE-DAG: func.func @network
// INTEGERIZE-DAG: func.func @host1
// INTEGERIZE-NOT: func.func @main

// EXPLORE: flow.plan "max-throughput" bottleneck
// EXPLORE: flow.node at [0]
// EXPLORE: flow.choice "fc" "dense" 0 takes
// EXPLORE-NOT: flow.design

// BUILD: design = @node0, {{.*}}function = @network, interval_cycles = {{.*}}latency_cycles
// BUILD: flow.design @node0

// LOWER: rtl = @node0_rtl
// LOWER: module @node0_rtl attributes {rhizome.top = "rhz_top"}
// LOWER: rtl.module @rhz_top

// EMIT: rtl.module @rhz_top
// EMIT: rtl.file "rhz_top.sv" "

// PACKAGE: "rhz_top.sv"

// IMPORT: module attributes {{.*}}rhizome.compile = {{.*}}model = "phases.mlir.tmp.integers"
// IMPORT: func.func @network

module attributes {rhizome.compile = {device = "xc7z020", goal = "max-throughput", model = "tiny"}} {
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %xq = osa.quantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>
  %xd = osa.dequantize %xq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>
  %wq = osa.constant {value = dense<[[1, 2, 3, 4], [-1, -2, -3, -4]]> : tensor<2x4xi8>} : () -> tensor<2x4x!num.int<s8>>
  %w = osa.dequantize %wq {scale = dense<0.25> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<2x4x!num.int<s8>>) -> tensor<2x4xf32>
  %d = osa.dense %xd, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32> loc("fc")
  %r = osa.relu %d : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("relu")
  %yq = osa.quantize %r {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2xf32>) -> tensor<1x2x!num.int<u8>> loc("quantize")
  %y = osa.dequantize %yq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<u8>>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
}
