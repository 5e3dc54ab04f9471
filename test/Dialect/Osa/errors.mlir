// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics
// At least one case of each constraint in Osa.td, named after the operation and
// the constraint. A message begins with the constraint's number.

func.func @constant_c1() {
  // expected-error@+1 {{'osa.constant' op C1: value and result differ in shape}}
  %c = osa.constant {value = dense<1> : tensor<2xi8>} : () -> tensor<3x!num.int<u1>>
  return
}

// -----

func.func @constant_c2() {
  // expected-error@+1 {{'osa.constant' op C2: elements of 'f32' can't be of '!num.int<u1>'}}
  %c = osa.constant {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2x!num.int<u1>>
  return
}

// -----

func.func @constant_c2_reals() {
  // expected-error@+1 {{'osa.constant' op C2: elements of 'i8' can't be of 'f32'}}
  %c = osa.constant {value = dense<1> : tensor<2xi8>} : () -> tensor<2xf32>
  return
}

// -----

func.func @constant_c3() {
  // expected-error@+1 {{'osa.constant' op C3: -2 is not a value of '!num.int<s8, -1:1>'}}
  %c = osa.constant {value = dense<[1, -2]> : tensor<2xi8>} : () -> tensor<2x!num.int<s8, -1:1>>
  return
}

// -----

func.func @constant_c3_unsigned() {
  // expected-error@+1 {{'osa.constant' op C3: 255 is not a value of '!num.int<u7>'}}
  %c = osa.constant {value = dense<[1, -1]> : tensor<2xi8>} : () -> tensor<2x!num.int<u7>>
  return
}

// -----

func.func @constant_d1_elided() {
  // expected-error@+1 {{'osa.constant' op D1: value needs 8 bytes for 'tensor<8xi8>', but its resource '__elided__' holds 0; the file was written without it: write it again, with no option that elides large constants}}
  %c = osa.constant {value = dense_resource<__elided__> : tensor<8xi8>} : () -> tensor<8x!num.int<s8>>
  return
}

// -----

func.func @constant_d1_missing() {
  // expected-error@+1 {{'osa.constant' op D1: value needs 8 bytes for 'tensor<8xi8>', but its resource 'w' holds 0}}
  %c = osa.constant {value = dense_resource<w> : tensor<8xi8>} : () -> tensor<8x!num.int<s8>>
  return
}

// -----

func.func @constant_d1_short() {
  // expected-error@+1 {{'osa.constant' op D1: value needs 8 bytes for 'tensor<8xi8>', but its resource 'w' holds 2; the file is damaged: write it again}}
  %c = osa.constant {value = dense_resource<w> : tensor<8xi8>} : () -> tensor<8x!num.int<s8>>
  return
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x010000000102"
    }
  }
#-}

// -----

func.func @constant_d1_long() {
  // expected-error@+1 {{'osa.constant' op D1: value needs 8 bytes for 'tensor<2xf32>', but its resource 'w' holds 12; the file is damaged}}
  %c = osa.constant {value = dense_resource<w> : tensor<2xf32>} : () -> tensor<2xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000803F0000803F"
    }
  }
#-}

// -----

