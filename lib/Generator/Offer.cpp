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
    bool isChained = unit.inputs.empty() && !units.empty();
    unit.inputs.push_back(isChained ? Source{int(units.size()) - 1, 0}
                                    : Source{-1, next++});
  }
  units.push_back(std::move(unit));
  outputs = {{int(units.size()) - 1, 0}};
  return *this;
}

void finishOffer(Offer &offer, const DeviceContext &device) {
  offer.resources = {};
  auto finish = [&](Actor &actor) {
    placeRoms(actor, device.cost);
    sizeOutput(actor);
    return costOf(actor, device.cost);
  };
  for (Body::Unit &unit : offer.body.units)
    offer.resources += finish(unit.actor);
  if (offer.shared)
    finish(offer.shared->actor);
}
} // namespace rhizome::gen
