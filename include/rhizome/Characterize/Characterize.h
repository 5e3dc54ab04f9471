// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// characterize: synthesizes sampled cells of a family, fits the cost model's
// terms to what they take, and says how far predictions are off.
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
  std::string cache; ///< as of `rhizome synth`
  std::string work;  ///< folder of the sampled package, "" for a temporary one
  unsigned jobs = 2;
  uint64_t seed = 1;
  int64_t points = 12;              ///< samples a unit
  std::vector<std::string> units;   ///< to be sampled, empty for all
  std::vector<std::string> add;     ///< packages with results of `synth`
  std::vector<std::string> holdOut; ///< the same, compared but not fitted
  std::function<void(const std::string &)> progress; ///< may be empty
};

/// One actor, predicted by the new model beside what it took.
struct CharacterizedPoint {
  std::string unit, name;
  std::map<std::string, int64_t> config;     ///< the option's numbers
  bool held = false;                         ///< not in the fit
  double lut = 0, ff = 0, dsp = 0, bram = 0; ///< predicted
  double known = 0;                          ///< LUTs of memories, not fitted
  std::map<std::string, double> terms;       ///< what it is made of
  std::map<std::string, double> measured;
};

struct CharacterizeResult {
  FamilyModel model; ///< cells without points keep what they had
  std::vector<CharacterizedPoint> points;
  /// Of all points that took part, and of all that were held out.
  Residuals lut, ff, heldLut, heldFf;
};

Result<CharacterizeResult> characterize(const CharacterizeRequest &request);

/// The names of what is characterized apart.
std::vector<std::string> characterizedUnits();
} // namespace rhizome::characterize
