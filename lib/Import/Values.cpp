// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as values: the two layouts, constants with the quantisers behind
// them, and the results of the current node.
#include "Importer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

Shape Importer::lastShape(ArrayRef<int64_t> s) {
  if (s.size() == 3)
    return {s[0], 1, s[2], s[1]};
  return {s[0], s[2], s[3], s[1]};
}

int64_t Importer::lastAxis(int64_t axis, size_t rank) {
  static const int64_t three[] = {0, 3, 2}, four[] = {0, 3, 1, 2};
  return axis < 0 ? axis : rank == 3 ? three[axis] : four[axis];
}

Value Importer::transpose(Value v, ArrayRef<int64_t> permutation) {
  auto in = cast<RankedTensorType>(v.getType());
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(in.getDimSize(axis));
  return osa::TransposeOp::create(builder, loc,
                                  type(shape, in.getElementType()), v,
                                  builder.getDenseI64ArrayAttr(permutation));
}

Value Importer::reshape(Value v, ArrayRef<int64_t> shape) {
  auto in = cast<RankedTensorType>(v.getType());
  if (in.getShape() == shape)
    return v;
  return osa::ReshapeOp::create(builder, loc, type(shape, in.getElementType()),
                                v);
}

DenseElementsAttr Importer::floats(ArrayRef<double> values) {
  SmallVector<float> narrow(values.begin(), values.end());
  return DenseElementsAttr::get(type({int64_t(values.size())}, f32),
                                ArrayRef<float>(narrow));
}

Value Importer::quantStep(Value v, const QuantStep &step, int64_t axis) {
  auto in = cast<RankedTensorType>(v.getType());
  ElementsAttr scale = floats(step.scale);
  auto zeroType = type({int64_t(step.zeroPoint.size())}, builder.getI64Type());
  ElementsAttr zero =
      DenseElementsAttr::get(zeroType, ArrayRef<int64_t>(step.zeroPoint));
  auto out = type(in.getShape(), step.quantise ? Type(step.type) : f32);
  if (step.quantise)
    return osa::QuantizeOp::create(builder, loc, out, v, scale, zero, axis,
                                   step.rounding);
  return osa::DequantizeOp::create(builder, loc, out, v, scale, zero,
                                   builder.getI64IntegerAttr(axis));
}

TensorRef Importer::hostTensor(HostRef host) {
  auto t = std::make_shared<GraphTensor>();
  if (halfType(host->type))
    t->onnx = host->type;
  // Other floats whose values float32 holds are as good as float32.
  if (host->isReal() && host->type != TensorProto::FLOAT &&
      llvm::all_of(host->reals,
                   [](double v) { return double(float(v)) == v; })) {
    auto same = std::make_shared<HostTensor>(*host);
    same->type = TensorProto::FLOAT;
    host = same;
  }
  t->shape = host->shape;
  if (host->type == TensorProto::FLOAT)
    t->element = f32;
  else if (host->type == TensorProto::INT64)
    t->element = builder.getI64Type();
  else if (num::IntType integer = integerType(host->type))
    t->element = integer;
  t->constant = std::move(host);
  return t;
}

Value Importer::materialise(const GraphTensor &t) {
  const HostTensor &host = *t.constant;
  std::string name = node ? node->name : "constant";
  Value v;
  if (host.type == TensorProto::FLOAT) {
    std::vector<float> values(host.reals.begin(), host.reals.end());
    for (float x : values)
      if (!std::isfinite(x)) {
        refuse(formatv("a constant operand holds the value {0}", x),
               "repair the model's parameters");
        return {};
      }
    v = osa::ConstantOp::create(
        builder, loc, type(host.shape, f32),
        osa::makeFloatAttr(context, name, host.shape, values));
  } else if (num::IntType integer = integerType(host.type)) {
    v = osa::ConstantOp::create(
        builder, loc, type(host.shape, integer),
        osa::makeIntAttr(context, name, host.shape, integer, host.ints));
  } else {
    refuse(formatv("a constant operand has the element type {0}",
                   typeName(host.type)),
           "float32 and integers of 8, 16 and 32 bits are supported");
    return {};
  }
  for (const QuantStep &step : t.steps)
    v = quantStep(v, step, step.axis);
  return v;
}

Value Importer::plain(const TensorRef &t) {
  if (t->plain)
    return t->plain;
  if (t->isConstant())
    return t->plain = materialise(*t);
  Value v = t->last;
  if (t->rank() == 4)
    return t->plain = transpose(v, {0, 3, 1, 2});
  Shape four = {t->shape[0], t->shape[1], 1, t->shape[2]};
  v = transpose(v, {0, 3, 1, 2});
  assert(cast<RankedTensorType>(v.getType()).getShape() ==
         ArrayRef<int64_t>(four));
  return t->plain = reshape(v, t->shape);
}

