// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The models of the units that only the `stream` generator uses.
#pragma once

#include "rhizome/Generator/UnitModel.h"
#include <algorithm>

namespace rhizome::gen {
std::unique_ptr<UnitModel> makeMatvecUnit();
std::unique_ptr<UnitModel> makeMatvecResidentUnit();
std::unique_ptr<UnitModel> makeMatvecStreamedUnit();
std::unique_ptr<UnitModel> makeMatvecTurnsUnit();
std::unique_ptr<UnitModel> makeTurnsResidentUnit();
std::unique_ptr<UnitModel> makeTurnsStreamedUnit();
std::unique_ptr<UnitModel> makeMatmulUnit();
std::unique_ptr<UnitModel> makeLaneReduceUnit();
std::unique_ptr<UnitModel> makeDepthwiseResidentUnit();
std::unique_ptr<UnitModel> makeRequantUnit();
std::unique_ptr<UnitModel> makeThresholdUnit();
std::unique_ptr<UnitModel> makeTableUnit();
std::unique_ptr<UnitModel> makeScaledAddUnit();
std::unique_ptr<UnitModel> makeProductUnit();
std::unique_ptr<UnitModel> makeRowSoftmaxUnit();
std::unique_ptr<UnitModel> makeRowNormUnit();
std::unique_ptr<UnitModel> makeConcatUnit();
std::unique_ptr<UnitModel> makeSelectUnit();
std::unique_ptr<UnitModel> makeReorderUnit();
std::unique_ptr<UnitModel> makeReplayUnit();
std::unique_ptr<UnitModel> makeDepthwiseStreamedUnit();

/// Sets the depths of a row unit's stores, so that it takes a beat in every
/// cycle.
void sizeRowStores(unit::Instance &unit);

/// Whether a multiplier takes a second stage: in LUTs (style 0) with more than
/// four bits in both operands (rhz_mul).
inline bool multiplierIsDeep(int64_t style, int64_t x, int64_t w) {
  return style == 0 && std::min(x, w) > 4;
}

/// Styles of two products per DSP: a DSP48E2 and a DSP48E1, whose multiplier is
/// narrower.
constexpr int64_t kPairedStyle = 2, kNarrowPairedStyle = 3;
inline int64_t pairedStyle(const CostContext &cost) {
  return cost.dspWide < 27 ? kNarrowPairedStyle : kPairedStyle;
}
inline Multiplier multiplierOf(int64_t style) {
  return Multiplier(std::min(style, kPairedStyle));
}
/// Products of paired operands that are added before the pair is unpacked:
/// those for which its low field has room (rhz_matvec).
inline int64_t mostPacked(int64_t style, int64_t x, bool xSigned, int64_t w) {
  const int64_t most = xSigned ? kPackedSigned : kPackedUnsigned;
  if (style != kNarrowPairedStyle)
    return most;
  const int64_t field = 24 - std::max(x, w);
  const int64_t mostX = xSigned ? int64_t(1) << (x - 1) : (int64_t(1) << x) - 1;
  return std::min(most, ((int64_t(1) << (field - 1)) - 1) / (mostX << (w - 1)));
}
/// Cascades of packed DSPs.
struct Cascades {
  int64_t count, length;
  explicit Cascades(const unit::Instance &a)
      : count(cost::ceilDiv(a.get("Simd"),
                            mostPacked(a.get("Style"), a.get("XWidth"),
                                       a.get("XSigned"), a.get("WWidth")))),
        length(cost::ceilDiv(a.get("Simd"), count)) {}
  /// The lanes at a place of all cascades, the shorter of which begin later and
  /// end with the others.
  int64_t lanesAt(int64_t place, int64_t simd) const {
    return simd / length + (place >= length - simd % length);
  }
};

/// What the counters of a memory take in addition if trips have words of their
/// own (rhz_fold, rhz_index): of `words` a trip, which each goes through
/// several times.
void countTrips(cost::Builder &builder, int64_t words);
} // namespace rhizome::gen
