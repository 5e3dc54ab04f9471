// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A simulator's notes say when each unit began and ended something; the
// package's listing says which instruction and which layer that was.
#include "Engines.h"
#include "rhizome/Engine/Listing.h"
#include "rhizome/Support/Folders.h"
#include "rhizome/Support/LayersFile.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::evaluate;
using engine::Cause;
using engine::Unit;

/// Less of a layer's cycles is not worth a word.
static constexpr double kToldShare = 0.01;

static std::vector<std::string> layersFiles(const Package &package) {
  const std::string folder =
      package.path("nodes/" + package.plan().nodes.front().name);
  std::vector<std::string> files;
  for (const std::string &name : namesIn(folder))
    if (isLayersFile(name))
      files.push_back(folder + "/" + name);
  llvm::sort(files);
  return files;
}

bool evaluate::hasEngines(const Package &package) {
  return !layersFiles(package).empty();
}

/// What a unit waited for while it carried out an instruction.
static Cause duringOf(Unit unit, const UnitEvent &event, Cause predicted) {
  if (unit == Unit::Matrix)
    return event.stood > 0 ? Cause::Weights : Cause::Itself;
  if (unit == Unit::Weights && 2 * event.stood > event.end - event.begin)
    return Cause::Matrix;
  return unit == Unit::Weights && predicted == Cause::Matrix ? Cause::Memory
                                                             : predicted;
}

/// The spans of a listing's lines in a simulated frame.
static Expected<std::vector<engine::Span>>
spansOf(const engine::Listing &listing, const EngineFrame &frame) {
  std::array<size_t, engine::kUnits> next = {};
  std::vector<engine::Span> spans;
  for (auto [line, predicted] : zip_equal(listing.lines, listing.predicted)) {
    const Unit unit = engine::infoOf(line.opcode).unit;
    const std::vector<UnitEvent> &events = frame.units[unsigned(unit)];
    size_t &number = next[unsigned(unit)];
    if (number == events.size() || events[number].end < events[number].begin ||
        uint64_t(events[number].before) >= engine::kCauses)
      return createStringError(
          "the simulator saw %zu instructions of unit '%s' of '%s' end, of "
          "which the program has more; remedy: compile the package again",
          number, engine::nameOf(unit), listing.unit.c_str());
    const UnitEvent &event = events[number++];
    spans.push_back({event.begin, event.end, Cause(event.before),
                     duringOf(unit, event, predicted.during)});
  }
  return spans;
}

/// The two largest waits of a unit.
static std::vector<std::pair<std::string, int64_t>>
waitsOf(const engine::LayerUse &use, Unit unit) {
  std::vector<std::pair<std::string, int64_t>> waits;
  for (auto [cause, cycles] : enumerate(use.units[unsigned(unit)].waits))
    if (double(cycles) > kToldShare * double(use.cycles) &&
        Cause(cause) != Cause::Itself)
      waits.emplace_back(engine::nameOf(Cause(cause)), cycles);
  llvm::stable_sort(
      waits, [](const auto &a, const auto &b) { return a.second > b.second; });
  waits.resize(std::min<size_t>(waits.size(), 2));
  return waits;
}

static EngineCycles cyclesOf(const engine::Listing &listing,
                             ArrayRef<engine::Span> spans, int64_t cycles) {
  EngineCycles made{listing.unit,   listing.memory, 0,
                    listing.cycles, cycles,         {}};
  for (auto [layer, predicted, measured] : zip_equal(
           listing.layers, listing.account(listing.predicted, listing.cycles),
           listing.account(spans, cycles))) {
    EngineLayer &row = made.layers.emplace_back();
    row.name = layer.name;
    row.kind = layer.kind;
    row.ideal = layer.ideal;
    row.predicted = predicted.cycles;
    row.measured = measured.cycles;
    row.bytes = layer.bytes.weights + layer.bytes.loaded + layer.bytes.stored;
    const Unit unit = engine::LayerUse::mainUnit(layer.kind);
    row.unit = engine::nameOf(unit);
    row.waits = waitsOf(measured, unit);
    row.units = engine::toJson(measured);
    made.ideal += layer.ideal;
  }
  return made;
}

Error evaluate::addEngines(const Package &package,
                           const std::vector<EngineFrame> &frames,
                           const std::string &trace, SimulateResult &result) {
  if (frames.empty())
    return Error::success();
  std::vector<engine::Listing> listings;
  std::vector<std::vector<engine::Span>> measured;
  for (const std::string &path : layersFiles(package)) {
    Expected<std::string> text = readFile(path);
    if (!text)
      return text.takeError();
    Expected<engine::Listing> listing = engine::listingFrom(*text);
    if (!listing)
      return createStringError("%s: %s; remedy: compile the package again",
                               path.c_str(),
                               toString(listing.takeError()).c_str());
    auto frame = find_if(
        frames, [&](const EngineFrame &f) { return f.actor == listing->unit; });
    if (frame == frames.end())
      continue;
    Expected<std::vector<engine::Span>> spans = spansOf(*listing, *frame);
    if (!spans)
      return spans.takeError();
    result.engines.push_back(cyclesOf(*listing, *spans, frame->cycles));
    listings.push_back(std::move(*listing));
    measured.push_back(std::move(*spans));
  }
  if (trace.empty())
    return Error::success();
  std::vector<engine::Happening> happenings;
  for (auto [listing, spans] : zip_equal(listings, measured)) {
    happenings.push_back({&listing, listing.unit + ", measured", spans});
    happenings.push_back(
        {&listing, listing.unit + ", predicted", listing.predicted});
  }
  std::string text;
  raw_string_ostream os(text);
  engine::writeTrace(os, happenings);
  return writeBytes(trace, text);
}

json::Array evaluate::toJson(const std::vector<EngineCycles> &engines) {
  json::Array list;
  for (const EngineCycles &engine : engines) {
    json::Array layers;
    for (const EngineLayer &layer : engine.layers)
      layers.push_back(json::Object{{"name", json::fixUTF8(layer.name)},
                                    {"kind", layer.kind},
                                    {"ideal_cycles", layer.ideal},
                                    {"predicted_cycles", layer.predicted},
                                    {"measured_cycles", layer.measured},
                                    {"memory_bytes", layer.bytes},
                                    {"units", json::Object(layer.units)}});
    list.push_back(json::Object{{"unit", engine.unit},
                                {"memory", engine.memory},
                                {"ideal_cycles", engine.ideal},
                                {"predicted_cycles", engine.predicted},
                                {"measured_cycles", engine.measured},
                                {"layers", std::move(layers)}});
  }
  return list;
}
