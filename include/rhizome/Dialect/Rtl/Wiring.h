// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module of instances and the wires between them, by names. A signal may be
// read before something defines it: bodies of modules are graph regions.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace rhizome::rtl {
/// Its ports are named first; begin() makes the module, the other functions
/// define signals, in any order, and end() connects them. Every signal that is
/// read must be defined by then.
class Wiring {
public:
  /// Port of an instance and the signal at it.
  using Ports = std::vector<std::pair<std::string, std::string>>;
  /// Port, signal ("": it is not read) and bits.
  using Outputs = std::vector<std::tuple<std::string, std::string, int64_t>>;
  using Parameters = std::vector<std::pair<const char *, int64_t>>;

  Wiring(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  void addInput(const std::string &name, int64_t width) {
    inputNames.push_back(name);
    inputWidths.push_back(width);
  }
  void addOutput(const std::string &name) { outputNames.push_back(name); }
  /// Makes the module at the insertion point, which moves into it. It has at
  /// least one input.
  ModuleOp begin(llvm::StringRef name, llvm::StringRef comment);
  void instance(const std::string &name, const std::string &callee,
                const Parameters &parameters, const Ports &inputs,
                const Outputs &outputs);
  /// A signal concatenated from parts, the first in the low bits.
  void concat(const std::string &name, const std::vector<std::string> &parts,
              int64_t width);
  /// Part of a signal.
  void slice(const std::string &name, const std::string &whole, int64_t low,
             int64_t width);
  void constant(const std::string &name, int64_t value, int64_t width);
  /// Another name of a signal that is defined already.
  void alias(const std::string &name, const std::string &of) {
    signals[name] = signals.lookup(of);
  }
  void end();

private:
  struct Pending {
    mlir::Operation *op;
    unsigned operand;
    std::string signal;
  };
  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::vector<std::string> inputNames, outputNames;
  std::vector<int64_t> inputWidths;
  llvm::StringMap<mlir::Value> signals;
  std::vector<Pending> pending;
  mlir::Value placeholder;

  mlir::Type bits(int64_t n) { return builder.getIntegerType(unsigned(n)); }
  mlir::ArrayAttr texts(const std::vector<std::string> &names);
  /// The signals, or placeholders.
  llvm::SmallVector<mlir::Value> read(const std::vector<std::string> &names);
  /// Remembers which operands of an operation are placeholders.
  void await(mlir::Operation *op, const std::vector<std::string> &names);
};
} // namespace rhizome::rtl
