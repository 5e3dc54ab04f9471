// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A listing as a package's file, and as a trace for tools that draw those.
#include "rhizome/Engine/Listing.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
constexpr int64_t kSchema = 1;
/// Longer frames and more instructions than any.
constexpr int64_t kMostCycles = int64_t(1) << 48;
constexpr size_t kMostLines = size_t(1) << 24;

Unit unitOf(const Listing::Line &line) { return infoOf(line.opcode).unit; }

json::Object toJson(const LayerBytes &bytes) {
  return json::Object{{"weights", bytes.weights},
                      {"loaded", bytes.loaded},
                      {"stored", bytes.stored},
                      {"received", bytes.received},
                      {"sent", bytes.sent},
                      {"scratch_read", bytes.scratchRead},
                      {"scratch_written", bytes.scratchWritten}};
}

/// Neighboring instructions of one layer as [layer, begin, end, runs].
json::Array timelineOf(const Listing &listing, Unit unit) {
  json::Array pieces;
  size_t layer = 0;
  int64_t begin = 0, end = 0, runs = 0;
  auto finish = [&] {
    if (runs > 0)
      pieces.push_back(json::Array{int64_t(layer), begin, end, runs});
  };
  for (auto [line, span] : zip_equal(listing.lines, listing.predicted)) {
    if (unitOf(line) != unit)
      continue;
    const int64_t from = std::max(span.begin, end);
    if (runs == 0 || line.layer != layer) {
      finish();
      layer = line.layer;
      begin = from;
      runs = 0;
    }
    end = std::max(end, span.end);
    runs += end - from;
  }
  finish();
  return pieces;
}

/// Reads columns of a listing's file.
class Reader {
public:
  explicit Reader(const json::Object &columns) : columns(columns) {}

  /// Numbers of `key` from 0 to below `end`; as many in each column.
  Error read(StringRef key, int64_t end, std::vector<int64_t> &to) {
    const json::Array *array = columns.getArray(key);
    if (!array)
      return createStringError("instructions.%s is no list", key.data());
    if (array->size() > kMostLines || (count && array->size() != *count))
      return createStringError("instructions.%s has %zu members", key.data(),
                               array->size());
    count = array->size();
    for (const json::Value &value : *array) {
      std::optional<int64_t> number = value.getAsInteger();
      if (!number || *number < 0 || *number >= end)
        return createStringError("instructions.%s has what is no number from 0 "
                                 "to %lld",
                                 key.data(), (long long)end - 1);
      to.push_back(*number);
    }
    return Error::success();
  }

private:
  const json::Object &columns;
  std::optional<size_t> count;
};
} // namespace

json::Object engine::toJson(const LayerUse &use) {
  json::Object units;
  for (auto [u, unit] : enumerate(use.units)) {
    if (unit.all() == 0)
      continue;
    json::Object waits;
    for (auto [cause, cycles] : enumerate(unit.waits))
      if (cycles > 0)
        waits[nameOf(Cause(cause))] = cycles;
    units[nameOf(Unit(u))] =
        json::Object{{"works", unit.works}, {"waits", std::move(waits)}};
  }
  return units;
}

json::Object engine::toJson(const Listing &listing) {
  json::Array layers, opcodes, causes;
  const std::vector<LayerUse> uses =
      listing.account(listing.predicted, listing.cycles);
  for (auto [layer, use] : zip_equal(listing.layers, uses))
    layers.push_back(
        json::Object{{"name", json::fixUTF8(layer.name)},
                     {"kind", layer.kind},
                     {"products", layer.products},
                     {"ideal_cycles", layer.ideal},
                     {"predicted_cycles", use.cycles},
                     {"tile_rows", layer.rows},
                     {"tile_columns", layer.columns},
                     {"input_inside", layer.isInputInside},
                     {"output_inside", layer.isOutputInside},
                     {"unit", nameOf(LayerUse::mainUnit(layer.kind))},
                     {"bytes", ::toJson(layer.bytes)},
                     {"units", toJson(use)}});
  json::Object timeline;
  for (unsigned unit = 0; unit < kUnits; ++unit)
    timeline[nameOf(Unit(unit))] = timelineOf(listing, Unit(unit));
  for (const InstructionInfo &info : instructions())
    opcodes.push_back(info.name);
  for (unsigned cause = 0; cause < kCauses; ++cause)
    causes.push_back(nameOf(Cause(cause)));
  auto of =
      [&](function_ref<int64_t(const Listing::Line &, const Span &)> value) {
        json::Array column;
        for (auto [line, span] : zip_equal(listing.lines, listing.predicted))
          column.push_back(value(line, span));
        return column;
      };
  using Line = Listing::Line;
  json::Object lines{
      {"opcode",
       of([](const Line &l, const Span &) { return int64_t(l.opcode); })},
      {"layer",
       of([](const Line &l, const Span &) { return int64_t(l.layer); })},
      {"work", of([](const Line &l, const Span &) {
         return std::min(l.work, kMostCycles - 1);
       })},
      {"begin", of([](const Line &, const Span &s) { return s.begin; })},
      {"end", of([](const Line &, const Span &s) { return s.end; })},
      {"before",
       of([](const Line &, const Span &s) { return int64_t(s.before); })},
      {"during",
       of([](const Line &, const Span &s) { return int64_t(s.during); })}};
  return json::Object{{"schema", kSchema},
                      {"unit", listing.unit},
                      {"memory", listing.memory},
                      {"in", listing.in},
                      {"out", listing.out},
                      {"cycles", listing.cycles},
                      {"layers", std::move(layers)},
                      {"timeline", std::move(timeline)},
                      {"opcodes", std::move(opcodes)},
                      {"causes", std::move(causes)},
                      {"instructions", std::move(lines)}};
}

