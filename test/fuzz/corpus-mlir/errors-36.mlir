func.func @dense_c2(%x: tensor<1x3xf32>, %w: tensor<5x3x!num.int<s4>>) {
  %d = osa.dense %x, %w : (tensor<1x3xf32>, tensor<5x3x!num.int<s4>>) -> tensor<1x5x!num.int<s12>>
  return
}
