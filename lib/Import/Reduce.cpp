// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions are pools: the axes that go are laid beside each other and become
// the width of an image. Min and Max of several tensors.
#include "Importer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

LogicalResult Importer::reduce() {
  TensorRef x = input(0);
  if (failed(requireReal(0)))
    return failure();
  bool given;
  auto axes = axesArgument(given);
  if (!axes)
    return failure();
  int64_t rank = int64_t(x->rank());
  std::vector<bool> gone(rank, axes->empty());
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank)
      return refuse(
          formatv("its axis {0} is out of range for rank {1}", axis, rank));
    gone[axis + (axis < 0 ? rank : 0)] = true;
  }
  if (axes->empty() && node->getInt("noop_with_empty_axes", 0) != 0)
    return passThrough(x);
  bool last = x->last && x->hasChannelsLast() && !x->isConstant();
  Value v = last ? x->last : plain(x);
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
  // Before the first axis that goes, those that go, behind: in place if the
  // ones that go are neighbours.
  int64_t first = -1, behind = -1;
  bool neighbours = true;
  for (size_t d = 0; d < own.size(); ++d) {
    if (own[d] == 1)
      continue;
    if (ownGone[d]) {
      neighbours &= behind < 0;
      first = first < 0 ? int64_t(d) : first;
    } else if (first >= 0 && behind < 0) {
      behind = int64_t(d);
    }
  }
  for (int pass = 0; pass < (neighbours ? 1 : 2); ++pass)
    for (size_t d = 0; d < own.size(); ++d)
      if (neighbours || ownGone[d] == (pass == 1))
        order.push_back(int64_t(d));
  bool seen = false;
  for (int64_t d : order) {
    seen |= ownGone[d] && own[d] > 1;
    view[ownGone[d] ? 2 : seen ? 3 : 1] *= own[d];
  }
  if (!neighbours)
    v = transpose(v, order);
  v = reshape(v, view);
  std::array<int64_t, 2> kernel = {1, view[2]}, ones = {1, 1};
  auto array = [&](ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  };
  auto out = type({1, view[1], 1, view[3]}, f32);
  StringRef op = node->op();
  auto negated = [&](Value value) -> Value {
    return osa::UnaryOp::create(builder, loc, value.getType(), value,
                                osa::UnaryKind::Neg);
  };
  if (op == "ReduceMax" || op == "ReduceMin") {
    if (op == "ReduceMin")
      v = negated(v);
    v = osa::MaxPoolOp::create(builder, loc, out, v, array(kernel),
                               array(kernel), array({0, 0, 0, 0}), array(ones));
    if (op == "ReduceMin")
      v = negated(v);
  } else {
    v = osa::AvgPoolOp::create(builder, loc, out, v, array(kernel),
                               array(kernel), array({0, 0, 0, 0}), array(ones),
                               builder.getBoolAttr(false));
    if (op == "ReduceSum" && view[2] > 1)
      v = emitBinary("Mul", v, scalar(double(view[2])), v.getType());
  }
  // What is kept has its order: the transpose only moved what went.
  v = reshape(v, kept);
  auto t = std::make_shared<GraphTensor>();
  t->shape = result;
  t->element = f32;
  (last ? t->last : t->plain) = v;
  if (node->getInt("keepdims", 1) != 0)
    return setResult(0, t);
  Shape shape;
  for (int64_t d = 0; d < rank; ++d)
    if (!gone[d])
      shape.push_back(x->shape[d]);
  Value p = plain(t);
  return p ? setPlain(reshape(p, shape)) : failure();
}

LogicalResult Importer::extremum() {
  if (inputs.empty())
    return refuse("it has no input");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (failed(requireReal(i)))
      return failure();
  TensorRef most = inputs[0];
  for (const TensorRef &t : llvm::drop_begin(inputs)) {
    most = emitBinaryTensors(node->op(), most, t);
    if (!most)
      return failure();
  }
  return setResult(0, most);
}
