// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The only printer of SystemVerilog: `rtl` modules become text that Verilator,
// Yosys and Icarus read. It decides names and layout, nothing about the design.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace rhizome {
/// Prints one module. Ports keep their names; an instance is called
/// "u_<name>", the wire of its output "<name>_<port>"; anything that is not
/// a legal identifier goes through legalName. Unused outputs get a
/// wire "unused_…", partially read vectors are collected in one such wire, so
/// that linters stay silent.
void emitSystemVerilog(rtl::ModuleOp module, llvm::raw_ostream &os);

/// Prints every `rtl.module` of `module`, which verifies, as a file: its name,
/// "<name>.sv", and its text, callees before callers. Fails with a diagnostic
/// if two module names become one identifier, or if instances form a cycle.
mlir::LogicalResult
emitDesign(mlir::ModuleOp module,
           std::vector<std::pair<std::string, std::string>> &files);

/// Writes every `rtl.module` of `module`, which verifies, to "<dir>/<name>.sv"
/// (the folder must exist) and appends the file names, callees before callers,
/// to `files`. Fails with a diagnostic if a file cannot be written, if two
/// module names become one identifier, or if instances form a cycle.
mlir::LogicalResult emitDesign(mlir::ModuleOp module, llvm::StringRef dir,
                               std::vector<std::string> *files = nullptr);
} // namespace rhizome
