func.func @unary_kind(%x: tensor<2x3xf32>) {
  %y = osa.unary sinus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
