// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of offers, and the cost of an offer once its units are known.
#include "rhizome/Generator/Offer.h"
#include "rhizome/Generator/PriceList.h"
#include "rhizome/Generator/UnitModel.h"
#include "llvm/ADT/Hashing.h"

namespace rhizome::gen {
Body &Body::chain(Actor actor, const BeatFormat &output) {
  int next = 0; // of the region's inputs
  for (const Unit &unit : units)
    for (const Source &source : unit.inputs)
      next += source.unit < 0;
  Unit unit{std::move(actor), {}, {output}};
  for (const unit::Port &port : unit.actor.kind().ports) {
    if (port.protocol != unit::Protocol::Stream || !port.isInput)
      continue;
    const int64_t *values = unit.actor.params.data();
    for (int64_t i = 0; i < port.count(values); ++i) {
      bool isChained = unit.inputs.empty() && !units.empty();
      unit.inputs.push_back(isChained ? Source{int(units.size()) - 1, 0}
                                      : Source{-1, next++});
    }
  }
  units.push_back(std::move(unit));
  outputs = {{int(units.size()) - 1, 0}};
  return *this;
}

PriceList::Price PriceList::finishAlone(Actor &actor,
                                        const CostContext &context,
                                        RomChoices *roms) {
  RomChoices choices = placeRoms(actor, context);
  if (roms)
    *roms = std::move(choices);
  sizeOutput(actor);
  Price price;
  price.cost = costOf(actor, context);
  price.error = errorOf(actor, price.cost, context);
  return price;
}

const PriceList::Price &PriceList::finish(Actor &actor) {
  assert(actor.files.empty() && "the key knows no contents");
  const llvm::ArrayRef<int64_t> given(actor.params.data(),
                                      actor.kind().parameters.size());
  const size_t hash = llvm::hash_combine(
      &actor.model(), llvm::hash_combine_range(given.begin(), given.end()));
  auto [first, last] = known.equal_range(hash);
  for (; first != last; ++first) {
    const Entry &entry = first->second;
    if (entry.model != &actor.model() || given != llvm::ArrayRef(entry.given))
      continue;
    for (auto [rom, place] : llvm::zip_equal(actor.roms(), entry.placed))
      actor.set(rom->placedBy, place);
    actor.set("Depth", entry.depth);
    return entry.price;
  }
  Entry &entry = known.emplace(hash, Entry())->second;
  entry.model = &actor.model();
  entry.given.assign(given.begin(), given.end());
  entry.price = finishAlone(actor, context);
  for (const unit::Rom *rom : actor.roms())
    entry.placed.push_back(actor.get(rom->placedBy));
  entry.depth = actor.get("Depth");
  return entry.price;
}

/// Sums up the results of `finish` for every unit.
static void
finishUnits(Offer &offer,
            llvm::function_ref<PriceList::Price(Actor &actor)> finish) {
  offer.resources = {};
  offer.lutVariance = offer.ffVariance = 0;
  for (Body::Unit &unit : offer.body.units) {
    const PriceList::Price price = finish(unit.actor);
    offer.resources += price.cost;
    offer.lutVariance += price.error.lut() * price.error.lut();
    offer.ffVariance += price.error.ff() * price.error.ff();
  }
}

void finishOffer(Offer &offer, PriceList &prices) {
  // The computing unit, the last one, differs in every offer.
  finishUnits(offer, [&](Actor &actor) {
    return &actor == &offer.body.back()
               ? PriceList::finishAlone(actor, prices.context)
               : prices.finish(actor);
  });
}

void finishOffer(Offer &offer, const DeviceContext &device) {
  finishUnits(offer, [&](Actor &actor) {
    return PriceList::finishAlone(actor, device.cost);
  });
  if (offer.shared)
    for (Actor &actor : offer.shared->actors) {
      placeRoms(actor, device.cost);
      sizeOutput(actor);
    }
}
} // namespace rhizome::gen
