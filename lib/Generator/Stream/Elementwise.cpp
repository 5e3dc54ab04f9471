// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units with one result per element: requantise, threshold, table, scaled add.
// Their lanes carry any channels; which ones a beat holds follows from the
// stream's format alone.
#include "Units.h"
#include <numeric>

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
/// Which channel each lane of each beat carries (−1 for padding), until the
/// pattern repeats; empty if it does not repeat within a frame.
std::vector<std::vector<int64_t>> channelPattern(const Format &f,
                                                 int64_t channels) {
  std::vector<std::vector<int64_t>> beats;
  int64_t element = 0;
  while (element < f.count) {
    std::vector<int64_t> beat(f.lanes, -1);
    int64_t inRow = element % f.row;
    int64_t n = std::min(f.lanes, f.row - inRow);
    for (int64_t lane = 0; lane < n; ++lane)
      beat[lane] = (element + lane) % channels;
    beats.push_back(std::move(beat));
    element += n;
    // Back at the start of a channel group and, where rows cut beats, of a row.
    bool rowAligned = element % f.row == 0 || f.row == f.count;
    if (element % channels == 0 && rowAligned &&
        f.beats() % int64_t(beats.size()) == 0)
      return beats;
    if (beats.size() > 4096)
      return {};
  }
  return beats;
}

int64_t channelsOf(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape().back();
}

/// True if all channels share one set of parameters.
bool isUniform(Operation *op) {
  if (auto r = dyn_cast<osa::RequantiseOp>(op))
    return r.getMultiplier().size() == 1 && r.getOffset().size() == 1;
  if (auto t = dyn_cast<osa::ThresholdOp>(op))
    return t.getThresholds().getShapedType().getShape()[0] == 1;
  if (auto t = dyn_cast<osa::TableOp>(op))
    return t.getValues().getShapedType().getShape()[0] == 1;
  return true;
}

unsigned signedBits(ArrayRef<int64_t> values) {
  int64_t lo = 0, hi = 0;
  for (int64_t v : values) {
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  unsigned bits = num::bitsForRange(std::min<int64_t>(lo, -1), hi);
  return std::max(bits, 1u);
}

Actor makeUnit(Operation *op, const Format &in, const Format &out,
               int64_t beats) {
  Actor a;
  auto outType = num::elementInt(op->getResult(0).getType());
  auto inType = num::elementInt(op->getOperand(0).getType());
  if (auto r = dyn_cast<osa::RequantiseOp>(op)) {
    bool unit =
        llvm::all_of(r.getMultiplier(), [](int64_t m) { return m == 1; });
    a.cell = "requant";
    a.params = {{"Lanes", in.lanes},
                {"InWidth", in.width},
                {"InSigned", in.isSigned},
                {"MulWidth", unit ? 0 : signedBits(r.getMultiplier())},
                {"OffsetWidth", signedBits(r.getOffset())},
                {"Shift", r.getShift()},
                {"TiesEven", r.getTiesEven()},
                {"OutWidth", out.width},
                {"Lo", outType.getLo()},
                {"Hi", outType.getHi()},
                {"OutFolds", beats}};
  } else if (auto t = dyn_cast<osa::ThresholdOp>(op)) {
    a.cell = "threshold";
    a.params = {{"Lanes", in.lanes},
                {"InWidth", in.width},
                {"InSigned", in.isSigned},
                {"OutWidth", out.width},
                {"Base", int64_t(t.getBase())},
                {"Step", int64_t(t.getStep())},
                {"Count", t.getThresholds().getShapedType().getShape()[1]},
                {"OutFolds", beats}};
  } else if (isa<osa::TableOp>(op)) {
    a.cell = "table";
    a.params = {{"Lanes", in.lanes},
                {"InWidth", in.width},
                {"InSigned", in.isSigned},
                {"OutWidth", out.width},
                {"Lo", inType.getLo()},
                {"Entries", inType.getHi() - inType.getLo() + 1},
                {"OutFolds", beats}};
  } else {
    auto add = cast<osa::ScaledAddOp>(op);
    Format b = formatOf(op->getOperand(1).getType(), 1, 1);
    int64_t ma = add.getLhsMultiplier(), mb = add.getRhsMultiplier();
    a.cell = "scaled_add";
    a.params = {{"Lanes", in.lanes},
                {"AWidth", in.width},
                {"ASigned", in.isSigned},
                {"BWidth", b.width},
                {"BSigned", b.isSigned},
                {"MulA", ma},
                {"MulB", mb},
                {"MulWidth", signedBits({ma, mb})},
                {"OutWidth", out.width}};
  }
  a.name = a.cell;
  a.set("frameBeats", out.beats());
  return a;
}
} // namespace

