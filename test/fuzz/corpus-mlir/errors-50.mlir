func.func @sum_pool_c2_positive(%x: tensor<1x4x4x2x!num.int<u8>>) {
  %y = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, position_scale = array<i64: 1, 0, 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u12>>
  return
}
