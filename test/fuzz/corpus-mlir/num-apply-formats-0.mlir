func.func @k(%a: tensor<4x4xf64> {rhizome.format = "fixed<2,14>"}, %x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %y = linalg.matvec ins(%a, %x : tensor<4x4xf64>, tensor<4xf64>) outs(%i : tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
