func.func @transpose_c1_twice(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.transpose %x {permutation = array<i64: 1, 1>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x3x!num.int<u2>>
  return
}
