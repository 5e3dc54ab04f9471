func.func @multi_threshold_c1_count(%x: tensor<1x3xf32>) {
  %y = osa.multi_threshold %x {thresholds = dense<0.0> : tensor<1x4xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}
