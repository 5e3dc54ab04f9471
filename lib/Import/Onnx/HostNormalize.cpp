// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalizations on the host.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

/// (x − mean) / √(variance + epsilon) over the flagged axes.
static Value standardize(NodeContext &node, Value x, ArrayRef<bool> axes,
                         double epsilon, Value *meanOut = nullptr,
                         Value *inverseOut = nullptr) {
  Loops l = loops(node);
  Value mean = l.mean(x, axes);
  Value centered = eachOf(node, {x, mean}, TensorProto::FLOAT,
                          [](S &s, R a) { return s.sub(a[0], a[1]); });
  Value squares = eachOf(node, {centered}, TensorProto::FLOAT,
                         [](S &s, R a) { return s.mul(a[0], a[0]); });
  Value inverse =
      eachOf(node, {l.mean(squares, axes)}, TensorProto::FLOAT, [&](S &s, R a) {
        Value sum = s.add(a[0], s.real(epsilon));
        return s.div(s.real(1), s.apply<math::SqrtOp>(sum));
      });
  if (meanOut)
    *meanOut = mean;
  if (inverseOut)
    *inverseOut = inverse;
  return eachOf(node, {centered, inverse}, TensorProto::FLOAT,
                [](S &s, R a) { return s.mul(a[0], a[1]); });
}

/// A parameter per channel (axis 1), broadcast to a tensor of `rank`.
static Value perChannel(Loops &l, Value v, size_t rank) {
  Loops::Shape shape(rank, 1);
  shape[1] = ShapedType::getNumElements(Loops::shapeOf(v));
  return l.reshape(v, shape);
}

/// 1 / √(mean of squares + epsilon) over the flagged axes.
static Value inverseRootMeanSquare(NodeContext &node, Value x,
                                   ArrayRef<bool> axes, double epsilon) {
  Loops l = loops(node);
  Value squares = times(node, x, x);
  return eachOf(node, {l.mean(squares, axes)}, TensorProto::FLOAT,
                [&](S &s, R a) {
                  Value sum = s.add(a[0], s.real(epsilon));
                  return s.div(s.real(1), s.apply<math::SqrtOp>(sum));
                });
}

/// Input 0 as reals with a channel axis; null (refused) if it has none.
static Value channelsInput(NodeContext &node) {
  if (failed(requireReals(node)))
    return {};
  Value x = hostValue(node, 0);
  if (x && node.input(0)->rank() < 2) {
    node.refuse(formatv("its input has rank {0}", node.input(0)->rank()));
    return {};
  }
  return x;
}

/// Over the last axes: LayerNormalization, RMSNormalization (without
/// subtracting the mean), and the contrib forms that first add another tensor
/// ("Skip").
LogicalResult onhost::layerNormalization(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  StringRef op = node.op();
  size_t rank = node.input(0)->rank();
  auto optional = [&](size_t i) {
    return node.input(i) ? hostValue(node, i) : Value();
  };
  auto fits = [&](Value v) {
    return !v || Loops::broadcast(Loops::shapeOf(x), Loops::shapeOf(v)) ==
                     Loops::Shape(Loops::shapeOf(x));
  };
  bool skip = op.starts_with("Skip");
  bool rms = op.contains("RMS") || op.contains("Simplified");
  double epsilon = node.getFloat("epsilon", skip ? 1e-12f : 1e-5f);
  auto axis = node.axisAttribute(-1, rank);
  if (!axis)
    return failure();
  if (skip) {
    Value other = hostValue(node, 1), bias = optional(rms ? 3 : 4);
    if (!other || !fits(other) || !fits(bias))
      return node.refuse("its inputs' shapes do not fit");
    x = plus(node, x, other);
    if (bias)
      x = plus(node, x, bias);
  }
  SmallVector<bool> axes(rank, false);
  for (size_t i = *axis; i < rank; ++i)
    axes[i] = true;
  Value mean, inverse, y;
  if (rms) {
    inverse = inverseRootMeanSquare(node, x, axes, epsilon);
    y = times(node, x, inverse);
  } else {
    y = standardize(node, x, axes, epsilon, &mean, &inverse);
  }
  Value scale = optional(skip ? 2 : 1);
  Value bias = rms ? Value() : optional(skip ? 3 : 2);
  if (!fits(scale) || !fits(bias))
    return node.refuse("its scale or bias does not fit its input");
  if (scale)
    y = times(node, y, scale);
  if (bias)
    y = plus(node, y, bias);
  const Value results[] = {y, mean, inverse, skip ? x : Value()};
  for (auto [i, v] : llvm::enumerate(results))
    if (v && (i == 0 || node.outputUsed(i)) &&
        failed(give(node, i, v, TensorProto::FLOAT)))
      return failure();
  return success();
}

LogicalResult onhost::meanVarianceNormalization(NodeContext &node) {
  Value x = channelsInput(node);
  if (!x)
    return failure();
  const int64_t rank = int64_t(node.input(0)->rank());
  SmallVector<bool> axes(rank, false);
  for (int64_t axis :
       node.getInts("axes").value_or(std::vector<int64_t>{0, 2, 3}))
    if (axis >= -rank && axis < rank)
      axes[axis < 0 ? axis + rank : axis] = true;
  return give(node, 0, standardize(node, x, axes, 1e-9), TensorProto::FLOAT);
}

