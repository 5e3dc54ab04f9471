func.func @call(%x: tensor<1x!num.int<u4>>) -> tensor<1x!num.int<u4>> {
  %r = call @call(%x) : (tensor<1x!num.int<u4>>) -> tensor<1x!num.int<u4>>
  return %r : tensor<1x!num.int<u4>>
}
