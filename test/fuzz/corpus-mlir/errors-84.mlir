func.func @dequantize_c2(%x: tensor<3x!num.int<u8>>) {
  %y = osa.dequantize %x {scale = dense<1.0> : tensor<3xf32>, zero_point = dense<0> : tensor<2xi64>, axis = 0 : i64} : (tensor<3x!num.int<u8>>) -> tensor<3xf32>
  return
}
