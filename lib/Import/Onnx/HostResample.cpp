// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample on the host, one axis after the other: the elements that
// a position of the result reads, and their weights, are known at import.
#include "Coordinates.h"
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
/// `count` taps for every position of the result.
struct Taps {
  size_t count = 1;
  std::vector<int64_t> from;
  std::vector<float> weight; ///< NaN marks the extrapolated value
};
} // namespace

static double kernelOf(const Resampling &r, double d) {
  d = std::fabs(d);
  if (r.mode == "linear")
    return std::max(0.0, 1 - d);
  double a = r.cubic;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static Taps tapsOf(const Resampling &r, int64_t in, int64_t out,
                   const Ratio &ratio) {
  Taps taps;
  const SourceLine line(r, in, out, ratio);
  const bool nearest = r.mode == "nearest";
  const double scale = ratio.toDouble();
  double reach = r.mode == "cubic" ? 2 : 1;
  double shrink = r.antialias && scale < 1 ? scale : 1;
  reach /= shrink;
  if (!nearest)
    taps.count = size_t(std::ceil(2 * reach)) + 1;
  for (int64_t place = 0; place < out; ++place) {
    const bool outside = line.isOutside(place);
    if (nearest) {
      taps.from.push_back(*line.nearest(place));
      taps.weight.push_back(outside ? NAN : 1.f);
      continue;
    }
    const double x = line.at(place);
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

static Resampling readResampling(const NodeContext &node, bool isOld) {
  Resampling r;
  r.mode = node.getString("mode", "nearest");
  if (r.mode == "bilinear")
    r.mode = "linear";
  r.coordinates = node.getString("coordinate_transformation_mode",
                                 isOld ? "asymmetric" : "half_pixel");
  r.nearest =
      node.getString("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  r.cubic = node.getFloat("cubic_coeff_a", -0.75f);
  r.excludeOutside = node.getInt("exclude_outside", 0);
  r.antialias = node.getInt("antialias", 0);
  return r;
}

namespace {
/// Which axes are resized, and how: scales or sizes, one of them empty. The
/// ratio of all axes, if it is kept.
struct Extents {
  std::vector<int64_t> axes;
  std::vector<double> scales, sizes, roi;
  std::optional<Ratio> aspect;
};
} // namespace

/// One scale for all axes, with which no size is larger (or none smaller) than
/// requested.
static void keepAspect(Extents &e, const Shape &from, bool isNotLarger) {
  Ratio best;
  for (auto [i, axis] : llvm::enumerate(e.axes)) {
    Ratio ratio = Ratio::of(int64_t(e.sizes[i]), from[axis]);
    if (i == 0 || (isNotLarger ? ratio < best : best < ratio))
      best = ratio;
  }
  using llvm::DynamicAPInt;
  for (auto [i, axis] : llvm::enumerate(e.axes))
    e.sizes[i] = double(int64_t(floorDiv(
        best.num * DynamicAPInt(from[axis]) * 2 + best.den, best.den * 2)));
  e.aspect = best;
}

/// The numbers in a constant input; none if it is absent or computed.
static std::vector<double> numbersOf(const TensorRef &t) {
  if (!t || !t->isPlainConstant())
    return {};
  if (t->constant->isReal())
    return t->constant->reals;
  return {t->constant->ints.begin(), t->constant->ints.end()};
}

static std::optional<Extents> readExtents(NodeContext &node, bool isOld) {
  const Shape &from = node.input(0)->shape;
  const int64_t rank = int64_t(from.size());
  Extents e;
  e.axes.resize(rank);
  std::iota(e.axes.begin(), e.axes.end(), 0);
  if (auto given = node.getInts("axes"))
    e.axes = *given;
  if (isOld) {
    e.scales = numbersOf(node.input(1));
    if (const onnx::AttributeProto *a = node.find("scales"))
      e.scales.assign(a->floats().begin(), a->floats().end());
  } else {
    e.roi = numbersOf(node.input(1));
    e.scales = numbersOf(node.input(2));
    e.sizes = numbersOf(node.input(3));
  }
  const size_t count = e.axes.size();
  bool byScale = e.scales.size() == count && e.sizes.empty(),
       bySize = e.sizes.size() == count && e.scales.empty();
  if (byScale == bySize) {
    node.refuse("its scales and sizes are not constant, or do not fit its "
                "input",
                "fold constants before export");
    return std::nullopt;
  }
  for (int64_t &axis : e.axes) {
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank) {
      node.refuse("its axes are out of range");
      return std::nullopt;
    }
  }
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (bySize && policy != "stretch")
    keepAspect(e, from, policy == "not_larger");
  return e;
}

/// `x` resampled along one axis.
static Value resampled(NodeContext &node, Value x, unsigned axis, Taps taps,
                       bool isNearest) {
  Loops l = loops(node);
  const int64_t count = int64_t(taps.count);
  const double extrapolated = node.getFloat("extrapolation_value", 0);
  Loops::Shape shape(Loops::shapeOf(x));
  const unsigned rank = unsigned(shape.size());
  shape[axis] = int64_t(taps.from.size()) / count;
  Value places = wholeConstant(node, {shape[axis], count}, taps.from), weights;
  bool reachesOut =
      llvm::any_of(taps.weight, [](float w) { return std::isnan(w); });
  for (float &w : taps.weight)
    w = std::isnan(w) ? 0.f : isNearest ? 1.f : w;
  if (!isNearest || reachesOut)
    weights = realConstant(node, {shape[axis], count}, taps.weight);
  auto read = [&](Scalars &s, Value tap) {
    SmallVector<Value> at;
    for (unsigned d = 0; d < rank; ++d)
      at.push_back(s.index(d));
    at[axis] = s.at(places, {at[axis], tap});
    return s.at(x, at);
  };
  auto weight = [&](Scalars &s, Value tap) {
    return s.at(weights, {s.index(axis), tap});
  };
  if (isNearest)
    return l.each(shape, elementOf(x), [&](Scalars &s, ValueRange) {
      Value first = s.whole(0), v = read(s, first);
      if (!reachesOut)
        return v;
      return s.select(s.less(s.real(0), weight(s, first)), v,
                      s.number(extrapolated, v));
    });
  Value sum = l.loop(shape, {count}, l.real(), l.number(0, l.real()), {},
                     [&](Scalars &s, ValueRange a) {
                       Value tap = s.index(rank);
                       return s.add(a[0], s.mul(weight(s, tap), read(s, tap)));
                     });
  if (!reachesOut)
    return sum;
  return l.map({sum}, l.real(), [&](Scalars &s, ValueRange a) {
    Value total = s.real(0);
    for (int64_t k = 0; k < count; ++k)
      total = s.add(total, weight(s, s.whole(k)));
    return s.select(s.less(s.real(0.5), total), a[0], s.real(extrapolated));
  });
}

LogicalResult onhost::resize(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  bool isOld = node.op() == "Upsample" || node.state.graph.opset < 11;
  Resampling r = readResampling(node, isOld);
  auto extents = readExtents(node, isOld);
  if (!extents)
    return failure();
  int type = typeOf(node.input(0));
  if (r.mode != "nearest" && !Loops::isReal(x))
    x = convertTo(node, x, type, TensorProto::FLOAT);
  const auto &[axes, scales, sizes, roi, aspect] = *extents;
  if (r.mode == "nearest" && !SourceLine::isMode(r.nearest))
    return node.refuse(formatv("its nearest_mode is '{0}'", r.nearest),
                       "round_prefer_floor, round_prefer_ceil, floor and ceil "
                       "are defined");
  const bool isCrop = r.coordinates == "tf_crop_and_resize";
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t in = node.input(0)->shape[axis];
    bool hasRoi = isCrop && roi.size() == 2 * axes.size();
    r.roiBegin = hasRoi ? roi[i] : 0;
    r.roiEnd = hasRoi ? roi[i + axes.size()] : 1;
    double extent = isCrop ? r.roiEnd - r.roiBegin : 1;
    const double least = 0x1p-30, most = 0x1p30;
    bool isGood = sizes.empty() ? scales[i] >= least && scales[i] <= most
                                : sizes[i] >= 1 && sizes[i] <= most;
    int64_t out = !isGood         ? 0
                  : sizes.empty() ? scaledSize(in, extent * scales[i])
                                  : int64_t(sizes[i]);
    Loops::Shape shape(Loops::shapeOf(x));
    shape[axis] = out;
    if (out < 1 || !elementCount(shape))
      return node.refuse(
          formatv("it resizes an axis of size {0} to {1}", in, out));
    const Ratio scale = aspect           ? *aspect
                        : scales.empty() ? Ratio::of(out, in)
                                         : Ratio::of(scales[i]);
    if (out != in || scale.num != scale.den || isCrop)
      x = resampled(node, x, unsigned(axis), tapsOf(r, in, out, scale),
                    r.mode == "nearest");
  }
  if (!HostTensor::isRealType(type) && Loops::isReal(x))
    x = convertTo(node, x, TensorProto::FLOAT, type);
  return give(node, 0, x, type);
}

/// Samples at computed positions, in −1..1, of the last two axes.
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
