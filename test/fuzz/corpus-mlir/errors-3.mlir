func.func @weights(%x: tensor<1x3x!num.int<u4>>, %w: tensor<2x3x!num.int<s4>>) -> tensor<1x2x!num.int<s10>> {
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<2x3x!num.int<s4>>) -> tensor<1x2x!num.int<s10>>
  return %d : tensor<1x2x!num.int<s10>>
}
