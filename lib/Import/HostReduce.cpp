// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the host that fold axes: reductions, arg max, running sums,
// the largest k, and the normalisations made of them.
#include "Importer.h"
#include "rhizome/Host/Loops.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

/// Flags of the axes that the current node names; all if it names none.
std::optional<SmallVector<bool>>
Importer::reducedAxes(size_t rank, size_t axesInput, bool &none) {
  std::optional<std::vector<int64_t>> axes = node->getInts("axes");
  if (input(axesInput)) {
    axes = constantInts(axesInput, "list of axes");
    if (!axes)
      return std::nullopt;
  }
  none = (!axes || axes->empty()) && node->getInt("noop_with_empty_axes", 0);
  SmallVector<bool> flags(rank, !axes || axes->empty());
  for (int64_t axis : axes.value_or(std::vector<int64_t>())) {
    if (axis < -int64_t(rank) || axis >= int64_t(rank)) {
      refuse(formatv("its axis {0} is out of range for rank {1}", axis, rank));
      return std::nullopt;
    }
    flags[axis < 0 ? axis + int64_t(rank) : axis] = true;
  }
  return flags;
}

/// `v` without the flagged axes, which have size 1.
static Value dropAxes(Loops &loops, Value v, ArrayRef<bool> flags) {
  Loops::Shape shape;
  for (auto [size, gone] : llvm::zip_equal(Loops::shapeOf(v), flags))
    if (!gone)
      shape.push_back(size);
  return loops.reshape(v, shape);
}

LogicalResult Importer::hostReduce() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  StringRef op = node->op();
  int type = typeOf(input(0));
  bool none;
  auto axes = reducedAxes(input(0)->rank(), 1, none);
  if (!axes)
    return failure();
  if (none)
    return give(0, x, type);
  Loops l = loops();
  bool real = Loops::isReal(x);
  auto each = [&](Value v, Loops::Body body) {
    return eachOf({v}, type, body);
  };
  auto square = [](S &s, R a) { return s.mul(a[0], a[0]); };
  auto log = [](S &s, R a) { return s.apply<math::LogOp>(a[0]); };
  if (!real && op.contains("Log"))
    return refuse("its input holds integers");
  Value out;
  if (op == "ReduceSum")
    out = l.sum(x, *axes);
  else if (op == "ReduceMax")
    out = l.max(x, *axes, isUnsigned(type));
  else if (op == "ReduceMin")
    out = l.min(x, *axes, isUnsigned(type));
  else if (op == "ReduceProd")
    out = l.reduce(x, *axes, l.number(1, real ? l.real() : l.whole()),
                   [](S &s, R a) { return s.mul(a[1], a[0]); });
  else if (op == "ReduceSumSquare" || op == "ReduceL2")
    out = l.sum(each(x, square), *axes);
  else if (op == "ReduceL1")
    out = l.sum(each(x,
                     [](S &s, R a) {
                       return s.max(a[0], s.sub(s.number(0, a[0]), a[0]));
                     }),
                *axes);
  else if (op == "ReduceLogSum")
    out = each(l.sum(x, *axes), log);
  else if (op == "ReduceLogSumExp") {
    Value top = l.max(x, *axes);
    Value powers = eachOf({x, top}, type,
                          [](S &s, R a) { return s.exp(s.sub(a[0], a[1])); });
    out = eachOf({l.sum(powers, *axes), top}, type, [](S &s, R a) {
      return s.add(s.apply<math::LogOp>(a[0]), a[1]);
    });
  } else { // ReduceMean
    int64_t n = 1;
    for (auto [size, flagged] : llvm::zip_equal(input(0)->shape, *axes))
      n *= flagged ? size : 1;
    out = each(l.sum(x, *axes), [&](S &s, R a) {
      return s.div(a[0], s.number(double(n), a[0]));
    });
  }
  if (op == "ReduceL2")
    out = each(out, [&](S &s, R a) {
      Value v = real ? a[0] : s.toReal(a[0]);
      v = s.apply<math::SqrtOp>(v);
      return real ? v : s.toWhole(v);
    });
  if (node->getInt("keepdims", 1) == 0)
    out = dropAxes(l, out, *axes);
  return give(0, out, type);
}

