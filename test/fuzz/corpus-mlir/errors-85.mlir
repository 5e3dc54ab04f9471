func.func @dequantize_c3(%x: tensor<3x!num.int<u8>>) {
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<2.5> : tensor<f32>} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}
