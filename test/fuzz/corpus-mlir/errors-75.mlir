func.func @quantize_c1(%x: tensor<3xf32>) {
  %y = osa.quantize %x {scale = dense<0.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}
