func.func @dequantize_elements(%x: tensor<3xf32>) {
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}
