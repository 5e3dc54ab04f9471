// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands and results of the host's operations: tensors in ONNX's layout, f32
// or i64.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

Value importer::wholeConstant(Place &place, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> values) {
  auto ty = tensorType(shape, place.builder.getI64Type());
  return osa::ConstantOp::create(place.builder, place.loc, ty,
                                 DenseElementsAttr::get(ty, values));
}

Value importer::realConstant(Place &place, ArrayRef<int64_t> shape,
                             ArrayRef<float> values) {
  return osa::ConstantOp::create(
      place.builder, place.loc, tensorType(shape, place.f32),
      osa::makeFloatAttr(place.context, place.name, shape, values));
}

Value importer::scalarConstant(Place &place, double value, int onnxType) {
  if (HostTensor::isRealType(onnxType)) {
    auto ty = tensorType({}, place.f32);
    return osa::ConstantOp::create(place.builder, place.loc, ty,
                                   DenseElementsAttr::get(ty, float(value)));
  }
  return wholeConstant(place, {}, {int64_t(value)});
}

Value importer::hostValue(NodeContext &node, size_t i) {
  TensorRef t = node.input(i);
  if (!t) {
    node.refuse(formatv("its input {0} is missing", i));
    return {};
  }
  if (t->host)
    return t->host;
  if (t->isPlainConstant()) {
    const HostTensor &c = *t->constant;
    if (elementCount(c.shape) == 0) {
      node.refuse(formatv("its input {0} has no elements", i));
      return {};
    }
    if (!c.isReal() && !isWholeType(c.type)) {
      node.refuse(formatv("its input {0} has the element type {1}", i,
                          typeName(c.type)));
      return {};
    }
    if (c.isReal())
      return t->host = realConstant(
                 node, c.shape,
                 std::vector<float>(c.reals.begin(), c.reals.end()));
    return t->host = wholeConstant(node, c.shape, c.ints);
  }
  Value v = plain(node, t);
  if (!v)
    return {};
  if (num::IntType integer = num::elementInt(v.getType())) {
    v = quantStep(node, v, {false, {1.0}, {0}, -1, integer}, -1);
    return t->host = convertTo(node, v, TensorProto::FLOAT, TensorProto::INT64);
  }
  if (t->whole)
    v = convertTo(node, v, TensorProto::FLOAT, TensorProto::INT64);
  return t->host = v;
}

LogicalResult importer::requireReals(NodeContext &node,
                                     ArrayRef<size_t> others) {
  for (auto [i, t] : llvm::enumerate(node.inputs))
    if (t && !llvm::is_contained(others, i) &&
        !HostTensor::isRealType(typeOf(t)))
      return node.refuse(
          formatv("its input {0} has the element type {1}, for which "
                  "{2} is not defined",
                  i, typeName(typeOf(t)), node.op()));
  return success();
}

Value importer::wrapped(NodeContext &node, Value v, int onnxType) {
  if (Loops::isReal(v) || HostTensor::isRealType(onnxType) ||
      onnxType == TensorProto::BOOL)
    return v;
  auto range = wholeRange(onnxType);
  if (!range || onnxType == TensorProto::INT64)
    return v;
  return loops(node).map(
      {v}, node.builder.getI64Type(), [&](Scalars &s, ValueRange a) {
        return s.wrap(a[0], num::bitsForRange(range->first, range->second),
                      range->first < 0);
      });
}

Value importer::eachOf(NodeContext &node, ArrayRef<Value> in, int onnxType,
                       function_ref<Value(host::Scalars &, ValueRange)> body) {
  bool real = HostTensor::isRealType(onnxType);
  auto range = real ? std::nullopt : wholeRange(onnxType);
  bool wraps =
      range && onnxType != TensorProto::BOOL && onnxType != TensorProto::INT64;
  return loops(node).map(
      in, real ? node.f32 : Type(node.builder.getI64Type()),
      [&](Scalars &s, ValueRange a) {
        Value v = body(s, a);
        if (!wraps)
          return v;
        return s.wrap(v, num::bitsForRange(range->first, range->second),
                      range->first < 0);
      });
}

LogicalResult importer::give(NodeContext &node, size_t i, Value v,
                             int onnxType) {
  if (!v)
    return failure();
  auto t = std::make_shared<GraphTensor>();
  auto ty = cast<RankedTensorType>(v.getType());
  t->shape.assign(ty.getShape().begin(), ty.getShape().end());
  t->element = ty.getElementType();
  t->plain = v;
  t->onnx =
      HostTensor::isRealType(onnxType) ? int(TensorProto::FLOAT) : onnxType;
  return node.setResult(i, t);
}

Value importer::times(NodeContext &node, Value x, Value y) {
  return eachOf(node, {x, y}, TensorProto::FLOAT,
                [](Scalars &s, ValueRange a) { return s.mul(a[0], a[1]); });
}

Value importer::plus(NodeContext &node, Value x, Value y) {
  return eachOf(node, {x, y}, TensorProto::FLOAT,
                [](Scalars &s, ValueRange a) { return s.add(a[0], a[1]); });
}
