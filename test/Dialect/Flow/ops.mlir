// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

!pixels = !flow.stream<!num.int<u8>, lanes = 6, row = 84, count = 2352, order = pixels>
!windows = !flow.stream<!num.int<s9, -200:200>, lanes = 9, row = 9, count = 81, order = windows>

// CHECK-LABEL: flow.design @node0 attributes {clock_mhz = 1.562500e+02 : f64, device = "xcku060-role"}
flow.design @node0 attributes {clock_mhz = 156.25, device = "xcku060-role"} {
  // CHECK: %[[IN:.*]] = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0 : i64} : () -> !flow.stream<<u8>, lanes = 6, row = 84, count = 2352, order = pixels>
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0 : i64} : () -> !pixels
  // CHECK: flow.actor "window" "conv1_window"(%[[IN]]) {config = {KernelH = 3 : i64}, depths = array<i64: 2>}
  %w = flow.actor "window" "conv1_window"(%in) {config = {KernelH = 3}, depths = array<i64: 2>} : (!pixels) -> !windows
  // CHECK: flow.actor "axis_out" "m_axis_0"
  // CHECK-SAME: lanes = 9, row = 9, count = 81, order = windows
  flow.actor "axis_out" "m_axis_0"(%w) {config = {}, depths = array<i64>, rhizome.port = 0 : i64} : (!windows) -> ()
}
