func.func @batch_norm_d1(%x: tensor<1x4xf32>) {
  %y = osa.batch_norm %x {gamma = dense<1.0> : tensor<1xf32>, beta = dense<1.0> : tensor<1xf32>, mean = dense<1.0> : tensor<1xf32>, variance = dense_resource<v> : tensor<4xf32>, epsilon = 0.1 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}
