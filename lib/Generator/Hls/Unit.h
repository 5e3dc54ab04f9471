// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a kernel while it is built: its registers, memories and ports.
// KernelUnit.cpp decides which phase runs when, Walk.cpp counts and addresses,
// Pipeline.cpp builds the datapath of a nest.
#pragma once

#include "Nest.h"
#include "llvm/Support/MathExtras.h"

namespace rhizome::gen::hls {
/// A tensor's elements: which memory, and the addresses of its readers, one
/// per phase and port.
struct Store {
  mlir::Value memory;
  struct Port {
    std::vector<std::pair<mlir::Value, mlir::Value>>
        addresses;      ///< phase's turn, address
    mlir::Value enable; ///< null: always
    rtl::ReadOp read;
  };
  std::vector<Port> ports;
  rtl::WriteOp write; ///< null: none yet
};

/// The loops of a phase as counters, and addresses that follow them.
struct Walk {
  mlir::Value isLast;  ///< the last iteration of all loops
  mlir::Value isFirst; ///< the first one of the loops from `inner` on
  mlir::Value isFinal; ///< their last one
  std::vector<mlir::Value> addresses;
};

/// When a phase starts its last element, and when it has finished it.
struct Turn {
  mlir::Value lastIssue, done;
};

class Unit {
public:
  Unit(KernelUnit &unit, mlir::OpBuilder &b, mlir::Location loc)
      : unit(unit), b(b), loc(loc) {}
  void build(mlir::StringRef name);

private:
  KernelUnit &unit;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value clock, reset, inValid, inData, outReady;
  mlir::Value phase, isIssued;
  mlir::Value outValid, isAdvancing; ///< of the output register
  std::vector<mlir::Value> issued;   ///< what it takes, by output
  mlir::Value isLast;                ///< it holds the last word of a run
  mlir::DenseMap<mlir::Value, Store> stores;
  mlir::DenseMap<mlir::Value, mlir::Value> factors; ///< in their registers

  mlir::Type bits(int64_t n) { return b.getIntegerType(unsigned(n)); }
  mlir::Value constant(int64_t n, int64_t value) {
    return rtl::ConstantOp::create(b, loc, bits(n), value);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return rtl::AndOp::create(b, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return rtl::OrOp::create(b, loc, x, y);
  }
  mlir::Value inverse(mlir::Value x) { return rtl::NotOp::create(b, loc, x); }
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return rtl::MuxOp::create(b, loc, condition, x, y);
  }
  mlir::Value isEqual(mlir::Value x, int64_t value) {
    return rtl::CompareOp::create(
        b, loc, rtl::Predicate::Equal, x,
        constant(x.getType().getIntOrFloatBitWidth(), value));
  }
  /// A register with an initial value, whose input is given later.
  mlir::Value state(int64_t n, mlir::Value enable, int64_t initial = 0) {
    return rtl::RegisterOp::create(b, loc, bits(n), clock, constant(n, 0),
                                   enable, reset,
                                   b.getIntegerAttr(bits(n), initial));
  }
  static void setNext(mlir::Value state, mlir::Value next) {
    state.getDefiningOp<rtl::RegisterOp>().getInputMutable().assign(next);
  }
  /// A control signal some cycles later; 0 after reset.
  mlir::Value later(mlir::Value v, int64_t cycles) {
    for (; cycles > 0; --cycles) {
      mlir::Value q = state(1, mlir::Value());
      setNext(q, v);
      v = q;
    }
    return v;
  }
  /// Data some cycles later.
  mlir::Value delayed(mlir::Value v, int64_t cycles) {
    for (; cycles > 0; --cycles)
      v = rtl::RegisterOp::create(b, loc, clock, v);
    return v;
  }
  /// A factor in its register, before its sign is extended. Products share it.
  mlir::Value factor(mlir::Value v) {
    if (auto wide = v.getDefiningOp<rtl::SignExtendOp>())
      return rtl::SignExtendOp::create(b, loc, v.getType(),
                                       factor(wide.getInput()));
    if (v.getDefiningOp<rtl::ConstantOp>())
      return v;
    mlir::Value &registered = factors[v];
    if (!registered)
      registered = delayed(v, 1);
    return registered;
  }
  static int64_t widthOf(mlir::Value tensor) {
    return cast<mlir::RankedTensorType>(tensor.getType())
        .getElementTypeBitWidth();
  }
  static int64_t wordsOf(mlir::Value tensor) {
    return cast<mlir::RankedTensorType>(tensor.getType()).getNumElements();
  }
  static int64_t addressBits(int64_t words) {
    return std::max<int64_t>(1, llvm::Log2_64_Ceil(uint64_t(words)));
  }

  /// Counters for loops of these trips and the addresses of operands in
  /// tensors of `words` elements.
  Walk walk(mlir::ArrayRef<int64_t> trips, size_t inner, mlir::Value issue,
            mlir::ArrayRef<Reach> reaches, mlir::ArrayRef<int64_t> words);
  /// All elements of a tensor in order.
  Walk walkOver(mlir::Value tensor, mlir::Value issue);
  /// An element into a tensor's memory. Writers take turns.
  void put(mlir::Value tensor, mlir::Value address, mlir::Value data,
           mlir::Value enable);
  mlir::Value read(mlir::Value tensor, size_t port, mlir::Value turn,
                   mlir::Value address);
  /// The datapath and the loops of a nest.
  Turn compute(const Nest &nest, mlir::Value turn);
  Turn write(mlir::Value tensor, mlir::Value turn);
};
} // namespace rhizome::gen::hls
