func.func @quantize_d1_scale(%x: tensor<4xf32>) {
  %q = osa.quantize %x {scale = dense_resource<s> : tensor<4xf32>, zero_point = dense<0> : tensor<1xi64>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4x!num.int<u8>>
  return
}
