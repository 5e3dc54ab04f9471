// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that move elements: one stream after another, some beats of a period,
// blocks in another order.
#include "Models.h"
#include "rhizome/Generator/Sampler.h"

namespace rhizome::gen {
namespace {
using namespace cost;

void concat(Builder &b) {
  int64_t width = b.get("Elem") * b.get("Lanes");
  b.term(Term::Fixed, 1);
  b.counter(b.get("BlockA") + b.get("BlockB"));
  b.ff(double(2 + width));
  b.term(Term::Select, double(width));
  b.outbuf(b.get("Depth"), width);
}

template <typename Unit> Store pagesOf(const Unit &a) {
  return {int64_t(2) << addressBits(a.get("Elements")), a.get("Elem")};
}

void reorder(Builder &b) {
  int64_t elements = b.get("Elements"), elem = b.get("Elem");
  int64_t address = addressBits(elements);
  b.term(Term::Fixed, 1);
  int64_t reads = b.get("OutElements");
  b.counter(elements);
  b.counter(reads);
  b.ff(4 + 3 + 1 + 2 + double(address + elem));
  b.rom("AddressFile", "Block", reads, address, 1);
  b.store(pagesOf(b), 2, b.get("Ultra"));
  b.outbuf(b.get("Depth"), elem);
}

void select(Builder &b) {
  int64_t gap = clog2(b.get("Period") + 1), left = clog2(b.get("Count") + 1);
  b.term(Term::Fixed, 1);
  b.counter(b.get("Inner"));
  b.counter(b.get("Period"));
  b.ff(double(2 + gap + left + b.get("Elem")));
  b.term(Term::Control, double(gap + left));
  b.outbuf(b.get("Depth"), b.get("Elem"));
}

class ConcatUnit final : public UnitModel {
public:
  ConcatUnit() : UnitModel(unit::Concat::kKind) {}

  bool takesTurns(const unit::Instance &a) const override {
    return a.get("isEntry");
  }

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::Concat>();
    addProcess(
        a, network,
        {Phase::of(p.BlockA, {1, 0}, {1}), Phase::of(p.BlockB, {0, 1}, {1})},
        p.frameBeats / (p.BlockA + p.BlockB), inputs, outputs);
  }
  void structure(Builder &b) const override { concat(b); }
  bool sample(Sampler &s, llvm::StringRef) const override {
    s.any({4, 8, 16, 24, 64}); // all units that move elements draw a width
    s.begin(kind().name);
    s.actor.params = {{"Elem", s.any({4, 8})},
                      {"Lanes", s.any({1, 2, 4, 8})},
                      {"BlockA", s.any({1, 3, 16})},
                      {"BlockB", s.any({1, 8, 30})}};
    return true;
  }
};

class SelectUnit final : public UnitModel {
public:
  SelectUnit() : UnitModel(unit::Select::kKind) {}

  int64_t leastDepth(const unit::Instance &a) const override {
    return a.get("keeps");
  }

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    // Dropped, kept, dropped between, …
    auto p = a.as<unit::Select>();
    std::vector<Phase> phases;
    auto add = [&](int64_t groups, bool keep) {
      if (groups > 0)
        phases.push_back(firings(groups * p.Inner, keep));
    };
    add(p.Start, false);
    if (p.Stride == 1) {
      add(p.Count, true);
    } else {
      for (int64_t i = 0; i < p.Count; ++i) {
        add(1, true);
        if (i + 1 < p.Count)
          add(p.Stride - 1, false);
      }
    }
    add(p.Period - p.Start - (p.Count - 1) * p.Stride - 1, false);
    addProcess(a, network, phases, p.frameBeats / (p.Count * p.Inner), inputs,
               outputs);
  }
  void structure(Builder &b) const override { select(b); }
};

