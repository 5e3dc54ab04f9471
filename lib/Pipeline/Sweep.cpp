// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranges in which characterisation samples each cell's parameters.
#include "Sweep.h"
#include "rhizome/Generator/ProductCut.h"
#include <algorithm>

using namespace rhizome;
using namespace rhizome::gen;

namespace {
class Sampler {
public:
  Sampler(std::string unit, std::string name, std::mt19937_64 &random,
          const DeviceContext &device, MemoryImages &images)
      : unit(std::move(unit)), random(random), device(device), images(images) {
    actor.name = std::move(name);
  }

  Actor sample();

private:
  std::string unit;
  std::mt19937_64 &random;
  const DeviceContext &device;
  MemoryImages &images;
  Actor actor;
  int64_t depth = 2; ///< of the output buffer, at least

  int64_t draw(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  int64_t any(std::initializer_list<int64_t> of) {
    return *(of.begin() + draw(0, int64_t(of.size()) - 1));
  }
  void set(gen::ParamName key, int64_t value) { actor.set(key, value); }
  int64_t get(const char *key) const { return actor.get(key); }

  /// Values of up to `bits` bits, sign-extended to fields of `field` bits.
  void image(const char *param, int64_t words, int64_t fields, int64_t field,
             int64_t bits, int64_t low = 0);
  void window(bool parallel);
  void matvec(int64_t style);
  void laneReduce(bool depthwise);
  void requant(bool dsp);
  void threshold(bool bisect);
  void table();
  void scaledAdd();
  void gearbox();
  void axis();
  void rotation();
  void movement();
};

void Sampler::image(const char *param, int64_t words, int64_t fields,
                    int64_t field, int64_t bits, int64_t low) {
  MemoryImage image(fields * field, words);
  for (int64_t w = 0; w < words; ++w)
    for (int64_t f = 0; f < fields; ++f) {
      int64_t value = int64_t(random()) >> (64 - std::min<int64_t>(bits, 62));
      image.set(w, f * field, field, value * (int64_t(1) << low));
    }
  std::string file = actor.name + "_" + param + ".hex";
  images[file] = std::move(image);
  actor.files.push_back({param, file});
}

void Sampler::window(bool parallel) {
  actor.cell = "window";
  int64_t kernel = any({1, 2, 3, 3, 5}), stride = any({1, 1, 2});
  if (parallel)
    kernel = any({2, 3, 3, 5});
  bool vector = !parallel && draw(0, 3) == 0; // a dense layer
  int64_t size = vector ? 1 : any({4, 8, 12, 14, 28, 32});
  if (vector)
    kernel = stride = 1;
  kernel = std::min(kernel, size);
  int64_t pad = kernel > 1 && draw(0, 1) ? (kernel - 1) / 2 : 0;
  int64_t channels =
      vector ? any({16, 32, 64, 128, 400, 784}) : any({1, 3, 4, 6, 8, 12, 16});
  int64_t lanes = channels;
  for (int64_t k = any({1, 1, 2, 4}); k > 1; --k)
    if (channels % k == 0) {
      lanes = channels / k;
      break;
    }
  if (vector)
    lanes = any({1, 2, 4, 8});
  int64_t most = parallel ? 6 : 16;
  while (lanes > most)
    lanes = (lanes + 1) / 2;
  int64_t words = (channels + lanes - 1) / lanes;
  int64_t out = (size + 2 * pad - kernel) / stride + 1;
  bool lanewise = draw(0, 2) == 0;
  int64_t pixels = parallel && words == 1 && out >= 4 ? any({1, 1, 2, 4}) : 1;
  int64_t span = std::min(kernel, size);
  actor.params = {{"Elem", any({1, 2, 4, 7, 8, 8})},
                  {"Channels", channels},
                  {"Height", size},
                  {"Width", size},
                  {"KernelH", kernel},
                  {"KernelW", kernel},
                  {"StrideH", stride},
                  {"StrideW", stride},
                  {"DilationH", 1},
                  {"DilationW", 1},
                  {"PadTop", pad},
                  {"PadLeft", pad},
                  {"OutHeight", out},
                  {"OutWidth", out},
                  {"PadValue", 0},
                  {"Lanes", lanes},
                  {"Groups", lanewise ? words : 1},
                  {"Repeat", lanewise || pixels > 1 ? 1 : any({1, 2, 4, 10})},
                  {"KernelParallel", parallel},
                  {"PixelsIn", pixels > 1 ? any({1, pixels}) : 1},
                  {"PixelsOut", pixels},
                  {"Rows", std::max(2 * span, span + stride)}};
}

void Sampler::matvec(int64_t style) {
  actor.cell = "matvec";
  int64_t x = any({1, 2, 4, 7, 8, 8}), w = any({1, 2, 3, 4, 7, 8});
  if (style == 1)
    x = any({8, 9, 12, 16}), w = any({8, 10, 13, 16});
  if (style == 2)
    x = any({7, 8}), w = any({4, 7, 8});
  int64_t pe = any({1, 2, 3, 4, 6, 8}), simd = any({1, 2, 3, 4, 6, 9, 12});
  while (style == 0 && pe * simd * x * w > 800)
    pe > 1 ? pe = (pe + 1) / 2 : simd = (simd + 1) / 2;
  while (style > 0 && pe * simd > 24)
    pe > 2 ? pe = (pe + 1) / 2 : simd = (simd + 1) / 2;
  if (style == 2)
    pe = std::max<int64_t>(pe, 2);
  int64_t folds = any({1, 4, 9, 12, 25, 50, 128}), out = any({1, 2, 5, 8, 16});
  int64_t bits = 0;
  while ((int64_t(1) << bits) < simd * folds)
    ++bits;
  bool bias = draw(0, 2) == 0;
  actor.params = {{"Pixels", any({1, 1, 1, 2})},
                  {"Pe", pe},
                  {"Simd", simd},
                  {"XWidth", x},
                  {"XSigned", draw(0, 1)},
                  {"WWidth", w},
                  {"AccWidth", x + w + bits},
                  {"Folds", folds},
                  {"OutFolds", out},
                  {"Bias", bias},
                  {"Style", style}};
  image("WeightFile", folds * out, pe * simd, w, w);
  if (bias)
    image("BiasFile", out, pe, x + w + bits, (x + w + bits) * 7 / 10);
}

void Sampler::laneReduce(bool depthwise) {
  actor.cell = "lane_reduce";
  int64_t x = any({4, 7, 8}), w = any({4, 7, 8}), lanes = any({1, 2, 4, 8});
  int64_t taps = any({1, 1, 4, 9}), folds = taps > 1 ? 1 : any({4, 9});
  int64_t out = any({1, 2, 4, 8}), op = depthwise ? 0 : any({1, 1, 2});
  if (depthwise && taps > 1)
    lanes = any({1, 2});
  int64_t acc = op == 0 ? x + w + 4 : op == 1 ? x : x + 4;
  bool bias = depthwise && draw(0, 1);
  actor.params = {
      {"Pixels", 1},    {"Lanes", lanes},
      {"Taps", taps},   {"Op", op},
      {"XWidth", x},    {"XSigned", draw(0, 1)},
      {"WWidth", w},    {"AccWidth", acc},
      {"Folds", folds}, {"OutFolds", out},
      {"Bias", bias},   {"Style", depthwise && device.hasDsp ? draw(0, 1) : 0},
      {"Zero", 0},      {"ScaleWidth", 1},
      {"Positions", 0}};
  if (depthwise)
    image("WeightFile", folds * out, lanes * taps, w, w);
  if (bias)
    image("BiasFile", out, lanes, acc, acc * 7 / 10);
}

void Sampler::requant(bool dsp) {
  actor.cell = "requant";
  int64_t in = any({12, 16, 18, 20, 22}), out = any({4, 7, 8});
  int64_t mul = dsp ? any({10, 14, 18, 22, 25}) : any({0, 0, 3, 5});
  int64_t shift = mul > 0 ? mul + in - out - 3 : any({4, 7, 8});
  int64_t offset = mul > 0 ? in + mul - 4 : in - 3;
  int64_t lanes = any({1, 2, 4, 8, 12}), folds = any({1, 2, 8, 16, 40});
  if (dsp)
    lanes = std::min<int64_t>(lanes, 4);
  ProductCut cut = dsp ? productCut(mul, in, device.cost) : ProductCut();
  bool isSigned = draw(0, 1);
  actor.params = {{"Lanes", lanes},
                  {"InWidth", in},
                  {"InSigned", 1},
                  {"MulWidth", mul},
                  {"OffsetWidth", offset},
                  {"Shift", shift},
                  {"TiesEven", draw(0, 1)},
                  {"OutWidth", out},
                  {"Lo", isSigned ? -(int64_t(1) << (out - 1)) : 0},
                  {"Hi", (int64_t(1) << (isSigned ? out - 1 : out)) - 1},
                  {"OutFolds", folds},
                  {"Style", dsp},
                  {"Split", cut.split},
                  {"SplitStyle", cut.split > 4},
                  {"Slice", cut.slice}};
  // Offsets of fixed-point networks are whole steps; others have all bits.
  MemoryImage image(lanes * (mul + offset), folds);
  for (int64_t w = 0; w < folds; ++w)
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t low = l * (mul + offset);
      if (mul > 0)
        image.set(w, low, mul,
                  (int64_t(1) << (mul - 2)) +
                      draw(0, (int64_t(1) << (mul - 2)) - 1));
      int64_t value = int64_t(random()) >> (64 - offset * 8 / 10);
      if (mul == 0)
        value &= -(int64_t(1) << std::min(shift, offset - 2));
      image.set(w, low + mul, offset, value);
    }
  std::string file = actor.name + "_params.hex";
  images[file] = std::move(image);
  actor.files.push_back({"ParamFile", file});
}

void Sampler::threshold(bool bisect) {
  actor.cell = "threshold";
  int64_t in = any({7, 9, 11, 13}), count = bisect ? any({7, 15}) : draw(1, 3);
  int64_t lanes = bisect ? any({1, 2, 4}) : any({1, 4, 8, 16});
  int64_t folds = any({1, 2, 4, 16});
  actor.params = {{"Lanes", lanes},
                  {"InWidth", in},
                  {"InSigned", 1},
                  {"OutWidth", count > 7   ? 4
                               : count > 3 ? 3
                                           : 2},
                  {"Base", bisect ? 0 : any({0, -1})},
                  {"Step", 1},
                  {"Count", count},
                  {"OutFolds", folds}};
  MemoryImage image(lanes * count * (in + 1), folds);
  for (int64_t w = 0; w < folds; ++w)
    for (int64_t l = 0; l < lanes; ++l) {
      std::vector<int64_t> levels(count);
      for (int64_t &level : levels)
        level = draw(-(int64_t(1) << (in - 2)), (int64_t(1) << (in - 2)) - 1);
      std::sort(levels.begin(), levels.end());
      for (int64_t k = 0; k < count; ++k)
        image.set(w, (l * count + k) * (in + 1), in + 1, levels[k]);
    }
  std::string file = actor.name + "_thresholds.hex";
  images[file] = std::move(image);
  actor.files.push_back({"ParamFile", file});
}

void Sampler::table() {
  actor.cell = "table";
  int64_t in = any({4, 6, 8}), out = any({4, 8}), lanes = any({1, 2, 4});
  int64_t folds = any({1, 1, 2});
  actor.params = {{"Lanes", lanes},   {"InWidth", in},
                  {"InSigned", 0},    {"OutWidth", out},
                  {"Lo", 0},          {"Entries", int64_t(1) << in},
                  {"OutFolds", folds}};
  image("TableFile", folds * lanes << in, 1, out, out);
}

void Sampler::scaledAdd() {
  actor.cell = "scaled_add";
  int64_t a = any({4, 7, 8}), b = any({4, 7, 8});
  bool plain = draw(0, 1);
  int64_t ma = plain ? 1 : draw(3, 4000), mb = plain ? 1 : draw(3, 4000);
  actor.params = {{"Lanes", any({1, 2, 4, 8})},
                  {"AWidth", a},
                  {"ASigned", draw(0, 1)},
                  {"BWidth", b},
                  {"BSigned", draw(0, 1)},
                  {"MulA", ma},
                  {"MulB", mb},
                  {"MulWidth", plain ? 2 : 13},
                  {"Max", 0},
                  {"OutWidth", std::max(a, b) + (plain ? 2 : 13)}};
}

void Sampler::gearbox() {
  actor.cell = "gearbox";
  int64_t in = any({1, 2, 3, 4, 6, 8, 12}), out = any({1, 2, 3, 4, 8, 9});
  int64_t row = in * out * any({2, 5, 16});
  int64_t rowIn = draw(0, 2) ? row : in * 3 + draw(0, in - 1) + 1;
  actor.params = {{"Elem", any({1, 4, 7, 8, 18})},
                  {"LanesIn", in},
                  {"LanesOut", out},
                  {"RowIn", rowIn},
                  {"RowOut", rowIn == row ? row : rowIn * any({1, 4})}};
}

void Sampler::axis() {
  bool in = draw(0, 1);
  actor.cell = in ? "axis_in" : "axis_out";
  int64_t lanes = any({1, 1, 2, 4, 8}), count = lanes * any({3, 10, 49, 256});
  actor.params = {{"DataWidth", any({64, 64, 128})},
                  {"Elem", any({4, 7, 8, 13, 16, 18})},
                  {"Lanes", lanes},
                  {"FrameElements", count},
                  {"Row", count}};
}

/// Beats that begin anywhere: rows that end in partial beats, and elements of
/// an odd width over a bus of 64 bits.
void Sampler::rotation() {
  if (draw(0, 1)) {
    actor.cell = draw(0, 1) ? "axis_in" : "axis_out";
    int64_t lanes = any({1, 1, 2, 3}), count = lanes * any({1, 3, 10, 49, 64});
    actor.params = {{"DataWidth", 64},
                    {"Elem", any({7, 9, 11, 13, 15})},
                    {"Lanes", lanes},
                    {"FrameElements", count},
                    {"Row", count}};
    return;
  }
  actor.cell = "gearbox";
  int64_t in = any({3, 4, 6, 9, 16, 20}), out = any({4, 5, 7, 9, 16});
  int64_t rowIn = in * draw(1, 4) + (draw(0, 1) ? draw(1, in - 1) : 0);
  actor.params = {{"Elem", any({4, 6, 7, 8, 16})},
                  {"LanesIn", in},
                  {"LanesOut", out},
                  {"RowIn", rowIn},
                  {"RowOut", rowIn * any({1, 1, 2})}};
}

void Sampler::movement() {
  actor.cell = unit;
  int64_t width = any({4, 8, 16, 24, 64});
  if (unit == "fork") {
    if (draw(0, 1)) {
      actor.cell = "fifo";
      actor.params = {{"Width", width}};
      actor.set("Depth", any({4, 20, 64, 100, 300, 800}));
    } else {
      actor.params = {{"Width", width}, {"Outputs", any({2, 3})}};
    }
  } else if (unit == "concat") {
    actor.params = {{"Elem", any({4, 8})},
                    {"Lanes", any({1, 2, 4, 8})},
                    {"BlockA", any({1, 3, 16})},
                    {"BlockB", any({1, 8, 30})}};
  } else {
    int64_t elements = any({16, 48, 64, 196, 784}), bits = 0;
    while ((int64_t(1) << bits) < elements)
      ++bits;
    actor.params = {{"Elem", any({4, 7, 8})},
                    {"Elements", elements},
                    {"OutElements", elements}};
    MemoryImage order(bits, elements);
    std::vector<int64_t> places(elements);
    int64_t rows = any({4, 8});
    for (int64_t i = 0; i < elements; ++i)
      order.set(i, 0, bits, i % rows * (elements / rows) + i / rows);
    std::string file = actor.name + "_order.hex";
    images[file] = std::move(order);
    actor.files.push_back({"AddressFile", file});
  }
}

Actor Sampler::sample() {
  if (unit == "window_serial" || unit == "window_parallel")
    window(unit == "window_parallel");
  else if (unit == "matvec_lut" || unit == "matvec_dsp")
    matvec(unit == "matvec_dsp");
  else if (unit == "matvec_pair")
    matvec(2);
  else if (unit == "lane_reduce" || unit == "depthwise")
    laneReduce(unit == "depthwise");
  else if (unit == "requant" || unit == "requant_dsp")
    requant(unit == "requant_dsp");
  else if (unit == "threshold" || unit == "bisect")
    threshold(unit == "bisect");
  else if (unit == "table")
    table();
  else if (unit == "scaled_add")
    scaledAdd();
  else if (unit == "gearbox")
    draw(0, 1) ? gearbox() : axis();
  else if (unit == "gearbox_rotate")
    rotation();
  else
    movement();
  placeRoms(actor, device.cost);
  if (actor.cell != "fifo") {
    actor.set("Depth", 2);
    int64_t folds = actor.cell == "matvec" || actor.cell == "lane_reduce"
                        ? actor.get("Folds")
                        : 1;
    actor.set("Depth", std::max<int64_t>(
                           depth, (fullRateDepth(actor) + folds - 1) / folds));
  }
  return std::move(actor);
}
} // namespace

Actor pipeline::sampleActor(const std::string &unit, const std::string &name,
                            std::mt19937_64 &random,
                            const DeviceContext &device, MemoryImages &images) {
  return Sampler(unit, name, random, device, images).sample();
}
