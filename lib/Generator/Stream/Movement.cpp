// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that move elements: concatenation (blocks in turn), transposes and
// gathers (dropped beats, or two pages of memory), padding (a 1×1 window).
#include "Units.h"
#include <numeric>

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
std::vector<Offer> concatOffers(osa::ConcatOp op, const DeviceContext &device) {
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
  std::vector<Offer> offers;
  for (int64_t lanes = 1; lanes <= step; ++lanes) {
    if (step % lanes)
      continue;
    Offer offer;
    for (Value v : op.getInputs())
      offer.inputs.push_back(formatOf(v.getType(), lanes, lanes));
    BeatFormat out = formatOf(op.getOutput().getType(), lanes, lanes);
    int64_t before = blocks[0];
    for (size_t i = 1; i < blocks.size(); ++i) {
      BeatFormat partial = out;
      partial.count =
          out.count /
          std::accumulate(blocks.begin(), blocks.end(), int64_t(0)) *
          (before + blocks[i]);
      Actor a(unit::Concat::kKind, "concat");
      a.params = {{"Elem", out.width},
                  {"Lanes", lanes},
                  {"BlockA", before / lanes},
                  {"BlockB", blocks[i] / lanes},
                  {"frameBeats", partial.count / lanes}};
      offer.body.chain(a, partial.canonical());
      before += blocks[i];
    }
    offer.outputs = {out};
    offer.busyCycles = out.beats();
    offer.key = OptionKey("stream", "concat").add("lanes", lanes);
    offer.summary = counted(lanes, "lane");
    finish(offer, device);
    offers.push_back(std::move(offer));
  }
  return offers;
}
/// For every element of the result, its index in the input.
std::vector<int64_t> elementMap(Operation *op) {
  auto in = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  auto out = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  auto transpose = dyn_cast<osa::TransposeOp>(op);
  auto gather = dyn_cast<osa::GatherOp>(op);
  size_t rank = in.size();
  std::vector<int64_t> stride(rank, 1), index(rank, 0);
  for (size_t i = rank; i-- > 1;)
    stride[i - 1] = stride[i] * in[i];
  int64_t n = ShapedType::getNumElements(out);
  std::vector<int64_t> map(n);
  for (int64_t &from : map) {
    from = 0;
    for (size_t d = 0; d < rank; ++d) {
      size_t axis = transpose ? transpose.getPermutation()[d] : d;
      int64_t at = gather && d == gather.getAxis()
                       ? gather.getIndices()[index[d]]
                       : index[d];
      from += at * stride[axis];
    }
    for (size_t d = rank; d-- > 0 && ++index[d] == out[d];)
      index[d] = 0;
  }
  return map;
}

/// The largest number of neighboring elements that stay together everywhere.
int64_t togetherIn(const std::vector<int64_t> &map, int64_t elements) {
  int64_t n = std::gcd(int64_t(map.size()), elements);
  // Runs end if the next element is not the successor.
  int64_t start = 0;
  for (int64_t i = 0; i < int64_t(map.size()); ++i) {
    if (i == start)
      n = std::gcd(n, map[i]);
    if (i + 1 < int64_t(map.size()) && map[i + 1] == map[i] + 1)
      continue;
    n = std::gcd(n, i + 1 - start);
    start = i + 1;
  }
  return n;
}

/// The largest number of blocks such that all blocks are
/// rearranged in the same way, each within itself.
int64_t blocksOf(const std::vector<int64_t> &map, int64_t elements) {
  int64_t most = std::gcd(int64_t(map.size()), elements);
  for (int64_t blocks = most; blocks > 1; --blocks) {
    if (most % blocks)
      continue;
    int64_t in = elements / blocks, out = int64_t(map.size()) / blocks;
    bool alike = true;
    for (int64_t i = 0; i < int64_t(map.size()) && alike; ++i)
      alike = i < out ? map[i] < in : map[i] == map[i - out] + in;
    if (alike)
      return blocks;
  }
  return 1;
}

/// A gather that only drops elements, in equal steps, as a `select` of words of
/// `lanes` elements; nullopt for others.
std::optional<Actor> makeSelect(osa::GatherOp op, int64_t lanes) {
  auto indices = op.getIndices();
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  int64_t inner = 1, start = indices[0], count = int64_t(indices.size()),
          stride = count > 1 ? indices[1] - start : 1,
          period = shape[op.getAxis()];
  for (size_t i = op.getAxis() + 1; i < shape.size(); ++i)
    inner *= shape[i];
  for (int64_t i = 0; i < count; ++i)
    if (stride < 1 || indices[i] != start + i * stride)
      return std::nullopt;
  if (inner % lanes == 0) {
    inner /= lanes;
  } else { // words of several neighbors
    int64_t group = lanes / inner;
    if (lanes % inner || stride != 1 || start % group || count % group ||
        period % group)
      return std::nullopt;
    inner = 1;
    start /= group;
    count /= group;
    period /= group;
  }
  Actor a(unit::Select::kKind, "select");
  a.params = {{"Inner", inner},
              {"Period", period},
              {"Start", start},
              {"Stride", stride},
              {"Count", count}};
  return a;
}

