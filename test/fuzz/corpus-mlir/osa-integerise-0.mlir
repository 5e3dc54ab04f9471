func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %xq = osa.quantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>
  %xd = osa.dequantize %xq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>
  %wq = osa.constant {value = dense<[[1, 2, 3, 4], [-1, -2, -3, -4]]> : tensor<2x4xi8>} : () -> tensor<2x4x!num.int<s8>>
  %w = osa.dequantize %wq {scale = dense<0.25> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<2x4x!num.int<s8>>) -> tensor<2x4xf32>
  %d = osa.dense %xd, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  %r = osa.relu %d : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %yq = osa.quantize %r {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2xf32>) -> tensor<1x2x!num.int<u8>>
  %y = osa.dequantize %yq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<u8>>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
