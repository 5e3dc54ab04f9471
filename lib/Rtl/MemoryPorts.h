// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inside flow -> rtl: the ports of a design to off-chip memories, one for each
// bank that its actors use, and arbiters if several read one or several write.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Unit/Unit.h"
#include "llvm/ADT/MapVector.h"

namespace rhizome {
/// A memory port of an instance: its signals are consecutive operands and
/// results.
struct MemoryReader {
  int64_t bits = 0;     ///< of a beat
  int64_t inFlight = 0; ///< maximum number of bursts in flight
  int64_t turn = 1;     ///< bursts that it may be granted in a row
  bool writes = false;  ///< whether the signals of the writing channels follow
  rtl::InstanceOp instance;
  unsigned firstOperand = 0, firstResult = 0;
};

class MemoryPorts {
public:
  MemoryPorts(flow::DesignOp design, mlir::OpBuilder &builder)
      : design(design), builder(builder) {}

  /// Calls back with name, direction and bits of every signal of the design's
  /// ports.
  void forSignals(llvm::function_ref<void(const std::string &name, bool isInput,
                                          int64_t bits)>
                      tell);
  /// A placeholder for an input of this width until connect(); for a single
  /// bit, any value will do.
  mlir::Value placeholder(int64_t bits, mlir::Value bit);
  void add(flow::BankAttr bank, const MemoryReader &reader) {
    readers[{bank.getMemory(), bank.getBank()}].push_back(reader);
  }
  /// Connects all readers with the top module: its arguments from
  /// `firstArgument` on are the ports' inputs, the outputs are added.
  void connect(mlir::Block *body, unsigned firstArgument,
               llvm::SmallVectorImpl<mlir::Value> &outputs);

private:
  using Bank = std::pair<llvm::StringRef, int64_t>;
  flow::DesignOp design;
  mlir::OpBuilder &builder;
  llvm::MapVector<Bank, llvm::SmallVector<MemoryReader>> readers;

  /// A cell that lets several ports take turns at one, and the parameter that
  /// is their number.
  struct Arbitration {
    const char *module, *suffix, *count;
    llvm::ArrayRef<unit::Signal> signals;
    bool takesTurns; ///< of several bursts
  };
  MemoryReader arbitrate(const Arbitration &how, Bank bank,
                         llvm::MutableArrayRef<MemoryReader> ports,
                         mlir::Block *body);
};
} // namespace rhizome
