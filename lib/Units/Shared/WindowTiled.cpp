// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sliding windows that read the positions of a tile together, so that
// weights which come from a memory are used by all of them: of some rows of a
// frame, or of a batch of frames.
#include "Models.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Units/Shared.h"
#include <bit>

namespace rhizome::gen {
namespace {
using namespace cost;

/// The rows of a frame that its tiles use; the same arithmetic as in the cell.
struct Tiles {
  int64_t count;
  /// Of each tile: the first row in use, of the frame if all before are not;
  /// one more than there are tiles.
  std::vector<int64_t> oldest;
  std::vector<int64_t> needed; ///< complete rows from there on

  Tiles(int64_t height, int64_t extent, int64_t stride, int64_t padTop,
        int64_t outHeight, int64_t tileRows)
      : count(outHeight / tileRows) {
    for (int64_t t = 0; t < count; ++t)
      oldest.push_back(
          std::clamp<int64_t>(t * tileRows * stride - padTop, 0, height));
    oldest.push_back(height);
    for (int64_t t = 0; t < count; ++t) {
      int64_t newest = std::clamp<int64_t>(((t + 1) * tileRows - 1) * stride -
                                               padTop + extent - 1,
                                           0, height - 1);
      needed.push_back(std::max(newest + 1, oldest[t + 1]) - oldest[t]);
    }
  }
  /// So many that a tile's rows arrive while the one before is read.
  int64_t rows() const {
    int64_t most = 1;
    for (int64_t t = 0; t < count; ++t)
      most =
          std::max(most, oldest[t + 1] + needed[(t + 1) % count] - oldest[t]);
    return most;
  }
};

/// The memory of so many rows.
template <typename Unit> Store storeOf(const Unit &a, int64_t rows) {
  return {rows * a.get("Width") * ceilDiv(a.get("Channels"), a.get("Lanes")),
          a.get("Lanes") * a.get("Elem")};
}

/// What the cell of both units takes that stores `rows` rows and reads those of
/// `frames` frames, or `tileRows` rows of one.
void tilesStructure(Builder &b, int64_t rows, int64_t tileRows, int64_t frames);

class WindowTiledUnit final : public UnitModel {
public:
  WindowTiledUnit() : UnitModel(unit::WindowTiled::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 4 + bufferLatency(a);
  }
  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override;
  std::optional<Store> store(const unit::Instance &a) const override {
    return storeOf(a, a.get("Rows"));
  }
  void structure(Builder &builder) const override;
};

void WindowTiledUnit::processes(const Actor &a, ProcessNetwork &network,
                                const std::vector<int> &inputs,
                                const std::vector<int> &outputs) const {
  auto p = a.as<unit::WindowTiled>();
  const Tiles tiles(p.Height, (p.KernelH - 1) * p.DilationH + 1, p.StrideH,
                    p.PadTop, p.OutHeight, p.TileRows);
  const int64_t words = ceilDiv(p.Channels, p.Lanes);
  const int64_t rowBeats = p.Width * words;
  int store = network.addChannel(a.name + ".rows", p.Rows * rowBeats, 1);
  network.processes.push_back({a.name + ".write",
                               {firings(p.Height * rowBeats)},
                               p.frames,
                               inputs,
                               {store}});
  Process read{a.name + ".read", {}, p.frames, {store}, outputs};
  const int64_t beats =
      p.TileRows * p.OutWidth * words * p.KernelH * p.KernelW * p.Repeat;
  for (int64_t t = 0; t < tiles.count; ++t) {
    const int64_t need = tiles.needed[t] * rowBeats;
    const int64_t freed = (tiles.oldest[t + 1] - tiles.oldest[t]) * rowBeats;
    if (beats == 1) {
      read.phases.push_back({1, {need}, {freed}, {1}});
      continue;
    }
    read.phases.push_back({1, {need}, {0}, {1}});
    if (beats > 2)
      read.phases.push_back({beats - 2, {0}, {0}, {1}});
    read.phases.push_back({1, {0}, {freed}, {1}});
  }
  network.processes.push_back(std::move(read));
}

void WindowTiledUnit::structure(Builder &b) const {
  tilesStructure(b, b.get("Rows"), b.get("TileRows"), /*frames=*/1);
}

void tilesStructure(Builder &b, int64_t rows, int64_t tileRows,
                    int64_t frames) {
  const int64_t height = b.get("Height"), width = b.get("Width"),
                kernelH = b.get("KernelH"), kernelW = b.get("KernelW"),
                outWidth = b.get("OutWidth"),
                ge = b.get("Lanes") * b.get("Elem");
  const int64_t words = ceilDiv(b.get("Channels"), b.get("Lanes"));
  const int64_t tiles = b.get("OutHeight") / tileRows;
  const int64_t rowWords = width * words, memWords = rows * rowWords;
  const int64_t extent = (kernelH - 1) * b.get("DilationH") + 1;
  b.term(Term::Fixed, 1);
  b.ff(4); // valid bits
  for (int64_t count : {outWidth, tileRows, words, kernelW, kernelH,
                        b.get("Repeat"), tiles, rowWords})
    b.counter(count);
  b.counter(memWords, false);
  // Of stored rows, or frames.
  const int64_t count = clog2((frames > 1 ? rows / height : rows) + 1);
  b.ff(double(count + 1));
  // Rows of the tile, of the kernel, of the position: as bases in the memory,
  // multiples of a row's words, whose steps take two sums each, and in the
  // frame.
  const int64_t base = clog2(2 * memWords + 1) -
                       std::countr_zero(uint64_t(rowWords)),
                y = clog2(b.get("OutHeight") * b.get("StrideH") + height +
                          b.get("PadTop") + extent + 1) +
                    1;
  const int64_t steps = (tiles > 1) + (kernelH > 1) + (tileRows > 1);
  b.ff(double(3 * (base + y)));
  if (frames > 1) {
    b.counter(frames);
    b.counter(height);
    b.ff(double(1 + clog2(frames))); // begun, with so many
    b.adder(2, count);
    b.adder(4, base); // to the next frame, read and freed
  }
  const int64_t column =
      clog2((outWidth * b.get("StrideW") + width + b.get("PadLeft") +
             kernelW * b.get("DilationW") + 1) *
                words +
            1) +
      1;
  const int64_t columns = (outWidth > 1) + (kernelW > 1);
  b.ff(double(2 * column));
  const int64_t address = addressBits(memWords);
  // Half as many LUTs again as the carry chains that a window of one position
  // has: sums are followed by choices. So Yosys builds twenty such windows, to
  // 40 LUTs.
  constexpr double kChoices = 1.5;
  b.adder(kChoices * double(2 * steps + 2), base);
  b.adder(kChoices * double(steps + 1), y);
  b.adder(kChoices * double(columns + 1), column);
  b.adder(kChoices * (words > 1 ? 2 : 1), address);
  b.ff(double(2 * address + 2));
  b.delay(1, 2);
  b.ff(double(ge)); // what is written
  b.store(storeOf(b, rows), 2, b.get("Ultra"));
  b.ff(double(ge));
  b.outbuf(b.get("Depth"), ge);
}

class WindowBatchUnit final : public UnitModel {
public:
  WindowBatchUnit() : UnitModel(unit::WindowBatch::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 4 + bufferLatency(a);
  }
  /// As many batches are begun before the first of them has left.
  int64_t leastDepth(const unit::Instance &) const override { return 4; }
  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override;
  std::optional<Store> store(const unit::Instance &a) const override {
    return storeOf(a, a.get("Places") * a.get("Height"));
  }
  void structure(Builder &b) const override {
    const int64_t frames = b.get("Frames");
    tilesStructure(b, b.get("Places") * b.get("Height"), b.get("OutHeight"),
                   frames);
    const int64_t quiet = clog2(b.get("Patience") + 1);
    b.ff(double(quiet + 1 + addressBits(frames)));
    b.adder(1, quiet);
    b.outbuf(b.get("Depth"), addressBits(frames));
  }
};

void WindowBatchUnit::processes(const Actor &a, ProcessNetwork &network,
                                const std::vector<int> &inputs,
                                const std::vector<int> &outputs) const {
  auto p = a.as<unit::WindowBatch>();
  const int64_t words = ceilDiv(p.Channels, p.Lanes),
                frame = p.Height * p.Width * words,
                positions = p.OutHeight * p.OutWidth,
                rounds = words * p.KernelH * p.KernelW * p.Repeat;
  // A batch begins with so many frames, one that is alone after a while; each
  // is free after its last beat.
  const int64_t there = network.isAlone ? 1 : p.Frames;
  int store = network.addChannel(a.name + ".frames", p.Places * frame, 1);
  network.processes.push_back(
      {a.name + ".write", {firings(frame)}, there, inputs, {store}});
  Process read{a.name + ".read", {}, 1, {store}, outputs};
  auto add = [&](Phase phase) {
    if (phase.repeat > 0)
      read.phases.push_back(std::move(phase));
  };
  if (network.isAlone) {
    add({1, {frame}, {0}, {}});
    add({p.Patience - 1, {0}, {0}, {}});
  }
  add({1, {there * frame}, {0}, {0, 1}});
  add({(rounds - 1) * p.Frames * positions, {0}, {0}, {1}});
  for (int64_t f = 0; f < there; ++f) {
    add({positions - 1, {0}, {0}, {1}});
    add({1, {0}, {frame}, {1}});
  }
  add({(p.Frames - there) * positions, {0}, {0}, {1}});
  network.processes.push_back(std::move(read));
}

class UnbatchUnit final : public UnitModel {
public:
  UnbatchUnit() : UnitModel(unit::Unbatch::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::Unbatch>();
    const int64_t all = p.Frames * p.Beats,
                  passed = network.isAlone ? p.Beats : all;
    std::vector<Phase> phases;
    auto add = [&](int64_t repeat, int64_t ends, int64_t passes) {
      if (repeat > 0)
        phases.push_back({repeat, {1, 1}, {1, ends}, {passes}});
    };
    const bool isLast = passed == all;
    add(passed - isLast, 0, 1);
    add(all - passed - !isLast, 0, 0);
    add(1, 1, isLast);
    addProcess(a, network, std::move(phases), 1, inputs, outputs);
  }
  void structure(Builder &b) const override {
    const int64_t width = b.get("Elem"), frames = b.get("Frames");
    b.term(Term::Fixed, 1);
    b.counter(b.get("Beats"));
    b.counter(frames);
    b.adder(1, addressBits(frames)); // the comparison
    b.ff(double(1 + width));
    b.outbuf(b.get("Depth"), width);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeWindowTiledUnit() {
  return std::make_unique<WindowTiledUnit>();
}

std::unique_ptr<UnitModel> makeWindowBatchUnit() {
  return std::make_unique<WindowBatchUnit>();
}
std::unique_ptr<UnitModel> makeUnbatchUnit() {
  return std::make_unique<UnbatchUnit>();
}

Actor makeWindowTiled(const osa::Window &w, int64_t width, int64_t padValue,
                      int64_t lanes, int64_t repeat, int64_t tileRows) {
  const Tiles tiles(w.height, (w.kernelH - 1) * w.dilationH + 1, w.strideH,
                    w.padTop, w.outHeight, tileRows);
  Actor a =
      windowOf(unit::WindowTiled::kKind, w, width, padValue, lanes, repeat);
  a.params = {{"TileRows", tileRows}, {"Rows", tiles.rows()}};
  return a;
}

Actor makeWindowBatch(const osa::Window &w, int64_t width, int64_t padValue,
                      int64_t lanes, int64_t repeat, int64_t frames) {
  Actor a =
      windowOf(unit::WindowBatch::kKind, w, width, padValue, lanes, repeat);
  // Frames of a batch before come with fewer cycles in between.
  constexpr int64_t kPatience = 64;
  a.params = {
      {"Frames", frames}, {"Places", 2 * frames}, {"Patience", kPatience}};
  return a;
}

Actor makeUnbatch(const BeatFormat &format, int64_t frames) {
  return Actor(
      unit::Unbatch::kKind, "unbatch",
      {{"Elem", format.bits()}, {"Beats", format.beats()}, {"Frames", frames}});
}
} // namespace rhizome::gen
