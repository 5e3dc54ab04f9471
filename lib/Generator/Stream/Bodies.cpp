// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The borders of a body that each frame passes several times. Its entry takes a
// frame from outside, then what comes back: the frames of all trips but the
// last one, which wait in a buffer that has a place for each beat of a frame.
// So a trip's results find places although nobody takes them yet.
#include "Units.h"
#include "rhizome/Generator/Trips.h"

using namespace mlir;

namespace rhizome::gen::stream {
/// `count` of the frames of a stream that has `trips`, from `start` on.
static Actor framesOf(const BeatFormat &frame, int64_t trips, int64_t start,
                      int64_t count) {
  return Actor(unit::Select::kKind, "trips",
               {{"Elem", frame.bits()},
                {"Inner", frame.beats()},
                {"Period", trips},
                {"Start", start},
                {"Stride", 1},
                {"Count", count},
                {"frameBeats", count * frame.beats()}});
}

/// The formats in which a body may take or give a frame.
static std::vector<BeatFormat> framesFor(Operation *op, Upstream upstream) {
  const int64_t trips = isBodyEntry(op) ? 1 : tripsWithin(op);
  const int64_t channels = channelsOf(op);
  BeatFormat base = formatOf(op->getResult(0).getType(), 1, 1);
  std::vector<BeatFormat> frames;
  auto consider = [&](int64_t lanes, int64_t row) {
    BeatFormat f = base;
    f.lanes = lanes;
    f.row = row;
    f = f.canonical();
    if (!llvm::is_contained(frames, f))
      frames.push_back(f);
  };
  for (const auto &f : upstream)
    if (f) {
      BeatFormat one = overTrips(*f, trips);
      consider(one.lanes, one.row);
    }
  for (int64_t lanes = 1; lanes <= channels; lanes *= 2)
    if (channels % lanes == 0)
      consider(lanes, channels);
  consider(channels, channels);
  return frames;
}

std::vector<Offer> borderOffers(Operation *op, Upstream upstream,
                                const DeviceContext &device) {
  const bool enter = isBodyEntry(op);
  const int64_t trips = tripsWithin(op);
  std::vector<Offer> offers;
  for (const BeatFormat &frame : framesFor(op, upstream)) {
    const BeatFormat all = timesTrips(frame, trips);
    Offer offer;
    offer.key = OptionKey("stream", enter ? "enter" : "leave")
                    .add("lanes", frame.lanes)
                    .add("row", frame.row);
    offer.summary = frame.lanesText() + ", " + std::to_string(trips) + " trips";
    offer.busyCycles = all.beats();
    if (enter) {
      offer.inputs = {frame, all};
      offer.outputs = {all};
      Actor back = framesOf(frame, trips, 0, trips - 1);
      back.set("keeps", std::max<int64_t>(2, frame.beats()));
      Actor entry(unit::Concat::kKind, "enter",
                  {{"Elem", frame.width},
                   {"Lanes", frame.lanes},
                   {"BlockA", frame.beats()},
                   {"BlockB", (trips - 1) * frame.beats()},
                   {"isEntry", 1},
                   {"frameBeats", all.beats()}});
      offer.body.units.push_back({std::move(back),
                                  {{-1, 1}},
                                  {timesTrips(frame, trips - 1)},
                                  {op->getResult(0).getType()}});
      offer.body.units.push_back({std::move(entry), {{-1, 0}, {0, 0}}, {all}});
      offer.body.outputs = {{1, 0}};
    } else {
      offer.inputs = {all};
      offer.outputs = {frame};
      offer.body.chain(framesOf(frame, trips, trips - 1, 1), frame);
    }
    finish(offer, device);
    offers.push_back(std::move(offer));
  }
  return offers;
}
} // namespace rhizome::gen::stream
