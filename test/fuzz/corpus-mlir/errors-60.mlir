func.func @transpose_c1_range(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.transpose %x {permutation = array<i64: 0, 2>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x1x!num.int<u2>>
  return
}
