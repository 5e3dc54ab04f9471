func.func @integer_among_reals(%x: tensor<2xf32>, %q: tensor<1x3x!num.int<u4>>) -> tensor<2xf32> {
  %w = osa.constant {value = dense<1> : tensor<2x3xi8>} : () -> tensor<2x3x!num.int<u1>>
  %d = osa.dense %q, %w : (tensor<1x3x!num.int<u4>>, tensor<2x3x!num.int<u1>>) -> tensor<1x2x!num.int<u8>>
  return %x : tensor<2xf32>
}
