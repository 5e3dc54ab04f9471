func.func @constant_d1_half() {
  %c = osa.constant {value = dense<1.0> : tensor<4xf16>} : () -> tensor<4xf32>
  return
}
