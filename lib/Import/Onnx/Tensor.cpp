// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The properties of a tensor of the file, and reshaped constants.
#include "Tensor.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using onnx::TensorProto;

Shape importer::lastShape(ArrayRef<int64_t> s) {
  if (s.size() == 3)
    return {s[0], 1, s[2], s[1]};
  return {s[0], s[2], s[3], s[1]};
}

int64_t importer::lastAxis(int64_t axis, size_t rank) {
  static const int64_t three[] = {0, 3, 2}, four[] = {0, 3, 1, 2};
  return axis < 0 ? axis : rank == 3 ? three[axis] : four[axis];
}

TensorRef importer::constantTensor(MLIRContext *context, HostRef host) {
  auto t = std::make_shared<GraphTensor>();
  if (host->isReal() && host->type != TensorProto::FLOAT)
    t->onnx = host->type;
  // Other float types whose values float32 can represent are equivalent to
  // float32, except where constants are computed.
  if (host->isReal() && host->type != TensorProto::FLOAT &&
      llvm::all_of(host->reals,
                   [](double v) { return double(float(v)) == v; })) {
    auto same = std::make_shared<HostTensor>(*host);
    same->type = TensorProto::FLOAT;
    host = same;
  }
  t->shape = host->shape;
  if (host->type == TensorProto::FLOAT)
    t->element = Float32Type::get(context);
  else if (host->type == TensorProto::INT64)
    t->element = IntegerType::get(context, 64);
  else if (num::IntType integer = integerType(context, host->type))
    t->element = integer;
  t->constant = std::move(host);
  return t;
}

int64_t importer::movedAxis(int64_t axis, ArrayRef<int64_t> permutation) {
  return axis < 0 ? axis : llvm::find(permutation, axis) - permutation.begin();
}

TensorRef importer::transposed(const TensorRef &t,
                               ArrayRef<int64_t> permutation) {
  auto out = std::make_shared<GraphTensor>();
  out->constant = permute(*t->constant, permutation);
  out->onnx = t->onnx;
  out->shape = out->constant->shape;
  out->element = t->element;
  out->steps = t->steps;
  for (QuantStep &step : out->steps)
    step.axis = movedAxis(step.axis, permutation);
  return out;
}

TensorRef importer::reshaped(const TensorRef &t, Shape shape) {
  auto out = std::make_shared<GraphTensor>();
  out->constant = withShape(*t->constant, shape);
  out->onnx = t->onnx;
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

num::IntType importer::integerType(MLIRContext *context, int onnxType) {
  switch (onnxType) {
  case TensorProto::INT8:
    return num::IntType::getFull(context, true, 8);
  case TensorProto::UINT8:
    return num::IntType::getFull(context, false, 8);
  case TensorProto::INT16:
    return num::IntType::getFull(context, true, 16);
  case TensorProto::UINT16:
    return num::IntType::getFull(context, false, 16);
  case TensorProto::INT32:
    return num::IntType::getFull(context, true, 32);
  case kInt4:
    return num::IntType::getFull(context, true, 4);
  case kUint4:
    return num::IntType::getFull(context, false, 4);
  default:
    return {};
  }
}

FloatType importer::halfType(MLIRContext *context, int onnxType) {
  if (onnxType == TensorProto::FLOAT16)
    return Float16Type::get(context);
  if (onnxType == TensorProto::BFLOAT16)
    return BFloat16Type::get(context);
  return {};
}

/// The bounds of an integer type; nullopt for others and for uint64.
std::optional<std::pair<int64_t, int64_t>> importer::wholeRange(int type) {
  switch (type) {
  case TensorProto::BOOL:
    return {{0, 1}};
  case kUint4:
    return {{0, 15}};
  case kInt4:
    return {{-8, 7}};
  case TensorProto::UINT8:
    return {{0, UINT8_MAX}};
  case TensorProto::INT8:
    return {{INT8_MIN, INT8_MAX}};
  case TensorProto::UINT16:
    return {{0, UINT16_MAX}};
  case TensorProto::INT16:
    return {{INT16_MIN, INT16_MAX}};
  case TensorProto::UINT32:
    return {{0, UINT32_MAX}};
  case TensorProto::INT32:
    return {{INT32_MIN, INT32_MAX}};
  case TensorProto::INT64:
    return {{INT64_MIN, INT64_MAX}};
  default:
    return std::nullopt;
  }
}

bool importer::isWholeType(int type) {
  return wholeRange(type) || type == TensorProto::UINT64;
}

int importer::typeOf(const TensorRef &t) {
  if (t->onnx)
    return t->onnx;
  if (t->isPlainConstant())
    return t->constant->type;
  if (num::IntType i = dyn_cast_or_null<num::IntType>(t->element)) {
    unsigned width = i.getWidth();
    if (i == num::IntType::getFull(i.getContext(), i.getIsSigned(), 4))
      return i.getIsSigned() ? kInt4 : kUint4;
    if (i.getIsSigned())
      return width <= 8    ? TensorProto::INT8
             : width <= 16 ? TensorProto::INT16
                           : TensorProto::INT32;
    return width <= 8    ? TensorProto::UINT8
           : width <= 16 ? TensorProto::UINT16
                         : TensorProto::UINT32;
  }
  if (t->whole)
    return TensorProto::INT32;
  return t->element && t->element.isF32() ? TensorProto::FLOAT
                                          : TensorProto::INT64;
}

bool importer::isUnsigned(int type) {
  return type == TensorProto::UINT8 || type == TensorProto::UINT16 ||
         type == TensorProto::UINT32 || type == TensorProto::UINT64 ||
         type == TensorProto::BOOL;
}
