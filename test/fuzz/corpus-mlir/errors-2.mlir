func.func @blocks(%x: tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u4>> {
  cf.br ^bb1
^bb1:
  return %x : tensor<2x!num.int<u4>>
}
