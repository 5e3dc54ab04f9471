#four = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @image(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]], [[[9.0, 8.0, 7.0], [6.0, 5.0, 4.0], [3.0, 2.0, 1.0]]]]> : tensor<2x1x3x3xf32>
  %b = arith.constant dense<[0.5, -0.5]> : tensor<2xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x1x4x4xf32> to tensor<1x1x6x6xf32>
  %o = tensor.empty() : tensor<1x2x4x4xf32>
  %start = linalg.broadcast ins(%b : tensor<2xf32>) outs(%o : tensor<1x2x4x4xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %w : tensor<1x1x6x6xf32>, tensor<2x1x3x3xf32>) outs(%start : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %half = tensor.empty() : tensor<1x2x2x2xf32>
  %low = linalg.fill ins(%least : f32) outs(%half : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %m = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%c, %window : tensor<1x2x4x4xf32>, tensor<2x2xf32>) outs(%low : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %one = tensor.empty() : tensor<1x2x1x1xf32>
  %none = linalg.fill ins(%zero : f32) outs(%one : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %s = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%m, %window : tensor<1x2x2x2xf32>, tensor<2x2xf32>) outs(%none : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %mean = linalg.generic {indexing_maps = [#four, #four], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<1x2x1x1xf32>) outs(%one : tensor<1x2x1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %d = arith.divf %in, %four : f32
    linalg.yield %d : f32
  } -> tensor<1x2x1x1xf32>
  return %mean : tensor<1x2x1x1xf32>
}
