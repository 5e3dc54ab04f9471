func.func @threshold_c2(%x: tensor<1x3x!num.int<u8>>) {
  %y = osa.threshold %x {thresholds = dense<[[5, 7]]> : tensor<1x2xi64>, base = 2 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}
