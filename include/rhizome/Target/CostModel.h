// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of characterization for a device family: how synthesis maps
// registers and memories, and the LUTs of every kind of structure. One file a
// per family, data/models/<family>.yaml, keyed by tool and version.
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rhizome {
/// The prediction errors over the points: shares of the measured value
/// above 500, absolute numbers below.
struct Residuals {
  int64_t points = 0; ///< above 500
  double median = 0, p90 = 0, worst = 0;
  int64_t small = 0; ///< points below
  double least = 0;  ///< absolute, nine of ten are within
};

struct FamilyModel {
  std::string family;
  /// How synthesis maps registers and memories. Known, not fitted.
  struct Mapping {
    bool shiftRegisters = false; ///< rows of registers become LUTs
    bool halfBlocks = false;     ///< a block RAM can be split
    int64_t lutramBits = 4;      ///< width of the smallest memory in LUTs
  } mapping;
  /// How long its logic takes, in ns: rhizome/Cost/CostModel.h. Known, not
  /// fitted; a family without a file has those of 7 series.
  struct Delays {
    double level = 0.85, chain = 0.6, chainBit = 0.029, reg = 0.5;
    /// The longest path of whole designs as routed, of the slowest one
    /// measured; 0 where none was routed.
    double path = 0;
    std::vector<std::string> sources;
  } delays;
  /// The family whose fit is used instead of an own one; all that follows is
  /// that family's then. Empty for a family that was characterized.
  std::string like;
  std::string tool;    ///< its name and version
  std::string options; ///< the synthesis script
  uint64_t seed = 0;
  std::vector<std::string> added; ///< packages besides samples: model, goal
  struct Unit {
    std::map<std::string, double> lut; ///< LUTs by term
    Residuals lutResiduals, ffResiduals;
  };
  std::map<std::string, Unit> units; ///< by name
};

/// Levels of logic on the longest path of the hand-written cells, where no
/// design of the family was routed: so many of ECP5's make its path. Generated
/// pipelines have fewer, since they follow the clock.
constexpr int kCellLevels = 9;

/// The best clock that a family's delays allow in designs that keep to what
/// routes, in whole MHz, and what limits it, in words.
struct BestClock {
  double mhz = 0;
  std::string limit;
};
BestClock bestClockOf(const FamilyModel &family);

/// Reads data/models/<family>.yaml. A malformed file is refused with its path,
/// line and reason. A file with the key 'like' uses the fit of another family
/// (which must have its own) and only defines how it maps memories and
/// registers. A family without a file gets a model without units, in which
/// every term is one LUT.
llvm::Expected<FamilyModel> loadFamilyModel(llvm::StringRef family);

/// The text of a family's file.
std::string printFamilyModel(const FamilyModel &model);
} // namespace rhizome
