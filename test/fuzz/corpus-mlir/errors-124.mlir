func.func @product_c1(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x2x!num.int<u2>>) {
  %a = osa.product %x, %y : (tensor<1x3x!num.int<u2>>, tensor<1x2x!num.int<u2>>) -> tensor<1x3x!num.int<u4>>
  return
}
