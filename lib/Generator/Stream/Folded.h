// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the units that multiply by weights and reduce have in common: where
// their weights are, which products are built, and results after `Folds`
// firings.
#pragma once

#include "Models.h"

namespace rhizome::gen::folded {
/// Whether its weights are in a memory that is filled when the design starts.
inline bool isLoaded(const unit::Instance &a) {
  return !!a.kind().loadedPort();
}

/// Whether its weights come as a stream.
inline bool isStreamed(const unit::Instance &a) {
  return a.is<unit::MatvecStreamed>() || a.is<unit::DepthwiseStreamed>();
}

/// Whether its second factor is a stream that it stores.
inline bool isStored(const unit::Instance &a) { return a.is<unit::Matmul>(); }

/// Whether it has no ROM of weights.
inline bool hasNoRom(const unit::Instance &a) {
  return isLoaded(a) || isStreamed(a) || isStored(a);
}

/// Words of weights, and of biases, of all trips.
inline int64_t wordsOf(const cost::Builder &b, int64_t words) {
  return isStored(b.instance()) ? words : b.get("Trips") * words;
}

/// Stages of the multipliers: those in LUTs take a second one if both
/// operands have more than four bits (rhz_mul).
int64_t productStages(const unit::Instance &a);

/// Valid bits, the flag of a result, its path to the buffer.
void resultControl(cost::Builder &b, int64_t stages, int64_t tail);

/// Bits of a product. A product by a single bit is the other factor or zero.
int64_t productBits(const cost::Product &of);

/// The adders of a result of `bits` bits for every pixel: with those of other
/// folds, or with a bias, whose constant bits take no LUT before AMD's carry
/// chains.
void accumulators(cost::Builder &b, double pixels, int64_t lanes, int64_t bits);

/// The products of a matvec whose weights are not zero in every word; all if
/// the weights are unknown, and in DSPs, to which Yosys also maps these.
/// `lanes` and `dots` have at least one of them.
struct UsedProducts {
  int64_t count, lanes, dots;
  std::vector<std::vector<char>> terms; ///< of each dot product, unless all are

  UsedProducts(const cost::Builder &b, int64_t pe, int64_t simd, int64_t w);
};

/// The common part of these units: results after some firings.
class FoldedUnit : public UnitModel {
public:
  using UnitModel::UnitModel;

  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    std::vector<Phase> phases;
    if (int64_t collected = a.get("Folds") - 1; collected > 0)
      phases.push_back(firings(collected, false));
    phases.push_back(firings(1));
    addProcess(a, network, phases, a.get("frameBeats"), inputs, outputs);
  }
  int64_t firingsPerBeat(const unit::Instance &a) const override {
    return a.get("Folds");
  }
};
} // namespace rhizome::gen::folded
