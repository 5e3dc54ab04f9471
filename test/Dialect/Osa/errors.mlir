// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics
// One case per message of the verifiers in lib/Dialect/Osa/Osa.cpp. A message
// begins with the number of the constraint in Osa.td that is broken.

func.func @constant_c1() {
  // expected-error@+1 {{'osa.constant' op C1: value and result differ in shape}}
  %c = osa.constant {value = dense<1> : tensor<2xi8>} : () -> tensor<3x!num.int<u1>>
  return
}

// -----

func.func @conv2d_c1_rank(%x: tensor<5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C1: expects an input [1,H,W,C] and weights of rank 4}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c1_bias(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>, %b: tensor<3x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C1: the bias is 'tensor<3x!num.int<s4>>', expected shape [4]}}
  %c = osa.conv2d %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>, tensor<3x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c2_strides(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C2: strides must be two positive values}}
  %c = osa.conv2d %x, %w {strides = array<i64: 0, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c2_dilations(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C2: dilations must be two positive values}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c2_pads(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C2: pads must be four values ≥ 0}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, -1, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c3(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C3: groups = 2 does not divide 2 input channels into weights of 2}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c4(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C4: the output is 'tensor<1x3x3x4x!num.int<s12>>', expected shape [1, 2, 3, 4]}}
  %c = osa.conv2d %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @dense_c1(%x: tensor<1x3x!num.int<u4>>, %w: tensor<5x4x!num.int<s4>>) {
  // expected-error@+1 {{'osa.dense' op C1: the input's last axis and the weights' differ}}
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<5x4x!num.int<s4>>) -> tensor<1x5x!num.int<s12>>
  return
}

// -----

func.func @dense_c1_bias(%x: tensor<1x3x!num.int<u4>>, %w: tensor<5x3x!num.int<s4>>, %b: tensor<1x!num.int<s4>>) {
  // expected-error@+1 {{'osa.dense' op C1: the bias is 'tensor<1x!num.int<s4>>', expected shape [5]}}
  %d = osa.dense %x, %w, %b : (tensor<1x3x!num.int<u4>>, tensor<5x3x!num.int<s4>>, tensor<1x!num.int<s4>>) -> tensor<1x5x!num.int<s12>>
  return
}

// -----

func.func @dense_c1_output(%x: tensor<1x3x!num.int<u4>>, %w: tensor<5x3x!num.int<s4>>) {
  // expected-error@+1 {{'osa.dense' op C1: the output is 'tensor<1x3x!num.int<s12>>', expected shape [1, 5]}}
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<5x3x!num.int<s4>>) -> tensor<1x3x!num.int<s12>>
  return
}

// -----

func.func @max_pool_c1(%x: tensor<4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C1: expects an input [1,H,W,C] and a kernel of two positive values}}
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<4x4x2x!num.int<u8>>) -> tensor<2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c1_kernel(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C1: expects an input [1,H,W,C] and a kernel of two positive values}}
  %m = osa.max_pool %x {kernel = array<i64: 0, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c2(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C2: a window holds no position of the input}}
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x3x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_output(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op the output is 'tensor<1x2x3x2x!num.int<u8>>', expected shape [1, 2, 2, 2]}}
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x3x2x!num.int<u8>>
  return
}

// -----

func.func @avg_pool_c2(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{'osa.avg_pool' op C2: strides must be two positive values}}
  %m = osa.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = true}
      : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @sum_pool_c1(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.sum_pool' op C1: position_scale holds 3 values for 4 positions}}
  %s = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, position_scale = array<i64: 1, 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u12>>
  return
}

// -----

func.func @sum_pool_c1_positive(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.sum_pool' op C1: position_scale must be positive}}
  %s = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, position_scale = array<i64: 1, 0, 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u12>>
  return
}

// -----

func.func @concat_axis(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op the axis is out of range}}
  %c = osa.concat %x, %x {axis = 2 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @concat_rank(%x: tensor<1x3x!num.int<u2>>, %y: tensor<3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op the inputs differ in rank}}
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<3x!num.int<u2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @concat_other(%x: tensor<1x3x!num.int<u2>>, %y: tensor<2x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op the inputs differ outside the axis}}
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<2x3x!num.int<u2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @concat_sum(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op the output's axis is not the sum}}
  %c = osa.concat %x, %x {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x5x!num.int<u2>>
  return
}

// -----

func.func @reshape(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.reshape' op input and output differ in the number of elements}}
  %r = osa.reshape %x : (tensor<1x3x!num.int<u2>>) -> tensor<4x!num.int<u2>>
  return
}

// -----

func.func @transpose_axis(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op the permutation names an axis out of range}}
  %t = osa.transpose %x {permutation = array<i64: 0, 2>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x1x!num.int<u2>>
  return
}

