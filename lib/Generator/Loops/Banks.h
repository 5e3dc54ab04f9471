// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in banks: which factors give every access of a cycle a bank of its
// own, where each copy of a nest's body finds its elements, and how many words
// pass the border in a cycle.
#pragma once

#include "rhizome/Generator/Loops/KernelUnit.h"

namespace rhizome::gen::loops {
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
  /// Banks that each of these is spread over; the low bits of the address tell
  /// which, the others the address there.
  int64_t spread = 1;
};

int64_t bankCount(const BankFactors &banks);
/// Words of a bank.
int64_t bankWords(const BankFactors &banks);

/// The access of a nest's operand; nothing if its address in a bank is not
/// linear in the counters.
std::optional<Access> accessOf(const Nest &nest, mlir::OpOperand &operand,
                               const BankFactors &banks);
/// All elements of a tensor in row-major order, `width` in an iteration, with
/// the banks of its base. A width above 1 is one of widenBorder.
Loops loopsOver(mlir::Value tensor, const BankFactors &banks,
                int64_t width = 1);
/// Their access, with a lane for each word; nothing if addresses are not linear
/// in the counters.
std::optional<Access> accessOver(mlir::Value tensor, const Loops &loops,
                                 const BankFactors &banks, int64_t width = 1);

/// Gives every base banks, one for each copy that reads or writes it in a
/// cycle, and splits the nests' counters accordingly. A tensor that nests need
/// in different ways has the banks of its writer, an input one bank and more
/// ports, and `isChanged` is set. Nothing if these copies of the nests go with
/// no banks.
std::optional<llvm::DenseMap<mlir::Value, BankFactors>>
placeInBanks(llvm::MutableArrayRef<Nest> nests,
             llvm::ArrayRef<mlir::Value> outputs, bool *isChanged = nullptr);

/// The copies of each loop over a tensor that take `width` elements next to
/// each other: full inner dimensions and a part of the next one that divides
/// it. Nothing if they are not that.
std::optional<std::vector<int64_t>> copiesFor(mlir::Value tensor,
                                              int64_t width);
/// Splits the nests' counters for these banks. False if they are not for all
/// accesses; then the nests are left as they are for none.
bool splitForBanks(llvm::MutableArrayRef<Nest> nests,
                   llvm::ArrayRef<mlir::Value> outputs,
                   const llvm::DenseMap<mlir::Value, BankFactors> &banks);

/// Gives the unit's inputs and outputs banks for as many words of a beat as
/// possible: those of the nests where they are next to each other, more where
/// that costs little of the device; and chooses the words of a beat if the
/// options leave them open.
void widenBorder(KernelUnit &unit, const UnitOptions &options,
                 const CostContext &context);
} // namespace rhizome::gen::loops
