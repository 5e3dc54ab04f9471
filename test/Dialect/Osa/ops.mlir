// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<1x5x5x2x!num.int<u4>>) -> tensor<1x3x3x4x!num.int<u4>> {
  // CHECK: osa.constant {value = dense<1> : tensor<4x3x3x2xi8>} : () -> tensor<4x3x3x2x!num.int<s4, 1:1>>
  %w = osa.constant {value = dense<1> : tensor<4x3x3x2xi8>} : () -> tensor<4x3x3x2x!num.int<s4, 1:1>>
  %b = osa.constant {value = dense<[1, 2, 3, 4]> : tensor<4xi8>} : () -> tensor<4x!num.int<u3, 1:4>>
  // CHECK: osa.conv2d %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
  %c = osa.conv2d %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4, 1:1>>, tensor<4x!num.int<u3, 1:4>>) -> tensor<1x3x3x4x!num.int<u9, 1:274>>
  // CHECK: osa.requantize %{{.*}} {multiplier = array<i64: 3>, offset = array<i64: 8, 9, 10, 11>, shift = 4 : i64, ties_even = true}
  %q = osa.requantize %c {multiplier = array<i64: 3>, offset = array<i64: 8, 9, 10, 11>, shift = 4 : i64, ties_even = true}
      : (tensor<1x3x3x4x!num.int<u9, 1:274>>) -> tensor<1x3x3x4x!num.int<u4>>
  return %q : tensor<1x3x3x4x!num.int<u4>>
}

