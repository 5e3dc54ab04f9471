// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package's self-checking test bench, for any simulator: its golden vectors
// through the design, in plain SystemVerilog and with cocotb.
//   nodes/<n>/tb/  rhz_tb.sv, test_rhizome.py, Makefile, vectors
#pragma once

#include "rhizome/Model/Golden.h"

namespace rhizome::deploy {
/// Writes it for a device alone, or for one of a cluster's nodes if each of them
/// computes the network, and if there are golden vectors; the RTL and the
/// segments must have been written.
llvm::Error writeTestBench(PackageWriter &writer, const Plan &plan,
                           const model::GoldenCodes &codes);
} // namespace rhizome::deploy
