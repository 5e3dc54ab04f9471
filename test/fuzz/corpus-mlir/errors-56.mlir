func.func @concat_c2_sum(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x5x!num.int<u2>>
  return
}
