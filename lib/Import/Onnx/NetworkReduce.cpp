// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the network that reduce axes. Reductions are pools: the reduced
// axes are placed next to each other and become the width of an image. Also
// softmax, layer normalizations and arg max.
#include "Asked.h"
#include "Network.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

LogicalResult network::reduce(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)))
    return failure();
  bool given;
  auto axes = axesArgument(node, given);
  if (!axes)
    return failure();
  int64_t rank = int64_t(x->rank());
  std::vector<bool> gone(rank, axes->empty());
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank)
      return node.refuse(
          formatv("its axis {0} is out of range for rank {1}", axis, rank),
          toNameAxis(rank));
    gone[axis + (axis < 0 ? rank : 0)] = true;
  }
  if (axes->empty() && node.getInt("noop_with_empty_axes", 0) != 0)
    return passThrough(node, x);
  bool last = x->last && x->hasChannelsLast() && !x->isConstant();
  Value v = last ? x->last : plain(node, x);
  if (!v)
    return failure();
  // The same axes in the value's own layout.
  Shape own(cast<RankedTensorType>(v.getType()).getShape());
  std::vector<bool> ownGone = gone;
  if (last) {
    ownGone.assign(4, false);
    for (int64_t axis = 0; axis < rank; ++axis)
      ownGone[lastAxis(axis, rank)] = gone[axis];
  }
  std::vector<int64_t> order;
  Shape kept = own, result = x->shape, view = {1, 1, 1, 1};
  for (size_t d = 0; d < own.size(); ++d)
    if (ownGone[d])
      kept[d] = 1;
  for (int64_t d = 0; d < rank; ++d)
    if (gone[d])
      result[d] = 1;
  // The axes before the first reduced one, the reduced ones, the rest: in place
  // if the reduced ones are neighbors.
  int64_t first = -1, rest = -1;
  bool neighbors = true;
  for (size_t d = 0; d < own.size(); ++d) {
    if (own[d] == 1)
      continue;
    if (ownGone[d]) {
      neighbors &= rest < 0;
      first = first < 0 ? int64_t(d) : first;
    } else if (first >= 0 && rest < 0) {
      rest = int64_t(d);
    }
  }
  for (int pass = 0; pass < (neighbors ? 1 : 2); ++pass)
    for (size_t d = 0; d < own.size(); ++d)
      if (neighbors || ownGone[d] == (pass == 1))
        order.push_back(int64_t(d));
  bool seen = false;
  for (int64_t d : order) {
    seen |= ownGone[d] && own[d] > 1;
    view[ownGone[d] ? 2 : seen ? 3 : 1] *= own[d];
  }
  if (isTooLong(node, view[2]))
    return failure();
  if (!neighbors)
    v = transpose(node, v, order);
  v = reshape(node, v, view);
  std::array<int64_t, 2> kernel = {1, view[2]}, ones = {1, 1};
  auto array = [&](ArrayRef<int64_t> values) {
    return node.builder.getDenseI64ArrayAttr(values);
  };
  auto out = tensorType({1, view[1], 1, view[3]}, node.f32);
  StringRef op = node.op();
  auto negated = [&](Value value) -> Value {
    return osa::UnaryOp::create(node.builder, node.loc, value.getType(), value,
                                osa::UnaryKind::Neg);
  };
  if (op == "ReduceMax" || op == "ReduceMin") {
    if (op == "ReduceMin")
      v = negated(v);
    v = osa::MaxPoolOp::create(node.builder, node.loc, out, v, array(kernel),
                               array(kernel), array({0, 0, 0, 0}), array(ones));
    if (op == "ReduceMin")
      v = negated(v);
  } else {
    v = osa::AvgPoolOp::create(node.builder, node.loc, out, v, array(kernel),
                               array(kernel), array({0, 0, 0, 0}), array(ones),
                               node.builder.getBoolAttr(false));
    if (op == "ReduceSum" && view[2] > 1)
      v = emitBinary(node, "Mul", v, scalar(node, double(view[2])),
                     v.getType());
  }
  // The kept axes have their order: the transpose only moved the reduced ones.
  v = reshape(node, v, kept);
  auto t = std::make_shared<GraphTensor>();
  t->shape = result;
  t->element = node.f32;
  (last ? t->last : t->plain) = v;
  if (node.getInt("keepdims", 1) != 0)
    return node.setResult(0, t);
  Shape shape;
  for (int64_t d = 0; d < rank; ++d)
    if (!gone[d])
      shape.push_back(x->shape[d]);
  Value p = plain(node, t);
  return p ? setPlain(node, reshape(node, p, shape)) : failure();
}

