func.func @quantize_c2_count(%x: tensor<3xf32>) {
  %y = osa.quantize %x {scale = dense<1.0> : tensor<2xf32>, zero_point = dense<0> : tensor<i64>, axis = 0 : i64} : (tensor<3xf32>) -> tensor<3x!num.int<u8>>
  return
}
