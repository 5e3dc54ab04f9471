func.func @unary_c1(%x: tensor<2x3xf32>) {
  %y = osa.unary tanh %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
