func.func @pad_c1(%x: tensor<1x3x!num.int<u2>>) {
  %y = osa.pad %x {low = array<i64: 1>, high = array<i64: 0, 0>} : (tensor<1x3x!num.int<u2>>) -> tensor<2x3x!num.int<u2>>
  return
}