LogicalResult Importer::hostArg() {
  Value x = hostValue(0);
  auto axis = x ? axisAttribute(0, input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  SmallVector<bool> axes(input(0)->rank(), false);
  axes[*axis] = true;
  Loops l = loops();
  Value out = l.argMax(x, axes, node->getInt("select_last_index", 0) != 0,
                       node->op() == "ArgMin");
  if (node->getInt("keepdims", 1) == 0)
    out = dropAxes(l, out, axes);
  return give(0, out, TensorProto::INT64);
}

/// Running sums or products: of all elements up to (or behind) each.
LogicalResult Importer::hostCumulate() {
  Value x = hostValue(0);
  auto given = x ? constantInts(1, "axis") : std::nullopt;
  if (!given)
    return failure();
  int64_t rank = int64_t(input(0)->rank());
  if (given->size() != 1 || given->front() < -rank || given->front() >= rank)
    return refuse("its axis is out of range");
  unsigned axis = unsigned((given->front() + rank) % rank);
  bool exclusive = node->getInt("exclusive", 0),
       reverse = node->getInt("reverse", 0);
  bool product = node->op() == "CumProd";
  Loops l = loops();
  Loops::Shape shape(input(0)->shape.begin(), input(0)->shape.end());
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i)
    exprs.push_back(l.dim(i == axis ? unsigned(rank) : i));
  auto map = AffineMap::get(rank + 1, 0, exprs, context);
  Type element = Loops::isReal(x) ? l.real() : l.whole();
  Value out = l.loop(
      shape, {shape[axis]}, element, l.number(product, element), {{x, map}},
      [&](S &s, R a) {
        Value to = s.index(axis), from = s.index(unsigned(rank));
        if (reverse)
          std::swap(to, from);
        Value counts = exclusive ? s.less(from, to) : s.notLess(to, from);
        return s.select(counts, product ? s.mul(a[1], a[0]) : s.add(a[1], a[0]),
                        a[1]);
      });
  return give(0, out, typeOf(input(0)));
}

/// Where each element stands in the order of its row: the number of elements
/// before it, equal ones in the order of their places. Then each of the k
/// places picks its element.
LogicalResult Importer::hostTopK() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  int64_t k = node->getInt("k", 0);
  if (input(1)) {
    auto given = constantInts(1, "K");
    if (!given)
      return failure();
    k = given->size() == 1 ? given->front() : 0;
  }
  auto axis = axisAttribute(-1, input(0)->rank());
  if (!axis)
    return failure();
  if (k < 1 || k > input(0)->shape[*axis])
    return refuse(formatv("its K is {0} for an axis of size {1}", k,
                          input(0)->shape[*axis]));
  bool largest = node->getInt("largest", 1) != 0;
  bool u = isUnsigned(typeOf(input(0)));
  unsigned rank = unsigned(input(0)->rank()), along = unsigned(*axis);
  Loops l = loops();
  Loops::Shape shape(input(0)->shape.begin(), input(0)->shape.end());
  int64_t n = shape[along];
  auto reading = [&](bool other) {
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < rank; ++i)
      exprs.push_back(l.dim(other && i == along ? rank : i));
    return AffineMap::get(rank + 1, 0, exprs, context);
  };
  Value place = l.loop(
      shape, {n}, l.whole(), l.number(0, l.whole()),
      {{x, reading(false)}, {x, reading(true)}}, [&](S &s, R a) {
        Value before = largest ? s.less(a[0], a[1], u) : s.less(a[1], a[0], u);
        Value earlier =
            s.both(s.equal(a[0], a[1]), s.less(s.index(rank), s.index(along)));
        return s.add(a[2], s.flag(s.either(before, earlier)));
      });
  Loops::Shape picked = shape;
  picked[along] = k;
  auto pick = [&](Value v, bool index) {
    Type element = Loops::isReal(v) ? l.real() : l.whole();
    return l.loop(picked, {n}, index ? l.whole() : element,
                  l.number(0, index ? l.whole() : element),
                  {{place, reading(true)}, {v, reading(true)}}, [&](S &s, R a) {
                    Value here = s.equal(a[0], s.index(along));
                    return s.select(here, index ? s.index(rank) : a[1], a[2]);
                  });
  };
  if (failed(give(0, pick(x, false), typeOf(input(0)))))
    return failure();
  return give(1, pick(x, true), TensorProto::INT64);
}

