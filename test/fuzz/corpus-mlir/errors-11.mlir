func.func @constant_element() {
  %c = osa.constant {value = dense<1.0> : tensor<4xf64>} : () -> tensor<4xf64>
  return
}
