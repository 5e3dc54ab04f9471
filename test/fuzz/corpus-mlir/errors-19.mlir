func.func @conv2d_c1_batch(%x: tensor<2x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
  return
}
