func.func @arg_max_c1(%x: tensor<1x3xf32>) {
  %y = osa.arg_max %x {axis = -3 : i64} : (tensor<1x3xf32>) -> tensor<1x1xi64>
  return
}