namespace rhizome::engine {
// Readers, found by argument-dependent lookup from llvm::json.
static bool fromJSON(const json::Value &value, LayerBytes &bytes,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("weights", bytes.weights) &&
         map.map("loaded", bytes.loaded) && map.map("stored", bytes.stored) &&
         map.map("received", bytes.received) && map.map("sent", bytes.sent) &&
         map.map("scratch_read", bytes.scratchRead) &&
         map.map("scratch_written", bytes.scratchWritten);
}

static bool fromJSON(const json::Value &value, LayerReport &layer,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", layer.name) && map.map("kind", layer.kind) &&
         map.map("products", layer.products) &&
         map.map("ideal_cycles", layer.ideal) &&
         map.map("tile_rows", layer.rows) &&
         map.map("tile_columns", layer.columns) &&
         map.map("input_inside", layer.isInputInside) &&
         map.map("output_inside", layer.isOutputInside) &&
         map.map("bytes", layer.bytes);
}

static bool fromJSON(const json::Value &value, Listing &listing,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t schema = 0;
  if (!map || !map.map("schema", schema))
    return false;
  if (schema != kSchema)
    path.field("schema").report("another version of rhizome wrote it");
  return schema == kSchema && map.map("unit", listing.unit) &&
         map.map("memory", listing.memory) && map.map("in", listing.in) &&
         map.map("out", listing.out) && map.map("cycles", listing.cycles) &&
         map.map("layers", listing.layers);
}
} // namespace rhizome::engine

Expected<Listing> engine::listingFrom(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  removeControls(*value); // people see its names
  json::Path::Root root("listing");
  Listing made;
  if (!fromJSON(*value, made, root))
    return root.getError();
  const json::Object *lines = value->getAsObject()->getObject("instructions");
  if (!lines)
    return createStringError("there are no instructions");
  std::array<std::vector<int64_t>, 7> read;
  Reader reader(*lines);
  auto &[opcodes, layers, work, begins, ends, before, during] = read;
  for (auto [key, end, to] :
       {std::tuple("opcode", int64_t(instructions().size()), &opcodes),
        std::tuple("layer", int64_t(made.layers.size()), &layers),
        std::tuple("work", kMostCycles, &work),
        std::tuple("begin", kMostCycles, &begins),
        std::tuple("end", kMostCycles, &ends),
        std::tuple("before", int64_t(kCauses), &before),
        std::tuple("during", int64_t(kCauses), &during)})
    if (Error error = reader.read(key, end, *to))
      return std::move(error);
  for (size_t i = 0; i < opcodes.size(); ++i) {
    made.lines.push_back({Opcode(opcodes[i]), size_t(layers[i]), work[i]});
    if (unsigned(unitOf(made.lines.back())) >= kUnits)
      return createStringError("instruction %zu is for no unit", i + 1);
    made.predicted.push_back(
        {begins[i], ends[i], Cause(before[i]), Cause(during[i])});
  }
  return made;
}

void engine::writeTrace(raw_ostream &os, ArrayRef<Happening> happenings) {
  json::OStream json(os);
  auto name = [&](const char *what, int64_t process, int64_t thread,
                  StringRef text) {
    json.object([&] {
      json.attribute("ph", "M");
      json.attribute("name", what);
      json.attribute("pid", process);
      json.attribute("tid", thread);
      json.attributeObject(
          "args", [&] { json.attribute("name", json::fixUTF8(text)); });
    });
  };
  auto event = [&](const Happening &happening, int64_t process, size_t number,
                   int64_t before) {
    const Listing &listing = *happening.listing;
    const Listing::Line &line = listing.lines[number];
    const Span &span = happening.spans[number];
    const int64_t from = std::max(span.begin, before),
                  stays = std::max<int64_t>(0, span.end - from);
    json.object([&] {
      json.attribute("ph", "X");
      json.attribute("name", json::fixUTF8(listing.layers[line.layer].name +
                                           " " + infoOf(line.opcode).name));
      json.attribute("cat", infoOf(line.opcode).name);
      json.attribute("pid", process);
      json.attribute("tid", int64_t(unitOf(line)) + 1);
      json.attribute("ts", from);
      json.attribute("dur", stays);
      json.attributeObject("args", [&] {
        json.attribute("instruction", int64_t(number) + 1);
        json.attribute("begin", span.begin);
        if (from > before) {
          json.attribute("waited", from - before);
          json.attribute("waited for", nameOf(span.before));
        }
        if (stays > line.work) {
          json.attribute("stood", stays - line.work);
          json.attribute("stood for", nameOf(span.during));
        }
      });
    });
  };
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeObject("otherData", [&] {
      json.attribute("time", "a cycle is a microsecond");
    });
    json.attributeArray("traceEvents", [&] {
      for (auto [process, happening] : enumerate(happenings)) {
        const auto id = int64_t(process) + 1;
        name("process_name", id, 0, happening.name);
        for (unsigned unit = 0; unit < kUnits; ++unit)
          name("thread_name", id, unit + 1, nameOf(Unit(unit)));
        std::array<int64_t, kUnits> last = {};
        for (size_t i = 0; i < happening.spans.size(); ++i) {
          int64_t &end = last[unsigned(unitOf(happening.listing->lines[i]))];
          event(happening, id, i, end);
          end =
              std::max({end, happening.spans[i].begin, happening.spans[i].end});
        }
      }
    });
  });
  os << "\n";
}
