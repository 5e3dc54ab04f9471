// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

// CHECK: func.func private @full(!num.int<s8>, !num.int<u4>, !num.int<s64>, !num.int<u63>)
func.func private @full(!num.int<s8>, !num.int<u4>, !num.int<s64>, !num.int<u63>)

// A range is not printed if it is the full range of the width.
// CHECK: func.func private @whole(!num.int<s8>, !num.int<u1>)
func.func private @whole(!num.int<s8, -128:127>, !num.int<u1, 0:1>)

// CHECK: func.func private @range(!num.int<s8, -127:127>, tensor<2x!num.int<u5, 3:17>>)
func.func private @range(!num.int<s8, -127:127>, tensor<2x!num.int<u5, 3:17>>)
