func.func @scaled_add_c1(%x: tensor<1x3x!num.int<u2>>, %y: tensor<3x!num.int<u2>>) {
  %a = osa.scaled_add %x, %y : (tensor<1x3x!num.int<u2>>, tensor<3x!num.int<u2>>) -> tensor<1x3x!num.int<u4>>
  return
}
