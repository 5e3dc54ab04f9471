// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample: nearest neighbors are gathers along an axis; linear
// interpolation by whole factors is a convolution whose output channels are the
// positions between two inputs.
#include "Coordinates.h"
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

Value importer::scalar(NodeContext &node, double value) {
  auto attr = DenseElementsAttr::get(tensorType({}, node.f32), float(value));
  return osa::ConstantOp::create(node.builder, node.loc, attr.getType(), attr);
}

Value importer::conv2d(NodeContext &node, Value x, Value weights, Value bias,
                       Shape pads, int64_t groups) {
  auto in = cast<RankedTensorType>(x.getType()).getShape(),
       w = cast<RankedTensorType>(weights.getType()).getShape();
  Shape out = {1, in[1] + pads[0] + pads[2] - w[1] + 1,
               in[2] + pads[1] + pads[3] - w[2] + 1, w[0]};
  SmallVector<int64_t> ones = {1, 1};
  return osa::Conv2dOp::create(node.builder, node.loc,
                               tensorType(out, node.f32), x, weights, bias,
                               node.builder.getDenseI64ArrayAttr(ones),
                               node.builder.getDenseI64ArrayAttr(pads),
                               node.builder.getDenseI64ArrayAttr(ones),
                               node.builder.getI64IntegerAttr(groups),
                               node.builder.getI64IntegerAttr(0));
}

static TensorRef interpolated(NodeContext &node, const TensorRef &x,
                              ArrayRef<int64_t> factors, bool halfPixel) {
  Value v = channelsLast(node, x);
  if (!v)
    return nullptr;
  Shape size(cast<RankedTensorType>(v.getType()).getShape());
  int64_t channels = size[3];
  if (isTooLong(node, size[1]) || isTooLong(node, size[2]) ||
      isTooLong(node, channels * factors[0] * factors[1]))
    return nullptr;
  // Per axis: taps[phase][k] / (2·factor), k over the neighbors at −1, 0, 1.
  std::array<std::vector<std::array<int64_t, 3>>, 2> taps;
  for (int a : {0, 1}) {
    int64_t f = factors[a];
    for (int64_t r = 0; r < f; ++r) {
      int64_t d = halfPixel ? 2 * r + 1 - f : 2 * r;
      taps[a].push_back({std::max<int64_t>(-d, 0), 2 * f - std::abs(d),
                         std::max<int64_t>(d, 0)});
    }
    // The edge is repeated outside.
    std::vector<int64_t> edge = {0};
    for (int64_t i = 0; i < size[a + 1]; ++i)
      edge.push_back(i);
    edge.push_back(size[a + 1] - 1);
    if (f > 1)
      v = take(node, v, a + 1, edge);
  }
  int64_t fh = factors[0], fw = factors[1], kh = fh > 1 ? 3 : 1,
          kw = fw > 1 ? 3 : 1;
  std::vector<float> weights;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t rh = 0; rh < fh; ++rh)
      for (int64_t rw = 0; rw < fw; ++rw)
        for (int64_t i = 0; i < kh; ++i)
          for (int64_t j = 0; j < kw; ++j)
            weights.push_back(float((kh == 1 ? 1 : taps[0][rh][i]) *
                                    (kw == 1 ? 1 : taps[1][rw][j])));
  Shape shape = {channels * fh * fw, kh, kw, 1};
  Value w = osa::ConstantOp::create(
      node.builder, node.loc, tensorType(shape, node.f32),
      osa::makeFloatAttr(node.context, node.name, shape, weights));
  v = conv2d(node, v, w, Value(), {0, 0, 0, 0}, channels);
  v = spread(node, v, fh, fw, true);
  double divisor = double(kh == 1 ? 1 : 2 * fh) * double(kw == 1 ? 1 : 2 * fw);
  v = emitBinary(node, "Div", v, scalar(node, divisor), v.getType());
  auto out = std::make_shared<GraphTensor>();
  out->shape = x->shape;
  out->shape[x->rank() - 1] *= fw;
  if (x->rank() == 4)
    out->shape[2] *= fh;
  out->element = node.f32;
  out->last = v;
  return out;
}

namespace {
/// The effect of a Resize or Upsample along every axis.
struct Resizing {
  std::string mode, nearest, coordinates;
  std::vector<double> scales;
  Shape sizes;         ///< of the result
  bool bySize = false; ///< the file gives these, not the scales
};
} // namespace

/// Mode and coordinates; refuses those that the network does not support.
static LogicalResult readMode(NodeContext &node, bool isUpsample, Resizing &r) {
  r.mode = node.getString("mode", "nearest");
  r.nearest = node.getString("nearest_mode", "round_prefer_floor");
  r.coordinates =
      node.getString("coordinate_transformation_mode", "half_pixel");
  if (isUpsample) {
    r.coordinates = "asymmetric";
    r.nearest = "floor";
  }
  static const StringRef known[] = {"asymmetric", "align_corners",
                                    "pytorch_half_pixel",
                                    "half_pixel_symmetric", "half_pixel"};
  static const StringRef modes[] = {"nearest", "linear", "bilinear"};
  if (llvm::is_contained(known, r.coordinates) &&
      SourceLine::isMode(r.nearest) && llvm::is_contained(modes, r.mode) &&
      node.getInt("antialias", 0) == 0 &&
      node.getString("keep_aspect_ratio_policy", "stretch") == "stretch")
    return success();
  return node.refuse(formatv("its mode is '{0}' with '{1}', '{2}'", r.mode,
                             r.coordinates, r.nearest),
                     "nearest and linear modes without antialiasing are "
                     "supported");
}

