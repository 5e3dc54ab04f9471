func.func @add_c1_broadcast(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  %a = osa.add %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
