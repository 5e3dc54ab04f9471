// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor that is kept from frame to frame: an output buffer of a frame or
// more, which the initial value fills after a reset.
#include "Models.h"
#include "rhizome/Units/Shared.h"
#include <algorithm>

namespace rhizome::gen {
namespace {
class StateUnit final : public UnitModel {
public:
  StateUnit() : UnitModel(unit::State::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  /// With a place for each beat of a frame, which are all that can be on their
  /// way, it never makes its producer wait.
  int64_t leastDepth(const unit::Instance &a) const override {
    return std::max<int64_t>(2, a.get("Beats"));
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    network.channels[outputs[0]].initial = a.get("Beats");
    addProcess(a, network, {firings(a.get("Beats"))}, 1, inputs, outputs);
  }
  void structure(cost::Builder &b) const override {
    int64_t width = b.get("Width");
    b.term(Term::Fixed, 1);
    b.counter(b.get("Beats"));
    b.ff(double(3 + width));
    b.rom("InitFile", "Block", b.get("Beats"), width, 1);
    b.term(Term::Mux, double(width));
    b.outbuf(b.get("Depth"), width);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeStateUnit() {
  return std::make_unique<StateUnit>();
}

Actor makeState(const BeatFormat &format) {
  const int64_t beats = format.beats();
  return Actor(unit::State::kKind, "state",
               {{"Width", format.bits()},
                {"Beats", beats},
                {"Depth", std::max<int64_t>(2, beats)}});
}

MemoryImage beatsOf(const BeatFormat &format,
                    llvm::ArrayRef<int64_t> elements) {
  MemoryImage image(format.bits(), format.beats());
  for (int64_t i = 0; i < format.count; ++i) {
    int64_t row = i / format.row, at = i % format.row;
    image.set(row * format.beatsPerRow() + at / format.lanes,
              at % format.lanes * format.width, format.width,
              elements[size_t(i)]);
  }
  return image;
}
} // namespace rhizome::gen
