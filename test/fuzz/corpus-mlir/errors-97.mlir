func.func @clip_c1(%x: tensor<2x3xf32>) {
  %y = osa.clip %x {min = 0.0 : f32, max = 6.0 : f32} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
