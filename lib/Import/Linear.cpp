// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products, elementwise arithmetic, activations, and what ends a
// classifier (softmax, arg max). Nothing is folded into anything here.
#include "Importer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// `weights` is a constant [O, C], `bias` a constant [O] or null.
Value Importer::emitDense(Value x, const TensorRef &weights,
                          const TensorRef &bias) {
  Value w = materialise(*weights);
  Value b = bias ? materialise(*bias) : Value();
  if (!x || !w || (bias && !b))
    return {};
  Shape shape(cast<RankedTensorType>(x.getType()).getShape());
  shape.back() = weights->shape[0];
  return osa::DenseOp::create(builder, loc, type(shape, f32), x, w, b);
}

LogicalResult Importer::gemm() {
  TensorRef a = input(0), b = input(1), c = input(2);
  if (failed(requireReal(0)) || failed(requireReal(1)) ||
      (c && failed(requireReal(2))))
    return failure();
  if (!b->isConstant())
    return refuse("its weights (input 1) are not constant",
                  "export the model with its parameters as initialisers");
  if (node->getInt("transA", 0) != 0)
    return refuse("its attribute transA is 1", "transpose before the node");
  bool transB = node->getInt("transB", 0) != 0;
  if (a->rank() != 2 || b->rank() != 2 ||
      a->shape[1] != b->shape[transB ? 1 : 0])
    return refuse(formatv("its inputs {0} and {1} (transB {2}) do not fit",
                          describe(a->shape), describe(b->shape), int(transB)));
  TensorRef weights = transB ? b : transposed(b, {1, 0});
  double alpha = node->getFloat("alpha", 1), beta = node->getFloat("beta", 1);
  if (!std::isfinite(alpha) || !std::isfinite(beta))
    return refuse(formatv("its alpha is {0}, its beta {1}", alpha, beta));
  Shape shape = {a->shape[0], weights->shape[0]};
  if (c && broadcast(c->shape, shape) != std::optional(shape))
    return refuse(formatv("its input C {0} does not broadcast to {1}",
                          describe(c->shape), describe(shape)));
  if (beta == 0)
    c = nullptr;
  TensorRef bias;
  if (c && c->isConstant() && alpha == 1 && beta == 1 &&
      elementCount(c->shape) == shape[1] && c->shape.back() == shape[1])
    bias = reshaped(c, {shape[1]});
  Value v = emitDense(plain(a), weights, bias);
  if (!v)
    return failure();
  auto scaled = [&](Value x, double factor) -> Value {
    if (factor == 1)
      return x;
    auto scalar = DenseElementsAttr::get(type({}, f32), float(factor));
    Value k = osa::ConstantOp::create(builder, loc, scalar.getType(), scalar);
    return emitBinary("Mul", x, k, x.getType());
  };
  v = scaled(v, alpha);
  if (c && !bias) {
    Value addend = plain(c);
    if (!addend)
      return failure();
    v = emitBinary("Add", v, scaled(addend, beta), v.getType());
  }
  return setPlain(v);
}

/// The constant as a matrix if all but its last two axes are 1.
static bool isMatrix(const GraphTensor &t) {
  for (size_t i = 0; i + 2 < t.rank(); ++i)
    if (t.shape[i] != 1)
      return false;
  return t.rank() >= 2;
}

