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
std::unique_ptr<UnitModel> makeMatmulUnit();
std::unique_ptr<UnitModel> makeLaneReduceUnit();
std::unique_ptr<UnitModel> makeDepthwiseResidentUnit();
std::unique_ptr<UnitModel> makeRequantUnit();
std::unique_ptr<UnitModel> makeThresholdUnit();
std::unique_ptr<UnitModel> makeTableUnit();
std::unique_ptr<UnitModel> makeScaledAddUnit();
std::unique_ptr<UnitModel> makeProductUnit();
std::unique_ptr<UnitModel> makeConcatUnit();
std::unique_ptr<UnitModel> makeSelectUnit();
std::unique_ptr<UnitModel> makeReorderUnit();
std::unique_ptr<UnitModel> makeReplayUnit();
std::unique_ptr<UnitModel> makeDepthwiseStreamedUnit();

/// Whether a multiplier takes a second stage: in LUTs (style 0) with more than
/// four bits in both operands (rhz_mul).
inline bool multiplierIsDeep(int64_t style, int64_t x, int64_t w) {
  return style == 0 && std::min(x, w) > 4;
}
} // namespace rhizome::gen