/// Softmax along axes that are one before opset 13, and Hardmax.
LogicalResult Importer::hostSoftmax() {
  if (failed(requireReals()))
    return failure();
  Value x = hostValue(0);
  bool coerced = graph.opset < 13;
  auto axis =
      x ? axisAttribute(coerced ? 1 : -1, input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  Loops l = loops();
  Loops::Shape shape(input(0)->shape.begin(), input(0)->shape.end());
  if (coerced) {
    Loops::Shape two = {1, 1};
    for (size_t i = 0; i < shape.size(); ++i)
      two[int64_t(i) >= *axis] *= shape[i];
    x = l.reshape(x, two);
    *axis = 1;
  }
  Value out;
  if (node->op() == "Hardmax") {
    SmallVector<bool> axes(Loops::shapeOf(x).size(), false);
    axes[*axis] = true;
    Value first = l.argMax(x, axes, false);
    out = eachOf({x, first}, TensorProto::FLOAT, [&](S &s, R a) {
      return s.toReal(s.flag(s.equal(a[1], s.index(unsigned(*axis)))));
    });
  } else {
    out = l.softmax(x, *axis, node->op() == "LogSoftmax");
  }
  return give(0, l.reshape(out, shape), TensorProto::FLOAT);
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

/// (x − mean) / √(variance + epsilon) over the flagged axes.
Value Importer::standardise(Value x, ArrayRef<bool> axes, double epsilon,
                            Value *meanOut, Value *inverseOut) {
  Loops l = loops();
  Value mean = l.mean(x, axes);
  Value centred = eachOf({x, mean}, TensorProto::FLOAT,
                         [](S &s, R a) { return s.sub(a[0], a[1]); });
  Value squares = eachOf({centred}, TensorProto::FLOAT,
                         [](S &s, R a) { return s.mul(a[0], a[0]); });
  Value inverse =
      eachOf({l.mean(squares, axes)}, TensorProto::FLOAT, [&](S &s, R a) {
        Value sum = s.add(a[0], s.real(epsilon));
        return s.div(s.real(1), s.apply<math::SqrtOp>(sum));
      });
  if (meanOut)
    *meanOut = mean;
  if (inverseOut)
    *inverseOut = inverse;
  return eachOf({centred, inverse}, TensorProto::FLOAT,
                [](S &s, R a) { return s.mul(a[0], a[1]); });
}

Value Importer::times(Value x, Value y) {
  return eachOf({x, y}, TensorProto::FLOAT,
                [](S &s, R a) { return s.mul(a[0], a[1]); });
}
Value Importer::plus(Value x, Value y) {
  return eachOf({x, y}, TensorProto::FLOAT,
                [](S &s, R a) { return s.add(a[0], a[1]); });
}

/// A parameter per channel (axis 1) beside a tensor of `rank`.
static Value perChannel(Loops &l, Value v, size_t rank) {
  Loops::Shape shape(rank, 1);
  shape[1] = ShapedType::getNumElements(Loops::shapeOf(v));
  return l.reshape(v, shape);
}

LogicalResult Importer::hostNormalise() {
  if (failed(requireReals()))
    return failure();
  Value x = hostValue(0);
  if (!x)
    return failure();
  StringRef op = node->op();
  size_t rank = input(0)->rank();
  Loops l = loops();
  SmallVector<bool> axes(rank, false);
  auto optional = [&](size_t i) { return input(i) ? hostValue(i) : Value(); };
  auto fits = [&](Value v) {
    return !v || Loops::broadcast(Loops::shapeOf(x), Loops::shapeOf(v)) ==
                     Loops::Shape(Loops::shapeOf(x));
  };
  if (op == "LayerNormalization" || op == "RMSNormalization" ||
      op == "SimplifiedLayerNormalization" || op == "SkipLayerNormalization" ||
      op == "SkipSimplifiedLayerNormalization") {
    double epsilon =
        node->getFloat("epsilon", op.starts_with("Skip") ? 1e-12f : 1e-5f);
    auto axis = axisAttribute(-1, rank);
    if (!axis)
      return failure();
    bool skip = op.starts_with("Skip");
    bool rms = op.contains("RMS") || op.contains("Simplified");
    if (skip) {
      Value other = hostValue(1), bias = optional(rms ? 3 : 4);
      if (!other || !fits(other) || !fits(bias))
        return refuse("its inputs' shapes do not fit");
      x = plus(x, other);
      if (bias)
        x = plus(x, bias);
    }
    for (size_t i = *axis; i < rank; ++i)
      axes[i] = true;
    Value mean, inverse, y;
    if (rms) {
      Value squares = times(x, x);
      inverse =
          eachOf({l.mean(squares, axes)}, TensorProto::FLOAT, [&](S &s, R a) {
            return s.div(s.real(1),
                         s.apply<math::SqrtOp>(s.add(a[0], s.real(epsilon))));
          });
      y = times(x, inverse);
    } else {
      y = standardise(x, axes, epsilon, &mean, &inverse);
    }
    Value scale = optional(skip ? 2 : 1);
    Value bias = rms ? Value() : optional(skip ? 3 : 2);
    if (!fits(scale) || !fits(bias))
      return refuse("its scale or bias does not fit its input");
    if (scale)
      y = times(y, scale);
    if (bias)
      y = plus(y, bias);
    if (failed(give(0, y, TensorProto::FLOAT)))
      return failure();
    if (mean && outputUsed(1) && failed(give(1, mean, TensorProto::FLOAT)))
      return failure();
    if (outputUsed(2) && failed(give(2, inverse, TensorProto::FLOAT)))
      return failure();
    return skip && outputUsed(3) ? give(3, x, TensorProto::FLOAT) : success();
  }
  if (rank < 2)
    return refuse(formatv("its input has rank {0}", rank));
  if (op == "MeanVarianceNormalization") {
    for (int64_t axis :
         node->getInts("axes").value_or(std::vector<int64_t>{0, 2, 3}))
      if (axis >= -int64_t(rank) && axis < int64_t(rank))
        axes[axis < 0 ? axis + int64_t(rank) : axis] = true;
    return give(0, standardise(x, axes, 1e-9), TensorProto::FLOAT);
  }
  if (op == "LpNormalization") {
    auto axis = axisAttribute(-1, rank);
    if (!axis)
      return failure();
    axes[*axis] = true;
    bool one = node->getInt("p", 2) == 1;
    Value parts = eachOf({x}, TensorProto::FLOAT, [&](S &s, R a) {
      return one ? s.apply<math::AbsFOp>(a[0]) : s.mul(a[0], a[0]);
    });
    Value norm = l.sum(parts, axes);
    return give(0,
                eachOf({x, norm}, TensorProto::FLOAT,
                       [&](S &s, R a) {
                         Value n = one ? a[1] : s.apply<math::SqrtOp>(a[1]);
                         Value zero = s.equal(n, s.real(0));
                         return s.select(zero, s.real(0), s.div(a[0], n));
                       }),
                TensorProto::FLOAT);
  }
  if (op == "LRN") {
    int64_t size = node->getInt("size", 1);
    double alpha = node->getFloat("alpha", 1e-4f),
           beta = node->getFloat("beta", 0.75f),
           bias = node->getFloat("bias", 1);
    if (size < 1)
      return refuse(formatv("its size is {0}", size));
    int64_t channels = input(0)->shape[1], before = (size - 1) / 2;
    Loops::Shape shape(input(0)->shape.begin(), input(0)->shape.end());
    Value sum = l.loop(
        shape, {size}, l.real(), l.number(0, l.real()), {}, [&](S &s, R a) {
          Value c = s.add(s.index(1), s.index(unsigned(rank)));
          c = s.sub(c, s.whole(before));
          Value in =
              s.both(s.notLess(c, s.whole(0)), s.less(c, s.whole(channels)));
          SmallVector<Value> at;
          for (unsigned i = 0; i < rank; ++i)
            at.push_back(i == 1 ? s.select(in, c, s.whole(0)) : s.index(i));
          Value v = s.at(x, at);
          return s.add(a[0], s.select(in, s.mul(v, v), s.real(0)));
        });
    return give(
        0,
        eachOf({x, sum}, TensorProto::FLOAT,
               [&](S &s, R a) {
                 Value d = s.add(s.real(bias),
                                 s.mul(s.real(alpha / double(size)), a[1]));
                 return s.div(a[0], s.apply<math::PowFOp>(d, s.real(beta)));
               }),
        TensorProto::FLOAT);
  }
  if (op == "BatchNormalization") {
    if (node->getInt("training_mode", 0))
      return refuse("it is in training mode",
                    "export the model in inference mode");
    double epsilon = node->getFloat("epsilon", 1e-5f);
    SmallVector<Value> p;
    for (size_t i = 1; i < 5; ++i) {
      Value v = hostValue(i);
      if (!v ||
          ShapedType::getNumElements(Loops::shapeOf(v)) != input(0)->shape[1])
        return v ? refuse("its parameters do not fit its channels")
                 : refuse("a parameter is missing");
      p.push_back(perChannel(l, v, rank));
    }
    return give(0,
                eachOf({x, p[0], p[1], p[2], p[3]}, TensorProto::FLOAT,
                       [&](S &s, R a) {
                         Value root = s.apply<math::SqrtOp>(
                             s.add(a[4], s.real(epsilon)));
                         return s.add(
                             s.mul(a[1], s.div(s.sub(a[0], a[3]), root)), a[2]);
                       }),
                TensorProto::FLOAT);
  }
  // Instance and group normalisation: groups of channels, each by itself.
  double epsilon = node->getFloat("epsilon", 1e-5f);
  int64_t channels = input(0)->shape[1];
  int64_t groups =
      op == "GroupNormalization" ? node->getInt("num_groups", 1) : channels;
  Value scale = hostValue(1), bias = scale ? hostValue(2) : Value();
  if (!bias)
    return failure();
  int64_t given = ShapedType::getNumElements(Loops::shapeOf(scale));
  if (groups < 1 || channels % groups ||
      (given != channels && given != groups) ||
      ShapedType::getNumElements(Loops::shapeOf(bias)) != given)
    return refuse("its groups, scale and bias do not fit its channels");
  int64_t rest = ShapedType::getNumElements(Loops::shapeOf(x)) /
                 input(0)->shape[0] / groups;
  Value y = l.reshape(x, {input(0)->shape[0], groups, rest});
  y = standardise(y, {false, false, true}, epsilon);
  if (given == groups) { // up to opset 20
    y = plus(times(y, perChannel(l, scale, 3)), perChannel(l, bias, 3));
    return give(0, l.reshape(y, input(0)->shape), TensorProto::FLOAT);
  }
  y = l.reshape(y, input(0)->shape);
  return give(
      0, plus(times(y, perChannel(l, scale, rank)), perChannel(l, bias, rank)),
      TensorProto::FLOAT);
}
