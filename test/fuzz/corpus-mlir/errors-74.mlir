func.func @pad_c4_whole(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, value = 0.5} : (tensor<1x3x!num.int<u2>>) -> tensor<1x4x!num.int<u2>>
  return
}
