func.func @constant_d1_sparse() {
  %c = osa.constant {value = sparse<[[0]], [1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  return
}
