func.func @network(%x: tensor<1x3x!num.int<u4>>) -> tensor<1x2x!num.int<s4>> {
  %w = osa.constant {value = dense<[[1, -2, 3], [0, 1, 2]]> : tensor<2x3xi8>} : () -> tensor<2x3x!num.int<s3, -2:3>>
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<2x3x!num.int<s3, -2:3>>) -> tensor<1x2x!num.int<s7, -30:60>>
  %q = osa.requantise %d {multiplier = array<i64: 3>, offset = array<i64: 8>, shift = 4 : i64} : (tensor<1x2x!num.int<s7, -30:60>>) -> tensor<1x2x!num.int<s4>>
  return %q : tensor<1x2x!num.int<s4>>
}
func.func @epilogue(%x: tensor<1x2x!num.int<s4>>) -> tensor<1x2xf32> {
  %d = osa.dequantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<s4>>) -> tensor<1x2xf32>
  return %d : tensor<1x2xf32>
}
