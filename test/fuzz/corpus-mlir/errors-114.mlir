func.func @threshold_c1_rank(%x: tensor<1x3x!num.int<u8>>) {
  %y = osa.threshold %x {thresholds = dense<1> : tensor<3xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}
