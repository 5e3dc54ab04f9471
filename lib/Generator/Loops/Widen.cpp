// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many words of a tensor pass the border in a cycle: as many as are next to
// each other and in banks of their own. Nests decide the banks of most tensors;
// multiples of these are taken where they cost little.
#include "Banks.h"
#include "Nest.h"
#include "rhizome/Cost/Structure.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
constexpr size_t kLut = 0, kBram = 3;

int64_t wordsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

int64_t bitsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
}

/// So many words in a cycle, the banks for them, and what these cost more.
struct Width {
  int64_t words = 1;
  BankFactors banks;
  Resources more;
};

class Widener {
public:
  Widener(KernelUnit &unit, const UnitOptions &options,
          const CostContext &context);
  void run();

private:
  KernelUnit &unit;
  const UnitOptions &options;
  const CostContext &context;
  std::vector<Value> tensors; ///< those with memories of their own
  int64_t most = 1;           ///< words that are worth a thought

  BankFactors &banksOf(Value tensor) {
    return unit.banks.try_emplace(tensor, BankFactors::one(tensor))
        .first->second;
  }
  Resources priceOf(Value tensor, const BankFactors &banks) const;
  bool isSpare(const Resources &more) const;
  /// Of beats of so many words, the widest first.
  std::vector<Width> widthsOf(Value tensor, int64_t words);
  /// The words a cycle that are asked for; 0: as many as there can be.
  int64_t askedFor(Value tensor) const;
  int64_t chooseWords();
};
} // namespace

Widener::Widener(KernelUnit &unit, const UnitOptions &options,
                 const CostContext &context)
    : unit(unit), options(options), context(context) {
  int64_t bits = 1;
  for (auto all : {&unit.inputs, &unit.outputs})
    for (Value v : *all) {
      bits = std::max(bits, bitsOf(v));
      if (baseOf(v) == v && !llvm::is_contained(tensors, v))
        tensors.push_back(v);
    }
  most = std::max<int64_t>(1, options.beatBits / bits);
  llvm::stable_sort(tensors,
                    [](Value a, Value b) { return wordsOf(a) > wordsOf(b); });
}

Resources Widener::priceOf(Value tensor, const BankFactors &banks) const {
  // Two choices among all banks: of what is read, and of what is written.
  constexpr double kLutsOfAChoice = 0.8;
  const auto count = double(bankCount(banks));
  cost::Memory m =
      cost::memoryOf(bankWords(banks), bitsOf(tensor), context, true);
  Resources out;
  out.lut() = count * (m.luts + kLutsOfAChoice * double(bitsOf(tensor)));
  out.bram() = count * m.blocks;
  return out;
}

bool Widener::isSpare(const Resources &more) const {
  return !options.spare ||
         llvm::all_of(ArrayRef<size_t>({kLut, kBram}), [&](size_t kind) {
           return more.amount[kind] <= 0 ||
                  more.amount[kind] <= options.spare->amount[kind];
         });
}

std::vector<Width> Widener::widthsOf(Value tensor, int64_t words) {
  constexpr int64_t kMostBanks = 2048;
  const BankFactors &banks = banksOf(tensor);
  const auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  const int64_t size = wordsOf(tensor);
  const bool isPlain =
      bankCount(banks) == 1 && ArrayRef<int64_t>(banks.sizes) == shape;
  const Resources before = priceOf(tensor, banks);
  std::vector<Width> out;
  for (int64_t width = words; width > 1; --width) {
    if (words % width != 0)
      continue;
    Width to{width, banks, {}};
    if (isPlain && llvm::isPowerOf2_64(uint64_t(width)) && width < 2 * size) {
      to.banks.spread = width;
    } else if (auto copies = copiesFor(tensor, width)) {
      bool hasRoom = true;
      for (auto [factor, n, room] :
           llvm::zip_equal(to.banks.factors, *copies, to.banks.sizes)) {
        factor = std::lcm(factor, n);
        hasRoom &= factor <= room;
      }
      if (!hasRoom)
        continue;
    } else {
      continue;
    }
    if (bankCount(to.banks) > std::max(kMostBanks, bankCount(banks)))
      continue;
    to.more = priceOf(tensor, to.banks);
    for (size_t kind : {kLut, kBram})
      to.more.amount[kind] -= before.amount[kind];
    if (isSpare(to.more))
      out.push_back(std::move(to));
  }
  return out;
}

int64_t Widener::askedFor(Value tensor) const {
  size_t at = 0;
  for (auto all : {&unit.inputs, &unit.outputs})
    for (Value v : *all) {
      if (v == tensor && at < options.borders.size())
        return options.borders[at];
      ++at;
    }
  return 0;
}

int64_t Widener::chooseWords() {
  // Fewer are worth a twentieth more cycles.
  constexpr int64_t kWorth = 20;
  int64_t best = 1, least = INT64_MAX;
  for (int64_t words = 1; words <= most; ++words) {
    int64_t sum = 0, longest = 0;
    for (auto all : {&unit.inputs, &unit.outputs})
      for (Value v : *all) {
        std::vector<Width> widths;
        if (baseOf(v) == v)
          widths = widthsOf(v, words);
        const int64_t steps = llvm::divideCeil(
            wordsOf(v), widths.empty() ? 1 : widths.front().words);
        sum += steps;
        longest = std::max(longest, steps);
      }
    const int64_t cycles = options.stages > 0 ? longest : sum;
    if (least == INT64_MAX || cycles * kWorth < least * (kWorth - 1)) {
      best = words;
      least = cycles;
    }
  }
  return best;
}

void Widener::run() {
  unit.words = options.words > 0 ? options.words : chooseWords();
  if (unit.words == 1)
    return;
  Resources used;
  bool isSplit = true;
  for (Value tensor : tensors) {
    const BankFactors before = banksOf(tensor);
    const int64_t asked = askedFor(tensor);
    for (const Width &width : widthsOf(tensor, unit.words)) {
      if (asked > 0 && width.words != asked)
        continue;
      Resources all = used;
      all += width.more;
      if (!isSpare(all))
        continue;
      banksOf(tensor) = width.banks;
      isSplit = splitForBanks(unit.nests, unit.outputs, unit.banks) &&
                accessOver(tensor, loopsOver(tensor, width.banks, width.words),
                           width.banks, width.words);
      if (isSplit) {
        unit.widths[tensor] = width.words;
        used = all;
        break;
      }
      banksOf(tensor) = before;
    }
    if (!isSplit)
      isSplit = splitForBanks(unit.nests, unit.outputs, unit.banks);
  }
}

void widenBorder(KernelUnit &unit, const UnitOptions &options,
                 const CostContext &context) {
  Widener(unit, options, context).run();
}
} // namespace rhizome::gen::loops
