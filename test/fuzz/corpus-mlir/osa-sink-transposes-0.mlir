func.func @sink(%x: tensor<1x4x4x2xf32>) -> tensor<1x5x6x4xf32> {
  %k = osa.constant {value = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %t = osa.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %a = osa.add %t, %k : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = osa.relu %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %c = osa.concat %t, %r {axis = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %p = osa.pad %c {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x5x6xf32>
  %back = osa.transpose %p {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  return %back : tensor<1x5x6x4xf32>
}
func.func @stay(%x: tensor<1x4x4x2xf32>, %y: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %t = osa.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %a = osa.add %t, %y : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %a : tensor<1x2x4x4xf32>
}
