// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection of the network's elements by constants: Gather, Slice, Split, and
// the two that move between channels and positions.
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

Value importer::take(NodeContext &node, Value v, int64_t axis,
                     ArrayRef<int64_t> indices) {
  auto in = cast<RankedTensorType>(v.getType());
  bool same = int64_t(indices.size()) == in.getShape()[axis];
  for (auto [i, from] : llvm::enumerate(indices))
    same &= from == int64_t(i);
  if (same)
    return v;
  Shape shape(in.getShape());
  shape[axis] = int64_t(indices.size());
  return osa::GatherOp::create(node.builder, node.loc,
                               tensorType(shape, in.getElementType()), v,
                               node.builder.getI64IntegerAttr(axis),
                               node.builder.getDenseI64ArrayAttr(indices));
}

bool importer::isTooLong(NodeContext &node, int64_t positions) {
  constexpr int64_t kMost = 1 << 24;
  if (positions <= kMost)
    return false;
  node.refuse(formatv("it chooses among {0} positions", positions),
              formatv("up to {0} are supported", kMost));
  return true;
}

TensorRef importer::taken(NodeContext &node, const TensorRef &x, int64_t axis,
                          ArrayRef<int64_t> indices) {
  bool last = x->last && x->hasChannelsLast() && !x->isConstant();
  Value v = last ? x->last : plain(node, x);
  if (!v)
    return nullptr;
  auto out = std::make_shared<GraphTensor>();
  out->shape = x->shape;
  out->shape[axis] = int64_t(indices.size());
  out->element = x->element;
  out->whole = x->whole;
  out->onnx = x->onnx;
  if (!elementCount(out->shape) || *elementCount(out->shape) == 0) {
    node.refuse(
        formatv("its output would have the shape {0}", describe(out->shape)));
    return nullptr;
  }
  (last ? out->last : out->plain) =
      take(node, v, last ? lastAxis(axis, x->rank()) : axis, indices);
  return out;
}

LogicalResult network::gather(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!isa_and_nonnull<num::IntType>(x->element) && failed(node.requireReal(0)))
    return failure();
  auto indices = node.constantInts(1, "list of indices");
  if (!indices)
    return failure();
  std::optional<int64_t> axis = node.axisAttribute(0, x->rank());
  if (!axis)
    return failure();
  for (int64_t &i : *indices) {
    int64_t size = x->shape[*axis];
    if (i < -size || i >= size)
      return node.refuse(
          formatv("its index {0} is out of range for a size of {1}", i, size));
    i += i < 0 ? size : 0;
  }
  TensorRef out = taken(node, x, *axis, *indices);
  if (!out)
    return failure();
  const Shape &as = node.input(1)->shape;
  if (as.size() == 1)
    return node.setResult(0, out);
  Shape shape(x->shape.begin(), x->shape.begin() + *axis);
  llvm::append_range(shape, as);
  shape.insert(shape.end(), x->shape.begin() + *axis + 1, x->shape.end());
  Value v = plain(node, out);
  if (!v || failed(setPlain(node, reshape(node, v, shape))))
    return failure();
  if (x->whole)
    setWhole(node, *x->whole);
  return success();
}

LogicalResult network::slice(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!isa_and_nonnull<num::IntType>(x->element) && failed(node.requireReal(0)))
    return failure();
  auto starts = node.getInts("starts"), ends = node.getInts("ends");
  if (!starts)
    starts = node.constantInts(1, "list of starts");
  if (starts && !ends)
    ends = node.constantInts(2, "list of ends");
  if (!starts || !ends)
    return failure();
  std::vector<int64_t> axes(starts->size()), steps(starts->size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (auto given = node.getInts("axes")) {
    axes = *given;
  } else if (node.input(3)) {
    auto listed = node.constantInts(3, "list of axes");
    if (!listed)
      return failure();
    axes = *listed;
  }
  if (node.input(4)) {
    auto listed = node.constantInts(4, "list of steps");
    if (!listed)
      return failure();
    steps = *listed;
  }
  int64_t rank = int64_t(x->rank());
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      steps.size() != starts->size())
    return node.refuse(
        formatv("it has {0} starts, {1} ends, {2} axes and {3} steps",
                starts->size(), ends->size(), axes.size(), steps.size()));
  TensorRef out = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i], step = steps[i];
    if (axis < -rank || axis >= rank || step == 0)
      return node.refuse(
          formatv("its axis {0} and step {1} are not valid for rank "
                  "{2}",
                  axis, step, rank));
    axis += axis < 0 ? rank : 0;
    int64_t size = x->shape[axis];
    auto bound = [&](int64_t v, int64_t lo, int64_t hi) {
      return std::clamp<int64_t>(v < 0 ? v + size : v, lo, hi);
    };
    std::vector<int64_t> indices;
    // Open ends are written as very large numbers.
    int64_t end = std::clamp<int64_t>((*ends)[i], -size - 1, size);
    int64_t start = std::clamp<int64_t>((*starts)[i], -size - 1, size);
    step = std::clamp<int64_t>(step, -size - 1, size + 1);
    if (step == 1 && bound(start, 0, size) == 0 && bound(end, 0, size) == size)
      continue;
    if (isTooLong(node, size))
      return failure();
    if (step > 0)
      for (int64_t at = bound(start, 0, size); at < bound(end, 0, size);
           at += step)
        indices.push_back(at);
    else
      for (int64_t at = bound(start, -1, size - 1);
           at > bound(end, -1, size - 1); at += step)
        indices.push_back(at);
    if (!(out = taken(node, out, axis, indices)))
      return failure();
  }
  return node.setResult(0, out);
}

