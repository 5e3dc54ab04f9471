func.func @table_d1(%x: tensor<1x3x!num.int<u2>>) {
  %t = osa.table %x {values = dense_resource<t> : tensor<1x4xi64>} : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u2>>
  return
}