LogicalResult Importer::matMul() {
  TensorRef a = input(0), b = input(1);
  if (failed(requireReal(0)) || failed(requireReal(1)))
    return failure();
  if (a->rank() == 0 || b->rank() == 0)
    return refuse("one of its inputs is a scalar");
  auto mismatch = [&] {
    return refuse(formatv("its inputs {0} and {1} do not fit",
                          describe(a->shape), describe(b->shape)));
  };
  if (b->isConstant()) {
    bool vector = b->rank() == 1;
    if (!vector && !isMatrix(*b))
      return refuse(formatv("its constant {0} is a batch of matrices",
                            describe(b->shape)),
                    "one matrix is supported");
    int64_t rows = vector ? b->shape[0] : b->shape[b->rank() - 2];
    if (a->shape.back() != rows)
      return mismatch();
    TensorRef matrix =
        reshaped(b, vector ? Shape{1, rows} : Shape{rows, b->shape.back()});
    Value v = emitDense(plain(a), vector ? matrix : transposed(matrix, {1, 0}),
                        nullptr);
    if (!v)
      return failure();
    Shape shape(cast<RankedTensorType>(v.getType()).getShape());
    if (vector)
      shape.pop_back();
    while (a->rank() > 1 && !vector && shape.size() < b->rank())
      shape.insert(shape.begin(), 1);
    return setPlain(reshape(v, shape));
  }
  if (a->isConstant() && a->rank() == 2 && b->rank() == 2) {
    if (a->shape[1] != b->shape[0])
      return mismatch();
    Value x = plain(b);
    Value v = x ? emitDense(transpose(x, {1, 0}), a, nullptr) : Value();
    return setPlain(v ? transpose(v, {1, 0}) : v);
  }
  return matMulOfTwo();
}

//===----------------------------------------------------------------------===//
// Elementwise with two operands
//===----------------------------------------------------------------------===//

Value Importer::emitBinary(StringRef op, Value a, Value b, Type result) {
  if (op == "Sub")
    return osa::SubOp::create(builder, loc, result, a, b);
  if (op == "Mul")
    return osa::MulOp::create(builder, loc, result, a, b);
  if (op == "Max")
    return osa::MaxOp::create(builder, loc, result, a, b);
  if (op == "Min")
    return osa::MinOp::create(builder, loc, result, a, b);
  if (op == "Div")
    return osa::DivOp::create(builder, loc, result, a, b);
  return osa::AddOp::create(builder, loc, result, a, b);
}

/// True for a constant that varies along axis 1 of a tensor of `rank` alone.
static bool isPerChannel(const GraphTensor &t, size_t rank) {
  if (!t.isConstant() || t.rank() > rank || t.rank() + 1 < rank)
    return false;
  for (size_t i = 0; i < t.rank(); ++i)
    if ((t.shape[i] != 1) != (i + rank - t.rank() == 1))
      return false;
  return true;
}

TensorRef Importer::emitBinaryTensors(StringRef op, const TensorRef &a,
                                      const TensorRef &b) {
  std::optional<Shape> shape = broadcast(a->shape, b->shape);
  if (!shape) {
    refuse(formatv("its inputs' shapes {0} and {1} do not broadcast",
                   describe(a->shape), describe(b->shape)));
    return nullptr;
  }
  size_t rank = shape->size();
  auto fits = [&](const TensorRef &t) {
    return t->isConstant() || t->rank() == rank;
  };
  auto isLast = [](const TensorRef &t) { return t->last && !t->isConstant(); };
  bool last = (rank == 3 || rank == 4) && fits(a) && fits(b) &&
              (isLast(a) || isLast(b) || isPerChannel(*a, rank) ||
               isPerChannel(*b, rank));
  auto value = [&](const TensorRef &t) -> Value {
    if (!last)
      return plain(t);
    return t->isConstant() ? constantBesideLast(t, rank) : channelsLast(t);
  };
  Value x = value(a), y = x ? value(b) : Value();
  if (!x || !y)
    return nullptr;
  auto out = std::make_shared<GraphTensor>();
  out->shape = *shape;
  out->element = f32;
  Value v = emitBinary(op, x, y, type(last ? lastShape(*shape) : *shape, f32));
  (last ? out->last : out->plain) = v;
  return out;
}

LogicalResult Importer::binary() {
  if (failed(requireReal(0)) || failed(requireReal(1)))
    return failure();
  TensorRef a = input(0), b = input(1);
  if (node->op() == "Div" && b->isConstant() && b->constant->isReal() &&
      llvm::is_contained(b->constant->reals, 0.0))
    return refuse("its divisor holds a zero");
  TensorRef out = emitBinaryTensors(node->op(), a, b);
  if (!out)
    return failure();
  // Integer division cuts off towards zero.
  if (a->whole && b->whole && node->op() == "Div")
    out = rounded(out, osa::Rounding::TowardZero, kWideIntegers);
  return out ? setResult(0, out) : failure();
}

