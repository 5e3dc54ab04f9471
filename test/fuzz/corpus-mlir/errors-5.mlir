func.func @requantise_among_reals(%x: tensor<1xf32>, %q: tensor<1x!num.int<u4>>) -> tensor<1xf32> {
  %r = osa.requantise %q {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x!num.int<u4>>) -> tensor<1x!num.int<u4>>
  return %x : tensor<1xf32>
}
