func.func @main(%x: tensor<1x4x4x1xf32> {rhizome.name = "x"}) -> (tensor<1x2x2x1xf32> {rhizome.name = "y"}) {
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  %r = osa.relu %m : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %q = osa.quantize %r {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1x!num.int<u8>>
  %d = osa.dequantize %q {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x2x1x!num.int<u8>>) -> tensor<1x2x2x1xf32>
  return %d : tensor<1x2x2x1xf32>
}