LogicalResult Importer::sum() {
  if (inputs.empty())
    return refuse("it has no input");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (failed(requireReal(i)))
      return failure();
  TensorRef total = inputs[0];
  for (const TensorRef &t : llvm::drop_begin(inputs)) {
    total = emitBinaryTensors("Add", total, t);
    if (!total)
      return failure();
  }
  return setResult(0, total);
}

LogicalResult Importer::pow() {
  if (failed(requireReal(0)))
    return failure();
  TensorRef exponent = input(1);
  if (!exponent || !exponent->isPlainConstant() ||
      exponent->constant->size() != 1)
    return refuse("its exponent is not one constant");
  const HostTensor &host = *exponent->constant;
  double e = host.isReal() ? host.reals[0] : double(host.ints[0]);
  TensorRef x = input(0);
  if (e == 1)
    return passThrough(x);
  if (e == 2) {
    TensorRef out = emitBinaryTensors("Mul", x, x);
    return out ? setResult(0, out) : failure();
  }
  if (e == 0.5)
    return elementwise(x, f32, [&](Value v, RankedTensorType t, bool) -> Value {
      return osa::UnaryOp::create(builder, loc, t, v, osa::UnaryKind::Sqrt);
    });
  return refuse(formatv("its exponent is {0}", e),
                "exponents 0.5, 1 and 2 are supported");
}

//===----------------------------------------------------------------------===//
// Elementwise with one operand
//===----------------------------------------------------------------------===//

LogicalResult Importer::relu() {
  if (input(0) && isa_and_nonnull<num::IntType>(input(0)->element))
    return clipIntegers(0, INT64_MAX);
  if (failed(requireReal(0)))
    return failure();
  return elementwise(input(0), f32,
                     [&](Value v, RankedTensorType t, bool) -> Value {
                       return osa::ReluOp::create(builder, loc, t, v);
                     });
}

LogicalResult Importer::leakyRelu() {
  if (failed(requireReal(0)))
    return failure();
  double alpha = node->getFloat("alpha", 0.01f);
  if (!std::isfinite(alpha))
    return refuse(formatv("its alpha is {0}", alpha));
  return elementwise(
      input(0), f32, [&](Value v, RankedTensorType t, bool) -> Value {
        return osa::LeakyReluOp::create(builder, loc, t, v,
                                        builder.getF32FloatAttr(float(alpha)));
      });
}

LogicalResult Importer::clip() {
  if (input(0) && isa_and_nonnull<num::IntType>(input(0)->element)) {
    int64_t bounds[] = {INT64_MIN, INT64_MAX};
    for (size_t i : {0, 1}) {
      if (!input(i + 1))
        continue;
      auto values = constantInts(i + 1, i ? "maximum" : "minimum");
      if (!values)
        return failure();
      if (values->size() != 1)
        return refuse(formatv("its {0} holds {1} values",
                              i ? "maximum" : "minimum", values->size()));
      bounds[i] = values->front();
    }
    return clipIntegers(bounds[0], bounds[1]);
  }
  if (failed(requireReal(0)))
    return failure();
  double bounds[] = {node->getFloat("min", -FLT_MAX),
                     node->getFloat("max", FLT_MAX)};
  for (size_t i : {0, 1}) {
    StringRef what = i ? "maximum" : "minimum";
    if (TensorRef bound = input(i + 1)) {
      std::optional<std::vector<double>> values;
      if (bound->isPlainConstant() && !bound->constant->isReal())
        values.emplace(bound->constant->ints.begin(),
                       bound->constant->ints.end());
      else
        values = constantReals(i + 1, what);
      if (!values)
        return failure();
      if (values->size() != 1)
        return refuse(
            formatv("its {0} holds {1} values", what, values->size()));
      bounds[i] =
          std::clamp(values->front(), double(-FLT_MAX), double(FLT_MAX));
    }
    if (std::isnan(bounds[i]))
      return refuse(formatv("its {0} is NaN", what));
  }
  if (failed(elementwise(
          input(0), f32, [&](Value v, RankedTensorType t, bool) -> Value {
            return osa::ClipOp::create(
                builder, loc, t, v, builder.getF32FloatAttr(float(bounds[0])),
                builder.getF32FloatAttr(float(bounds[1])));
          })))
    return failure();
  if (input(0)->whole) {
    auto [lo, hi] = *input(0)->whole;
    setWhole({std::max(lo, int64_t(std::max(bounds[0], -0x1p60))),
              std::min(hi, int64_t(std::min(bounds[1], 0x1p60)))});
  }
  return success();
}