/// Enters a value for each of the axes that the node names; false if they do
/// not fit.
template <typename T>
static bool setAxes(NodeContext &node, std::vector<T> &to,
                    const std::vector<T> &values) {
  const int64_t rank = int64_t(to.size());
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (auto given = node.getInts("axes"))
    axes = *given;
  if (values.size() != axes.size())
    return false;
  for (auto [axis, value] : llvm::zip_equal(axes, values)) {
    int64_t at = axis + (axis < 0 ? rank : 0);
    if (at < 0 || at >= rank || !(value > 0) || double(value) > double(1 << 30))
      return false;
    to[at] = value;
  }
  return true;
}

/// Scales and sizes along all axes, from whichever the node has.
static LogicalResult readSizes(NodeContext &node, bool isUpsample,
                               Resizing &r) {
  const Shape &from = node.input(0)->shape;
  size_t rank = from.size();
  r.scales.assign(rank, 1);
  r.sizes = from;
  bool bySize = !isUpsample && node.input(3) && !node.input(3)->shape.empty() &&
                node.input(3)->shape[0] > 0;
  bool good;
  if (const onnx::AttributeProto *a = node.find("scales")) {
    good = setAxes(node, r.scales,
                   std::vector<double>(a->floats().begin(), a->floats().end()));
  } else if (bySize) {
    auto values = node.constantInts(3, "list of sizes");
    if (!values)
      return failure();
    good = setAxes(node, r.sizes, *values);
    for (size_t i = 0; i < rank; ++i)
      r.scales[i] = double(r.sizes[i]) / double(from[i]);
    r.bySize = true;
  } else {
    auto values = node.constantReals(isUpsample ? 1 : 2, "list of scales");
    if (!values)
      return failure();
    good = setAxes(node, r.scales, *values);
  }
  if (!good)
    return node.refuse(formatv("its scales or sizes do not fit the shape {0}",
                               describe(from)));
  if (!bySize)
    for (size_t i = 0; i < rank; ++i)
      r.sizes[i] = scaledSize(from[i], r.scales[i]);
  if (!elementCount(r.sizes) || *elementCount(r.sizes) == 0)
    return node.refuse(
        formatv("its output would have the shape {0}", describe(r.sizes)));
  return success();
}

/// Nearest neighbors: gathers, one axis after the other.
static LogicalResult resizeNearest(NodeContext &node, const Resizing &r) {
  TensorRef x = node.input(0), out = x;
  for (size_t axis = 0; axis < x->rank(); ++axis) {
    int64_t from = x->shape[axis], to = r.sizes[axis];
    if (to == from && r.scales[axis] == 1)
      continue;
    Resampling how{r.mode, r.coordinates, r.nearest};
    SourceLine line(how, from, to,
                    r.bySize ? Ratio::of(to, from) : Ratio::of(r.scales[axis]));
    if (isTooLong(node, to))
      return failure();
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < to; ++i)
      indices.push_back(*line.nearest(i));
    if (!(out = taken(node, out, int64_t(axis), indices)))
      return failure();
  }
  return node.setResult(0, out);
}

/// Linear interpolation of signals and images by whole factors.
static LogicalResult resizeLinear(NodeContext &node, const Resizing &r) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)) || failed(checkImage(node, x)))
    return failure();
  size_t rank = x->rank();
  int64_t factors[2] = {1, 1};
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t factor = int64_t(r.scales[axis]);
    if (double(factor) != r.scales[axis] ||
        r.sizes[axis] != x->shape[axis] * factor || (axis < 2 && factor != 1) ||
        r.coordinates == "align_corners" || factor > 64)
      return node.refuse(
          formatv("it interpolates from {0} to {1} with '{2}'",
                  describe(x->shape), describe(r.sizes), r.coordinates),
          "whole factors of images, with half_pixel or asymmetric, "
          "are supported");
    if (axis >= 2)
      factors[axis + 2 - rank] = factor;
  }
  TensorRef out = interpolated(node, x, factors, r.coordinates != "asymmetric");
  return out ? node.setResult(0, out) : failure();
}

LogicalResult network::resize(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!isa_and_nonnull<num::IntType>(x->element) && failed(node.requireReal(0)))
    return failure();
  bool isUpsample = node.op() == "Upsample" || node.state.graph.opset < 11;
  Resizing r;
  if (failed(readMode(node, isUpsample, r)) ||
      failed(readSizes(node, isUpsample, r)))
    return failure();
  return r.mode == "nearest" ? resizeNearest(node, r) : resizeLinear(node, r);
}
