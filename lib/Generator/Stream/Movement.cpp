// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that move elements: concatenation (blocks in turn), transposition (two
// pages of memory), padding (a 1×1 window).
#include "Units.h"
#include <numeric>

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
std::vector<Option> concatOptions(osa::ConcatOp op,
                                  const DeviceContext &device) {
  // Elements of one input between two changes of input.
  std::vector<int64_t> blocks;
  int64_t step = 0;
  for (Value v : op.getInputs()) {
    auto shape = cast<RankedTensorType>(v.getType()).getShape();
    int64_t block = 1;
    for (size_t i = op.getAxis(); i < shape.size(); ++i)
      block *= shape[i];
    blocks.push_back(block);
    step = std::gcd(step, block);
  }
  std::vector<Option> options;
  for (int64_t lanes = 1; lanes <= step; ++lanes) {
    if (step % lanes)
      continue;
    Option option;
    for (Value v : op.getInputs())
      option.inputs.push_back(formatOf(v.getType(), lanes, lanes));
    Format out = formatOf(op.getOutput().getType(), lanes, lanes);
    int64_t before = blocks[0];
    for (size_t i = 1; i < blocks.size(); ++i) {
      Format partial = out;
      partial.count =
          out.count /
          std::accumulate(blocks.begin(), blocks.end(), int64_t(0)) *
          (before + blocks[i]);
      Actor a{"concat", "concat", {}, {}};
      a.params = {{"Elem", out.width},
                  {"Lanes", lanes},
                  {"BlockA", before / lanes},
                  {"BlockB", blocks[i] / lanes},
                  {"frameBeats", partial.count / lanes}};
      option.actors.push_back(a);
      option.formats.push_back(partial.canonical());
      before += blocks[i];
    }
    option.output = out;
    option.intervalCycles = out.beats();
    option.summary = std::to_string(lanes) + " lanes";
    finish(option, device);
    options.push_back(std::move(option));
  }
  return options;
}
} // namespace

std::vector<Option> movementOptions(Operation *op, Upstream,
                                    const DeviceContext &device) {
  if (auto concat = dyn_cast<osa::ConcatOp>(op))
    return concatOptions(concat, device);
  std::vector<Option> options;
  if (isa<osa::TransposeOp>(op)) {
    Option option;
    Format f = formatOf(op->getOperand(0).getType(), 1, 1);
    Actor a{"reorder", "reorder", {}, {}};
    a.params = {{"Elem", f.width}, {"Elements", f.count}};
    option.inputs = {f};
    option.output = f;
    option.actors = {a};
    option.formats = {f};
    option.intervalCycles = f.count;
    option.summary = "two pages";
    finish(option, device);
    options.push_back(std::move(option));
    return options;
  }
  auto pad = cast<osa::PadOp>(op);
  auto in = cast<RankedTensorType>(pad.getInput().getType()).getShape();
  auto out = cast<RankedTensorType>(pad.getOutput().getType()).getShape();
  Format x = formatOf(pad.getInput().getType(), 1, 1);
  for (int64_t lanes : foldings(in[3])) {
    Option option;
    Format f = x;
    f.lanes = lanes;
    f.row = in[3];
    Format o = f;
    o.count = out[1] * out[2] * out[3];
    Actor a{"window", "pad", {}, {}};
    a.params = {{"Elem", x.width},
                {"Channels", in[3]},
                {"Height", in[1]},
                {"Width", in[2]},
                {"KernelH", 1},
                {"KernelW", 1},
                {"StrideH", 1},
                {"StrideW", 1},
                {"DilationH", 1},
                {"DilationW", 1},
                {"PadTop", pad.getLow()[1]},
                {"PadLeft", pad.getLow()[2]},
                {"OutHeight", out[1]},
                {"OutWidth", out[2]},
                {"PadValue", int64_t(pad.getValue().convertToDouble())},
                {"Lanes", lanes},
                {"Groups", 1},
                {"Repeat", 1},
                {"KernelParallel", 0},
                {"PixelsIn", 1},
                {"PixelsOut", 1},
                {"Rows", 2}};
    option.inputs = {f.canonical()};
    option.output = o.canonical();
    option.actors = {a};
    option.formats = {option.output};
    option.intervalCycles = o.beats();
    option.summary = std::to_string(lanes) + " lanes";
    finish(option, device);
    options.push_back(std::move(option));
  }
  return options;
}

void buildMovement(Operation *op, Option &option, MemoryImages &images) {
  auto transpose = dyn_cast<osa::TransposeOp>(op);
  if (!transpose)
    return;
  Actor &unit = option.actors.back();
  auto in = cast<RankedTensorType>(transpose.getInput().getType()).getShape();
  auto out = cast<RankedTensorType>(transpose.getOutput().getType()).getShape();
  int64_t elements = unit.get("Elements"), rank = int64_t(in.size());
  std::vector<int64_t> stride(rank, 1);
  for (int64_t i = rank - 2; i >= 0; --i)
    stride[i] = stride[i + 1] * in[i + 1];
  int64_t bits = 1;
  while ((int64_t(1) << bits) < elements)
    ++bits;
  MemoryImage image(bits, elements);
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i, address = 0;
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      address += rest % out[axis] * stride[transpose.getPermutation()[axis]];
      rest /= out[axis];
    }
    image.set(i, 0, bits, address);
  }
  std::string name = unit.name + "_addresses.hex";
  images[name] = std::move(image);
  unit.files.push_back({"AddressFile", name});
}
} // namespace rhizome::gen::stream
