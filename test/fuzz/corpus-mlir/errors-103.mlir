func.func @arg_max_c1_empty(%x: tensor<1x0xf32>) {
  %y = osa.arg_max %x {axis = 1 : i64} : (tensor<1x0xf32>) -> tensor<1x1xi64>
  return
}
