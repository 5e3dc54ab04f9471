// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConvTranspose as an ordinary convolution: the s·s positions between two
// inputs are output channels, which are then moved to their positions. No
// product with an inserted zero is computed.
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

namespace {
/// The node's attributes, a value for each spatial axis.
struct Window {
  Shape strides, dilations, pads, extra, wanted; ///< `wanted` may be empty
  std::string mode;
};

/// Along one axis (H is 1 in one dimension): the phases' taps, the padding of
/// the convolution, and the part cut out of its result.
struct Along {
  int64_t stride = 1, taps = 1, high = 0, from = 0, size = 1;
  std::vector<int64_t> places{0}; ///< [phase][tap], kernel size: a zero
};
} // namespace

/// Refuses weights and a bias that do not fit the input.
static LogicalResult checkOperands(NodeContext &node) {
  TensorRef x = node.input(0), weights = node.input(1), bias = node.input(2);
  if (failed(checkImage(node, x)) || failed(node.requireReal(0)) ||
      failed(node.requireReal(1)) || (bias && failed(node.requireReal(2))))
    return failure();
  if (!weights->isConstant())
    return node.refuse("its weights are not constant",
                       "export the model with its parameters as initializers");
  int64_t groups = node.getInt("group", 1), channels = x->shape[1];
  if (weights->rank() != x->rank() || weights->shape[0] != channels ||
      groups < 1 || channels % groups || llvm::is_contained(weights->shape, 0))
    return node.refuse(
        formatv("its weights {0} with group {1} do not fit its input {2}",
                describe(weights->shape), groups, describe(x->shape)));
  int64_t outputs = weights->shape[1] * groups;
  if (bias && bias->shape != Shape{outputs})
    return node.refuse(formatv("its bias of shape {0} must have {1} values",
                               describe(bias->shape), outputs));
  return success();
}

static std::optional<Window> readWindow(NodeContext &node) {
  const Shape kernel(node.input(1)->shape.begin() + 2,
                     node.input(1)->shape.end());
  const size_t n = kernel.size();
  auto list = [&](StringRef name, size_t count, int64_t otherwise) {
    return node.getInts(name).value_or(Shape(count, otherwise));
  };
  Window w{list("strides", n, 1),      list("dilations", n, 1),
           list("pads", 2 * n, 0),     list("output_padding", n, 0),
           list("output_shape", 0, 0), node.getString("auto_pad", "NOTSET")};
  static const StringRef modes[] = {"NOTSET", "VALID", "SAME_UPPER",
                                    "SAME_LOWER"};
  Shape given = list("kernel_shape", 0, 0);
  bool good = w.strides.size() == n && w.dilations.size() == n &&
              w.pads.size() == 2 * n && w.extra.size() == n &&
              (w.wanted.empty() || w.wanted.size() == n) &&
              (given.empty() || given == kernel) &&
              llvm::is_contained(modes, w.mode);
  for (const Shape *values : {&w.strides, &w.dilations})
    for (int64_t v : *values)
      good &= v >= 1 && v <= 4096;
  for (const Shape *values : {&w.pads, &w.extra, &w.wanted})
    for (int64_t v : *values)
      good &= v >= 0 && v <= (1 << 24);
  if (good)
    return w;
  node.refuse("its window is not valid: strides, dilations, pads or sizes "
              "have the wrong number or range");
  return std::nullopt;
}

