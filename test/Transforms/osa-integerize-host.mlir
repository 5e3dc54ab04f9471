// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --osa-integerize %s 2>&1 | FileCheck %s
// The weights come from no quantizer: the layer stays on the host, and a remark
// says why. It names the model's node, since a node of an ONNX file has no line.

// CHECK: remark: "fc1" (Gemm): its weights are real numbers that need more than 17 bits
// CHECK: note: quantize the model, or give --calibration DATA or --number-format 'fixed<I,F>'
// CHECK-LABEL: func.func @host0
// CHECK: osa.dense
func.func @main(%x: tensor<1x2xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %xq = osa.quantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2xf32>) -> tensor<1x2x!num.int<s8>>
  %xd = osa.dequantize %xq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<s8>>) -> tensor<1x2xf32>
  %w = osa.constant {value = dense<[[0.1, 0.77], [0.3, 0.123]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %d = osa.dense %xd, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("fc1"("Gemm"))
  %yq = osa.quantize %d {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2xf32>) -> tensor<1x2x!num.int<u8>>
  %y = osa.dequantize %yq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<u8>>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
