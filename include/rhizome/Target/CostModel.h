// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What characterization found for a family of devices: how synthesis maps
// registers and memories, and the LUTs of every kind of structure. One file a
// family, data/models/<family>.yaml, keyed by tool and version.
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>

namespace rhizome {
/// How far predictions were off over the points: shares of the measured value
/// above 500, absolute numbers below.
struct Residuals {
  int64_t points = 0; ///< above 500
  double median = 0, p90 = 0, worst = 0;
  int64_t small = 0; ///< points below
  double least = 0;  ///< absolute, nine of ten lie within
};

struct FamilyModel {
  std::string family;
  /// How synthesis maps what is not logic. It is known and not fitted.
  struct Mapping {
    bool shiftRegisters = false; ///< rows of registers become LUTs
    bool halfBlocks = false;     ///< a block RAM can be split
    int64_t lutramBits = 4;      ///< width of the smallest memory in LUTs
  } mapping;
  /// The family whose fit stands in for one of its own; all that follows is
  /// that family's then. Empty for a family that was characterized.
  std::string like;
  std::string tool;    ///< its name and version
  std::string options; ///< the synthesis script
  uint64_t seed = 0;
  std::vector<std::string> added; ///< packages beside the samples: model, goal
  struct Unit {
    std::map<std::string, double> lut; ///< LUTs by term
    Residuals lutResiduals, ffResiduals;
  };
  std::map<std::string, Unit> units; ///< by name
};

/// Reads data/models/<family>.yaml. A malformed file is refused with its path,
/// line and reason. A file with the key 'like' takes the fit of another family
/// (which must have one of its own) and says only how it maps memories and
/// registers. A family that has none gets a model without units, in which
/// every term is one LUT.
llvm::Expected<FamilyModel> loadFamilyModel(llvm::StringRef family);

/// The text of a family's file.
std::string printFamilyModel(const FamilyModel &model);
} // namespace rhizome