LogicalResult Importer::unary() {
  if (failed(requireReal(0)))
    return failure();
  if (std::string form = node->getString("approximate", "none"); form != "none")
    return refuse(formatv("its attribute approximate is '{0}'", form),
                  "only 'none', the function itself, is supported");
  auto kind = osa::symbolizeUnaryKind(node->op().lower());
  assert(kind && "ONNX names these functions as we do");
  return elementwise(input(0), f32,
                     [&](Value v, RankedTensorType t, bool) -> Value {
                       return osa::UnaryOp::create(builder, loc, t, v, *kind);
                     });
}

//===----------------------------------------------------------------------===//
// What ends a classifier
//===----------------------------------------------------------------------===//

LogicalResult Importer::softmax() {
  if (failed(requireReal(0)))
    return failure();
  TensorRef x = input(0);
  bool coerced = graph.opset < 13;
  std::optional<int64_t> axis = axisAttribute(coerced ? 1 : -1, x->rank());
  Value v = axis ? plain(x) : Value();
  if (!v)
    return failure();
  // Before opset 13 the axes from `axis` on are one.
  bool flat = coerced && *axis != int64_t(x->rank()) - 1;
  Shape shape = x->shape;
  if (flat) {
    Shape two = {1, 1};
    for (size_t i = 0; i < shape.size(); ++i)
      two[int64_t(i) >= *axis] *= shape[i];
    v = reshape(v, two);
    *axis = 1;
  }
  v = osa::SoftmaxOp::create(builder, loc, v.getType(), v,
                             builder.getI64IntegerAttr(*axis),
                             builder.getBoolAttr(node->op() == "LogSoftmax"));
  return setPlain(reshape(v, shape));
}

LogicalResult Importer::emitArgMax(const TensorRef &x, int64_t axis, bool keep,
                                   bool lastOne, size_t output) {
  Value v = plain(x);
  if (!v)
    return failure();
  auto out = std::make_shared<GraphTensor>();
  out->shape = x->shape;
  out->element = builder.getI64Type();
  if (keep)
    out->shape[axis] = 1;
  else
    out->shape.erase(out->shape.begin() + axis);
  out->plain = osa::ArgMaxOp::create(
      builder, loc, type(out->shape, out->element), v,
      builder.getI64IntegerAttr(axis), builder.getBoolAttr(keep),
      builder.getBoolAttr(lastOne));
  return setResult(output, out);
}

LogicalResult Importer::argMax() {
  if (failed(requireReal(0)))
    return failure();
  std::optional<int64_t> axis = axisAttribute(0, input(0)->rank());
  if (!axis)
    return failure();
  return emitArgMax(input(0), *axis, node->getInt("keepdims", 1) != 0,
                    node->getInt("select_last_index", 0) != 0, 0);
}

LogicalResult Importer::topK() {
  if (failed(requireReal(0)))
    return failure();
  int64_t k = node->getInt("k", 0);
  if (input(1)) {
    auto values = constantInts(1, "K");
    if (!values)
      return failure();
    k = values->size() == 1 ? values->front() : 0;
  }
  if (k != 1 || node->getInt("largest", 1) != 1)
    return refuse(formatv("it takes the {0} {1} elements", k,
                          node->getInt("largest", 1) ? "largest" : "smallest"),
                  "only the largest (K = 1) is supported");
  if (outputUsed(0))
    return refuse("its first output (the values) is used",
                  "only the indices are supported");
  std::optional<int64_t> axis = axisAttribute(-1, input(0)->rank());
  return axis ? emitArgMax(input(0), *axis, true, false, 1) : failure();
}
