// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample of the host, one axis after the other: which elements a
// place of the result reads, and with which weights, is known at import.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

namespace {
/// How a size becomes another along one axis.
struct Resampling {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool excludeOutside = false, antialias = false;
  double roiBegin = 0, roiEnd = 1;
};
/// `count` taps for every place of the result.
struct Taps {
  size_t count = 1;
  std::vector<int64_t> from;
  std::vector<float> weight; ///< NaN marks the extrapolated value
};
} // namespace

static double sourceOf(const Resampling &r, int64_t place, double scale,
                       int64_t in, int64_t out) {
  double x = double(place), n = double(in), m = double(out);
  if (r.coordinates == "asymmetric")
    return x / scale;
  if (r.coordinates == "align_corners")
    return m <= 1 ? 0 : x * (n - 1) / (m - 1);
  if (r.coordinates == "pytorch_half_pixel")
    return m <= 1 ? 0 : (x + 0.5) / scale - 0.5;
  if (r.coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5) / scale;
  if (r.coordinates == "tf_crop_and_resize")
    return m > 1 ? r.roiBegin * (n - 1) +
                       x * (r.roiEnd - r.roiBegin) * (n - 1) / (m - 1)
                 : 0.5 * (r.roiBegin + r.roiEnd) * (n - 1);
  double centre = (x + 0.5) / scale - 0.5;
  if (r.coordinates == "half_pixel_symmetric") {
    double adjustment = m / (scale * n);
    return n / 2 * (1 - adjustment) + centre;
  }
  return centre;
}

