func.func @gather_c1_count(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.gather %x {axis = 1 : i64, indices = array<i64: 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}
