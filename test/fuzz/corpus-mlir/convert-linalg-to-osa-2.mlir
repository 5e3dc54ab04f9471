#two = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#column = affine_map<(d0, d1) -> (d1)>
#vector = affine_map<(d0) -> (d0)>
func.func @norms(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant 1.0e-5 : f64
  %var = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e1 = tensor.empty() : tensor<1x1xf32>
  %e4 = tensor.empty() : tensor<1x4xf32>
  %v4 = tensor.empty() : tensor<4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x1xf32>) -> tensor<1x1xf32>
  %sum = linalg.generic {indexing_maps = [#two, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x4xf32>) outs(%fill : tensor<1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  %share = linalg.generic {indexing_maps = [#two, #row, #two], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<1x4xf32>, tensor<1x1xf32>) outs(%e4 : tensor<1x4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %d = arith.divf %in, %in_0 : f32
    linalg.yield %d : f32
  } -> tensor<1x4xf32>
  %clamped = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%share : tensor<1x4xf32>) outs(%e4 : tensor<1x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x4xf32>
  %gain = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%var : tensor<4xf32>) outs(%v4 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.truncf %epsilon : f64 to f32
    %a = arith.addf %in, %t : f32
    %c = arith.cmpf one, %a, %zero : f32
    cf.assert %c, "unimplemented: tensor with zero element"
    %r = math.rsqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %scaled = linalg.generic {indexing_maps = [#two, #column, #two], iterator_types = ["parallel", "parallel"]} ins(%clamped, %gain : tensor<1x4xf32>, tensor<4xf32>) outs(%e4 : tensor<1x4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %m = arith.mulf %in, %in_0 : f32
    linalg.yield %m : f32
  } -> tensor<1x4xf32>
  return %scaled : tensor<1x4xf32>
}