// -----

func.func @transpose_output(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op the output is 'tensor<1x3x!num.int<u2>>', expected shape [3, 1]}}
  %t = osa.transpose %x {permutation = array<i64: 1, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @gather_axis(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.gather' op C1: the axis is out of range}}
  %g = osa.gather %x {axis = 2 : i64, indices = array<i64: 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @gather_index(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.gather' op C2: the index 3 is not below 3}}
  %g = osa.gather %x {axis = 1 : i64, indices = array<i64: 0, 3>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x2x!num.int<u2>>
  return
}

// -----

func.func @multi_threshold_count(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.multi_threshold' op C1: thresholds must have rank 2, and the result hold their number}}
  %t = osa.multi_threshold %x {thresholds = dense<0.0> : tensor<1x4xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @multi_threshold_order(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.multi_threshold' op C1: the thresholds of a channel must be finite and ascend}}
  %t = osa.multi_threshold %x {thresholds = dense<[[1.0, 0.0]]> : tensor<1x2xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @pad_rank(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op low and high need one value per axis}}
  %p = osa.pad %x {low = array<i64: 1>, high = array<i64: 0, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<2x3x!num.int<u2>>
  return
}

// -----

func.func @pad_negative(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op low and high must not be negative}}
  %p = osa.pad %x {low = array<i64: 0, -1>, high = array<i64: 0, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x2x!num.int<u2>>
  return
}

// -----

func.func @pad_output(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op the output is 'tensor<1x3x!num.int<u2>>', expected shape [1, 5]}}
  %p = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 1>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @quantize_c1(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C1: the scale 0.000000e+00 is not positive and finite}}
  %q = osa.quantize %x {scale = dense<0.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @quantize_elements(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op the output's elements must be !num.int}}
  %q = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @quantize_output(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op the output is 'tensor<4x!num.int<u8>>', expected shape [3]}}
  %q = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<4x!num.int<u8>>
  return
}

// -----

func.func @dequantize_c1(%x: tensor<3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.dequantize' op C1: the scale -1.0}}
  %q = osa.dequantize %x {scale = dense<-1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}

// -----

func.func @dequantize_elements(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.dequantize' op the input's elements must be !num.int}}
  %q = osa.dequantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @add_broadcast(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{'osa.add' op the operands' shapes do not broadcast}}
  %a = osa.add %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @mul_output(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'osa.mul' op the output is 'tensor<3xf32>', expected shape [2, 3]}}
  %a = osa.mul %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @relu_output(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'osa.relu' op the output is 'tensor<3x2xf32>', expected shape [2, 3]}}
  %r = osa.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @requantise_c1_count(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantise' op C1: 2 values for 3 channels}}
  %q = osa.requantise %x {multiplier = array<i64: 1, 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantise_c1_shift(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantise' op C1: the shift 63 is not in 0..62}}
  %q = osa.requantise %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 63 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantise_c1_ties(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantise' op C1: ties_even needs a shift of at least 1}}
  %q = osa.requantise %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 0 : i64, ties_even = true} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantise_c2(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantise' op C2: the product does not fit 63 bits}}
  %q = osa.requantise %x {multiplier = array<i64: 4611686018427387904>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantise_elements(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.requantise' op input and output need !num.int elements}}
  %q = osa.requantise %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @threshold_c1_rank(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C1: thresholds must have rank 2}}
  %t = osa.threshold %x {thresholds = dense<1> : tensor<3xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_c1_count(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C1: 2 values for 3 channels}}
  %t = osa.threshold %x {thresholds = dense<1> : tensor<2x1xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_c1_order(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C1: the thresholds of a channel must ascend}}
  %t = osa.threshold %x {thresholds = dense<[[5, 7], [3, 3], [2, 1]]> : tensor<3x2xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @table_c1(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.table' op C1: the table needs one entry per input value}}
  %t = osa.table %x {values = dense<1> : tensor<1x3xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @scaled_add(%x: tensor<1x3x!num.int<u2>>, %y: tensor<3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.scaled_add' op the right operand is 'tensor<3x!num.int<u2>>', expected shape [1, 3]}}
  %a = osa.scaled_add %x, %y : (tensor<1x3x!num.int<u2>>, tensor<3x!num.int<u2>>) -> tensor<1x3x!num.int<u3>>
  return
}
