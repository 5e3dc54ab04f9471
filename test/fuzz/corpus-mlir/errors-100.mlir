func.func @softmax_c1(%x: tensor<1x3xf32>) {
  %y = osa.softmax %x {axis = 2 : i64} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return
}