LogicalResult onhost::lpNormalization(NodeContext &node) {
  Value x = channelsInput(node);
  auto axis = x ? node.axisAttribute(-1, node.input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  SmallVector<bool> axes(node.input(0)->rank(), false);
  axes[*axis] = true;
  bool one = node.getInt("p", 2) == 1;
  Value parts = eachOf(node, {x}, TensorProto::FLOAT, [&](S &s, R a) {
    return one ? s.apply<math::AbsFOp>(a[0]) : s.mul(a[0], a[0]);
  });
  Value norm = loops(node).sum(parts, axes);
  Value y = eachOf(node, {x, norm}, TensorProto::FLOAT, [&](S &s, R a) {
    Value n = one ? a[1] : s.apply<math::SqrtOp>(a[1]);
    Value zero = s.equal(n, s.real(0));
    return s.select(zero, s.real(0), s.div(a[0], n));
  });
  return give(node, 0, y, TensorProto::FLOAT);
}

/// LRN: normalizes by the squares of the neighboring channels.
LogicalResult onhost::localResponse(NodeContext &node) {
  Value x = channelsInput(node);
  if (!x)
    return failure();
  unsigned rank = unsigned(node.input(0)->rank());
  int64_t size = node.getInt("size", 1);
  double alpha = node.getFloat("alpha", 1e-4f),
         beta = node.getFloat("beta", 0.75f), bias = node.getFloat("bias", 1);
  if (size < 1)
    return node.refuse(formatv("its size is {0}", size));
  int64_t channels = node.input(0)->shape[1], before = (size - 1) / 2;
  Loops l = loops(node);
  Loops::Shape shape(Loops::shapeOf(x));
  Value sum = l.loop(
      shape, {size}, l.real(), l.number(0, l.real()), {}, [&](S &s, R a) {
        Value c = s.add(s.index(1), s.index(rank));
        c = s.sub(c, s.whole(before));
        Value in =
            s.both(s.notLess(c, s.whole(0)), s.less(c, s.whole(channels)));
        SmallVector<Value> at;
        for (unsigned i = 0; i < rank; ++i)
          at.push_back(i == 1 ? s.select(in, c, s.whole(0)) : s.index(i));
        Value v = s.at(x, at);
        return s.add(a[0], s.select(in, s.mul(v, v), s.real(0)));
      });
  Value y = eachOf(node, {x, sum}, TensorProto::FLOAT, [&](S &s, R a) {
    Value d = s.add(s.real(bias), s.mul(s.real(alpha / double(size)), a[1]));
    return s.div(a[0], s.apply<math::PowFOp>(d, s.real(beta)));
  });
  return give(node, 0, y, TensorProto::FLOAT);
}

LogicalResult onhost::batchNormalization(NodeContext &node) {
  Value x = channelsInput(node);
  if (!x)
    return failure();
  if (node.getInt("training_mode", 0))
    return node.refuse("it is in training mode",
                       "export the model in inference mode");
  double epsilon = node.getFloat("epsilon", 1e-5f);
  Loops l = loops(node);
  SmallVector<Value> in = {x}; // scale, bias, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    Value v = hostValue(node, i);
    if (!v)
      return node.refuse("a parameter is missing");
    if (ShapedType::getNumElements(Loops::shapeOf(v)) !=
        node.input(0)->shape[1])
      return node.refuse("its parameters do not fit its channels");
    in.push_back(perChannel(l, v, node.input(0)->rank()));
  }
  Value y = eachOf(node, in, TensorProto::FLOAT, [&](S &s, R a) {
    Value root = s.apply<math::SqrtOp>(s.add(a[4], s.real(epsilon)));
    return s.add(s.mul(a[1], s.div(s.sub(a[0], a[3]), root)), a[2]);
  });
  return give(node, 0, y, TensorProto::FLOAT);
}

/// Instance and group normalization: each group of channels separately.
LogicalResult onhost::groupNormalization(NodeContext &node) {
  Value x = channelsInput(node);
  if (!x)
    return failure();
  const Shape &shape = node.input(0)->shape;
  double epsilon = node.getFloat("epsilon", 1e-5f);
  int64_t channels = shape[1], groups = node.op() == "GroupNormalization"
                                            ? node.getInt("num_groups", 1)
                                            : channels;
  Value scale = hostValue(node, 1), bias = scale ? hostValue(node, 2) : Value();
  if (!bias)
    return failure();
  int64_t given = ShapedType::getNumElements(Loops::shapeOf(scale));
  if (groups < 1 || channels % groups ||
      (given != channels && given != groups) ||
      ShapedType::getNumElements(Loops::shapeOf(bias)) != given)
    return node.refuse("its groups, scale and bias do not fit its channels");
  Loops l = loops(node);
  auto scaled = [&](Value y, size_t rank) {
    return plus(node, times(node, y, perChannel(l, scale, rank)),
                perChannel(l, bias, rank));
  };
  int64_t rest = *elementCount(shape) / shape[0] / groups;
  Value y = l.reshape(x, {shape[0], groups, rest});
  y = standardize(node, y, {false, false, true}, epsilon);
  bool byGroup = given == groups; // up to opset 20
  y = l.reshape(byGroup ? scaled(y, 3) : y, shape);
  return give(node, 0, byGroup ? y : scaled(y, shape.size()),
              TensorProto::FLOAT);
}
