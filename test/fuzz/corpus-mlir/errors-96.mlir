func.func @leaky_relu_c1(%x: tensor<2x3xf32>) {
  %y = osa.leaky_relu %x {alpha = 0.1 : f32} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