/// The largest divisor of `n` below `than`.
int64_t largestDivisorBelow(int64_t n, int64_t than) {
  do
    --than;
  while (n % than);
  return than;
}

/// Transposes and gathers: drop beats, or use two pages of memory.
std::vector<Offer> rearrangeOffers(Operation *op, const DeviceContext &device) {
  std::vector<int64_t> map = elementMap(op);
  BeatFormat in = formatOf(op->getOperand(0).getType(), 1, 1);
  int64_t together = togetherIn(map, in.count);
  int64_t blocks = blocksOf(map, in.count);
  auto gather = dyn_cast<osa::GatherOp>(op);
  std::vector<Offer> offers;
  for (int64_t lanes = 1; lanes <= together; ++lanes) {
    if (together % lanes)
      continue;
    Offer offer;
    BeatFormat x = formatOf(op->getOperand(0).getType(), lanes, lanes);
    BeatFormat y = formatOf(op->getResult(0).getType(), lanes, lanes);
    Actor a(unit::Reorder::kKind, "reorder");
    if (auto select = gather ? makeSelect(gather, lanes) : std::nullopt) {
      a = *select;
    } else {
      int64_t own = blocks; // words must not cross blocks
      while (in.count / own % lanes || int64_t(map.size()) / own % lanes)
        own = largestDivisorBelow(blocks, own);
      a.params = {{"Elements", in.count / own / lanes},
                  {"OutElements", int64_t(map.size()) / own / lanes}};
    }
    a.set("Elem", x.width * lanes);
    a.set("frameBeats", y.beats());
    offer.inputs = {x.canonical()};
    offer.outputs = {y.canonical()};
    offer.body.chain(a, offer.outputs[0]);
    offer.busyCycles = std::max(x.beats(), y.beats());
    offer.key = OptionKey("stream", a.kind().name).add("lanes", lanes);
    offer.summary =
        counted(lanes, "lane") + (a.is<unit::Select>() ? "" : ", two pages");
    finish(offer, device);
    offers.push_back(std::move(offer));
  }
  return offers;
}
} // namespace

std::vector<Offer> movementOffers(Operation *op, Upstream,
                                  const DeviceContext &device) {
  if (auto concat = dyn_cast<osa::ConcatOp>(op))
    return concatOffers(concat, device);
  if (isa<osa::TransposeOp, osa::GatherOp>(op))
    return rearrangeOffers(op, device);
  std::vector<Offer> offers;
  auto pad = cast<osa::PadOp>(op);
  auto in = cast<RankedTensorType>(pad.getInput().getType()).getShape();
  auto out = cast<RankedTensorType>(pad.getOutput().getType()).getShape();
  BeatFormat x = formatOf(pad.getInput().getType(), 1, 1);
  for (int64_t lanes : foldings(in[3])) {
    Offer offer;
    BeatFormat f = x;
    f.lanes = lanes;
    f.row = in[3];
    BeatFormat o = f;
    o.count = out[1] * out[2] * out[3];
    Actor a(unit::Window::kKind, "pad");
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
    offer.inputs = {f.canonical()};
    offer.outputs = {o.canonical()};
    offer.body.chain(a, offer.outputs[0]);
    offer.busyCycles = o.beats();
    offer.key = OptionKey("stream", "pad").add("lanes", lanes);
    offer.summary = counted(lanes, "lane");
    finish(offer, device);
    offers.push_back(std::move(offer));
  }
  return offers;
}

void buildMovement(Operation *op, Offer &offer, MemoryImages &images) {
  Actor &unit = offer.body.back();
  if (!unit.is<unit::Reorder>())
    return;
  int64_t elements = unit.get("Elements"), reads = unit.get("OutElements");
  int64_t lanes = offer.inputs[0].lanes, bits = 1;
  while ((int64_t(1) << bits) < elements)
    ++bits;
  std::vector<int64_t> map = elementMap(op);
  MemoryImage image(bits, reads);
  for (int64_t i = 0; i < reads; ++i)
    image.set(i, 0, bits, map[i * lanes] / lanes);
  std::string name = unit.name + "_addresses.hex";
  images[name] = std::move(image);
  unit.files.push_back({"AddressFile", name});
}
} // namespace rhizome::gen::stream
