// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of offers, and what an offer takes once its units are known.
#include "rhizome/Generator/Offer.h"
#include "rhizome/Generator/Generator.h"

namespace rhizome::gen {
Body &Body::chain(Actor actor, const Format &output) {
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

void finishOffer(Offer &offer, const DeviceContext &device) {
  offer.resources = {};
  offer.lutVariance = offer.ffVariance = 0;
  auto finish = [&](Actor &actor) {
    placeRoms(actor, device.cost);
    sizeOutput(actor);
  };
  for (Body::Unit &unit : offer.body.units) {
    finish(unit.actor);
    Resources cost = costOf(unit.actor, device.cost);
    Resources error = errorOf(unit.actor, cost, device.cost);
    offer.resources += cost;
    offer.lutVariance += error.lut() * error.lut();
    offer.ffVariance += error.ff() * error.ff();
  }
  if (offer.shared)
    for (Actor &actor : offer.shared->actors)
      finish(actor);
}
} // namespace rhizome::gen
