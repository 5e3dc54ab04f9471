func.func @softmax_c2(%x: tensor<1x3xf32>) {
  %y = osa.softmax %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<3x1xf32>
  return
}
