func.func @table_c3(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.table %x {values = dense<1> : tensor<1x4xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<3x!num.int<u2>>
  return
}
