// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each library cell costs: its structure (Cost/, one function a cell),
// whose resources are exact but for logic, times what the device family's model
// says of each kind of logic.
#include "Structure.h"
#include "rhizome/Generator/ProductCut.h"
#include <algorithm>
#include <string_view>

namespace rhizome::gen {
using namespace cost;

int64_t productsOf(const Actor &a) {
  if (a.cell == "matvec")
    return a.get("Pixels") * a.get("Pe") * a.get("Simd");
  if (a.cell == "lane_reduce" && a.get("Op") == 0)
    return a.get("Pixels") * a.get("Lanes") * a.get("Taps");
  return 0;
}

// Wider operands are cut into pieces, of which all but the top one lose a bit
// to the sign. A top piece of two bits goes to LUTs, but for AMD's.
int64_t dspTiles(int64_t a, int64_t b, const CostContext &ctx) {
  auto pieces = [&](int64_t bits, int64_t port) {
    if (bits <= port)
      return int64_t(1);
    int64_t n = ceilDiv(bits - 1, port - 1);
    return !ctx.shiftRegisters && bits - (port - 1) * (n - 1) <= 2 ? n - 1 : n;
  };
  return std::min(pieces(a, ctx.dspWide) * pieces(b, ctx.dspNarrow),
                  pieces(b, ctx.dspWide) * pieces(a, ctx.dspNarrow));
}

ProductCut productCut(int64_t m, int64_t x, const CostContext &ctx) {
  int64_t wide = ctx.dspWide, narrow = ctx.dspNarrow;
  int64_t port = x <= narrow ? wide : narrow; // what x leaves to m
  return {std::max<int64_t>(0, m - port), x > wide ? wide - 1 : 0};
}

std::vector<RomUse> romsOf(const Actor &a) {
  std::vector<RomUse> roms;
  const std::string &cell = a.cell;
  if (cell == "matvec" || (cell == "lane_reduce" && a.get("Op") == 0)) {
    int64_t outputs = cell == "matvec" ? a.get("Pe") : a.get("Lanes");
    int64_t inputs = cell == "matvec" ? a.get("Simd") : a.get("Taps");
    roms.push_back({"Block", a.get("Folds") * a.get("OutFolds"),
                    outputs * inputs * a.get("WWidth"), 1});
    if (a.get("Bias"))
      roms.push_back(
          {"BiasBlock", a.get("OutFolds"), outputs * a.get("AccWidth"), 1});
  } else if (cell == "lane_reduce" && a.get("Positions") > 0) {
    roms.push_back({"Block", a.get("Positions"),
                    a.get("Pixels") * a.get("ScaleWidth"), 1});
  } else if (cell == "requant") {
    roms.push_back({"Block", a.get("OutFolds"),
                    a.get("Lanes") * (a.get("MulWidth") + a.get("OffsetWidth")),
                    1});
  } else if (cell == "threshold" && a.get("Count") <= 3) {
    roms.push_back({"Block", a.get("OutFolds"),
                    a.get("Lanes") * a.get("Count") * (a.get("InWidth") + 1),
                    1});
  } else if (cell == "table") {
    roms.push_back({"Block",
                    a.get("OutFolds") * a.get("Lanes") * a.get("Entries"),
                    a.get("OutWidth"), a.get("Lanes")});
  } else if (cell == "reorder") {
    roms.push_back(
        {"Block", a.get("OutElements"), addressBits(a.get("Elements")), 1});
  }
  return roms;
}

void placeRoms(Actor &a, const CostContext &ctx) {
  constexpr double kLutsOfABlock = 100;
  for (const RomUse &rom : romsOf(a)) {
    auto c = RomContents::expected(rom.words, double(rom.width), ctx.lutInputs);
    a.set(rom.placedBy,
          rom.words > 16 &&
              c.leaves + c.muxes >
                  kLutsOfABlock * romOf(rom.words, rom.width, ctx).blocks);
  }
}

/// What the actor is characterised as: an index of kUnitNames.
static unsigned unitOf(const Actor &a) {
  const std::string &cell = a.cell;
  const char *name = cell.c_str();
  if (cell == "window") {
    name = a.get("KernelParallel") ? "window_parallel" : "window_serial";
  } else if (cell == "matvec") {
    constexpr const char *kStyles[] = {"matvec_lut", "matvec_dsp",
                                       "matvec_pair"};
    name = kStyles[a.get("Style")];
  } else if (cell == "lane_reduce" && a.get("Op") == 0) {
    name = "depthwise";
  } else if (cell == "requant" && a.get("MulWidth") > 0 && a.get("Style")) {
    name = "requant_dsp";
  } else if (cell == "threshold" && a.get("Count") > 3) {
    name = "bisect";
  } else if (cell == "gearbox" || cell == "axis_in" || cell == "axis_out") {
    name = rotates(a) ? "gearbox_rotate" : "gearbox";
  } else if (cell == "product") { // as alike as the characterised cells are
    name = "scaled_add";
  } else if (cell == "select") {
    name = "concat";
  } else if (cell == "fifo") {
    name = "fork";
  }
  auto known = std::find_if(kUnitNames.begin(), kUnitNames.end(),
                            [&](std::string_view n) { return n == name; });
  assert(known != kUnitNames.end() && "every cell is a unit");
  return unsigned(known - kUnitNames.begin());
}

Structure structureOf(const Actor &a, const CostContext &context,
                      const MemoryImages *images) {
  using Build = void (*)(Builder &);
  struct Entry {
    const char *cell;
    Build build;
  };
  constexpr Entry kEntries[] = {{"window", window},
                                {"matvec", matvec},
                                {"lane_reduce", laneReduce},
                                {"requant", requant},
                                {"threshold", threshold},
                                {"table", table},
                                {"scaled_add", scaledAdd},
                                {"product", product},
                                {"gearbox", gearbox},
                                {"axis_in", axis},
                                {"axis_out", axis},
                                {"concat", concat},
                                {"select", select},
                                {"reorder", reorder},
                                {"circuit", circuit},
                                {"fork", fork},
                                {"fifo", fork}};
  Builder builder(a, context, images);
  for (const Entry &entry : kEntries)
    if (a.cell == entry.cell)
      entry.build(builder);
  builder.structure.unit = unitOf(a);
  return builder.structure;
}

Resources errorOf(const Actor &a, const Resources &cost,
                  const CostContext &context) {
  const CostModel::Unit &unit = context.model->units[unitOf(a)];
  Resources error;
  error.lut() = unit.lutError.of(cost.lut());
  error.ff() = unit.ffError.of(cost.ff());
  return error;
}

Resources costOf(const Actor &a, const CostContext &context,
                 const MemoryImages *images) {
  Structure s = structureOf(a, context, images);
  const CostModel::Unit &unit = context.model->units[s.unit];
  Resources r = s.exact;
  for (size_t t = 0; t < s.terms.size(); ++t)
    r.lut() += unit.lut[t] * s.terms[t];
  return r;
}

CostModel CostModel::unit() {
  CostModel model;
  for (Unit &unit : model.units)
    unit.lut.fill(1);
  return model;
}
} // namespace rhizome::gen
