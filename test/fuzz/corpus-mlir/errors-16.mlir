func.func @threshold_d1(%x: tensor<1x3x!num.int<u8>>) {
  %t = osa.threshold %x {thresholds = dense_resource<t> : tensor<1x2xi64>, base = 0 : i64} : (tensor<1x3x!num.int<u8>>) -> tensor<1x3x!num.int<u2>>
  return
}
