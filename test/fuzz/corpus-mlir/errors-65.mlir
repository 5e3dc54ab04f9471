func.func @gather_c1(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.gather %x {axis = 2 : i64, indices = array<i64: 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}
