func.func @integers(%x: tensor<1x5x5x2x!num.int<u4>>) -> tensor<1x3x3x4x!num.int<u4>> {
  %w = osa.constant {value = dense<1> : tensor<4x3x3x2xi8>} : () -> tensor<4x3x3x2x!num.int<s4, 1:1>>
  %b = osa.constant {value = dense<[1, 2, 3, 4]> : tensor<4xi8>} : () -> tensor<4x!num.int<u3, 1:4>>
  %c = osa.conv2d %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4, 1:1>>, tensor<4x!num.int<u3, 1:4>>) -> tensor<1x3x3x4x!num.int<u9, 1:274>>
  %q = osa.requantise %c {multiplier = array<i64: 3>, offset = array<i64: 8, 9, 10, 11>, shift = 4 : i64, ties_even = true}
      : (tensor<1x3x3x4x!num.int<u9, 1:274>>) -> tensor<1x3x3x4x!num.int<u4>>
  return %q : tensor<1x3x3x4x!num.int<u4>>
}
func.func @grouped(%x: tensor<1x8x8x4x!num.int<s8>>, %w: tensor<4x3x3x1x!num.int<s8>>) {
  %c = osa.conv2d %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 2, 1>, groups = 4 : i64, pad_value = 7 : i64}
      : (tensor<1x8x8x4x!num.int<s8>>, tensor<4x3x3x1x!num.int<s8>>) -> tensor<1x4x8x4x!num.int<s20>>
  return
}
func.func @dense(%x: tensor<1x3x!num.int<s8>>, %w: tensor<5x3x!num.int<s8>>) {
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<s8>>, tensor<5x3x!num.int<s8>>) -> tensor<1x5x!num.int<s18>>
  return
}
func.func @pools(%x: tensor<1x4x4x2x!num.int<u8>>) {
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
  %s = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, zero = 3 : i64, position_scale = array<i64: 1, 2, 2, 1>}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<s12>>
  return
}
func.func @elementwise(%x: tensor<1x2x!num.int<u2>>) {
  %t = osa.threshold %x {thresholds = dense<[[1], [2]]> : tensor<2x1xi64>, base = -1 : i64, step = 2 : i64}
      : (tensor<1x2x!num.int<u2>>) -> tensor<1x2x!num.int<s2, -1:1>>
  %l = osa.table %x {values = dense<[[3, 1, 0, 2]]> : tensor<1x4xi64>}
      : (tensor<1x2x!num.int<u2>>) -> tensor<1x2x!num.int<u2>>
  %a = osa.scaled_add %x, %l {rhs_multiplier = -3 : i64}
      : (tensor<1x2x!num.int<u2>>, tensor<1x2x!num.int<u2>>) -> tensor<1x2x!num.int<s5, -9:3>>
  return
}
func.func @movement(%x: tensor<1x2x3x!num.int<u2>>) {
  %c = osa.concat %x, %x {axis = 2 : i64} : (tensor<1x2x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x6x!num.int<u2>>
  %r = osa.reshape %x : (tensor<1x2x3x!num.int<u2>>) -> tensor<6x!num.int<u2>>
  %t = osa.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x3x2x!num.int<u2>>
  %p = osa.pad %x {low = array<i64: 0, 2, 0>, high = array<i64: 0, 0, 1>, value = 3.0} : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x4x4x!num.int<u2>>
  %g = osa.gather %x {axis = 2 : i64, indices = array<i64: 2, 0, 0, 1>} : (tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x4x!num.int<u2>>
  %m = osa.scaled_max %x, %x {rhs_offset = -1 : i64} : (tensor<1x2x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x3x!num.int<u2>>
  %q = osa.product %x, %x {lhs_zero = 1 : i64} : (tensor<1x2x3x!num.int<u2>>, tensor<1x2x3x!num.int<u2>>) -> tensor<1x2x3x!num.int<s4, -3:6>>
  return
}
func.func @reals(%x: tensor<1x4x4x2xf32>, %y: tensor<2xf32>) -> tensor<1x4x4xi64> {
  %q = osa.quantize %x rounding(half_up) {scale = dense<[0.5, 0.25]> : tensor<2xf32>, zero_point = dense<[0, 3]> : tensor<2xi64>, axis = 3 : i64}
      : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2x!num.int<u8>>
  %d = osa.dequantize %q {scale = dense<[0.5, 0.25]> : tensor<2xf32>, zero_point = dense<[0, 3]> : tensor<2xi64>, axis = 3 : i64}
      : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x4x4x2xf32>
  %a = osa.add %d, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %s = osa.sub %a, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %m = osa.mul %s, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %v = osa.div %m, %y : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %b = osa.batch_norm %v {gamma = dense<1.0> : tensor<2xf32>, beta = dense<0.0> : tensor<2xf32>, mean = dense<0.5> : tensor<2xf32>, variance = dense<2.0> : tensor<2xf32>, epsilon = 1.0e-05 : f32}
      : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %r = osa.relu %b : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %l = osa.leaky_relu %r {alpha = 0.1 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = osa.clip %l {min = 0.0 : f32, max = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %p = osa.avg_pool %c {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, count_include_pad = false}
      : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %u = osa.unary tanh %p : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %f = osa.softmax %u {axis = 3 : i64, log = true} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %i = osa.arg_max %f {axis = 3 : i64, keepdims = false} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4xi64>
  return %i : tensor<1x4x4xi64>
}
func.func @enumerations(%x: tensor<2xf32>) {
  %q0 = osa.quantize %x rounding(half_even) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q1 = osa.quantize %x rounding(half_down) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q2 = osa.quantize %x rounding(half_away) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q3 = osa.quantize %x rounding(half_toward_zero) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q4 = osa.quantize %x rounding(toward_zero) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q5 = osa.quantize %x rounding(away_from_zero) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q6 = osa.quantize %x rounding(up) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q7 = osa.quantize %x rounding(down) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %q8 = osa.quantize %x rounding(sign) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2x!num.int<s8>>
  %abs = osa.unary abs %x : (tensor<2xf32>) -> tensor<2xf32>
  %erf = osa.unary erf %x : (tensor<2xf32>) -> tensor<2xf32>
  %exp = osa.unary exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %gelu = osa.unary gelu %x : (tensor<2xf32>) -> tensor<2xf32>
  %hardswish = osa.unary hardswish %x : (tensor<2xf32>) -> tensor<2xf32>
  %log = osa.unary log %x : (tensor<2xf32>) -> tensor<2xf32>
  %mish = osa.unary mish %x : (tensor<2xf32>) -> tensor<2xf32>
  %neg = osa.unary neg %x : (tensor<2xf32>) -> tensor<2xf32>
  %reciprocal = osa.unary reciprocal %x : (tensor<2xf32>) -> tensor<2xf32>
  %sigmoid = osa.unary sigmoid %x : (tensor<2xf32>) -> tensor<2xf32>
  %softplus = osa.unary softplus %x : (tensor<2xf32>) -> tensor<2xf32>
  %softsign = osa.unary softsign %x : (tensor<2xf32>) -> tensor<2xf32>
  %sqrt = osa.unary sqrt %x : (tensor<2xf32>) -> tensor<2xf32>
  %tanh = osa.unary tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}
