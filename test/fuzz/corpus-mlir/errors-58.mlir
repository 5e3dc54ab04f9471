func.func @reshape_c1(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.reshape %x : (tensor<1x3x!num.int<u2>>) -> tensor<4x!num.int<u2>>
  return
}
