func.func @multi_threshold_d1(%x: tensor<1x3xf32>) {
  %t = osa.multi_threshold %x {thresholds = dense_resource<t> : tensor<1x2xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
  return
}
