// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host operations that reduce axes: reductions, arg max, running sums, the
// largest k, and softmax.
#include "Asked.h"
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

/// Flags of the axes that the current node names; all if it names none.
static std::optional<SmallVector<bool>>
reducedAxes(NodeContext &node, size_t rank, size_t axesInput, bool &none) {
  std::optional<std::vector<int64_t>> axes = node.getInts("axes");
  if (node.input(axesInput)) {
    axes = node.constantInts(axesInput, "list of axes");
    if (!axes)
      return std::nullopt;
  }
  none = (!axes || axes->empty()) && node.getInt("noop_with_empty_axes", 0);
  SmallVector<bool> flags(rank, !axes || axes->empty());
  for (int64_t axis : axes.value_or(std::vector<int64_t>())) {
    if (axis < -int64_t(rank) || axis >= int64_t(rank)) {
      node.refuse(
          formatv("its axis {0} is out of range for rank {1}", axis, rank),
          toNameAxis(rank));
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

LogicalResult onhost::reduce(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  StringRef op = node.op();
  int type = typeOf(node.input(0));
  bool none;
  auto axes = reducedAxes(node, node.input(0)->rank(), 1, none);
  if (!axes)
    return failure();
  if (none)
    return give(node, 0, x, type);
  Loops l = loops(node);
  bool real = Loops::isReal(x);
  auto each = [&](Value v, Loops::Body body) {
    return eachOf(node, {v}, type, body);
  };
  auto square = [](S &s, R a) { return s.mul(a[0], a[0]); };
  auto log = [](S &s, R a) { return s.apply<math::LogOp>(a[0]); };
  if (!real && op.contains("Log"))
    return node.refuse("its input holds integers");
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
                     [&](S &s, R a) {
                       return isUnsigned(type)
                                  ? a[0]
                                  : s.max(a[0], s.sub(s.number(0, a[0]), a[0]));
                     }),
                *axes);
  else if (op == "ReduceLogSum")
    out = each(l.sum(x, *axes), log);
  else if (op == "ReduceLogSumExp") {
    Value top = l.max(x, *axes);
    Value powers = eachOf(node, {x, top}, type,
                          [](S &s, R a) { return s.exp(s.sub(a[0], a[1])); });
    out = eachOf(node, {l.sum(powers, *axes), top}, type, [](S &s, R a) {
      return s.add(s.apply<math::LogOp>(a[0]), a[1]);
    });
  } else { // ReduceMean
    int64_t n = 1;
    for (auto [size, flagged] : llvm::zip_equal(node.input(0)->shape, *axes))
      n *= flagged ? size : 1;
    out = each(wrapped(node, l.sum(x, *axes), type), [&](S &s, R a) {
      return s.div(a[0], s.number(double(n), a[0]), isUnsigned(type));
    });
  }
  out = wrapped(node, out, type); // sums and products
  if (op == "ReduceL2")
    out = each(out, [&](S &s, R a) {
      Value v =
          real ? a[0] : s.toReal(a[0], isUnsigned(type), s.b.getF64Type());
      v = s.apply<math::SqrtOp>(v);
      return real ? v : s.toWhole(v);
    });
  if (node.getInt("keepdims", 1) == 0)
    out = dropAxes(l, out, *axes);
  return give(node, 0, out, type);
}

LogicalResult onhost::arg(NodeContext &node) {
  Value x = hostValue(node, 0);
  auto axis = x ? node.axisAttribute(0, node.input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  SmallVector<bool> axes(node.input(0)->rank(), false);
  axes[*axis] = true;
  Loops l = loops(node);
  Value out =
      l.argMax(x, axes, node.getInt("select_last_index", 0) != 0,
               node.op() == "ArgMin", isUnsigned(typeOf(node.input(0))));
  if (node.getInt("keepdims", 1) == 0)
    out = dropAxes(l, out, axes);
  return give(node, 0, out, TensorProto::INT64);
}

/// Running sums or products: of all elements up to (or after) each.
LogicalResult onhost::cumulate(NodeContext &node) {
  Value x = hostValue(node, 0);
  auto given = x ? node.constantInts(1, "axis") : std::nullopt;
  if (!given)
    return failure();
  int64_t rank = int64_t(node.input(0)->rank());
  if (given->size() != 1 || given->front() < -rank || given->front() >= rank)
    return node.refuse("its axis is out of range");
  unsigned axis = unsigned((given->front() + rank) % rank);
  bool exclusive = node.getInt("exclusive", 0),
       reverse = node.getInt("reverse", 0);
  bool product = node.op() == "CumProd";
  Loops l = loops(node);
  Loops::Shape shape(node.input(0)->shape.begin(), node.input(0)->shape.end());
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i)
    exprs.push_back(l.dim(i == axis ? unsigned(rank) : i));
  auto map = AffineMap::get(rank + 1, 0, exprs, node.context);
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
  const int type = typeOf(node.input(0));
  return give(node, 0, wrapped(node, out, type), type);
}

/// The rank of each element in its row: the number of elements
/// before it, where equal ones are ordered by index. Then each of the k
/// results picks its element.
LogicalResult onhost::topK(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  int64_t k = node.getInt("k", 0);
  if (node.input(1)) {
    auto given = node.constantInts(1, "K");
    if (!given)
      return failure();
    k = given->size() == 1 ? given->front() : 0;
  }
  auto axis = node.axisAttribute(-1, node.input(0)->rank());
  if (!axis)
    return failure();
  if (k < 1 || k > node.input(0)->shape[*axis])
    return node.refuse(formatv("its K is {0} for an axis of size {1}", k,
                               node.input(0)->shape[*axis]));
  bool largest = node.getInt("largest", 1) != 0;
  bool u = isUnsigned(typeOf(node.input(0)));
  unsigned rank = unsigned(node.input(0)->rank()), along = unsigned(*axis);
  Loops l = loops(node);
  Loops::Shape shape(node.input(0)->shape.begin(), node.input(0)->shape.end());
  int64_t n = shape[along];
  auto reading = [&](bool other) {
    SmallVector<AffineExpr> exprs;
    for (unsigned i = 0; i < rank; ++i)
      exprs.push_back(l.dim(other && i == along ? rank : i));
    return AffineMap::get(rank + 1, 0, exprs, node.context);
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
  if (failed(give(node, 0, pick(x, false), typeOf(node.input(0)))))
    return failure();
  return give(node, 1, pick(x, true), TensorProto::INT64);
}

/// Softmax along axes that are merged before opset 13, and Hardmax.
LogicalResult onhost::softmax(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  Value x = hostValue(node, 0);
  bool coerced = node.state.graph.opset < 13;
  auto axis = x ? node.axisAttribute(coerced ? 1 : -1, node.input(0)->rank())
                : std::nullopt;
  if (!axis)
    return failure();
  Loops l = loops(node);
  Loops::Shape shape(node.input(0)->shape.begin(), node.input(0)->shape.end());
  if (coerced) {
    Loops::Shape two = {1, 1};
    for (size_t i = 0; i < shape.size(); ++i)
      two[int64_t(i) >= *axis] *= shape[i];
    x = l.reshape(x, two);
    *axis = 1;
  }
  Value out;
  if (node.op() == "Hardmax") {
    SmallVector<bool> axes(Loops::shapeOf(x).size(), false);
    axes[*axis] = true;
    Value first = l.argMax(x, axes, false);
    out = eachOf(node, {x, first}, TensorProto::FLOAT, [&](S &s, R a) {
      return s.toReal(s.flag(s.equal(a[1], s.index(unsigned(*axis)))));
    });
  } else {
    out = l.softmax(x, *axis, node.op() == "LogSoftmax");
  }
  return give(node, 0, l.reshape(out, shape), TensorProto::FLOAT);
}
