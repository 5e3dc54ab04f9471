#plain = affine_map<(d0, d1) -> (d0, d1)>
func.func @others(%x: tensor<2x4xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %six = arith.constant 6.0 : f32
  %s = tensor.extract_slice %x[0, 1] [2, 2] [1, 1] : tensor<2x4xf32> to tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %a = linalg.generic {indexing_maps = [#plain, #plain], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %r = arith.divf %one, %q : f32
    linalg.yield %r : f32
  } -> tensor<2x2xf32>
  %c = linalg.generic {indexing_maps = [#plain, #plain], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    %n = arith.minimumf %m, %six : f32
    linalg.yield %n : f32
  } -> tensor<2x2xf32>
  %o = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = linalg.matmul ins(%c, %y : tensor<2x2xf32>, tensor<2x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %m : tensor<2x3xf32>
}
