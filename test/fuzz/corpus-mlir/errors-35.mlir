func.func @dense_c1_output(%x: tensor<1x3x!num.int<u4>>, %w: tensor<5x3x!num.int<s4>>) {
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<5x3x!num.int<s4>>) -> tensor<1x3x!num.int<s12>>
  return
}
