// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample: nearest neighbours are gathers along an axis; linear
// interpolation by whole factors is a convolution whose output channels are the
// positions between two inputs.
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

namespace {
/// How a position of the output is one of the input, as ONNX defines it.
struct Coordinates {
  std::string mode;
  int64_t in, out;
  float scale;

  /// In float32, as ONNX Runtime computes it.
  float at(int64_t x) const {
    if (mode == "asymmetric")
      return float(x) / scale;
    if (mode == "align_corners")
      return out == 1 ? 0 : float(x) * float(in - 1) / float(out - 1);
    if (mode == "pytorch_half_pixel" && out <= 1)
      return 0;
    float half = (float(x) + 0.5f) / scale - 0.5f;
    if (mode == "half_pixel_symmetric") {
      float adjustment = float(out) / (scale * float(in));
      return float(in) / 2 * (1 - adjustment) + half;
    }
    return half;
  }
};

std::optional<float> nearestOf(float x, StringRef mode) {
  if (mode == "round_prefer_floor")
    return std::ceil(x - 0.5f);
  if (mode == "round_prefer_ceil")
    return std::floor(x + 0.5f);
  if (mode == "floor")
    return std::floor(x);
  if (mode == "ceil")
    return std::ceil(x);
  return std::nullopt;
}
} // namespace

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
  // Per axis: taps[phase][k] / (2·factor), k over the neighbours at −1, 0, 1.
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

LogicalResult network::resize(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!isa_and_nonnull<num::IntType>(x->element) && failed(node.requireReal(0)))
    return failure();
  bool upsample = node.op() == "Upsample" || node.state.graph.opset < 11;
  std::string mode = node.getString("mode", "nearest"),
              nearest = node.getString("nearest_mode", "round_prefer_floor"),
              coordinates = node.getString("coordinate_transformation_mode",
                                           "half_pixel");
  if (upsample) {
    coordinates = "asymmetric";
    nearest = "floor";
  }
  static const StringRef known[] = {"asymmetric", "align_corners",
                                    "pytorch_half_pixel",
                                    "half_pixel_symmetric", "half_pixel"};
  if (!llvm::is_contained(known, coordinates) || !nearestOf(0, nearest) ||
      (mode != "nearest" && mode != "linear" && mode != "bilinear") ||
      node.getInt("antialias", 0) != 0 ||
      node.getString("keep_aspect_ratio_policy", "stretch") != "stretch")
    return node.refuse(formatv("its mode is '{0}' with '{1}', '{2}'", mode,
                               coordinates, nearest),
                       "nearest and linear modes without antialiasing are "
                       "supported");
  size_t rank = x->rank();
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (auto given = node.getInts("axes"))
    axes = *given;
  std::vector<double> scales(rank, 1);
  std::vector<int64_t> sizes = x->shape;
  auto set = [&](auto &to, const auto &values) {
    if (values.size() != axes.size())
      return false;
    for (size_t i = 0; i < axes.size(); ++i) {
      int64_t axis = axes[i] + (axes[i] < 0 ? int64_t(rank) : 0);
      if (axis < 0 || axis >= int64_t(rank) || !(values[i] > 0) ||
          double(values[i]) > double(1 << 30))
        return false;
      to[axis] = values[i];
    }
    return true;
  };
  size_t scaleInput = upsample ? 1 : 2;
  bool bySize = !upsample && node.input(3) && !node.input(3)->shape.empty() &&
                node.input(3)->shape[0] > 0;
  bool good;
  if (const onnx::AttributeProto *a = node.find("scales")) {
    good = set(scales,
               std::vector<double>(a->floats().begin(), a->floats().end()));
  } else if (bySize) {
    auto values = node.constantInts(3, "list of sizes");
    if (!values)
      return failure();
    good = set(sizes, *values);
    for (size_t i = 0; i < rank; ++i)
      scales[i] = double(float(sizes[i]) / float(x->shape[i]));
  } else {
    auto values = node.constantReals(scaleInput, "list of scales");
    if (!values)
      return failure();
    good = set(scales, *values);
  }
  if (!good)
    return node.refuse(formatv("its scales or sizes do not fit the shape {0}",
                               describe(x->shape)));
  if (!bySize)
    for (size_t i = 0; i < rank; ++i)
      sizes[i] = int64_t(std::floor(double(x->shape[i]) * scales[i]));
  if (!elementCount(sizes) || *elementCount(sizes) == 0)
    return node.refuse(
        formatv("its output would have the shape {0}", describe(sizes)));
  if (mode == "nearest") {
    TensorRef out = x;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (sizes[axis] == x->shape[axis] && scales[axis] == 1)
        continue;
      Coordinates c{coordinates, x->shape[axis], sizes[axis],
                    float(scales[axis])};
      if (isTooLong(node, sizes[axis]))
        return failure();
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < sizes[axis]; ++i)
        indices.push_back(std::clamp<int64_t>(
            int64_t(*nearestOf(c.at(i), nearest)), 0, x->shape[axis] - 1));
      if (!(out = taken(node, out, int64_t(axis), indices)))
        return failure();
    }
    return node.setResult(0, out);
  }
  if (failed(node.requireReal(0)) || failed(checkImage(node, x)))
    return failure();
  int64_t factors[2] = {1, 1};
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t factor = int64_t(scales[axis]);
    if (double(factor) != scales[axis] ||
        sizes[axis] != x->shape[axis] * factor || (axis < 2 && factor != 1) ||
        coordinates == "align_corners" || factor > 64)
      return node.refuse(
          formatv("it interpolates from {0} to {1} with '{2}'",
                  describe(x->shape), describe(sizes), coordinates),
          "whole factors of images, with half_pixel or asymmetric, "
          "are supported");
    if (axis >= 2)
      factors[axis + 2 - rank] = factor;
  }
  TensorRef out = interpolated(node, x, factors, coordinates != "asymmetric");
  return out ? node.setResult(0, out) : failure();
}
