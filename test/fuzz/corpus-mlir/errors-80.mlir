func.func @quantize_c4(%x: tensor<3xf32>) {
  %y = osa.quantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<4x!num.int<u8>>
  return
}
