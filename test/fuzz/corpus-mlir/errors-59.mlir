func.func @reshape_c2(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.reshape %x : (tensor<1x3x!num.int<u2>>) -> tensor<3xf32>
  return
}
