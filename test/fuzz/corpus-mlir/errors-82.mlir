func.func @quantize_rounding(%x: tensor<3xf32>) {
  %q = osa.quantize %x rounding(nearest) {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}
