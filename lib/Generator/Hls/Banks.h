// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in banks: which factors give every access of a cycle a bank of its
// own, and where each copy of a nest's body finds its elements.
#pragma once

#include "rhizome/Generator/Hls/KernelUnit.h"

namespace rhizome::gen::hls {
/// The copies of a body by coordinates, one for each loop that has copies. A
/// value that does not depend on all of these loops has fewer copies: those of
/// the loops in its mask.
class Lanes {
public:
  explicit Lanes(std::vector<int64_t> sizes) : sizes(std::move(sizes)) {}
  static Lanes of(const Nest &nest);
  unsigned all() const { return (1u << sizes.size()) - 1; }
  size_t count(unsigned mask) const;
  size_t index(unsigned mask, llvm::ArrayRef<int64_t> at) const;
  /// Zero for loops outside of the mask.
  std::vector<int64_t> coordinates(unsigned mask, size_t lane) const;

private:
  std::vector<int64_t> sizes;
};

/// Addresses in a bank, counted in row-major order.
struct Reach {
  int64_t first = 0;          ///< in the first iteration
  std::vector<int64_t> steps; ///< by counter
  bool operator==(const Reach &) const = default;
};

/// Where an operand's elements are while counters run.
struct Access {
  unsigned mask = 0; ///< of loops with copies that it depends on
  /// Counters that choose the bank; none if each lane has a fixed one.
  std::vector<size_t> selectors;
  struct Lane {
    Reach reach;
    /// By the selectors' counts, the last one's fastest.
    std::vector<int64_t> banks;
  };
  std::vector<Lane> lanes;
};

int64_t bankCount(const BankFactors &banks);
/// Words of a bank.
int64_t bankWords(const BankFactors &banks);

/// The access of a nest's operand; nothing if its address in a bank is not
/// linear in the counters.
std::optional<Access> accessOf(const Nest &nest, mlir::OpOperand &operand,
                               const BankFactors &banks);
/// All elements of a tensor in row-major order, one by one, with the banks of
/// its base.
Loops loopsOver(mlir::Value tensor, const BankFactors &banks);
/// Their access; nothing if addresses are not linear in the counters.
std::optional<Access> accessOver(mlir::Value tensor, const Loops &loops,
                                 const BankFactors &banks);

/// Gives every base banks, one for each copy that reads or writes it in a
/// cycle, and splits the nests' counters accordingly. A tensor that nests need
/// in different ways has the banks of its writer, an input one bank and more
/// ports, and `isChanged` is set. Nothing if these copies of the nests go with
/// no banks.
std::optional<llvm::DenseMap<mlir::Value, BankFactors>>
placeInBanks(llvm::MutableArrayRef<Nest> nests,
             llvm::ArrayRef<mlir::Value> outputs, bool *isChanged = nullptr);
} // namespace rhizome::gen::hls