LogicalResult network::split(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!isa_and_nonnull<num::IntType>(x->element) && failed(node.requireReal(0)))
    return failure();
  std::optional<int64_t> axis = node.axisAttribute(0, x->rank());
  if (!axis)
    return failure();
  int64_t size = x->shape[*axis], outputs = node.proto.output_size();
  std::vector<int64_t> sizes;
  if (auto given = node.getInts("split")) {
    sizes = *given;
  } else if (node.input(1)) {
    auto listed = node.constantInts(1, "list of sizes");
    if (!listed)
      return failure();
    sizes = *listed;
  } else {
    int64_t part = (size + outputs - 1) / outputs;
    for (int64_t at = 0; int64_t(sizes.size()) < outputs; at += part)
      sizes.push_back(std::clamp<int64_t>(size - at, 0, part));
  }
  int64_t sum = 0;
  for (int64_t s : sizes)
    sum = s < 0 ? INT64_MIN / 2 : sum + s;
  if (int64_t(sizes.size()) != outputs || sum != size)
    return node.refuse(
        formatv("it splits a size of {0} into {1} for {2} outputs", size,
                describe(sizes), outputs));
  if (isTooLong(node, size))
    return failure();
  int64_t at = 0;
  for (int64_t i = 0; i < outputs; at += sizes[i++]) {
    if (!node.outputUsed(i))
      continue;
    std::vector<int64_t> indices(sizes[i]);
    std::iota(indices.begin(), indices.end(), at);
    TensorRef part = taken(node, x, *axis, indices);
    if (!part || failed(node.setResult(i, part)))
      return failure();
  }
  return success();
}

Value importer::spread(NodeContext &node, Value v, int64_t h, int64_t w,
                       bool channelOutermost) {
  auto s = cast<RankedTensorType>(v.getType()).getShape();
  int64_t height = s[1], width = s[2], channels = s[3] / (h * w);
  if (channelOutermost) {
    v = reshape(node, v, {1, height, width, channels, h, w});
    v = transpose(node, v, {0, 1, 4, 2, 5, 3});
  } else {
    v = reshape(node, v, {1, height, width, h, w, channels});
    v = transpose(node, v, {0, 1, 3, 2, 4, 5});
  }
  return reshape(node, v, {1, height * h, width * w, channels});
}

LogicalResult network::depthToSpace(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(checkImage(node, x)) ||
      (!isa_and_nonnull<num::IntType>(x->element) &&
       failed(node.requireReal(0))))
    return failure();
  int64_t block = node.getInt("blocksize", 0);
  std::string mode = node.getString("mode", "DCR");
  if (x->rank() != 4 || block < 1 || block > (1 << 15) ||
      x->shape[1] % (block * block) || (mode != "DCR" && mode != "CRD"))
    return node.refuse(
        formatv("its blocksize is {0} and its mode '{1}' for the "
                "shape {2}",
                block, mode, describe(x->shape)));
  Value v = channelsLast(node, x);
  if (!v)
    return failure();
  Shape shape = {1, x->shape[1] / (block * block), x->shape[2] * block,
                 x->shape[3] * block};
  if (failed(
          setLast(node, spread(node, v, block, block, mode == "CRD"), shape)))
    return failure();
  if (x->whole)
    setWhole(node, *x->whole);
  return success();
}

LogicalResult network::spaceToDepth(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(checkImage(node, x)) ||
      (!isa_and_nonnull<num::IntType>(x->element) &&
       failed(node.requireReal(0))))
    return failure();
  int64_t block = node.getInt("blocksize", 0);
  if (x->rank() != 4 || block < 1 || x->shape[2] % block || x->shape[3] % block)
    return node.refuse(formatv("its blocksize is {0} for the shape {1}", block,
                               describe(x->shape)));
  Value v = channelsLast(node, x);
  if (!v)
    return failure();
  int64_t h = x->shape[2] / block, w = x->shape[3] / block, c = x->shape[1];
  std::string mode = node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return node.refuse(formatv("its mode is '{0}'", mode),
                       "DCR and CRD are defined");
  v = reshape(node, v, {1, h, block, w, block, c});
  v = mode == "CRD" ? transpose(node, v, {0, 1, 3, 5, 2, 4})
                    : transpose(node, v, {0, 1, 3, 2, 4, 5});
  v = reshape(node, v, {1, h, w, block * block * c});
  if (failed(setLast(node, v, {1, block * block * c, h, w})))
    return failure();
  if (x->whole)
    setWhole(node, *x->whole);
  return success();
}
