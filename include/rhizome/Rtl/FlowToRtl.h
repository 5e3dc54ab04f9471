// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts a design of actors to a module of instances.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Rtl/Rtl.h"

namespace rhizome {
/// Adds `rtl.module @rhz_top` for the design at the end of `parent`. Every
/// actor becomes an instance of the cell `rhz_<kind>`; its integer parameters
/// are passed except those that begin with a lowercase letter. Ports: clk_i,
/// rst_ni and AXI4-Stream `s_axis_<k>_t*`, `m_axis_<k>_t*`.
rtl::ModuleOp convertFlowToRtl(flow::DesignOp design, mlir::ModuleOp parent);
} // namespace rhizome
