func.func @arg_max_c2_dropped(%x: tensor<1x3xf32>) {
  %y = osa.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<1x3xf32>) -> tensor<1x1xi64>
  return
}
