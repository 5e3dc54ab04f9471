// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

// CHECK: @fixed(!num.fixed<24, 40>, !num.fixed<-4, 12, unsigned>, !num.fixed<64, 64>, !num.fixed<20, -4>)
func.func private @fixed(!num.fixed<24, 40>, !num.fixed<-4, 12, unsigned>, !num.fixed<64, 64>, !num.fixed<20, -4>)

// IEEE 754's bias is not printed.
// CHECK: @floats(!num.float<5, 10>, !num.float<4, 3, bias = 9, flush, finite>, tensor<2x!num.float<8, 7>>)
func.func private @floats(!num.float<5, 10, bias = 15>, !num.float<4, 3, finite, bias = 9, flush>, tensor<2x!num.float<8, 7>>)

// CHECK-LABEL: @arithmetic
func.func @arithmetic(%a: f64, %b: !num.fixed<8, 8>, %h: !num.float<5, 10>) -> f32 {
  // CHECK: num.cast %{{.*}} rounding(up) overflow(saturate) : f64 to !num.fixed<8, 8>
  %c = num.cast %a rounding(up) overflow(saturate) : f64 to !num.fixed<8, 8>
  // CHECK: num.add %{{.*}}, %{{.*}} rounding(nearest_even) overflow(wrap) : !num.fixed<8, 8>
  %d = num.add %b, %c rounding(nearest_even) overflow(wrap) : !num.fixed<8, 8>
  // CHECK: num.fma %{{.*}}, %{{.*}}, %{{.*}} rounding(nearest_away) overflow(saturate)
  %e = num.fma %b, %c, %d rounding(nearest_away) overflow(saturate) : !num.fixed<8, 8>
  %f = num.sub %e, %d rounding(down) overflow(wrap) : !num.fixed<8, 8>
  %g = num.cast %f rounding(toward_zero) overflow(infinity) : !num.fixed<8, 8> to !num.float<5, 10>
  // CHECK: num.sqrt %{{.*}} rounding(nearest_even) overflow(infinity) : !num.float<5, 10>
  %i = num.sqrt %g rounding(nearest_even) overflow(infinity) : !num.float<5, 10>
  %j = num.div %h, %i rounding(nearest_even) overflow(infinity) : !num.float<5, 10>
  %k = num.cast %j rounding(nearest_even) overflow(infinity) : !num.float<5, 10> to f32
  return %k : f32
}

// CHECK-LABEL: @choice
func.func @choice(%a: !num.fixed<8, 8>, %h: !num.float<5, 10>) -> (!num.fixed<8, 8>, i1) {
  // CHECK: num.compare olt, %{{.*}}, %{{.*}} : !num.fixed<8, 8>
  %c = num.compare olt, %a, %a : !num.fixed<8, 8>
  %s = arith.select %c, %a, %a : !num.fixed<8, 8>
  // CHECK: num.compare une, %{{.*}}, %{{.*}} : !num.float<5, 10>
  %u = num.compare une, %h, %h : !num.float<5, 10>
  return %s, %u : !num.fixed<8, 8>, i1
}
