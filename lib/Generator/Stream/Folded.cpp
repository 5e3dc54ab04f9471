// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the structure that all units that multiply and reduce have.
#include "Folded.h"
#include <algorithm>

namespace rhizome::gen::folded {
using namespace cost;

int64_t productStages(const unit::Instance &a) {
  bool multiplies = a.is<unit::Matvec>() || hasNoRom(a) || a.get("Op") == 0;
  return multiplies && multiplierIsDeep(a.get("Style"),
                                        a.get("XWidth") + !a.get("XSigned"),
                                        a.get("WWidth"))
             ? 2
             : 1;
}

void resultControl(Builder &b, int64_t stages, int64_t tail) {
  bool folded = b.get("Folds") > 1;
  b.ff(double(stages) * (folded ? 2 : 1) + double(tail) + (folded ? 1 : 0));
  b.counter(b.get("Folds"));
}

int64_t productBits(const Product &of) {
  return isMasked(of) ? of.w : of.w + of.x;
}

void accumulators(Builder &b, double pixels, int64_t lanes, int64_t bits) {
  const MemoryImage *bias = b.image("BiasFile");
  if (b.get("Folds") > 1 || !b.hasShiftRegisters() ||
      (b.get("OutFolds") > 1 && !bias))
    b.adder(pixels * double(lanes), bits);
  else if (b.get("OutFolds") > 1)
    b.adder(pixels, bias->varyingColumns(0, lanes * bits));
}

UsedProducts::UsedProducts(const Builder &b, int64_t pe, int64_t simd,
                           int64_t w)
    : count(pe * simd), lanes(simd), dots(pe) {
  const MemoryImage *weights =
      b.get("Style") == 0 ? b.image("WeightFile") : nullptr;
  if (!weights)
    return;
  count = 0;
  terms.assign(pe, std::vector<char>(simd));
  std::vector<char> isUsed(simd);
  for (int64_t e = 0; e < pe; ++e)
    for (int64_t s = 0; s < simd; ++s)
      if (weights->zeroColumns((e * simd + s) * w, w) < w) {
        terms[e][s] = isUsed[s] = 1;
        ++count;
      }
  lanes = std::count(isUsed.begin(), isUsed.end(), 1);
  dots = std::count_if(terms.begin(), terms.end(),
                       [](const std::vector<char> &dot) {
                         return std::count(dot.begin(), dot.end(), 1) > 0;
                       });
}
} // namespace rhizome::gen::folded
