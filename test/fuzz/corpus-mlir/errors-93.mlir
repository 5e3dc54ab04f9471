func.func @batch_norm_c1(%x: tensor<1x3xf32>) {
  %y = osa.batch_norm %x {gamma = dense<1.0> : tensor<2xf32>, beta = dense<0.0> : tensor<1xf32>, mean = dense<0.0> : tensor<1xf32>, variance = dense<1.0> : tensor<1xf32>, epsilon = 0.1 : f32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return
}