func.func @constant_d1_sparse() {
  // expected-error@+1 {{'osa.constant' op D1: value is 'tensor<4xf32>', which is not dense or has elements other than floats and integers of whole bytes}}
  %c = osa.constant {value = sparse<[[0]], [1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  return
}

// -----

func.func @constant_d1_half() {
  // expected-error@+1 {{'osa.constant' op D1: value has elements of 'f16', which are not read}}
  %c = osa.constant {value = dense<1.0> : tensor<4xf16>} : () -> tensor<4xf32>
  return
}

// -----

func.func @constant_element() {
  // expected-error@+1 {{'osa.constant' op result #0 must be tensor of static shape of f32, !num.int or i64, but got 'tensor<4xf64>'}}
  %c = osa.constant {value = dense<1.0> : tensor<4xf64>} : () -> tensor<4xf64>
  return
}

// -----

func.func @quantize_d1_scale(%x: tensor<4xf32>) {
  // expected-error@+1 {{'osa.quantize' op D1: scale needs 16 bytes for 'tensor<4xf32>', but its resource 's' holds 0}}
  %q = osa.quantize %x {scale = dense_resource<s> : tensor<4xf32>, zero_point = dense<0> : tensor<1xi64>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4x!num.int<u8>>
  return
}

// -----

func.func @quantize_d1_zero_point(%x: tensor<4xf32>) {
  // expected-error@+1 {{'osa.quantize' op D1: zero_point needs 32 bytes for 'tensor<4xi64>', but its resource 'z' holds 0}}
  %q = osa.quantize %x {scale = dense<1.0> : tensor<1xf32>, zero_point = dense_resource<z> : tensor<4xi64>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4x!num.int<u8>>
  return
}

// -----

func.func @batch_norm_d1(%x: tensor<1x4xf32>) {
  // expected-error@+1 {{'osa.batch_norm' op D1: variance needs 16 bytes for 'tensor<4xf32>', but its resource 'v' holds 0}}
  %y = osa.batch_norm %x {gamma = dense<1.0> : tensor<1xf32>, beta = dense<1.0> : tensor<1xf32>, mean = dense<1.0> : tensor<1xf32>, variance = dense_resource<v> : tensor<4xf32>, epsilon = 0.1 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @multi_threshold_d1(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.multi_threshold' op D1: thresholds needs 8 bytes for 'tensor<1x2xf32>', but its resource 't' holds 0}}
  %t = osa.multi_threshold %x {thresholds = dense_resource<t> : tensor<1x2xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_d1(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op D1: thresholds needs 16 bytes for 'tensor<1x2xi64>', but its resource 't' holds 0}}
  %t = osa.threshold %x {thresholds = dense_resource<t> : tensor<1x2xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @table_d1(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.table' op D1: values needs 32 bytes for 'tensor<1x4xi64>', but its resource 't' holds 0}}
  %t = osa.table %x {values = dense_resource<t> : tensor<1x4xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
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

func.func @conv2d_c1_batch(%x: tensor<2x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C1: expects an input [1,H,W,C] and weights of rank 4}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
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

func.func @conv2d_c2_large(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C2: strides must be two positive values}}
  %c = osa.conv2d %x, %w {strides = array<i64: 2147483648, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
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

func.func @conv2d_c2_kernel(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x0x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C2: the kernel is empty or too large}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x0x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
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

func.func @conv2d_c4_empty(%x: tensor<1x2x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C4: a kernel of 3x3 does not fit an input of 2x5}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x2x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x0x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c5(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C5: an operand of '!num.int<u4>' and an output of 'f32' are not of one level}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4xf32>
  return
}

// -----

func.func @conv2d_c6(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  // expected-error@+1 {{'osa.conv2d' op C6: the input can't have the pad_value 16}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, pad_value = 16 : i64}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}

// -----

func.func @conv2d_c6_real(%x: tensor<1x5x5x2xf32>, %w: tensor<4x3x3x2xf32>) {
  // expected-error@+1 {{'osa.conv2d' op C6: the input can't have the pad_value 1}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, pad_value = 1 : i64}
      : (tensor<1x5x5x2xf32>, tensor<4x3x3x2xf32>) -> tensor<1x3x3x4xf32>
  return
}

// -----

func.func @conv2d_dynamic(%x: tensor<1x?x5x2xf32>, %w: tensor<4x3x3x2xf32>) {
  // expected-error@+1 {{'osa.conv2d' op operand #0 must be tensor of static shape of f32 or !num.int, but got 'tensor<1x?x5x2xf32>'}}
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x?x5x2xf32>, tensor<4x3x3x2xf32>) -> tensor<1x3x3x4xf32>
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

func.func @dense_c2(%x: tensor<1x3xf32>, %w: tensor<5x3x!num.int<s4>>) {
  // expected-error@+1 {{'osa.dense' op C2: an operand of 'f32' and an output of '!num.int<s12>' are not of one level}}
  %d = osa.dense %x, %w : (tensor<1x3xf32>, tensor<5x3x!num.int<s4>>) -> tensor<1x5x!num.int<s12>>
  return
}

// -----

func.func @max_pool_c1(%x: tensor<4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C1: expects an input [1,H,W,C] and a kernel of two positive values}}
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<4x4x2x!num.int<u8>>) -> tensor<2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c1_batch(%x: tensor<2x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C1: expects an input [1,H,W,C] and a kernel of two positive values}}
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x4x2x!num.int<u8>>) -> tensor<2x2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c1_kernel(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C1: expects an input [1,H,W,C] and a kernel of two positive values}}
  %y = osa.max_pool %x {kernel = array<i64: 0, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c1_pads(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C1: pads must be four values ≥ 0}}
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c2(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C2: a window holds no position of the input}}
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x3x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c3(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C3: the output is 'tensor<1x2x3x2x!num.int<u8>>', expected shape [1, 2, 2, 2]}}
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x3x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c3_empty(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C3: a kernel of 5x2 does not fit an input of 4x4}}
  %y = osa.max_pool %x {kernel = array<i64: 5, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
  return
}

// -----

func.func @max_pool_c4(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.max_pool' op C4: the output's '!num.int<u4>' does not hold the input's '!num.int<u8>'}}
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u4>>
  return
}

// -----

func.func @avg_pool_c1(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{'osa.avg_pool' op C1: strides must be two positive values}}
  %y = osa.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @avg_pool_c2(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{'osa.avg_pool' op C2: a window holds no position of the input}}
  %y = osa.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x4x4x2xf32>) -> tensor<1x3x2x2xf32>
  return
}