static double kernelOf(const Resampling &r, double d) {
  d = std::fabs(d);
  if (r.mode == "linear")
    return std::max(0.0, 1 - d);
  double a = r.cubic;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static Taps tapsOf(const Resampling &r, int64_t in, int64_t out, double scale) {
  Taps taps;
  bool nearest = r.mode == "nearest";
  double reach = r.mode == "cubic" ? 2 : 1;
  double shrink = r.antialias && scale < 1 ? scale : 1;
  reach /= shrink;
  if (!nearest)
    taps.count = size_t(std::ceil(2 * reach)) + 1;
  for (int64_t place = 0; place < out; ++place) {
    double x = sourceOf(r, place, scale, in, out);
    bool outside =
        r.coordinates == "tf_crop_and_resize" && (x < 0 || x > double(in - 1));
    if (nearest) {
      double at = r.nearest == "ceil"                ? std::ceil(x)
                  : r.nearest == "floor"             ? std::floor(x)
                  : r.nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                     : std::ceil(x - 0.5);
      taps.from.push_back(std::clamp<int64_t>(int64_t(at), 0, in - 1));
      taps.weight.push_back(outside ? NAN : 1.f);
      continue;
    }
    int64_t first = int64_t(std::floor(x - reach)) + 1;
    std::vector<double> w;
    double sum = 0;
    for (size_t k = 0; k < taps.count; ++k) {
      int64_t at = first + int64_t(k);
      double v = kernelOf(r, (double(at) - x) * shrink);
      if (r.excludeOutside && (at < 0 || at >= in))
        v = 0;
      w.push_back(v);
      sum += v;
      taps.from.push_back(std::clamp<int64_t>(at, 0, in - 1));
    }
    for (double v : w)
      taps.weight.push_back(outside ? NAN : float(v / sum));
  }
  return taps;
}

LogicalResult onhost::resize(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  const Shape from = node.input(0)->shape;
  size_t rank = from.size();
  bool old = node.op() == "Upsample" || node.state.graph.opset < 11;
  Resampling r;
  r.mode = node.getString("mode", "nearest");
  if (r.mode == "bilinear")
    r.mode = "linear";
  r.coordinates = node.getString("coordinate_transformation_mode",
                                 old ? "asymmetric" : "half_pixel");
  r.nearest =
      node.getString("nearest_mode", old ? "floor" : "round_prefer_floor");
  r.cubic = node.getFloat("cubic_coeff_a", -0.75f);
  r.excludeOutside = node.getInt("exclude_outside", 0);
  r.antialias = node.getInt("antialias", 0);
  double extrapolated = node.getFloat("extrapolation_value", 0);
  int type = typeOf(node.input(0));
  if (r.mode != "nearest" && !Loops::isReal(x)) {
    x = convertTo(node, x, type, TensorProto::FLOAT);
  }
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (auto given = node.getInts("axes"))
    axes = *given;
  auto list = [&](size_t i) -> std::vector<double> {
    TensorRef t = node.input(i);
    if (!t || !t->isPlainConstant())
      return {};
    if (t->constant->isReal())
      return t->constant->reals;
    return {t->constant->ints.begin(), t->constant->ints.end()};
  };
  std::vector<double> scales, sizes, roi;
  if (old) {
    scales = list(1);
    if (const onnx::AttributeProto *a = node.find("scales"))
      scales.assign(a->floats().begin(), a->floats().end());
  } else {
    roi = list(1), scales = list(2), sizes = list(3);
  }
  if ((scales.size() != axes.size()) == (sizes.size() != axes.size()))
    return node.refuse(
        "its scales and sizes are not constant, or do not fit its input",
        "fold constants before export");
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (!sizes.empty() && policy != "stretch") {
    double best = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      double ratio =
          sizes[i] /
          double(from[size_t(axes[i] < 0 ? axes[i] + int64_t(rank) : axes[i])]);
      best = i == 0                   ? ratio
             : policy == "not_larger" ? std::min(best, ratio)
                                      : std::max(best, ratio);
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      scales.push_back(best);
      sizes[i] = std::floor(
          best * double(from[size_t(axes[i] < 0 ? axes[i] + int64_t(rank)
                                                : axes[i])]) +
          0.5);
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + int64_t(rank) : axes[i];
    if (axis < 0 || axis >= int64_t(rank))
      return node.refuse("its axes are out of range");
    int64_t in = from[axis];
    bool crop =
        r.coordinates == "tf_crop_and_resize" && roi.size() == 2 * axes.size();
    r.roiBegin = crop ? roi[i] : 0;
    r.roiEnd = crop ? roi[i + axes.size()] : 1;
    double extent =
        r.coordinates == "tf_crop_and_resize" ? r.roiEnd - r.roiBegin : 1;
    int64_t out =
        sizes.empty()
            ? int64_t(std::floor(double(in) * extent * scales[i] + 1e-6))
            : int64_t(sizes[i]);
    double scale = scales.empty() ? double(out) / double(in) : scales[i];
    Loops::Shape shape(Loops::shapeOf(x));
    shape[axis] = out;
    if (out < 1 || !(scale > 0) || !elementCount(shape))
      return node.refuse(
          formatv("it resizes an axis of size {0} to {1}", in, out));
    if (out == in && scale == 1 && r.coordinates != "tf_crop_and_resize")
      continue;
    Taps taps = tapsOf(r, in, out, scale);
    int64_t count = int64_t(taps.count);
    Loops l = loops(node);
    Value places = wholeConstant(node, {out, count}, taps.from), weights;
    bool outside =
        llvm::any_of(taps.weight, [](float w) { return std::isnan(w); });
    bool weighted = r.mode != "nearest";
    if (weighted || outside) {
      for (float &w : taps.weight)
        if (!weighted)
          w = std::isnan(w) ? 0.f : 1.f;
      if (weighted)
        for (float &w : taps.weight)
          w = std::isnan(w) ? 0.f : w;
      weights = realConstant(node, {out, count}, taps.weight);
    }
    unsigned dims = unsigned(rank);
    Value source = x;
    auto read = [&](Scalars &s, Value tap) {
      SmallVector<Value> at;
      for (unsigned d = 0; d < dims; ++d)
        at.push_back(s.index(d));
      at[axis] = s.at(places, {at[axis], tap});
      return s.at(source, at);
    };
    if (!weighted) {
      x = l.each(
          shape, cast<RankedTensorType>(x.getType()).getElementType(),
          [&](Scalars &s, ValueRange) {
            Value v = read(s, s.whole(0));
            if (!outside)
              return v;
            Value w = s.at(weights, {s.index(unsigned(axis)), s.whole(0)});
            return s.select(s.less(s.real(0), w), v, s.number(extrapolated, v));
          });
    } else {
      x = l.loop(shape, {count}, l.real(), l.number(0, l.real()), {},
                 [&](Scalars &s, ValueRange a) {
                   Value tap = s.index(dims);
                   Value w = s.at(weights, {s.index(unsigned(axis)), tap});
                   return s.add(a[0], s.mul(w, read(s, tap)));
                 });
      if (outside) {
        Value resampled = x;
        x = l.each(shape, l.real(), [&](Scalars &s, ValueRange) {
          SmallVector<Value> at;
          for (unsigned d = 0; d < dims; ++d)
            at.push_back(s.index(d));
          Value total = s.real(0);
          for (int64_t k = 0; k < count; ++k)
            total = s.add(total, s.at(weights, {at[axis], s.whole(k)}));
          return s.select(s.less(s.real(0.5), total), s.at(resampled, at),
                          s.real(extrapolated));
        });
      }
    }
  }
  bool real = HostTensor::isRealType(type);
  if (!real && Loops::isReal(x))
    x = convertTo(node, x, TensorProto::FLOAT, type);
  return give(node, 0, x, type);
}

/// Samples at computed places, in −1..1, of the last two axes.
LogicalResult onhost::gridSample(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  Value x = hostValue(node, 0), grid = x ? hostValue(node, 1) : Value();
  if (!grid)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  std::string mode = node.getString("mode", "linear"),
              padding = node.getString("padding_mode", "zeros");
  bool corners = node.getInt("align_corners", 0) != 0;
  if (mode == "bilinear")
    mode = "linear";
  if (mode == "bicubic")
    mode = "cubic";
  if (from.size() != 4 || by.size() != 4 || by[3] != 2 || by[0] != from[0] ||
      !Loops::isReal(x))
    return node.refuse("its input and grid are no images",
                       "grids over two axes are supported");
  Shape shape = {from[0], from[1], by[1], by[2]};
  bool cubic = mode == "cubic", nearest = mode == "nearest";
  int64_t taps = nearest ? 1 : cubic ? 4 : 2;
  Loops l = loops(node);
  Value out = l.loop(
      shape, {taps, taps}, l.real(), l.number(0, l.real()), {},
      [&](Scalars &s, ValueRange a) {
        Value inside, weight;
        SmallVector<Value> at = {s.index(0), s.index(1), Value(), Value()};
        for (int axis = 0; axis < 2; ++axis) { // y, x
          double n = double(from[size_t(2 + axis)]);
          Value g = s.at(
              grid, {s.index(0), s.index(2), s.index(3), s.whole(1 - axis)});
          Value p = corners ? s.mul(s.add(g, s.real(1)), s.real((n - 1) / 2))
                            : s.sub(s.mul(s.add(g, s.real(1)), s.real(n / 2)),
                                    s.real(0.5));
          auto reflect = [&](Value v) {
            // Mirrored at the borders: a period of twice the width.
            double low = corners ? 0 : -0.5, width = corners ? n - 1 : n;
            if (width == 0)
              return s.real(0);
            Value d = s.apply<math::AbsFOp>(s.sub(v, s.real(low)));
            d = s.rem(d, s.real(2 * width));
            d = s.min(d, s.sub(s.real(2 * width), d));
            return s.add(d, s.real(low));
          };
          if (!cubic && padding == "border")
            p = s.min(s.max(p, s.real(0)), s.real(n - 1));
          if (!cubic && padding == "reflection")
            p = reflect(p);
          Value tap = s.toReal(s.index(unsigned(4 + axis)));
          Value place, w;
          if (nearest) {
            place = s.apply<math::RoundEvenOp>(p);
            w = s.real(1);
          } else {
            Value base = s.apply<math::FloorOp>(p);
            place = s.add(base, cubic ? s.sub(tap, s.real(1)) : tap);
            Value d = s.apply<math::AbsFOp>(s.sub(p, place));
            if (!cubic) {
              w = s.sub(s.real(1), d);
            } else {
              const double c = -0.75;
              Value d2 = s.mul(d, d);
              Value near = s.add(
                  s.mul(s.sub(s.mul(s.real(c + 2), d), s.real(c + 3)), d2),
                  s.real(1));
              Value far = s.sub(
                  s.mul(
                      s.add(s.mul(s.sub(s.mul(s.real(c), d), s.real(5 * c)), d),
                            s.real(8 * c)),
                      d),
                  s.real(4 * c));
              w = s.select(s.less(s.real(1), d), far, near);
            }
          }
          if (cubic && padding == "border")
            place = s.min(s.max(place, s.real(0)), s.real(n - 1));
          if (padding == "reflection")
            place = s.min(s.max(cubic ? reflect(place) : place, s.real(0)),
                          s.real(n - 1));
          Value in =
              s.both(s.notLess(place, s.real(0)), s.less(place, s.real(n)));
          inside = inside ? s.both(inside, in) : in;
          weight = weight ? s.mul(weight, w) : w;
          at[size_t(2 + axis)] = s.toWhole(s.select(in, place, s.real(0)));
        }
        Value v = s.select(inside, s.at(x, at), s.real(0));
        return s.add(a[0], s.mul(weight, v));
      });
  return give(node, 0, out, TensorProto::FLOAT);
}
