// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time and the area of a core: its program tells the cycles of a frame, its
// parameters the rest.
#include "Programs.h"
#include "rhizome/Engine/OpenCl.h"
#include "rhizome/Generator/Engine/Engine.h"
#include "llvm/ADT/StringExtras.h"

namespace rhizome::gen {
namespace {
using namespace cost;

class EngineUnitModel final : public UnitModel {
public:
  EngineUnitModel() : UnitModel(unit::Engine::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return bufferLatency(a);
  }

  /// A frame's first beat finds the core idle, its last one the program's
  /// beginning behind it; then results come. Both streams are the load and the
  /// store unit's, a beat a cycle.
  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = actor.as<unit::Engine>();
    const int64_t between =
        std::max<int64_t>(1, p.cycles - p.InBeats - p.OutBeats);
    const int busy = network.addChannel(actor.name + ".busy", 1, 1),
              done = network.addChannel(actor.name + ".done", 1, between);
    std::vector<Phase> takes, gives;
    if (p.InBeats == 1) {
      takes.push_back(Phase::of(1, {1}, {1, 1}));
    } else {
      takes.push_back(Phase::of(1, {1}, {1, 0}));
      if (p.InBeats > 2)
        takes.push_back(Phase::of(p.InBeats - 2, {1}, {0, 0}));
      takes.push_back(Phase::of(1, {1}, {0, 1}));
    }
    if (p.OutBeats > 1)
      gives.push_back({p.OutBeats - 1, {1, 1}, {0, 0}, {1}});
    gives.push_back(Phase::of(1, {1, 1}, {1}));
    network.processes.push_back(
        {actor.name + ".load", takes, 1, {inputs[0]}, {busy, done}});
    network.processes.push_back(
        {actor.name, gives, 1, {busy, done}, {outputs[0]}});
  }

  Products products(const unit::Instance &a) const override {
    return {a.get("In") * a.get("Out"), Multiplier::DspPair};
  }

  std::optional<Store> store(const unit::Instance &a) const override {
    return Store{a.get("Words") / a.get("Banks"), 8 * a.get("In"),
                 a.get("Banks")};
  }

  std::optional<DeviceProgram>
  program(const unit::Instance &a, const unit::Instance &source,
          const unit::Instance &sink,
          llvm::ArrayRef<const MemoryImage *> memories) const override {
    if (!source.is<unit::AxisIn>() || !sink.is<unit::AxisOut>())
      return std::nullopt;
    auto p = a.as<unit::Engine>();
    assert(source.get("Lanes") == p.In && sink.get("Lanes") == p.In &&
           "beats are words");
    engine::FrameKernel kernel;
    kernel.core = coreOf(a);
    kernel.base = p.Page * unit::kPageBytes;
    kernel.room = p.Room;
    kernel.program = p.Program;
    const std::string bytes = memories.front()->bytes().substr(
        size_t(p.Program * p.In), engine::kInstructionBytes);
    auto head = engine::decode(llvm::arrayRefFromStringRef(bytes));
    if (!head) {
      llvm::consumeError(head.takeError());
      return std::nullopt;
    }
    kernel.blocks = head->as<engine::isa::Head>().blocks;
    auto formatOf = [](const auto &border, int64_t width, bool isSigned,
                       int64_t bias) {
      return engine::FrameFormat{
          border.FrameElements,
          border.Row,
          width,
          isSigned,
          bias,
          ceilDiv(border.FrameElements * border.Elem, border.DataWidth) *
              (border.DataWidth / 8)};
    };
    kernel.in = formatOf(source.as<unit::AxisIn>(), p.InWidth, p.InSigned != 0,
                         p.InBias);
    kernel.out =
        formatOf(sink.as<unit::AxisOut>(), p.OutWidth, false, p.OutBias);
    return DeviceProgram{kernel.text(), kernel.name(), kernel.spaceBytes()};
  }

  /// As Yosys has them (bench/engines.txt).
  void structure(Builder &b) const override {
    auto p = b.instance().as<unit::Engine>();
    const auto in = double(p.In), out = double(p.Out);
    Resources &exact = b.structure.exact;
    // Two products of the array in each; a lane has two.
    b.dsp(in * out / 2 + 2 * in);
    exact.lut() += 2181 + 682 * in + 100 * out;
    exact.lutram() += 700 + 34 * in;
    b.ff(4390 + 560 * in + 85 * out);
    for (int64_t bank = 0; bank < p.Banks; ++bank)
      b.addMemory(
          placedRam(p.Words / p.Banks, 8 * p.In, p.Ultra != 0, b.context()),
          p.Words / p.Banks, 8 * p.In);
    // Two banks of sums, tables of two lanes in each, what load and weights
    // have asked for.
    const double sums = 2 * double(ceilDiv(p.Out * p.SumBits, 72)) *
                        double(ceilDiv(p.Entries, 512)),
                 asked = 3 * double(ceilDiv(8 * p.In, 72));
    exact.bram() += sums + in / 4 + asked;
    b.outbuf(p.Depth, p.In * p.OutWidth);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeEngineUnit() {
  return std::make_unique<EngineUnitModel>();
}
} // namespace rhizome::gen
