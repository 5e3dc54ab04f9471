// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients of at most 64 bits as calls, for units that have operators.
// RUN: rhizome-opt %s --convert-num-to-arith=call-quotients=true | FileCheck %s

// CHECK: func.func private @rhizome_num_quotient(i64, i64, i64) -> i64 attributes {llvm.readnone}

// CHECK-LABEL: func.func @narrow
// CHECK: %[[Q:.*]] = call @rhizome_num_quotient(%{{.*}}, %{{.*}}, %{{.*}}) : (i64, i64, i64) -> i64
// CHECK: arith.trunci %[[Q]] : i64 to i32
// CHECK-NOT: arith.divsi
func.func @narrow(%a: !num.fixed<8, 24>, %b: !num.fixed<8, 24>) -> !num.fixed<8, 24> {
  %q = num.div %a, %b rounding(nearest_even) overflow(saturate) : !num.fixed<8, 24>
  return %q : !num.fixed<8, 24>
}

// CHECK-LABEL: func.func @wide
// CHECK: arith.divsi
func.func @wide(%a: !num.fixed<40, 40>, %b: !num.fixed<40, 40>) -> !num.fixed<40, 40> {
  %q = num.div %a, %b rounding(nearest_even) overflow(wrap) : !num.fixed<40, 40>
  return %q : !num.fixed<40, 40>
}
