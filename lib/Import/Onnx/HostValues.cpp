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

Value importer::hostValue(Place &place, const TensorRef &t, const Twine &what) {
  if (t->host)
    return t->host;
  if (t->isPlainConstant()) {
    const HostTensor &c = *t->constant;
    if (elementCount(c.shape) == 0) {
      place.refuse(formatv("its {0} has no elements", what.str()));
      return {};
    }
    if (!c.isReal() && !isWholeType(c.type)) {
      place.refuse(formatv("its {0} has the element type {1}", what.str(),
                           typeName(c.type)));
      return {};
    }
    if (c.isReal())
      return t->host = realConstant(
                 place, c.shape,
                 std::vector<float>(c.reals.begin(), c.reals.end()));
    return t->host = wholeConstant(place, c.shape, c.ints);
  }
  Value v = plain(place, t);
  if (!v)
    return {};
  if (num::IntType integer = num::elementInt(v.getType())) {
    if (!isExactInFloat({integer.getLo(), integer.getHi()}))
      place.state.needsExactIntegers = true;
    v = quantStep(place, v, {false, {1.0}, {0}, -1, integer}, -1);
    return t->host =
               convertTo(place, v, TensorProto::FLOAT, TensorProto::INT64);
  }
  if (t->whole && !isExactInFloat(*t->whole))
    place.state.needsExactIntegers = true;
  if (t->whole)
    v = convertTo(place, v, TensorProto::FLOAT, TensorProto::INT64);
  return t->host = v;
}

Value importer::hostValue(NodeContext &node, size_t i) {
  if (TensorRef t = node.input(i))
    return hostValue(node, t, "input " + Twine(i));
  node.refuse(formatv("its input {0} is missing", i));
  return {};
}

/// The box of a sequence at `now`: offsets and sizes of all axes.
static std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
boxAt(OpBuilder &b, Value now, ArrayRef<int64_t> begin,
      ArrayRef<int64_t> size) {
  SmallVector<OpFoldResult> offsets{now}, sizes{b.getIndexAttr(1)};
  for (auto [first, count] : llvm::zip_equal(begin, size)) {
    offsets.push_back(b.getIndexAttr(first));
    sizes.push_back(b.getIndexAttr(count));
  }
  return {offsets, sizes};
}

Value importer::sliceAt(Place &place, Value sequence, Value now,
                        ArrayRef<int64_t> begin, ArrayRef<int64_t> size) {
  OpBuilder &b = place.builder;
  auto [offsets, sizes] = boxAt(b, now, begin, size);
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, place.loc,
                                        tensorType(size, elementOf(sequence)),
                                        sequence, offsets, sizes, strides);
}

Value importer::insertAt(Place &place, Value sequence, Value now, Value v,
                         ArrayRef<int64_t> begin) {
  OpBuilder &b = place.builder;
  auto [offsets, sizes] = boxAt(b, now, begin, Loops::shapeOf(v));
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, place.loc, v, sequence, offsets,
                                       sizes, strides);
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

Value importer::wrapped(Place &place, Value v, int onnxType) {
  if (Loops::isReal(v) || HostTensor::isRealType(onnxType) ||
      onnxType == TensorProto::BOOL)
    return v;
  auto range = wholeRange(onnxType);
  if (!range || onnxType == TensorProto::INT64)
    return v;
  return loops(place).map(
      {v}, place.builder.getI64Type(), [&](Scalars &s, ValueRange a) {
        return s.wrap(a[0], num::bitsForRange(range->first, range->second),
                      range->first < 0);
      });
}

Value importer::eachOf(Place &place, ArrayRef<Value> in, int onnxType,
                       function_ref<Value(host::Scalars &, ValueRange)> body) {
  bool real = HostTensor::isRealType(onnxType);
  auto range = real ? std::nullopt : wholeRange(onnxType);
  bool wraps =
      range && onnxType != TensorProto::BOOL && onnxType != TensorProto::INT64;
  return loops(place).map(
      in, real ? place.f32 : Type(place.builder.getI64Type()),
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
