func.func @max_pool_c1(%x: tensor<4x4x2x!num.int<u8>>) {
  %y = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<4x4x2x!num.int<u8>>) -> tensor<2x2x2x!num.int<u8>>
  return
}