// CHECK-LABEL: func.func @grouped
func.func @grouped(%x: tensor<1x8x8x4x!num.int<s8>>, %w: tensor<4x3x3x1x!num.int<s8>>) {
  // CHECK: osa.conv2d {{.*}}groups = 4 : i64, pad_value = 7 : i64
  %c = osa.conv2d %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 2, 1>, groups = 4 : i64, pad_value = 7 : i64}
      : (tensor<1x8x8x4x!num.int<s8>>, tensor<4x3x3x1x!num.int<s8>>) -> tensor<1x4x8x4x!num.int<s20>>
  return
}

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<1x3x!num.int<s8>>, %w: tensor<5x3x!num.int<s8>>) {
  // CHECK: osa.dense %{{.*}}, %{{.*}} : (tensor<1x3x!num.int<s8>>, tensor<5x3x!num.int<s8>>) -> tensor<1x5x!num.int<s18>>
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<s8>>, tensor<5x3x!num.int<s8>>) -> tensor<1x5x!num.int<s18>>
  return
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // CHECK: osa.max_pool
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
  // CHECK: osa.sum_pool {{.*}}position_scale = array<i64: 1, 2, 2, 1>{{.*}}zero = 3 : i64
  %s = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, zero = 3 : i64, position_scale = array<i64: 1, 2, 2, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<s12>>
  return
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<1x2x!num.int<u2>>) {
  // CHECK: osa.threshold %{{.*}} {base = -1 : i64, step = 2 : i64, thresholds = dense<{{.*}}> : tensor<2x1xi64>}
  %t = osa.threshold %x {thresholds = dense<[[1], [2]]> : tensor<2x1xi64>, base = -1 : i64, step = 2 : i64}
      : (tensor<1x2x!num.int<u2>>) -> tensor<1x2x!num.int<s2, -1:1>>
  // CHECK: osa.table %{{.*}} {values = dense<{{.*}}> : tensor<1x4xi64>}
  %l = osa.table %x {values = dense<[[3, 1, 0, 2]]> : tensor<1x4xi64>}
      : (tensor<1x2x!num.int<u2>>) -> tensor<1x2x!num.int<u2>>
  // CHECK: osa.scaled_add %{{.*}}, %{{.*}} {rhs_multiplier = -3 : i64}
  %a = osa.scaled_add %x, %l {rhs_multiplier = -3 : i64}
      : (tensor<1x2x!num.int<u2>>, tensor<1x2x!num.int<u2>>) -> tensor<1x2x!num.int<s5, -9:3>>
  return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<1x2x3x!num.int<u2>>) {
  // CHECK: osa.concat %{{.*}}, %{{.*}} {axis = 2 : i64}
  %c = osa.concat %x, %x {axis = 2 : i64} : (tensor<1x2x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x6x!num.int<u2>>
  // CHECK: osa.reshape
  %r = osa.reshape %x : (tensor<1x2x3x!num.int<u2>>) -> tensor<6x!num.int<u2>>
  // CHECK: osa.transpose %{{.*}} {permutation = array<i64: 0, 2, 1>}
  %t = osa.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x3x2x!num.int<u2>>
  // CHECK: osa.pad %{{.*}} {high = array<i64: 0, 0, 1>, low = array<i64: 0, 2, 0>, value = 3.000000e+00 : f64}
  %p = osa.pad %x {low = array<i64: 0, 2, 0>, high = array<i64: 0, 0, 1>, value = 3.0} : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x4x4x!num.int<u2>>
  // CHECK: osa.gather %{{.*}} {axis = 2 : i64, indices = array<i64: 2, 0, 0, 1>}
  %g = osa.gather %x {axis = 2 : i64, indices = array<i64: 2, 0, 0, 1>} : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x4x!num.int<u2>>
  // CHECK: osa.scaled_max %{{.*}}, %{{.*}} {rhs_offset = -1 : i64}
  %m = osa.scaled_max %x, %x {rhs_offset = -1 : i64} : (tensor<1x2x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x3x!num.int<u2>>
  %l = osa.reshape %x : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x1x3x!num.int<u2>>
  // CHECK: osa.matmul %{{.*}}, %{{.*}} {rhs_axes = array<i64: 1, 2, 0>, rhs_zero = 1 : i64}
  %mm = osa.matmul %l, %x {rhs_axes = array<i64: 1, 2, 0>, rhs_zero = 1 : i64} : (tensor<1x2x1x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x1x1x!num.int<s6, -9:18>>
  // CHECK: osa.product %{{.*}}, %{{.*}} {lhs_zero = 1 : i64}
  %q = osa.product %x, %x {lhs_zero = 1 : i64} : (tensor<1x2x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x3x!num.int<s4, -3:6>>
  return
}

// CHECK-LABEL: func.func @reals
func.func @reals(%x: tensor<1x4x4x2xf32>, %y: tensor<2xf32>) -> tensor<1x4x4xi64> {
  // CHECK: osa.quantize %{{.*}} rounding(half_up) {axis = 3 : i64, scale = dense<{{.*}}> : tensor<2xf32>, zero_point = dense<{{.*}}> : tensor<2xi64>}
  %q = osa.quantize %x rounding(half_up) {scale = dense<[0.5, 0.25]> : tensor<2xf32>, zero_point = dense<[0, 3]> : tensor<2xi64>, axis = 3 : i64}
      : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2x!num.int<u8>>
  // CHECK: osa.dequantize
  %d = osa.dequantize %q {scale = dense<[0.5, 0.25]> : tensor<2xf32>, zero_point = dense<[0, 3]> : tensor<2xi64>, axis = 3 : i64}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.add
  %a = osa.add %d, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.sub
  %s = osa.sub %a, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.mul
  %m = osa.mul %s, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.div
  %v = osa.div %m, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.batch_norm
  %b = osa.batch_norm %v {gamma = dense<1.0> : tensor<2xf32>, beta = dense<0.0> : tensor<2xf32>, mean = dense<0.5> : tensor<2xf32>, variance = dense<2.0> : tensor<2xf32>, epsilon = 1.0e-05 : f32}
      : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.relu
  %r = osa.relu %b : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.leaky_relu %{{.*}} {alpha = 1.000000e-01 : f32}
  %l = osa.leaky_relu %r {alpha = 0.1 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.clip %{{.*}} {max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}
  %c = osa.clip %l {min = 0.0 : f32, max = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.avg_pool {{.*}}count_include_pad = false
  %p = osa.avg_pool %c {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, count_include_pad = false}
      : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.unary tanh %{{.*}} : (
  %u = osa.unary tanh %p : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.softmax %{{.*}} {axis = 3 : i64, log = true}
  %f = osa.softmax %u {axis = 3 : i64, log = true} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: osa.arg_max %{{.*}} {axis = 3 : i64, keepdims = false}
  %i = osa.arg_max %f {axis = 3 : i64, keepdims = false} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4xi64>
  return %i : tensor<1x4x4xi64>
}

// ONNX's rounding is not printed, others are; every function of osa.unary.
// CHECK-LABEL: func.func @enumerations
func.func @enumerations(%x: tensor<2xf32>) {
  // CHECK: osa.quantize %{{[^ ]*}} {
  %q0 = osa.quantize %x rounding(half_even) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(half_down) {
  %q1 = osa.quantize %x rounding(half_down) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(half_away) {
  %q2 = osa.quantize %x rounding(half_away) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(half_toward_zero) {
  %q3 = osa.quantize %x rounding(half_toward_zero) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(toward_zero) {
  %q4 = osa.quantize %x rounding(toward_zero) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(away_from_zero) {
  %q5 = osa.quantize %x rounding(away_from_zero) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(up) {
  %q6 = osa.quantize %x rounding(up) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(down) {
  %q7 = osa.quantize %x rounding(down) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.quantize %{{.*}} rounding(sign) {
  %q8 = osa.quantize %x rounding(sign) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  // CHECK: osa.unary abs %
  %abs = osa.unary abs %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary erf %
  %erf = osa.unary erf %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary exp %
  %exp = osa.unary exp %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary gelu %
  %gelu = osa.unary gelu %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary hardswish %
  %hardswish = osa.unary hardswish %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary log %
  %log = osa.unary log %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary mish %
  %mish = osa.unary mish %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary neg %
  %neg = osa.unary neg %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary reciprocal %
  %reciprocal = osa.unary reciprocal %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary sigmoid %
  %sigmoid = osa.unary sigmoid %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary softplus %
  %softplus = osa.unary softplus %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary softsign %
  %softsign = osa.unary softsign %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary sqrt %
  %sqrt = osa.unary sqrt %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: osa.unary tanh %
  %tanh = osa.unary tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// What is computed along rows; `centered` and `zero` are printed if they are
// not the usual ones.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<2x4xf32>, %q: tensor<2x4x!num.int<u2>>) {
  // CHECK: osa.normalize %{{.*}} {epsilon = {{.*}} : f32}
  %n = osa.normalize %x {epsilon = 1.0e-05 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: osa.row_softmax %{{.*}} {exponentials = array<i64: 9, 3, 1, 0>, numerator = 40 : i64, shift = 1 : i64}
  %s = osa.row_softmax %q {exponentials = array<i64: 9, 3, 1, 0>, numerator = 40 : i64, shift = 1 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u8>>
  // CHECK: osa.row_norm %{{.*}} {centered = false, epsilon = 2 : i64, fraction = 0 : i64, zero = 1 : i64}
  %r = osa.row_norm %q {centered = false, zero = 1 : i64, epsilon = 2 : i64, fraction = 0 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<s3, -3:3>>
  return
}
