func.func @relu_c1(%x: tensor<2x3xf32>) {
  %y = osa.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
