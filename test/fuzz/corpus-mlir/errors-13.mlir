func.func @quantize_d1_zero_point(%x: tensor<4xf32>) {
  %q = osa.quantize %x {scale = dense<1.0> : tensor<1xf32>, zero_point = dense_resource<z> : tensor<4xi64>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4x!num.int<u8>>
  return
}
