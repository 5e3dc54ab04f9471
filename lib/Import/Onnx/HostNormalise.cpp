// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations of the host.
#include "Host.h"
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

static
    /// (x − mean) / √(variance + epsilon) over the flagged axes.
    Value standardise(NodeContext &node, Value x, ArrayRef<bool> axes,
                      double epsilon, Value *meanOut = nullptr,
                      Value *inverseOut = nullptr) {
  Loops l = loops(node);
  Value mean = l.mean(x, axes);
  Value centred = eachOf(node, {x, mean}, TensorProto::FLOAT,
                         [](S &s, R a) { return s.sub(a[0], a[1]); });
  Value squares = eachOf(node, {centred}, TensorProto::FLOAT,
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
  return eachOf(node, {centred, inverse}, TensorProto::FLOAT,
                [](S &s, R a) { return s.mul(a[0], a[1]); });
}

/// A parameter per channel (axis 1) beside a tensor of `rank`.
static Value perChannel(Loops &l, Value v, size_t rank) {
  Loops::Shape shape(rank, 1);
  shape[1] = ShapedType::getNumElements(Loops::shapeOf(v));
  return l.reshape(v, shape);
}

LogicalResult onhost::normalise(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  StringRef op = node.op();
  size_t rank = node.input(0)->rank();
  Loops l = loops(node);
  SmallVector<bool> axes(rank, false);
  auto optional = [&](size_t i) {
    return node.input(i) ? hostValue(node, i) : Value();
  };
  auto fits = [&](Value v) {
    return !v || Loops::broadcast(Loops::shapeOf(x), Loops::shapeOf(v)) ==
                     Loops::Shape(Loops::shapeOf(x));
  };
  if (op == "LayerNormalization" || op == "RMSNormalization" ||
      op == "SimplifiedLayerNormalization" || op == "SkipLayerNormalization" ||
      op == "SkipSimplifiedLayerNormalization") {
    double epsilon =
        node.getFloat("epsilon", op.starts_with("Skip") ? 1e-12f : 1e-5f);
    auto axis = node.axisAttribute(-1, rank);
    if (!axis)
      return failure();
    bool skip = op.starts_with("Skip");
    bool rms = op.contains("RMS") || op.contains("Simplified");
    if (skip) {
      Value other = hostValue(node, 1), bias = optional(rms ? 3 : 4);
      if (!other || !fits(other) || !fits(bias))
        return node.refuse("its inputs' shapes do not fit");
      x = plus(node, x, other);
      if (bias)
        x = plus(node, x, bias);
    }
    for (size_t i = *axis; i < rank; ++i)
      axes[i] = true;
    Value mean, inverse, y;
    if (rms) {
      Value squares = times(node, x, x);
      inverse = eachOf(
          node, {l.mean(squares, axes)}, TensorProto::FLOAT, [&](S &s, R a) {
            return s.div(s.real(1),
                         s.apply<math::SqrtOp>(s.add(a[0], s.real(epsilon))));
          });
      y = times(node, x, inverse);
    } else {
      y = standardise(node, x, axes, epsilon, &mean, &inverse);
    }
    Value scale = optional(skip ? 2 : 1);
    Value bias = rms ? Value() : optional(skip ? 3 : 2);
    if (!fits(scale) || !fits(bias))
      return node.refuse("its scale or bias does not fit its input");
    if (scale)
      y = times(node, y, scale);
    if (bias)
      y = plus(node, y, bias);
    if (failed(give(node, 0, y, TensorProto::FLOAT)))
      return failure();
    if (mean && node.outputUsed(1) &&
        failed(give(node, 1, mean, TensorProto::FLOAT)))
      return failure();
    if (node.outputUsed(2) &&
        failed(give(node, 2, inverse, TensorProto::FLOAT)))
      return failure();
    return skip && node.outputUsed(3) ? give(node, 3, x, TensorProto::FLOAT)
                                      : success();
  }
  if (rank < 2)
    return node.refuse(formatv("its input has rank {0}", rank));
  if (op == "MeanVarianceNormalization") {
    for (int64_t axis :
         node.getInts("axes").value_or(std::vector<int64_t>{0, 2, 3}))
      if (axis >= -int64_t(rank) && axis < int64_t(rank))
        axes[axis < 0 ? axis + int64_t(rank) : axis] = true;
    return give(node, 0, standardise(node, x, axes, 1e-9), TensorProto::FLOAT);
  }
  if (op == "LpNormalization") {
    auto axis = node.axisAttribute(-1, rank);
    if (!axis)
      return failure();
    axes[*axis] = true;
    bool one = node.getInt("p", 2) == 1;
    Value parts = eachOf(node, {x}, TensorProto::FLOAT, [&](S &s, R a) {
      return one ? s.apply<math::AbsFOp>(a[0]) : s.mul(a[0], a[0]);
    });
    Value norm = l.sum(parts, axes);
    return give(node, 0,
                eachOf(node, {x, norm}, TensorProto::FLOAT,
                       [&](S &s, R a) {
                         Value n = one ? a[1] : s.apply<math::SqrtOp>(a[1]);
                         Value zero = s.equal(n, s.real(0));
                         return s.select(zero, s.real(0), s.div(a[0], n));
                       }),
                TensorProto::FLOAT);
  }
  if (op == "LRN") {
    int64_t size = node.getInt("size", 1);
    double alpha = node.getFloat("alpha", 1e-4f),
           beta = node.getFloat("beta", 0.75f), bias = node.getFloat("bias", 1);
    if (size < 1)
      return node.refuse(formatv("its size is {0}", size));
    int64_t channels = node.input(0)->shape[1], before = (size - 1) / 2;
    Loops::Shape shape(node.input(0)->shape.begin(),
                       node.input(0)->shape.end());
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
        node, 0,
        eachOf(node, {x, sum}, TensorProto::FLOAT,
               [&](S &s, R a) {
                 Value d = s.add(s.real(bias),
                                 s.mul(s.real(alpha / double(size)), a[1]));
                 return s.div(a[0], s.apply<math::PowFOp>(d, s.real(beta)));
               }),
        TensorProto::FLOAT);
  }
  if (op == "BatchNormalization") {
    if (node.getInt("training_mode", 0))
      return node.refuse("it is in training mode",
                         "export the model in inference mode");
    double epsilon = node.getFloat("epsilon", 1e-5f);
    SmallVector<Value> p;
    for (size_t i = 1; i < 5; ++i) {
      Value v = hostValue(node, i);
      if (!v || ShapedType::getNumElements(Loops::shapeOf(v)) !=
                    node.input(0)->shape[1])
        return v ? node.refuse("its parameters do not fit its channels")
                 : node.refuse("a parameter is missing");
      p.push_back(perChannel(l, v, rank));
    }
    return give(node, 0,
                eachOf(node, {x, p[0], p[1], p[2], p[3]}, TensorProto::FLOAT,
                       [&](S &s, R a) {
                         Value root = s.apply<math::SqrtOp>(
                             s.add(a[4], s.real(epsilon)));
                         return s.add(
                             s.mul(a[1], s.div(s.sub(a[0], a[3]), root)), a[2]);
                       }),
                TensorProto::FLOAT);
  }
  // Instance and group normalisation: groups of channels, each by itself.
  double epsilon = node.getFloat("epsilon", 1e-5f);
  int64_t channels = node.input(0)->shape[1];
  int64_t groups =
      op == "GroupNormalization" ? node.getInt("num_groups", 1) : channels;
  Value scale = hostValue(node, 1), bias = scale ? hostValue(node, 2) : Value();
  if (!bias)
    return failure();
  int64_t given = ShapedType::getNumElements(Loops::shapeOf(scale));
  if (groups < 1 || channels % groups ||
      (given != channels && given != groups) ||
      ShapedType::getNumElements(Loops::shapeOf(bias)) != given)
    return node.refuse("its groups, scale and bias do not fit its channels");
  int64_t rest = ShapedType::getNumElements(Loops::shapeOf(x)) /
                 node.input(0)->shape[0] / groups;
  Value y = l.reshape(x, {node.input(0)->shape[0], groups, rest});
  y = standardise(node, y, {false, false, true}, epsilon);
  if (given == groups) { // up to opset 20
    y = plus(node, times(node, y, perChannel(l, scale, 3)),
             perChannel(l, bias, 3));
    return give(node, 0, l.reshape(y, node.input(0)->shape),
                TensorProto::FLOAT);
  }
  y = l.reshape(y, node.input(0)->shape);
  return give(node, 0,
              plus(node, times(node, y, perChannel(l, scale, rank)),
                   perChannel(l, bias, rank)),
              TensorProto::FLOAT);
}
