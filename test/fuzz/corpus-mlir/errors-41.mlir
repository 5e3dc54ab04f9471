func.func @max_pool_c2(%x: tensor<1x4x4x2x!num.int<u8>>) {
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x3x2x2x!num.int<u8>>
  return
}