Value Importer::channelsLast(const TensorRef &t) {
  assert(t->hasChannelsLast());
  if (t->last)
    return t->last;
  bool three = t->rank() == 3;
  Shape four = t->shape;
  if (three)
    four.insert(four.begin() + 2, 1);
  if (t->isConstant() && !t->plain) {
    TensorRef moved = three ? reshaped(t, four) : t;
    return t->last = materialise(*transposed(moved, {0, 2, 3, 1}));
  }
  Value v = plain(t);
  return v ? t->last = transpose(reshape(v, four), {0, 2, 3, 1}) : Value();
}

Value Importer::constantBesideLast(const TensorRef &t, size_t rank) {
  Shape shape(rank - t->rank(), 1);
  llvm::append_range(shape, t->shape);
  if (rank == 3)
    shape.insert(shape.begin() + 2, 1);
  TensorRef moved = transposed(reshaped(t, shape), {0, 2, 3, 1});
  Shape stripped = moved->shape;
  while (stripped.size() > 1 && stripped.front() == 1)
    stripped.erase(stripped.begin());
  return materialise(*reshaped(moved, stripped));
}

TensorRef Importer::transposed(const TensorRef &t,
                               ArrayRef<int64_t> permutation) {
  auto out = std::make_shared<GraphTensor>();
  out->constant = permute(*t->constant, permutation);
  out->shape = out->constant->shape;
  out->element = t->element;
  out->steps = t->steps;
  for (QuantStep &step : out->steps)
    if (step.axis >= 0)
      step.axis = llvm::find(permutation, step.axis) - permutation.begin();
  return out;
}

TensorRef Importer::reshaped(const TensorRef &t, Shape shape) {
  auto out = std::make_shared<GraphTensor>();
  out->constant = withShape(*t->constant, shape);
  out->shape = shape;
  out->element = t->element;
  out->steps = t->steps;
  auto before = [](ArrayRef<int64_t> s, size_t axis) {
    int64_t product = 1;
    for (size_t i = 0; i < axis; ++i)
      product *= s[i];
    return product;
  };
  for (QuantStep &step : out->steps) {
    if (step.axis < 0)
      continue;
    size_t to = 0;
    while (to < shape.size() &&
           (shape[to] != t->shape[step.axis] ||
            before(shape, to) != before(t->shape, step.axis)))
      ++to;
    if (to == shape.size())
      return nullptr;
    step.axis = int64_t(to);
  }
  return out;
}

LogicalResult Importer::setResult(size_t i, TensorRef t) {
  std::optional<int64_t> count = elementCount(t->shape);
  if (count == 0 && !t->isConstant())
    return refuse(
        formatv("its output of shape {0} has no elements", describe(t->shape)));
  if (!count)
    return refuse(formatv("its output of shape {0} has more than {1} elements",
                          describe(t->shape), kMaxElements),
                  "give smaller input shapes with --shape");
  if (int(i) < node->proto.output_size() && !node->proto.output(i).empty())
    tensors[node->proto.output(i)] = std::move(t);
  return success();
}

LogicalResult Importer::setPlain(Value v) {
  if (!v)
    return failure();
  auto t = std::make_shared<GraphTensor>();
  auto ty = cast<RankedTensorType>(v.getType());
  t->shape.assign(ty.getShape().begin(), ty.getShape().end());
  t->element = ty.getElementType();
  t->plain = v;
  return setResult(0, t);
}

LogicalResult Importer::setLast(Value v, Shape shape) {
  if (!v)
    return failure();
  auto t = std::make_shared<GraphTensor>();
  t->shape = std::move(shape);
  t->element = cast<RankedTensorType>(v.getType()).getElementType();
  t->last = v;
  return setResult(0, t);
}

LogicalResult
Importer::elementwise(const TensorRef &x, Type element,
                      function_ref<Value(Value, RankedTensorType, bool)> make) {
  bool last = x->last && !x->isConstant();
  Value v = last ? x->last : plain(x);
  if (!v)
    return failure();
  auto out = type(cast<RankedTensorType>(v.getType()).getShape(), element);
  Value result = make(v, out, last);
  return last ? setLast(result, x->shape) : setPlain(result);
}

LogicalResult Importer::passThrough(const TensorRef &x) {
  return setResult(0, x);
}