// -----

func.func @avg_pool_c3(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{'osa.avg_pool' op C3: the output is 'tensor<1x2x3x2xf32>', expected shape [1, 2, 2, 2]}}
  %y = osa.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x4x4x2xf32>) -> tensor<1x2x3x2xf32>
  return
}

// -----

func.func @sum_pool_c1(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.sum_pool' op C1: expects an input [1,H,W,C] and a kernel of two positive values}}
  %y = osa.sum_pool %x {kernel = array<i64: 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u12>>
  return
}

// -----

func.func @sum_pool_c2(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.sum_pool' op C2: position_scale holds 3 values for 4 positions}}
  %y = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, position_scale = array<i64: 1, 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u12>>
  return
}

// -----

func.func @sum_pool_c2_positive(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.sum_pool' op C2: position_scale must be positive}}
  %y = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, position_scale = array<i64: 1, 0, 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u12>>
  return
}

// -----

func.func @sum_pool_c3(%x: tensor<1x4x4x2x!num.int<u8>>) {
  // expected-error@+1 {{'osa.sum_pool' op C3: the output is 'tensor<1x3x2x2x!num.int<u12>>', expected shape [1, 2, 2, 2]}}
  %y = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x3x2x2x!num.int<u12>>
  return
}

// -----

func.func @concat_c1(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op C1: there is no input, or the axis is out of range}}
  %c = osa.concat %x, %y {axis = 2 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @concat_c1_empty() {
  // expected-error@+1 {{'osa.concat' op C1: there is no input, or the axis is out of range}}
  %c = osa.concat {axis = 0 : i64} : () -> tensor<1x!num.int<u2>>
  return
}

// -----

func.func @concat_c2_rank(%x: tensor<1x3x!num.int<u2>>, %y: tensor<3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op C2: the inputs differ in rank}}
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<3x!num.int<u2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @concat_c2_shape(%x: tensor<1x3x!num.int<u2>>, %y: tensor<2x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op C2: the inputs differ outside the axis}}
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<2x3x!num.int<u2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @concat_c2_sum(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.concat' op C2: the output's axis is not the sum}}
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x5x!num.int<u2>>
  return
}

// -----

func.func @concat_c3(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<s2>>) {
  // expected-error@+1 {{'osa.concat' op C3: the output's '!num.int<u2>' does not hold the input's '!num.int<s2>'}}
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<s2>>) -> tensor<1x6x!num.int<u2>>
  return
}

