// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// characterize: synthesizes sampled cells of a family, fits the cost model's
// terms to their resources, and reports the prediction errors.
#pragma once

#include "rhizome/Support/Result.h"
#include "rhizome/Target/CostModel.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <string>
#include <vector>

namespace rhizome::characterize {
struct CharacterizeRequest {
  std::string device; ///< a name or a file; stands for its family
  std::string tool = "yosys";
  std::string cache; ///< as for `rhizome synth`
  std::string work;  ///< folder of the sampled package, "" for a temporary one
  unsigned jobs = 2;
  uint64_t seed = 1;
  int64_t points = 12;              ///< samples per unit
  std::vector<std::string> units;   ///< to be sampled, empty for all
  std::vector<std::string> add;     ///< packages with results of `synth`
  std::vector<std::string> holdOut; ///< the same, compared but not fitted
  std::function<void(const std::string &)> progress; ///< may be empty
};

/// One actor: the new model's prediction and the measurement.
struct CharacterizedPoint {
  std::string unit, name;
  std::map<std::string, int64_t> config;     ///< the option's numbers
  bool held = false;                         ///< not in the fit
  double lut = 0, ff = 0, dsp = 0, bram = 0; ///< predicted
  double known = 0;                          ///< LUTs of memories, not fitted
  std::map<std::string, double> terms;       ///< its terms
  std::map<std::string, double> measured;
};

struct CharacterizeResult {
  FamilyModel model; ///< cells without points keep their terms
  std::vector<CharacterizedPoint> points;
  /// Of all points used for the fit, and of all held out.
  Residuals lut, ff, heldLut, heldFf;
};

Result<CharacterizeResult> characterize(const CharacterizeRequest &request);

/// The names of the units that are characterized separately.
std::vector<std::string> characterizedUnits();
} // namespace rhizome::characterize