std::vector<Option> elementwiseOptions(Operation *op, Upstream upstream,
                                       const DeviceContext &device) {
  int64_t channels = channelsOf(op);
  Format base = formatOf(op->getOperand(0).getType(), 1, 1);
  // As the inputs come, or in few lanes, or in whole pixels.
  std::vector<Format> candidates;
  auto consider = [&](int64_t lanes, int64_t row) {
    Format f = base;
    f.lanes = lanes;
    f.row = row;
    f = f.canonical();
    if (!llvm::is_contained(candidates, f))
      candidates.push_back(f);
  };
  for (const auto &f : upstream)
    if (f)
      consider(f->lanes, f->row);
  for (int64_t lanes : foldings(channels))
    consider(lanes, channels);
  int64_t pixels = base.count / channels;
  for (int64_t k = 2; k <= 16 && k <= pixels; k *= 2)
    if (pixels % k == 0)
      consider(k * channels, base.count);

  std::vector<Option> options;
  for (const Format &in : candidates) {
    int64_t beats = 1;
    if (!isUniform(op)) {
      beats = int64_t(channelPattern(in, channels).size());
      if (beats == 0)
        continue;
    }
    Option option;
    Format out = formatOf(op->getResult(0).getType(), 1, 1);
    out.lanes = in.lanes;
    out.row = in.row;
    option.inputs = {in};
    if (isa<osa::ScaledAddOp>(op)) {
      Format b = formatOf(op->getOperand(1).getType(), 1, 1);
      b.lanes = in.lanes;
      b.row = in.row;
      option.inputs.push_back(b);
    }
    option.output = out;
    option.actors = {makeUnit(op, in, out, beats)};
    option.formats = {out};
    option.intervalCycles = in.beats();
    option.summary = std::to_string(in.lanes) + " lanes";
    finish(option, device);
    options.push_back(std::move(option));
  }
  return options;
}

void buildElementwise(Operation *op, Option &option, MemoryImages &images) {
  Actor &unit = option.actors.back();
  if (isa<osa::ScaledAddOp>(op))
    return;
  int64_t lanes = unit.get("Lanes"), beats = unit.get("OutFolds");
  std::vector<std::vector<int64_t>> pattern;
  if (isUniform(op))
    pattern = {std::vector<int64_t>(lanes, 0)};
  else
    pattern = channelPattern(option.inputs[0], channelsOf(op));
  auto file = [&](const char *param, const char *suffix, MemoryImage image) {
    std::string name = unit.name + suffix;
    images[name] = std::move(image);
    unit.files.push_back({param, name});
  };

  if (auto r = dyn_cast<osa::RequantiseOp>(op)) {
    int64_t mul = unit.get("MulWidth"), off = unit.get("OffsetWidth");
    MemoryImage image(lanes * (mul + off), beats);
    auto pick = [](ArrayRef<int64_t> v, int64_t c) {
      return v[v.size() == 1 ? 0 : c];
    };
    for (int64_t beat = 0; beat < beats; ++beat)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t c = pattern[beat][lane], low = lane * (mul + off);
        if (c < 0)
          continue;
        if (mul > 0)
          image.set(beat, low, mul, pick(r.getMultiplier(), c));
        image.set(beat, low + mul, off, pick(r.getOffset(), c));
      }
    return file("ParamFile", "_params.hex", std::move(image));
  }
  if (auto t = dyn_cast<osa::ThresholdOp>(op)) {
    int64_t count = unit.get("Count"), bits = unit.get("InWidth") + 1;
    std::vector<int64_t> values = osa::intValues(t.getThresholds());
    // Thresholds beyond what the input's width holds never count, or always.
    int64_t lo = -(int64_t(1) << (bits - 1)), hi = -lo - 1;
    MemoryImage image(lanes * count * bits, beats);
    for (int64_t beat = 0; beat < beats; ++beat)
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (int64_t k = 0; k < count && pattern[beat][lane] >= 0; ++k)
          image.set(
              beat, (lane * count + k) * bits, bits,
              std::clamp(values[pattern[beat][lane] * count + k], lo, hi));
    return file("ParamFile", "_thresholds.hex", std::move(image));
  }
  auto t = cast<osa::TableOp>(op);
  int64_t entries = unit.get("Entries"), bits = unit.get("OutWidth");
  std::vector<int64_t> values = osa::intValues(t.getValues());
  MemoryImage image(bits, beats * lanes * entries);
  for (int64_t beat = 0; beat < beats; ++beat)
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t i = 0; i < entries && pattern[beat][lane] >= 0; ++i)
        image.set((beat * lanes + lane) * entries + i, 0, bits,
                  values[pattern[beat][lane] * entries + i]);
  file("TableFile", "_table.hex", std::move(image));
}
} // namespace rhizome::gen::stream
