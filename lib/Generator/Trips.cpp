// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit in a body works on as many frames as there are trips, of which the
// network counts one. Where trips differ, its memories have words for each, and
// what has no such memory cannot be in the body.
#include "rhizome/Generator/Trips.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/UnitModel.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace rhizome::gen {
void setTrips(Operation *op, int64_t trips, StringRef function, int64_t first,
              int64_t stride) {
  Builder b(op->getContext());
  op->setAttr(marks::kTrips,
              b.getDictionaryAttr(
                  {b.getNamedAttr("first", b.getI64IntegerAttr(first)),
                   b.getNamedAttr("in", b.getStringAttr(function)),
                   b.getNamedAttr("stride", b.getI64IntegerAttr(stride)),
                   b.getNamedAttr("trips", b.getI64IntegerAttr(trips))}));
}

static int64_t numberIn(DictionaryAttr attr, StringRef name) {
  return cast<IntegerAttr>(attr.get(name)).getInt();
}

int64_t tripsOf(Operation *op) {
  auto attr = op->getAttrOfType<DictionaryAttr>(marks::kTrips);
  return attr ? numberIn(attr, "trips") : 1;
}

llvm::SmallVector<Operation *> eachTrip(Operation *op) {
  auto attr = op->getAttrOfType<DictionaryAttr>(marks::kTrips);
  auto module = op->getParentOfType<ModuleOp>();
  Operation *function =
      module.lookupSymbol(cast<StringAttr>(attr.get("in")).getValue());
  const int64_t first = numberIn(attr, "first"),
                stride = numberIn(attr, "stride");
  llvm::SmallVector<Operation *> ops(size_t(numberIn(attr, "trips")), nullptr);
  for (Operation &other : function->getRegion(0).front())
    if (auto number = other.getAttrOfType<IntegerAttr>(marks::kTrip)) {
      const int64_t from = number.getInt() - first;
      if (from >= 0 && from % stride == 0 &&
          from / stride < int64_t(ops.size()))
        ops[size_t(from / stride)] = &other;
    }
  return ops;
}

bool areAlike(ArrayRef<Operation *> ops) {
  auto isSame = [](Operation *a, Operation *b) {
    auto attrsOf = [](Operation *op) {
      // Without what reports say of it.
      NamedAttrList attrs;
      for (NamedAttribute attr : op->getAttrs())
        if (!attr.getName().getValue().starts_with("rhizome."))
          attrs.push_back(attr);
      return attrs.getDictionary(op->getContext());
    };
    if (attrsOf(a) != attrsOf(b) || a->getNumOperands() != b->getNumOperands())
      return false;
    return llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()),
                        [](auto pair) {
                          auto [x, y] = pair;
                          const bool isConstant = osa::isConstantInts(x);
                          return isConstant == osa::isConstantInts(y) &&
                                 (!isConstant || *osa::constantInts(x) ==
                                                     *osa::constantInts(y));
                        });
  };
  return llvm::all_of(ops, [&](Operation *op) { return isSame(ops[0], op); });
}

bool isBodyEntry(Operation *op) { return isa<flow::EnterOp>(op); }

bool isBodyBorder(Operation *op) {
  return isa<flow::EnterOp, flow::LeaveOp>(op);
}

int64_t tripsWithin(Operation *border) {
  return border->getAttrOfType<IntegerAttr>("trips").getInt();
}

BeatFormat timesTrips(BeatFormat format, int64_t trips) {
  if (format.row == format.count && format.row % format.lanes == 0)
    format.row *= trips;
  format.count *= trips;
  return format;
}

BeatFormat overTrips(BeatFormat format, int64_t trips) {
  if (format.row == format.count)
    format.row /= trips;
  format.count /= trips;
  return format;
}

/// Its figures for several frames.
static void repeatFrames(Actor &unit, int64_t trips) {
  for (const char *count : {"frameBeats", "frameElements"})
    if (unit.params.has(count))
      unit.set(count, trips * unit.get(count));
  if (unit.kind().indexOf("frames"))
    unit.set("frames", trips);
}

