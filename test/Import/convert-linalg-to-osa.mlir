// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --convert-linalg-to-osa --split-input-file %s | FileCheck %s
// A linear layer and a relu as torch-mlir writes them: a transposed weight, a
// separate loop for the bias, a comparison.

// CHECK-LABEL: func.func @linear
// CHECK-DAG: %[[B:.*]] = osa.constant {value = dense<[5.000000e-01, -5.000000e-01]>
// CHECK-DAG: %[[W:.*]] = osa.constant {value = dense_resource<{{.*}}> : tensor<2x3xf32>}
// CHECK: %[[D:.*]] = osa.dense %arg0, %[[W]], %[[B]] : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT: %[[R:.*]] = osa.relu %[[D]]
// CHECK-NEXT: return %[[R]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>
func.func @linear(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[0.5, -0.5]> : tensor<2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<1x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x2xf32>) -> tensor<1x2xf32>
  %m = linalg.matmul ins(%x, %t : tensor<1x3xf32>, tensor<3x2xf32>) outs(%f : tensor<1x2xf32>) -> tensor<1x2xf32>
  %a = linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<1x2xf32>, tensor<2xf32>) outs(%o : tensor<1x2xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %s = arith.addf %in, %in_0 : f32
    linalg.yield %s : f32
  } -> tensor<1x2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<1x2xf32>) outs(%o : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpf ugt, %in, %zero : f32
    %s = arith.select %c, %in, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// -----

// A convolution of channels-first tensors with padding and bias, then pools;
// the mean's division and the factor of its sum cancel.

// CHECK-LABEL: func.func @image
// CHECK: %[[P:.*]] = osa.pad %arg0 {high = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 1, 1>}
// CHECK: %[[T:.*]] = osa.transpose %[[P]] {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: %[[C:.*]] = osa.conv2d %[[T]], %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x6x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
// CHECK-NEXT: %[[M:.*]] = osa.max_pool %[[C]] {{.*}} -> tensor<1x2x2x2xf32>
// CHECK-NEXT: %[[A:.*]] = osa.avg_pool %[[M]] {{.*}} -> tensor<1x1x1x2xf32>
// CHECK-NEXT: %[[B:.*]] = osa.transpose %[[A]] {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: return %[[B]]
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

// -----

// Sums of the data that are broadcast over them again stay loops; a batch norm in
// double precision, with the exporter's assertion, becomes one product.

// CHECK-LABEL: func.func @norms
// CHECK: linalg.generic
// CHECK-SAME: rhizome.why_host = "it normalizes by sums or maxima of the data themselves"
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: linalg.generic
// CHECK-NOT: f64
// CHECK: %[[S:.*]] = osa.mul %{{.*}}, %{{.*}} : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
// CHECK: return %[[S]]
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

// -----

// A product of two tensors of the network, a slice, and activations.

// CHECK-LABEL: func.func @others
// CHECK: osa.gather %arg0 {axis = 1 : i64, indices = array<i64: 1, 2>}
// CHECK: osa.unary sigmoid
// CHECK: osa.clip {{.*}} {max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}
// CHECK: linalg.generic
// CHECK-SAME: rhizome.host_remedy = "put a quantizer on each operand"
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
