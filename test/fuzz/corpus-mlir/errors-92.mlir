func.func @mul_c1_output(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  %a = osa.mul %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