/// Makes the unit one whose memories have words for each trip.
static bool repeatWords(Actor &unit, int64_t trips) {
  const unit::Kind &kind = unit.kind();
  if (kind.isGenerated())
    return false;
  if (unit.is<unit::MemReader>()) {
    // Otherwise a trip's words are read several times, then the next one's.
    if (unit.get("frameBeats") != unit.get("Words"))
      return false;
    unit.set("Words", trips * unit.get("Words"));
    return true;
  }
  if (kind.indexOf("Trips")) {
    int64_t uses = unit.get("frameBeats");
    for (const char *part : {"OutFolds", "Positions"})
      if (kind.indexOf(part))
        uses /= std::max<int64_t>(unit.get(part), 1);
    if (kind.indexOf("Channels") && kind.indexOf("Lanes")) // along rows
      uses /= cost::ceilDiv(unit.get("Channels"), unit.get("Lanes"));
    if (kind.indexOf("Stored"))
      unit.set("Stored", 1);
    unit.set("Trips", trips);
    unit.set("Uses", uses);
    return true;
  }
  // The order of elements is the same in each trip.
  return unit.is<unit::Reorder>() ||
         (kind.files.empty() && !kind.loadedPort() &&
          kind.memoryPorts().empty());
}

std::optional<Offer> onTrips(Offer offer, int64_t trips, bool alike) {
  if (offer.shared)
    return std::nullopt;
  for (Body::Unit &unit : offer.body.units) {
    if (!alike && !repeatWords(unit.actor, trips))
      return std::nullopt;
    repeatFrames(unit.actor, trips);
    for (BeatFormat &format : unit.outputs)
      format = timesTrips(format, trips);
  }
  for (auto *formats : {&offer.inputs, &offer.outputs})
    for (BeatFormat &format : *formats)
      format = timesTrips(format, trips);
  offer.busyCycles *= trips;
  for (Traffic &traffic : offer.traffic) {
    traffic.readBytes *= double(trips);
    traffic.writeBytes *= double(trips);
  }
  offer.summary += ", " + std::to_string(trips) + " trips";
  return offer;
}

/// The offer for one of the trips.
static Offer onceOf(const Offer &offer, int64_t trips) {
  Offer once = offer;
  for (Body::Unit &unit : once.body.units) {
    Actor &actor = unit.actor;
    for (const char *count : {"frameBeats", "frameElements"})
      if (actor.params.has(count))
        actor.set(count, actor.get(count) / trips);
    for (const char *one : {"Trips", "Uses", "frames"})
      if (actor.kind().indexOf(one))
        actor.set(one, 1);
    if (actor.is<unit::MemReader>() &&
        actor.get("Words") > actor.get("frameBeats"))
      actor.set("Words", actor.get("Words") / trips);
    for (BeatFormat &format : unit.outputs)
      format = overTrips(format, trips);
  }
  for (auto *formats : {&once.inputs, &once.outputs})
    for (BeatFormat &format : *formats)
      format = overTrips(format, trips);
  return once;
}

Resources apartOf(const Offer &offer, int64_t trips,
                  const DeviceContext &device) {
  Offer once = onceOf(offer, trips);
  finishOffer(once, device);
  for (double &amount : once.resources.amount)
    amount *= double(trips);
  return once.resources;
}

/// Appends the words of `from`.
static void append(MemoryImage &to, const MemoryImage &from, int64_t at) {
  for (int64_t w = 0; w < from.depth; ++w)
    for (int64_t low = 0; low < from.width; low += 64)
      to.set(at + w, low, std::min<int64_t>(64, from.width - low),
             int64_t(from.get(w, low, 64)));
}

void buildTrips(const Generator &generator, const Region &region, Offer &offer,
                MemoryImages &images) {
  const int64_t trips = tripsOf(region.front());
  llvm::SmallVector<Operation *> ops = eachTrip(region.front());
  const bool alike = areAlike(ops);
  for (auto [t, op] : llvm::enumerate(ops)) {
    if (alike && t > 0)
      break;
    Offer once = onceOf(offer, trips);
    MemoryImages own;
    generator.build(Region(op), once, own);
    // The order of elements is that of all trips.
    llvm::StringSet<> common;
    for (const Body::Unit &unit : once.body.units)
      if (!unit.actor.kind().indexOf("Trips"))
        for (const auto &[param, file] : unit.actor.files)
          common.insert(file);
    for (auto &[name, image] : own) {
      if (alike || common.contains(name)) {
        images[name] = std::move(image);
        continue;
      }
      auto [all, isNew] = images.try_emplace(name);
      if (isNew)
        all->second = MemoryImage(image.width, trips * image.depth);
      append(all->second, image, int64_t(t) * image.depth);
    }
    if (t > 0)
      continue;
    for (auto [unit, made] :
         llvm::zip_equal(offer.body.units, once.body.units)) {
      unit.actor.files = made.actor.files;
      unit.actor.memories = made.actor.memories;
      unit.actor.datapath = made.actor.datapath;
    }
  }
}
} // namespace rhizome::gen
