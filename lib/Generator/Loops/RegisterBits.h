// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers of a module bit by bit, as synthesis leaves them: what joins
// and takes apart words is none, constants and what nobody reads have none, and
// those with the same input are one.
#pragma once

#include "rhizome/Dialect/Rtl/Rtl.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <vector>

namespace rhizome::gen::loops {
class RegisterBits {
public:
  /// What a register of a module is made of.
  enum class Kind {
    None,  ///< something else, or inside a block
    Plain, ///< a register that may be part of a row
    Reset, ///< one that may not
  };
  /// `kindOf` is asked for registers and reads of memories; a read's register
  /// is behind a word of its own.
  RegisterBits(mlir::Block &block,
               llvm::function_ref<Kind(mlir::Operation *)> kindOf);

  /// How many rows of plain registers there are of each length.
  std::map<int64_t, int64_t> rows;
  int64_t resets = 0; ///< bits that are in no row

private:
  llvm::function_ref<Kind(mlir::Operation *)> kindOf;
  /// Bits are numbered: 0 and 1 are the constants, then those of all values.
  llvm::DenseMap<mlir::Value, unsigned> first;
  std::vector<unsigned> from;   ///< by bit: the one that it is
  std::vector<unsigned> input;  ///< of a register in a row
  std::vector<unsigned> enable; ///< of that register
  std::vector<unsigned> next;   ///< the register behind a bit without an enable
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> enabled; ///< with one
  llvm::BitVector isKnown;                                         ///< by bit
  llvm::BitVector isChoice, isReset, isRead;

  void number(mlir::Block &block);
  /// The first bit of a value whose origins are known from here on.
  unsigned resolve(mlir::Value v);
  void resolveRegister(mlir::Operation *op, unsigned at, unsigned bits);
  void resolveShift(mlir::Operation *op, unsigned at, unsigned bits);
  void resolveGate(mlir::Operation *op, unsigned at, unsigned bits);
  void readAll(mlir::Value v);
  void countRows();
};

/// Bits that are neither constant nor copies of the top one.
int64_t usedBits(mlir::Value v);
} // namespace rhizome::gen::loops
