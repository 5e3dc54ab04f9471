func.func @wider_among_reals(%x: tensor<1xf32>, %q: tensor<1x2x!num.int<u4>>) -> tensor<1xf32> {
  %r = osa.reshape %q : (tensor<1x2x!num.int<u4>>) -> tensor<2x!num.int<u12>>
  return %x : tensor<1xf32>
}