// -----

func.func @reshape_c1(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.reshape' op C1: input and output differ in the number of elements}}
  %y = osa.reshape %x : (tensor<1x3x!num.int<u2>>) -> tensor<4x!num.int<u2>>
  return
}

// -----

func.func @reshape_c2(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.reshape' op C2: an operand of '!num.int<u2>' and an output of 'f32' are not of one level}}
  %y = osa.reshape %x : (tensor<1x3x!num.int<u2>>) -> tensor<3xf32>
  return
}

// -----

func.func @transpose_c1_range(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op C1: the permutation names an axis out of range, or twice}}
  %y = osa.transpose %x {permutation = array<i64: 0, 2>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x1x!num.int<u2>>
  return
}

// -----

func.func @transpose_c1_twice(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op C1: the permutation names an axis out of range, or twice}}
  %y = osa.transpose %x {permutation = array<i64: 1, 1>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x3x!num.int<u2>>
  return
}

// -----

func.func @transpose_c1_short(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op C1: the permutation does not name every axis}}
  %y = osa.transpose %x {permutation = array<i64: 1>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x!num.int<u2>>
  return
}

// -----

func.func @transpose_c2(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op C2: the output is 'tensor<1x3x!num.int<u2>>', expected shape [3, 1]}}
  %y = osa.transpose %x {permutation = array<i64: 1, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @transpose_c3(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.transpose' op C3: the output's '!num.int<u1>' does not hold the input's '!num.int<u2>'}}
  %y = osa.transpose %x {permutation = array<i64: 1, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x1x!num.int<u1>>
  return
}

// -----

func.func @gather_c1(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.gather' op C1: the axis is out of range}}
  %y = osa.gather %x {axis = 2 : i64, indices = array<i64: 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @gather_c1_count(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.gather' op C1: the output is 'tensor<1x3x!num.int<u2>>', expected shape [1, 1]}}
  %y = osa.gather %x {axis = 1 : i64, indices = array<i64: 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @gather_c2(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.gather' op C2: the index 3 is not below 3}}
  %y = osa.gather %x {axis = 1 : i64, indices = array<i64: 0, 3>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x2x!num.int<u2>>
  return
}

// -----

func.func @gather_c3(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.gather' op C3: the output's '!num.int<u1>' does not hold}}
  %y = osa.gather %x {axis = 1 : i64, indices = array<i64: 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x1x!num.int<u1>>
  return
}

// -----

func.func @pad_c1(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op C1: low and high need one value per axis}}
  %y = osa.pad %x {low = array<i64: 1>, high = array<i64: 0, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<2x3x!num.int<u2>>
  return
}

// -----

func.func @pad_c1_negative(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op C1: low and high must not be negative}}
  %y = osa.pad %x {low = array<i64: 0, -1>, high = array<i64: 0, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x2x!num.int<u2>>
  return
}

// -----

func.func @pad_c2(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op C2: the output is 'tensor<1x3x!num.int<u2>>', expected shape [1, 5]}}
  %y = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 1>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @pad_c3(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op C3: an operand of '!num.int<u2>' and an output of 'f32'}}
  %y = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x4xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op C4: the output can't have the value 4.000000e+00}}
  %y = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, value = 4.0} : (tensor<1x3x!num.int<u2>>) -> tensor<1x4x!num.int<u2>>
  return
}

// -----

func.func @pad_c4_whole(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.pad' op C4: the output can't have the value 5.000000e-01}}
  %y = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, value = 0.5} : (tensor<1x3x!num.int<u2>>) -> tensor<1x4x!num.int<u2>>
  return
}

// -----

