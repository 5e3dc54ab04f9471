// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConvTranspose as an ordinary convolution: the s·s positions between two
// inputs are output channels, which then move to their places. No product with
// an inserted zero is computed.
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

LogicalResult network::convTranspose(NodeContext &node) {
  TensorRef x = node.input(0), weights = node.input(1), bias = node.input(2);
  if (failed(checkImage(node, x)) || failed(node.requireReal(0)) ||
      failed(node.requireReal(1)) || (bias && failed(node.requireReal(2))))
    return failure();
  if (!weights->isConstant())
    return node.refuse("its weights are not constant",
                       "export the model with its parameters as initialisers");
  size_t rank = x->rank(), n = rank - 2;
  int64_t groups = node.getInt("group", 1), channels = x->shape[1];
  if (weights->rank() != rank || weights->shape[0] != channels || groups < 1 ||
      channels % groups || llvm::is_contained(weights->shape, 0))
    return node.refuse(
        formatv("its weights {0} with group {1} do not fit its input "
                "{2}",
                describe(weights->shape), groups, describe(x->shape)));
  int64_t perGroup = weights->shape[1], outputs = perGroup * groups;
  if (bias && bias->shape != Shape{outputs})
    return node.refuse(formatv("its bias of shape {0} must have {1} values",
                               describe(bias->shape), outputs));
  auto list = [&](StringRef name, size_t count, int64_t otherwise) {
    auto given = node.getInts(name);
    return given ? *given : std::vector<int64_t>(count, otherwise);
  };
  auto strides = list("strides", n, 1), dilations = list("dilations", n, 1),
       pads = list("pads", 2 * n, 0), extra = list("output_padding", n, 0),
       wanted = list("output_shape", 0, 0), kernel = list("kernel_shape", 0, 0);
  std::string mode = node.getString("auto_pad", "NOTSET");
  bool good = strides.size() == n && dilations.size() == n &&
              pads.size() == 2 * n && extra.size() == n &&
              (wanted.empty() || wanted.size() == n) &&
              (kernel.empty() ||
               kernel == std::vector<int64_t>(weights->shape.begin() + 2,
                                              weights->shape.end())) &&
              (mode == "NOTSET" || mode == "VALID" || mode == "SAME_UPPER" ||
               mode == "SAME_LOWER");
  for (const auto *values : {&strides, &dilations})
    for (int64_t v : *values)
      good &= v >= 1 && v <= 4096;
  for (const auto *values : {&pads, &extra, &wanted})
    for (int64_t v : *values)
      good &= v >= 0 && v <= (1 << 24);
  if (!good)
    return node.refuse(
        "its window is not valid: strides, dilations, pads or sizes "
        "have the wrong number or range");

  // Per axis (H is 1 in one dimension): the phases' taps, the padding of the
  // convolution, and what is cut out of its result.
  struct Along {
    int64_t stride = 1, taps = 1, high = 0, from = 0, size = 1;
    std::vector<int64_t> places{0}; ///< [phase][tap], kernel size: a zero
  } along[2];
  Shape shape = {1, outputs};
  for (size_t i = 0; i < n; ++i) {
    Along &a = along[i + 2 - n];
    int64_t in = x->shape[i + 2], k = weights->shape[i + 2], s = strides[i],
            d = dilations[i], span = (k - 1) * d + 1;
    int64_t low = mode == "NOTSET" ? pads[i] : 0,
            high = mode == "NOTSET" ? pads[i + n] : 0;
    int64_t full = s * (in - 1) + extra[i] + span;
    if (!wanted.empty() || mode.starts_with("SAME")) {
      int64_t size = wanted.empty() ? in * s : wanted[i];
      int64_t total = std::max<int64_t>(full - size, 0);
      bool upper = mode != "SAME_UPPER" && !wanted.empty();
      low = mode == "SAME_LOWER" || upper ? total - total / 2 : total / 2;
      if (!wanted.empty() && mode == "SAME_UPPER")
        low = total / 2;
      high = full - low - size;
    }
    a.size = full - low - high;
    if (a.size < 1)
      return node.refuse(
          formatv("its output would have a size of {0}", a.size));
    if (isTooLong(node, a.size) || isTooLong(node, span))
      return failure();
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
    shape.push_back(a.size);
  }

  // Weights [C, M/g, kH, kW] with a zero behind, then as the phases need them.
  TensorRef four = weights;
  if (n == 1)
    four = reshaped(weights, {channels, perGroup, 1, weights->shape[2]});
  Value w = four ? plain(node, four) : Value(), in = channelsLast(node, x);
  if (!w || !in)
    return failure();
  Shape size(cast<RankedTensorType>(w.getType()).getShape());
  size[2] += 1;
  size[3] += 1;
  w = osa::PadOp::create(node.builder, node.loc, tensorType(size, node.f32), w,
                         node.builder.getDenseI64ArrayAttr({0, 0, 0, 0}),
                         node.builder.getDenseI64ArrayAttr({0, 0, 1, 1}),
                         node.builder.getF64FloatAttr(0.0));
  const Along &h = along[0], &v = along[1];
  w = take(node, take(node, w, 2, h.places), 3, v.places);
  w = reshape(node, w,
              {groups, channels / groups, perGroup, h.stride, h.taps, v.stride,
               v.taps});
  w = transpose(node, w, {0, 2, 3, 5, 4, 6, 1});
  w = reshape(
      node, w,
      {outputs * h.stride * v.stride, h.taps, v.taps, channels / groups});
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
