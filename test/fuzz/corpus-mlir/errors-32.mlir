func.func @conv2d_dynamic(%x: tensor<1x?x5x2xf32>, %w: tensor<4x3x3x2xf32>) {
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x?x5x2xf32>, tensor<4x3x3x2xf32>) -> tensor<1x3x3x4xf32>
  return
}