func.func @quantize_c1(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C1: the scale 0.000000e+00 is not positive and finite}}
  %y = osa.quantize %x {scale = dense<0.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @quantize_c2_axis(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C2: there is no axis 1}}
  %y = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>, axis = 1 : i64} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @quantize_c2_count(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C2: 'tensor<2xf32>' has not 1 or 3 values along one axis}}
  %y = osa.quantize %x {scale = dense<1.0> : tensor<2xf32>, zero_point = dense<0> : tensor<i64>, axis = 0 : i64} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @quantize_c2_tensor(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C2: 'tensor<3xf32>' has not 1 or 1 values along one axis}}
  %y = osa.quantize %x {scale = dense<1.0> : tensor<3xf32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @quantize_c3(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C3: the zero point 5.000000e-01 is not whole}}
  %y = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0.5> : tensor<f32>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @quantize_c4(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op C4: the output is 'tensor<4x!num.int<u8>>', expected shape [3]}}
  %y = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<4x!num.int<u8>>
  return
}

// -----

func.func @quantize_elements(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.quantize' op result #0 must be tensor of static shape of !num.int, but got 'tensor<3xf32>'}}
  %y = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @quantize_rounding(%x: tensor<3xf32>) {
  // expected-error@+1 {{containing one of the following enum values for attribute 'rounding' [half_even, half_up, half_down, half_away, half_toward_zero, toward_zero, away_from_zero, up, down, sign]}}
  %q = osa.quantize %x rounding(nearest) {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @dequantize_c1(%x: tensor<3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.dequantize' op C1: the scale -1.0}}
  %y = osa.dequantize %x {scale = dense<-1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}

// -----

func.func @dequantize_c2(%x: tensor<3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.dequantize' op C2: 'tensor<2xi64>' has not 1 or 3 values along one axis}}
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<3xf32>, zero_point = dense<0> : tensor<2xi64>, axis = 0 : i64} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}

// -----

func.func @dequantize_c3(%x: tensor<3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.dequantize' op C3: the zero point 2.500000e+00 is not whole}}
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<2.5> : tensor<f32>} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}

// -----

func.func @dequantize_c4(%x: tensor<3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.dequantize' op C4: the output is 'tensor<2xf32>', expected shape [3]}}
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3x!num.int<u8>>) -> tensor<2xf32>
  return
}

// -----

func.func @dequantize_elements(%x: tensor<3xf32>) {
  // expected-error@+1 {{'osa.dequantize' op operand #0 must be tensor of static shape of !num.int, but got 'tensor<3xf32>'}}
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @multi_threshold_c1_count(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.multi_threshold' op C1: thresholds must have rank 2, and the result hold their number}}
  %y = osa.multi_threshold %x {thresholds = dense<0.0> : tensor<1x4xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @multi_threshold_c1_order(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.multi_threshold' op C1: the thresholds of a channel must be finite and ascend}}
  %y = osa.multi_threshold %x {thresholds = dense<[[1.0, 0.0]]> : tensor<1x2xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @multi_threshold_c2(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.multi_threshold' op C2: the output is 'tensor<3x!num.int<u2>>', expected shape [1, 3]}}
  %y = osa.multi_threshold %x {thresholds = dense<0.0> : tensor<1x2xf32>} : (tensor<1x3xf32>) -> tensor<3x!num.int<u2>>
  return
}

// -----

func.func @add_c1_broadcast(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{'osa.add' op C1: the operands' shapes do not broadcast}}
  %a = osa.add %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @mul_c1_output(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'osa.mul' op C1: the output is 'tensor<3xf32>', expected shape [2, 3]}}
  %a = osa.mul %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c1(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.batch_norm' op C1: 2 values for 3 channels}}
  %y = osa.batch_norm %x {gamma = dense<1.0> : tensor<2xf32>, beta = dense<0.0> : tensor<1xf32>, mean = dense<0.0> : tensor<1xf32>, variance = dense<1.0> : tensor<1xf32>, epsilon = 0.1 : f32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @batch_norm_c2(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.batch_norm' op C2: the output is 'tensor<1x4xf32>', expected shape [1, 3]}}
  %y = osa.batch_norm %x {gamma = dense<1.0> : tensor<1xf32>, beta = dense<0.0> : tensor<1xf32>, mean = dense<0.0> : tensor<1xf32>, variance = dense<1.0> : tensor<1xf32>, epsilon = 0.1 : f32} : (tensor<1x3xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @relu_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'osa.relu' op C1: the output is 'tensor<3x2xf32>', expected shape [2, 3]}}
  %y = osa.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @leaky_relu_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'osa.leaky_relu' op C1: the output is}}
  %y = osa.leaky_relu %x {alpha = 0.1 : f32} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @clip_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'osa.clip' op C1: the output is}}
  %y = osa.clip %x {min = 0.0 : f32, max = 6.0 : f32} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @unary_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'osa.unary' op C1: the output is 'tensor<3x2xf32>', expected shape [2, 3]}}
  %y = osa.unary tanh %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @unary_kind(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{containing one of the following enum values for attribute 'kind' [abs, erf, exp, gelu, hardswish, log, mish, neg, reciprocal, sigmoid, softplus, softsign, sqrt, tanh]}}
  %y = osa.unary sinus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @softmax_c1(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.softmax' op C1: an input of rank 2 has no axis 2}}
  %y = osa.softmax %x {axis = 2 : i64} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @softmax_c2(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.softmax' op C2: the output is 'tensor<3x1xf32>', expected shape [1, 3]}}
  %y = osa.softmax %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<3x1xf32>
  return
}

// -----

func.func @arg_max_c1(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.arg_max' op C1: an input of rank 2 has no axis -3}}
  %y = osa.arg_max %x {axis = -3 : i64} : (tensor<1x3xf32>) -> tensor<1x1xi64>
  return
}

// -----

func.func @arg_max_c1_empty(%x: tensor<1x0xf32>) {
  // expected-error@+1 {{'osa.arg_max' op C1: the axis is empty}}
  %y = osa.arg_max %x {axis = 1 : i64} : (tensor<1x0xf32>) -> tensor<1x1xi64>
  return
}

// -----

func.func @arg_max_c2(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.arg_max' op C2: the output is 'tensor<1x3xi64>', expected shape [1, 1]}}
  %y = osa.arg_max %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x3xi64>
  return
}

// -----

func.func @arg_max_c2_dropped(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.arg_max' op C2: the output is 'tensor<1x1xi64>', expected shape [1]}}
  %y = osa.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<1x3xf32>) -> tensor<1x1xi64>
  return
}

// -----

func.func @arg_max_element(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.arg_max' op result #0 must be tensor of static shape of i64, but got 'tensor<1x1xf32>'}}
  %y = osa.arg_max %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @requantize_c1_count(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantize' op C1: 2 values for 3 channels}}
  %y = osa.requantize %x {multiplier = array<i64: 1, 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantize_c1_shift(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantize' op C1: the shift 63 is not in 0..62}}
  %y = osa.requantize %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 63 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantize_c1_negative(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantize' op C1: the shift -1 is not in 0..62}}
  %y = osa.requantize %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = -1 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantize_c1_ties(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantize' op C1: ties_even needs a shift of at least 1}}
  %y = osa.requantize %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 0 : i64, ties_even = true} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantize_c2(%x: tensor<1x3x!num.int<u60>>) {
  // expected-error@+1 {{'osa.requantize' op C2: the product does not fit 112 bits}}
  %y = osa.requantize %x {multiplier = array<i64: 4611686018427387904>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3x!num.int<u60>>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @requantize_c3(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.requantize' op C3: the output is 'tensor<3x!num.int<u8>>', expected shape [1, 3]}}
  %y = osa.requantize %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<3x!num.int<u8>>
  return
}

// -----

func.func @requantize_elements(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'osa.requantize' op operand #0 must be tensor of static shape of !num.int, but got 'tensor<1x3xf32>'}}
  %y = osa.requantize %x {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u8>>
  return
}

// -----

func.func @threshold_c1_rank(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C1: thresholds must have rank 2}}
  %y = osa.threshold %x {thresholds = dense<1> : tensor<3xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_c1_count(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C1: 2 values for 3 channels}}
  %y = osa.threshold %x {thresholds = dense<1> : tensor<2x1xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_c1_order(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C1: the thresholds of a channel must ascend}}
  %y = osa.threshold %x {thresholds = dense<[[5, 7], [3, 3], [2, 1]]> : tensor<3x2xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_c2(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C2: 2 thresholds passed give a result that '!num.int<u2>' does not hold}}
  %y = osa.threshold %x {thresholds = dense<[[5, 7]]> : tensor<1x2xi64>, base = 2 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @threshold_c3(%x: tensor<1x3x!num.int<u8>>) {
  // expected-error@+1 {{'osa.threshold' op C3: the output is 'tensor<3x!num.int<u2>>', expected shape [1, 3]}}
  %y = osa.threshold %x {thresholds = dense<1> : tensor<1x1xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<3x!num.int<u2>>
  return
}

// -----

func.func @table_c1(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.table' op C1: the table needs one entry per input value}}
  %y = osa.table %x {values = dense<1> : tensor<1x3xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @table_c2(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.table' op C2: the entry 4 is not a value of '!num.int<u2>'}}
  %y = osa.table %x {values = dense<[[0, 1, 4, 2]]> : tensor<1x4xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}

// -----

func.func @table_c3(%x: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.table' op C3: the output is 'tensor<3x!num.int<u2>>', expected shape [1, 3]}}
  %y = osa.table %x {values = dense<1> : tensor<1x4xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x!num.int<u2>>
  return
}

// -----

func.func @scaled_add_c1(%x: tensor<1x3x!num.int<u2>>, %y: tensor<3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.scaled_add' op C1: the right operand is 'tensor<3x!num.int<u2>>', expected shape [1, 3]}}
  %a = osa.scaled_add %x, %y : (tensor<1x3x!num.int<u2>>, tensor<3x!num.int<u2>>) -> tensor<1x3x!num.int<u4>>
  return
}

// -----

func.func @scaled_max_c1(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
  // expected-error@+1 {{'osa.scaled_max' op C1: the output is 'tensor<3x!num.int<u4>>', expected shape [1, 3]}}
  %a = osa.scaled_max %x, %y : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<3x!num.int<u4>>
  return
}

// -----

func.func @matmul_c1(%x: tensor<2x1x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'osa.matmul' op C1: expects a left operand [O,B,M,K]}}
  %a = osa.matmul %y, %y : (tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @matmul_c1_output(%x: tensor<1x2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'osa.matmul' op C1: the output is 'tensor<1x2x3x4xf32>', expected shape [1, 2, 3, 5]}}
  %a = osa.matmul %x, %y : (tensor<1x2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @matmul_c2_axes(%x: tensor<1x2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'osa.matmul' op C2: expects a right operand of three axes and rhs_axes that name each once}}
  %a = osa.matmul %x, %y {rhs_axes = array<i64: 0, 1, 1>} : (tensor<1x2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<1x2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'osa.matmul' op C2: the right operand has a batch of 2 and sums of 5, the left one 2 and 4}}
  %a = osa.matmul %x, %y {rhs_axes = array<i64: 0, 2, 1>} : (tensor<1x2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<1x2x3x4xf32>, %y: tensor<2x4x5x!num.int<u2>>) {
  // expected-error@+1 {{'osa.matmul' op C3: an operand of '!num.int<u2>' and an output of 'f32' are not of one level}}
  %a = osa.matmul %x, %y : (tensor<1x2x3x4xf32>, tensor<2x4x5x!num.int<u2>>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @matmul_c4(%x: tensor<1x2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'osa.matmul' op C4: a zero point among reals}}
  %a = osa.matmul %x, %y {lhs_zero = 1 : i64} : (tensor<1x2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @product_c1(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x2x!num.int<u2>>) {
  // expected-error@+1 {{'osa.product' op C1: the right operand is 'tensor<1x2x!num.int<u2>>', expected shape [1, 3]}}
  %a = osa.product %x, %y : (tensor<1x3x!num.int<u2>>, tensor<1x2x!num.int<u2>>) -> tensor<1x3x!num.int<u4>>
  return
}

// -----

func.func @normalize_c1(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'osa.normalize' op C1: input and output differ in shape}}
  %a = osa.normalize %x {epsilon = 1.0e-05 : f32} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @normalize_c1_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'osa.normalize' op C1: a scalar has no rows}}
  %a = osa.normalize %x {epsilon = 1.0e-05 : f32} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @normalize_c2(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'osa.normalize' op C2: epsilon is negative or not finite}}
  %a = osa.normalize %x {epsilon = -1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @row_softmax_c1(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_softmax' op C1: 3 exponentials for the differences of '!num.int<u2>'}}
  %a = osa.row_softmax %x {exponentials = array<i64: 9, 3, 1>, numerator = 40 : i64, shift = 1 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u8>>
  return
}

// -----

func.func @row_softmax_c1_values(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_softmax' op C1: an exponential is above the first one, or that is not 1 … 65535}}
  %a = osa.row_softmax %x {exponentials = array<i64: 9, 3, 10, 0>, numerator = 40 : i64, shift = 1 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u8>>
  return
}

// -----

func.func @row_softmax_c2(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_softmax' op C2: the shift 41 is not in 1..40}}
  %a = osa.row_softmax %x {exponentials = array<i64: 9, 3, 1, 0>, numerator = 40 : i64, shift = 41 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u8>>
  return
}

// -----

func.func @row_softmax_c2_quotient(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_softmax' op C2: the largest quotient is not 1 … 2^24 - 1}}
  %a = osa.row_softmax %x {exponentials = array<i64: 9, 3, 1, 0>, numerator = 8 : i64, shift = 1 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u8>>
  return
}

// -----

func.func @row_softmax_c3(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_softmax' op C3: the output's range does not begin at 0}}
  %a = osa.row_softmax %x {exponentials = array<i64: 9, 3, 1, 0>, numerator = 40 : i64, shift = 1 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<s8>>
  return
}

// -----

func.func @row_softmax_c4(%x: tensor<2x0x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_softmax' op C4: a row has 0 elements}}
  %a = osa.row_softmax %x {exponentials = array<i64: 9, 3, 1, 0>, numerator = 40 : i64, shift = 1 : i64} : (tensor<2x0x!num.int<u2>>) -> tensor<2x0x!num.int<u8>>
  return
}

// -----

func.func @row_norm_c1(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_norm' op C1: epsilon is below 1, or fraction not in 0..16}}
  %a = osa.row_norm %x {epsilon = 0 : i64, fraction = 4 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<s7, -33:33>>
  return
}

// -----

func.func @row_norm_c2(%x: tensor<2x4x!num.int<s40>>) {
  // expected-error@+1 {{'osa.row_norm' op C2: its numbers have more than 32 bits}}
  %a = osa.row_norm %x {epsilon = 1 : i64, fraction = 4 : i64} : (tensor<2x4x!num.int<s40>>) -> tensor<2x4x!num.int<s7, -33:33>>
  return
}

// -----

func.func @row_norm_c2_squares(%x: tensor<2x4x!num.int<s31>>) {
  // expected-error@+1 {{'osa.row_norm' op C2: the sums of squares need more than 60 bits}}
  %a = osa.row_norm %x {epsilon = 1 : i64, fraction = 4 : i64} : (tensor<2x4x!num.int<s31>>) -> tensor<2x4x!num.int<s7, -33:33>>
  return
}

// -----

func.func @row_norm_c3(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_norm' op C3: input and output differ in shape}}
  %a = osa.row_norm %x {epsilon = 1 : i64, fraction = 4 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<4x2x!num.int<s7, -33:33>>
  return
}

// -----

func.func @row_norm_c4(%x: tensor<2x4x!num.int<u2>>) {
  // expected-error@+1 {{'osa.row_norm' op C4: the output's range is '!num.int<s8>', its results' -33:33}}
  %a = osa.row_norm %x {epsilon = 1 : i64, fraction = 4 : i64} : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<s8>>
  return
}
