func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %w = osa.constant {value = dense<[[0.5, 1.0, -0.25, 3.0], [0.1, -0.25, -0.375, -0.5]]> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %d = osa.dense %x, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  %r = osa.relu %d : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %w2 = osa.constant {value = dense<[[0.5, 0.125], [0.25, -0.5]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %d2 = osa.dense %r, %w2 : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %d2 : tensor<1x2xf32>
}
