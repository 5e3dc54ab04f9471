func.func @table_c2(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.table %x {values = dense<[[0, 1, 4, 2]]> : tensor<1x4xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}
