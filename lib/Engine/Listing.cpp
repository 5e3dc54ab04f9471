// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The account of a frame: how many of a unit's cycles are work, and whom it
// waits for in the others.
#include "rhizome/Engine/Listing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

/// Cycles of an instruction whose unit never waits: a word a cycle.
static int64_t workOf(const Instruction &instruction, ArrayRef<Access> accesses,
                      const Core &core) {
  const InstructionInfo &info = infoOf(instruction.opcode);
  if (info.unit == Unit::Vector)
    return std::numeric_limits<int64_t>::max();
  if (info.unit == Unit::Weights)
    return info.pushes(core, instruction.values.data()) * core.out;
  int64_t most = 0;
  for (const Access &access : accesses)
    if (access.space != Space::Accumulator)
      most = std::max(most, access.words());
  return most;
}

static void addBytes(LayerBytes &bytes, Unit unit, const Access &access,
                     int64_t size) {
  const int64_t moved = access.words() * size;
  switch (access.space) {
  case Space::Memory:
    (access.writes           ? bytes.stored
     : unit == Unit::Weights ? bytes.weights
                             : bytes.loaded) += moved;
    break;
  case Space::Stream:
    (access.writes ? bytes.sent : bytes.received) += moved;
    break;
  case Space::Scratch:
    (access.writes ? bytes.scratchWritten : bytes.scratchRead) += moved;
    break;
  default:
    break;
  }
}

int64_t UnitUse::all() const {
  return std::accumulate(waits.begin(), waits.end(), works);
}

Unit LayerUse::mainUnit(StringRef kind) {
  return kind == "input"    ? Unit::Load
         : kind == "output" ? Unit::Store
         : kind == "matrix" ? Unit::Matrix
                            : Unit::Vector;
}

Listing engine::listingOf(const Program &program, const Core &core,
                          ArrayRef<size_t> layerOf,
                          std::vector<LayerReport> layers,
                          const Prediction &predicted) {
  Listing made;
  made.in = core.in;
  made.out = core.out;
  made.layers = std::move(layers);
  for (LayerReport &layer : made.layers)
    layer.ideal = int64_t(
        divideCeil(uint64_t(layer.products), uint64_t(core.in * core.out)));
  for (auto [instruction, layer] :
       zip_equal(ArrayRef(program.instructions).drop_back(), layerOf)) {
    const InstructionInfo &info = infoOf(instruction.opcode);
    std::vector<Access> accesses;
    info.accesses(core, instruction.values.data(), accesses);
    made.lines.push_back(
        {instruction.opcode, layer, workOf(instruction, accesses, core)});
    for (const Access &access : accesses)
      addBytes(made.layers[layer].bytes, info.unit, access, core.in);
  }
  made.predicted = predicted.spans;
  made.cycles = predicted.cycles;
  return made;
}

std::vector<LayerUse> Listing::account(ArrayRef<Span> spans,
                                       int64_t cycles) const {
  std::vector<LayerUse> uses(layers.size());
  // Of a layer's main unit; of a layer that has nothing for it, of all.
  std::vector<int64_t> mainEnds(layers.size(), 0), ends(layers.size(), 0);
  std::array<int64_t, kUnits> last = {};
  for (auto [line, span] : zip_equal(lines, spans)) {
    const auto unit = unsigned(infoOf(line.opcode).unit);
    UnitUse &use = uses[line.layer].units[unit];
    const int64_t from = std::max(span.begin, last[unit]),
                  stays = std::max<int64_t>(0, span.end - from),
                  works = std::min(stays, line.work);
    use.waits[unsigned(span.before)] += from - last[unit];
    use.waits[unsigned(span.during)] += stays - works;
    use.works += works;
    last[unit] = from + stays;
    ends[line.layer] = std::max(ends[line.layer], span.end);
    if (Unit(unit) == LayerUse::mainUnit(layers[line.layer].kind))
      mainEnds[line.layer] = span.end;
  }
  for (auto [end, mainEnd] : zip_equal(ends, mainEnds))
    end = mainEnd > 0 ? mainEnd : end;
  if (!ends.empty())
    ends.back() = cycles;
  int64_t end = 0;
  for (auto [use, own] : zip_equal(uses, ends)) {
    use.cycles = std::max<int64_t>(0, own - end);
    end = std::max(end, own);
  }
  return uses;
}
