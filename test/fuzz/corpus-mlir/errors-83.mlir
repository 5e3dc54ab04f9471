func.func @dequantize_c1(%x: tensor<3x!num.int<u8>>) {
  %y = osa.dequantize %x {scale = dense<-1.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}
