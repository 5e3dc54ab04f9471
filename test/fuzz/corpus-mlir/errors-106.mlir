func.func @arg_max_element(%x: tensor<1x3xf32>) {
  %y = osa.arg_max %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x1xf32>
  return
}