class ReorderUnit final : public UnitModel {
public:
  ReorderUnit() : UnitModel(unit::Reorder::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 3 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::Reorder>();
    int64_t n = p.Elements, m = p.OutElements, blocks = p.frameBeats / m;
    int store = network.addChannel(a.name + ".pages", 2 * n, 1);
    network.processes.push_back(
        {a.name + ".write", {firings(n)}, blocks, inputs, {store}});
    // A page is freed as a whole: its last read frees all of it.
    Process read{a.name + ".read", {}, blocks, {store}, outputs};
    read.phases = {{1, {n}, {m == 1 ? n : 0}, {1}}};
    if (m > 2)
      read.phases.push_back({m - 2, {0}, {0}, {1}});
    if (m > 1)
      read.phases.push_back({1, {0}, {n}, {1}});
    network.processes.push_back(std::move(read));
  }
  std::optional<Store> store(const unit::Instance &a) const override {
    return pagesOf(a);
  }
  void structure(Builder &b) const override { reorder(b); }
  bool sample(Sampler &s, llvm::StringRef) const override {
    s.any({4, 8, 16, 24, 64}); // as above
    s.begin(kind().name);
    int64_t elements = s.any({16, 48, 64, 196, 784});
    int64_t bits = clog2(elements);
    s.actor.params = {{"Elem", s.any({4, 7, 8})},
                      {"Elements", elements},
                      {"OutElements", elements}};
    MemoryImage order(bits, elements);
    int64_t rows = s.any({4, 8});
    for (int64_t i = 0; i < elements; ++i)
      order.set(i, 0, bits, i % rows * (elements / rows) + i / rows);
    s.add("AddressFile", "order", std::move(order));
    return true;
  }
};

/// Blocks that are read again and again, as of a depthwise layer's weights.
class ReplayUnit final : public UnitModel {
public:
  ReplayUnit() : UnitModel(unit::Replay::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 2 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::Replay>();
    const int64_t n = p.Words, blocks = p.frameBeats / (n * p.Times),
                  pieces = ceilDiv(p.Width, p.Beat);
    int store = network.addChannel(a.name + ".words", n, 1);
    Process write{a.name + ".write", {}, blocks, inputs, {store}};
    auto add = [&](Process &to, Phase phase) {
      if (phase.repeat > 0)
        to.phases.push_back(std::move(phase));
    };
    if (pieces > 1) {
      write.periods = blocks * n;
      write.phases = {Phase::of(pieces - 1, {1}, {0}), firings(1)};
    } else {
      for (int64_t left = n; left > 0; left -= p.PerBeat) {
        add(write, {std::min(left, p.PerBeat) - 1, {1}, {0}, {1}});
        add(write, firings(1));
      }
    }
    network.processes.push_back(std::move(write));
    Process read{a.name + ".read", {}, blocks, {store}, outputs};
    const bool isLast = p.Times == 1; // round, the first one
    add(read, {1, {n}, {isLast}, {1}});
    add(read, {n * (p.Times - 1) - 1, {0}, {0}, {1}});
    add(read, firings(isLast ? n - 1 : n));
    network.processes.push_back(std::move(read));
  }
  void structure(Builder &b) const override {
    const int64_t words = b.get("Words"), width = b.get("Width"),
                  beat = b.get("Beat"), pieces = ceilDiv(width, beat);
    b.term(Term::Fixed, 1);
    b.counter(words);
    b.counter(words);
    b.counter(b.get("Times"));
    const int64_t count = clog2(words + 1);
    b.ff(double(count + 2 + 2)); // with the valid bits
    b.term(Term::Control, double(2 * count));
    b.counter(pieces);
    b.ff(double((pieces - 1) * beat));
    b.counter(b.get("PerBeat"), /*last=*/false);
    b.wordMux(double(width), b.get("PerBeat"));
    b.ram(words, width, 2);
    b.outbuf(b.get("Depth"), width);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeReplayUnit() {
  return std::make_unique<ReplayUnit>();
}
std::unique_ptr<UnitModel> makeConcatUnit() {
  return std::make_unique<ConcatUnit>();
}
std::unique_ptr<UnitModel> makeSelectUnit() {
  return std::make_unique<SelectUnit>();
}
std::unique_ptr<UnitModel> makeReorderUnit() {
  return std::make_unique<ReorderUnit>();
}
} // namespace rhizome::gen
