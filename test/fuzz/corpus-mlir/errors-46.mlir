func.func @avg_pool_c2(%x: tensor<1x4x4x2xf32>) {
  %y = osa.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x4x4x2xf32>) -> tensor<1x3x2x2xf32>
  return
}