LogicalResult network::softmax(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  TensorRef x = node.input(0);
  bool coerced = node.state.graph.opset < 13;
  std::optional<int64_t> axis = node.axisAttribute(coerced ? 1 : -1, x->rank());
  Value v = axis ? plain(node, x) : Value();
  if (!v)
    return failure();
  // Before opset 13, the axes from `axis` on are merged.
  bool flat = coerced && *axis != int64_t(x->rank()) - 1;
  Shape shape = x->shape;
  if (flat) {
    Shape two = {1, 1};
    for (size_t i = 0; i < shape.size(); ++i)
      two[int64_t(i) >= *axis] *= shape[i];
    v = reshape(node, v, two);
    *axis = 1;
  }
  v = osa::SoftmaxOp::create(
      node.builder, node.loc, v.getType(), v,
      node.builder.getI64IntegerAttr(*axis),
      node.builder.getBoolAttr(node.op() == "LogSoftmax"));
  if (node.state.options.fixedPointFunctions)
    v.getDefiningOp()->setAttr(marks::kFixedPoint, node.builder.getUnitAttr());
  return setPlain(node, reshape(node, v, shape));
}

/// LayerNormalization, RMSNormalization: the normalization, then its scale and
/// bias as for any tensor.
LogicalResult network::layerNormalization(NodeContext &node) {
  if (!node.state.options.fixedPointFunctions)
    return node.refuse("it is computed in floating point",
                       "give --fixed-point-functions");
  if (failed(node.requireReal(0)))
    return failure();
  TensorRef x = node.input(0);
  std::optional<int64_t> axis = node.axisAttribute(-1, x->rank());
  if (!axis)
    return failure();
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.input(i) && !node.input(i)->isConstant())
      return node.refuse("its scale or bias is not constant");
  for (size_t i = 1; i < 3; ++i)
    if (node.outputUsed(i))
      return node.refuse("its mean or deviation is used");
  Value v = plain(node, x);
  if (!v)
    return failure();
  // The axes from `axis` on are a row.
  Shape rows(x->shape.begin(), x->shape.begin() + *axis);
  rows.push_back(
      *elementCount(Shape(x->shape.begin() + *axis, x->shape.end())));
  v = reshape(node, v, rows);
  v = osa::NormalizeOp::create(
      node.builder, node.loc, v.getType(), v,
      node.builder.getF32FloatAttr(float(node.getFloat("epsilon", 1e-5f))),
      node.builder.getBoolAttr(node.op() == "LayerNormalization"));
  for (auto [i, op] : {std::pair(1, "Mul"), {2, "Add"}})
    if (TensorRef c = node.input(size_t(i))) {
      Value factor = plain(node, c);
      if (!factor)
        return failure();
      if (*elementCount(c->shape) != rows.back() &&
          *elementCount(c->shape) != 1)
        return node.refuse("its scale or bias does not fit a row");
      factor = reshape(node, factor, {*elementCount(c->shape)});
      v = emitBinary(node, op, v, factor, v.getType());
    }
  return setPlain(node, reshape(node, v, x->shape));
}

static LogicalResult emitArgMax(NodeContext &node, const TensorRef &x,
                                int64_t axis, bool keep, bool lastOne,
                                size_t output) {
  Value v = plain(node, x);
  if (!v)
    return failure();
  auto out = std::make_shared<GraphTensor>();
  out->shape = x->shape;
  out->element = node.builder.getI64Type();
  if (keep)
    out->shape[axis] = 1;
  else
    out->shape.erase(out->shape.begin() + axis);
  out->plain = osa::ArgMaxOp::create(
      node.builder, node.loc, tensorType(out->shape, out->element), v,
      node.builder.getI64IntegerAttr(axis), node.builder.getBoolAttr(keep),
      node.builder.getBoolAttr(lastOne));
  return node.setResult(output, out);
}

LogicalResult network::argMax(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  std::optional<int64_t> axis = node.axisAttribute(0, node.input(0)->rank());
  if (!axis)
    return failure();
  return emitArgMax(node, node.input(0), *axis, node.getInt("keepdims", 1) != 0,
                    node.getInt("select_last_index", 0) != 0, 0);
}

LogicalResult network::topK(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  int64_t k = node.getInt("k", 0);
  if (node.input(1)) {
    auto values = node.constantInts(1, "K");
    if (!values)
      return failure();
    k = values->size() == 1 ? values->front() : 0;
  }
  if (k != 1 || node.getInt("largest", 1) != 1)
    return node.refuse(
        formatv("it takes the {0} {1} elements", k,
                node.getInt("largest", 1) ? "largest" : "smallest"),
        "only the largest (K = 1) is supported");
  if (node.outputUsed(0))
    return node.refuse("its first output (the values) is used",
                       "only the indices are supported");
  std::optional<int64_t> axis = node.axisAttribute(-1, node.input(0)->rank());
  return axis ? emitArgMax(node, node.input(0), *axis, true, false, 1)
              : failure();
}
