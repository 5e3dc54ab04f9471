// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-normalize --split-input-file | FileCheck %s
// Settings recorded in a module are read and written back unchanged, as long as a
// later phase needs them.

// CHECK: module @calibrated attributes {rhizome.compile = {accept_nearest, calibration = {bits = array<i64: 8, 6>, data = "train.npz", frames = 20 : i64, layers = {conv1 = array<i64: 4, 5>}, max_loss = 5.000000e-01 : f64, method = "percentile", min_snr = 3.000000e+01 : f64, normalize = "0..1", percentile = 9.950000e+01 : f64}, clock_mhz = 1.250000e+02 : f64, cluster = "ku060x2", device = "xc7z020", goal = "min-nodes", max_nodes = 2 : i64, model = "net", samples = {files = ["train.npz"], normalize = "0..1", option = "--calibration"}}}
module @calibrated attributes {rhizome.compile = {accept_nearest, calibration = {bits = array<i64: 8, 6>, data = "train.npz", frames = 20, layers = {conv1 = array<i64: 4, 5>}, max_loss = 0.5, method = "percentile", min_snr = 30.0, normalize = "0..1", percentile = 99.5}, clock_mhz = 125.0, cluster = "ku060x2", device = "xc7z020", goal = "min-nodes", max_nodes = 2, model = "net"}} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// CHECK: module @fixed attributes {rhizome.compile = {board = "ice40-hx8k-breakout", device = "xc7z020", model = "net", number_format = "fixed<6,10>", steer = "pins.yaml", tensor_formats = {input = "fixed<1,7>"}}}
module @fixed attributes {rhizome.compile = {board = "ice40-hx8k-breakout", device = "xc7z020", model = "net", number_format = "fixed<6,10>", steer = "pins.yaml", tensor_formats = {input = "fixed<1,7>"}}} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
