func.func @transpose_c3(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.transpose %x {permutation = array<i64: 1, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x1x!num.int<u1>>
  return
}
