// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as values: the two layouts, constants with the quantizers after
// them, and the results of the current node.
#include "Values.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

Value importer::transpose(Place &place, Value v,
                          ArrayRef<int64_t> permutation) {
  auto in = cast<RankedTensorType>(v.getType());
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(in.getDimSize(axis));
  return osa::TransposeOp::create(
      place.builder, place.loc, tensorType(shape, in.getElementType()), v,
      place.builder.getDenseI64ArrayAttr(permutation));
}

Value importer::reshape(Place &place, Value v, ArrayRef<int64_t> shape) {
  auto in = cast<RankedTensorType>(v.getType());
  if (in.getShape() == shape)
    return v;
  return osa::ReshapeOp::create(place.builder, place.loc,
                                tensorType(shape, in.getElementType()), v);
}

static DenseElementsAttr floats(Place &place, ArrayRef<double> values) {
  SmallVector<float> narrow(values.begin(), values.end());
  return DenseElementsAttr::get(tensorType({int64_t(values.size())}, place.f32),
                                ArrayRef<float>(narrow));
}

Value importer::quantStep(Place &place, Value v, const QuantStep &step,
                          int64_t axis) {
  auto in = cast<RankedTensorType>(v.getType());
  ElementsAttr scale = floats(place, step.scale);
  auto zeroType =
      tensorType({int64_t(step.zeroPoint.size())}, place.builder.getI64Type());
  ElementsAttr zero =
      DenseElementsAttr::get(zeroType, ArrayRef<int64_t>(step.zeroPoint));
  auto out =
      tensorType(in.getShape(), step.quantize ? Type(step.type) : place.f32);
  if (step.quantize)
    return osa::QuantizeOp::create(place.builder, place.loc, out, v, scale,
                                   zero, axis, step.rounding);
  return osa::DequantizeOp::create(place.builder, place.loc, out, v, scale,
                                   zero, place.builder.getI64IntegerAttr(axis));
}

/// Integers become an attribute in their new order at once: as 64-bit integers
/// a layer's weights take eight times their bytes.
static ElementsAttr permutedInts(Place &place, const HostTensor &host,
                                 num::IntType type,
                                 ArrayRef<int64_t> permutation) {
  PermutedOrder order(host.shape, permutation);
  return osa::makeIntAttr(place.context, place.name, order.shape(), type,
                          host.ints, [&] { return size_t(order.next()); });
}

Value importer::materialize(Place &place, const TensorRef &t,
                            ArrayRef<int64_t> permutation) {
  num::IntType integer = integerType(place.context, t->constant->type);
  if (!integer)
    return materialize(place, *transposed(t, permutation));
  ElementsAttr attr = permutedInts(place, *t->constant, integer, permutation);
  Value v = osa::ConstantOp::create(
      place.builder, place.loc,
      tensorType(Shape(attr.getShapedType().getShape()), integer), attr);
  for (const QuantStep &step : t->steps)
    v = quantStep(place, v, step, movedAxis(step.axis, permutation));
  return v;
}

Value importer::materialize(Place &place, const GraphTensor &t) {
  const HostTensor &host = *t.constant;
  std::string name = place.name;
  Value v;
  if (host.type == TensorProto::FLOAT) {
    std::vector<float> values(host.reals.begin(), host.reals.end());
    for (float x : values)
      if (!std::isfinite(x)) {
        place.refuse(formatv("a constant operand holds the value {0}", x),
                     "repair the model's parameters");
        return {};
      }
    v = osa::ConstantOp::create(
        place.builder, place.loc, tensorType(host.shape, place.f32),
        osa::makeFloatAttr(place.context, name, host.shape, values));
  } else if (num::IntType integer = integerType(place.context, host.type)) {
    v = osa::ConstantOp::create(
        place.builder, place.loc, tensorType(host.shape, integer),
        osa::makeIntAttr(place.context, name, host.shape, integer, host.ints));
  } else {
    place.refuse(formatv("a constant operand has the element type {0}",
                         typeName(host.type)),
                 "float32 and integers of 8, 16 and 32 bits are supported");
    return {};
  }
  for (const QuantStep &step : t.steps)
    v = quantStep(place, v, step, step.axis);
  return v;
}

Value importer::plain(Place &place, const TensorRef &t) {
  if (t->plain)
    return t->plain;
  if (t->isConstant())
    return t->plain = materialize(place, *t);
  Value v = t->last;
  if (t->rank() == 4)
    return t->plain = transpose(place, v, {0, 3, 1, 2});
  Shape four = {t->shape[0], t->shape[1], 1, t->shape[2]};
  v = transpose(place, v, {0, 3, 1, 2});
  assert(cast<RankedTensorType>(v.getType()).getShape() ==
         ArrayRef<int64_t>(four));
  return t->plain = reshape(place, v, t->shape);
}

Value importer::channelsLast(Place &place, const TensorRef &t) {
  assert(t->hasChannelsLast());
  if (t->last)
    return t->last;
  bool three = t->rank() == 3;
  Shape four = t->shape;
  if (three)
    four.insert(four.begin() + 2, 1);
  if (t->isConstant() && !t->plain) {
    TensorRef moved = three ? reshaped(t, four) : t;
    return t->last = materialize(place, moved, {0, 2, 3, 1});
  }
  Value v = plain(place, t);
  return v ? t->last = transpose(place, reshape(place, v, four), {0, 2, 3, 1})
           : Value();
}

Value importer::constantBesideLast(Place &place, const TensorRef &t,
                                   size_t rank) {
  Shape shape(rank - t->rank(), 1);
  llvm::append_range(shape, t->shape);
  if (rank == 3)
    shape.insert(shape.begin() + 2, 1);
  TensorRef moved = transposed(reshaped(t, shape), {0, 2, 3, 1});
  Shape stripped = moved->shape;
  while (stripped.size() > 1 && stripped.front() == 1)
    stripped.erase(stripped.begin());
  return materialize(place, *reshaped(moved, stripped));
}

LogicalResult importer::setPlain(NodeContext &node, Value v) {
  if (!v)
    return failure();
  auto t = std::make_shared<GraphTensor>();
  auto ty = cast<RankedTensorType>(v.getType());
  t->shape.assign(ty.getShape().begin(), ty.getShape().end());
  t->element = ty.getElementType();
  t->plain = v;
  return node.setResult(0, t);
}

LogicalResult importer::setLast(NodeContext &node, Value v, Shape shape) {
  if (!v)
    return failure();
  auto t = std::make_shared<GraphTensor>();
  t->shape = std::move(shape);
  t->element = cast<RankedTensorType>(v.getType()).getElementType();
  t->last = v;
  return node.setResult(0, t);
}

LogicalResult
importer::elementwise(NodeContext &node, const TensorRef &x, Type element,
                      function_ref<Value(Value, RankedTensorType, bool)> make) {
  bool last = x->last && !x->isConstant();
  Value v = last ? x->last : plain(node, x);
  if (!v)
    return failure();
  auto out =
      tensorType(cast<RankedTensorType>(v.getType()).getShape(), element);
  Value result = make(v, out, last);
  return last ? setLast(node, result, x->shape) : setPlain(node, result);
}

LogicalResult importer::passThrough(NodeContext &node, const TensorRef &x) {
  return node.setResult(0, x);
}

host::Loops importer::loops(Place &place) {
  return host::Loops(place.builder, place.loc);
}
