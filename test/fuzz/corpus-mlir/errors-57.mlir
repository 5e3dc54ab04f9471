func.func @concat_c3(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<s2>>) {
  %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<s2>>) -> tensor<1x6x!num.int<u2>>
  return
}
