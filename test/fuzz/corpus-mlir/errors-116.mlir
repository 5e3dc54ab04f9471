func.func @threshold_c1_order(%x: tensor<1x3x!num.int<u8>>) {
  %y = osa.threshold %x {thresholds = dense<[[5, 7], [3, 3], [2, 1]]> : tensor<3x2xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}