/// Along spatial axis `i`; nullopt if refused.
static std::optional<Along> alongAxis(NodeContext &node, const Window &w,
                                      size_t i) {
  const size_t n = w.strides.size();
  int64_t in = node.input(0)->shape[i + 2], k = node.input(1)->shape[i + 2],
          s = w.strides[i], d = w.dilations[i], span = (k - 1) * d + 1;
  int64_t low = w.mode == "NOTSET" ? w.pads[i] : 0,
          high = w.mode == "NOTSET" ? w.pads[i + n] : 0;
  int64_t full = s * (in - 1) + w.extra[i] + span;
  if (!w.wanted.empty() || StringRef(w.mode).starts_with("SAME")) {
    int64_t size = w.wanted.empty() ? in * s : w.wanted[i];
    int64_t total = std::max<int64_t>(full - size, 0);
    low = w.mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    high = full - low - size;
  }
  Along a;
  a.size = full - low - high;
  if (a.size < 1) {
    node.refuse(formatv("its output would have a size of {0}", a.size));
    return std::nullopt;
  }
  if (isTooLong(node, a.size) || isTooLong(node, span))
    return std::nullopt;
  a.stride = s;
  a.from = low;
  a.taps = (span + s - 1) / s;
  a.high = std::max<int64_t>((low + a.size + s - 1) / s - in, 0);
  a.places.clear();
  for (int64_t r = 0; r < s; ++r)
    for (int64_t t = 0; t < a.taps; ++t) {
      int64_t at = r + s * (a.taps - 1 - t);
      a.places.push_back(at % d == 0 && at / d < k ? at / d : k);
    }
  return a;
}

/// Weights [C, M/g, kH, kW] with an appended zero, then rearranged for the
/// phases.
static Value phaseWeights(NodeContext &node, int64_t groups, const Along &h,
                          const Along &v) {
  TensorRef weights = node.input(1);
  int64_t channels = weights->shape[0], perGroup = weights->shape[1];
  if (weights->rank() == 3)
    weights = reshaped(weights, {channels, perGroup, 1, weights->shape[2]});
  Value w = weights ? plain(node, weights) : Value();
  if (!w)
    return {};
  Shape size(cast<RankedTensorType>(w.getType()).getShape());
  size[2] += 1;
  size[3] += 1;
  w = osa::PadOp::create(node.builder, node.loc, tensorType(size, node.f32), w,
                         node.builder.getDenseI64ArrayAttr({0, 0, 0, 0}),
                         node.builder.getDenseI64ArrayAttr({0, 0, 1, 1}),
                         node.builder.getF64FloatAttr(0.0));
  w = take(node, take(node, w, 2, h.places), 3, v.places);
  w = reshape(node, w,
              {groups, channels / groups, perGroup, h.stride, h.taps, v.stride,
               v.taps});
  w = transpose(node, w, {0, 2, 3, 5, 4, 6, 1});
  return reshape(node, w,
                 {perGroup * groups * h.stride * v.stride, h.taps, v.taps,
                  channels / groups});
}

LogicalResult network::convTranspose(NodeContext &node) {
  if (failed(checkOperands(node)))
    return failure();
  std::optional<Window> window = readWindow(node);
  if (!window)
    return failure();
  TensorRef x = node.input(0), bias = node.input(2);
  const size_t n = x->rank() - 2;
  int64_t groups = node.getInt("group", 1),
          outputs = node.input(1)->shape[1] * groups;
  Along along[2];
  Shape shape = {1, outputs};
  for (size_t i = 0; i < n; ++i) {
    auto axis = alongAxis(node, *window, i);
    if (!axis)
      return failure();
    shape.push_back(axis->size);
    along[i + 2 - n] = std::move(*axis);
  }
  const Along &h = along[0], &v = along[1];
  Value w = phaseWeights(node, groups, h, v), in = channelsLast(node, x);
  if (!w || !in)
    return failure();
  Value addend;
  if (bias) { // one for every phase
    if (!(addend = plain(node, bias)))
      return failure();
    std::vector<int64_t> owner;
    for (int64_t o = 0; o < outputs * h.stride * v.stride; ++o)
      owner.push_back(o / (h.stride * v.stride));
    addend = take(node, addend, 0, owner);
  }
  Value y = conv2d(node, in, w, addend,
                   {h.taps - 1, v.taps - 1, h.high, v.high}, groups);
  y = spread(node, y, h.stride, v.stride, true);
  for (int axis : {0, 1}) {
    std::vector<int64_t> kept(along[axis].size);
    std::iota(kept.begin(), kept.end(), along[axis].from);
    y = take(node, y, axis + 1, kept);
  }
  return setLast(node, y, shape);
}
