// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise arithmetic and activations of the network. No folding is done
// here.
#include "Asked.h"
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

Value importer::emitBinary(NodeContext &node, StringRef op, Value a, Value b,
                           Type result) {
  if (op == "Sub")
    return osa::SubOp::create(node.builder, node.loc, result, a, b);
  if (op == "Mul")
    return osa::MulOp::create(node.builder, node.loc, result, a, b);
  if (op == "Max")
    return osa::MaxOp::create(node.builder, node.loc, result, a, b);
  if (op == "Min")
    return osa::MinOp::create(node.builder, node.loc, result, a, b);
  if (op == "Div")
    return osa::DivOp::create(node.builder, node.loc, result, a, b);
  return osa::AddOp::create(node.builder, node.loc, result, a, b);
}

/// True for a constant that varies only along axis 1 of a tensor of `rank`.
static bool isPerChannel(const GraphTensor &t, size_t rank) {
  if (!t.isConstant() || t.rank() > rank || t.rank() + 1 < rank)
    return false;
  for (size_t i = 0; i < t.rank(); ++i)
    if ((t.shape[i] != 1) != (i + rank - t.rank() == 1))
      return false;
  return true;
}

TensorRef importer::emitBinaryTensors(NodeContext &node, StringRef op,
                                      const TensorRef &a, const TensorRef &b) {
  std::optional<Shape> shape = broadcast(a->shape, b->shape);
  if (!shape) {
    node.refuse(formatv("its inputs' shapes {0} and {1} do not broadcast",
                        describe(a->shape), describe(b->shape)),
                toBroadcast(a->shape, b->shape));
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
      return plain(node, t);
    return t->isConstant() ? constantBesideLast(node, t, rank)
                           : channelsLast(node, t);
  };
  Value x = value(a), y = x ? value(b) : Value();
  if (!x || !y)
    return nullptr;
  auto out = std::make_shared<GraphTensor>();
  out->shape = *shape;
  out->element = node.f32;
  Value v = emitBinary(node, op, x, y,
                       tensorType(last ? lastShape(*shape) : *shape, node.f32));
  (last ? out->last : out->plain) = v;
  return out;
}

LogicalResult network::binary(NodeContext &node) {
  if (failed(node.requireReal(0)) || failed(node.requireReal(1)))
    return failure();
  TensorRef a = node.input(0), b = node.input(1);
  if (node.op() == "Div" && b->isConstant() &&
      (llvm::is_contained(b->constant->reals, 0.0) ||
       llvm::is_contained(b->constant->ints, 0)))
    return node.refuse("its divisor holds a zero");
  TensorRef out = emitBinaryTensors(node, node.op(), a, b);
  if (!out)
    return failure();
  // Integer division truncates towards zero.
  if (a->whole && b->whole && node.op() == "Div")
    out = rounded(node, out, osa::Rounding::TowardZero, kWideIntegers);
  return out ? node.setResult(0, out) : failure();
}

LogicalResult network::sum(NodeContext &node) {
  if (node.inputs.empty())
    return node.refuse("it has no input");
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (failed(node.requireReal(i)))
      return failure();
  TensorRef total = node.inputs[0];
  for (const TensorRef &t : llvm::drop_begin(node.inputs)) {
    total = emitBinaryTensors(node, "Add", total, t);
    if (!total)
      return failure();
  }
  return node.setResult(0, total);
}

LogicalResult network::extremum(NodeContext &node) {
  if (node.inputs.empty())
    return node.refuse("it has no input");
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (failed(node.requireReal(i)))
      return failure();
  TensorRef most = node.inputs[0];
  for (const TensorRef &t : llvm::drop_begin(node.inputs)) {
    most = emitBinaryTensors(node, node.op(), most, t);
    if (!most)
      return failure();
  }
  return node.setResult(0, most);
}

LogicalResult network::pow(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  TensorRef exponent = node.input(1);
  if (!exponent || !exponent->isPlainConstant() ||
      exponent->constant->size() != 1)
    return node.refuse("its exponent is not one constant");
  const HostTensor &host = *exponent->constant;
  double e = host.isReal() ? host.reals[0] : double(host.ints[0]);
  TensorRef x = node.input(0);
  if (e == 1)
    return passThrough(node, x);
  if (e == 2) {
    TensorRef out = emitBinaryTensors(node, "Mul", x, x);
    return out ? node.setResult(0, out) : failure();
  }
  if (e == 0.5)
    return elementwise(node, x, node.f32,
                       [&](Value v, RankedTensorType t, bool) -> Value {
                         return osa::UnaryOp::create(node.builder, node.loc, t,
                                                     v, osa::UnaryKind::Sqrt);
                       });
  return node.refuse(formatv("its exponent is {0}", e),
                     "exponents 0.5, 1 and 2 are supported");
}

LogicalResult network::relu(NodeContext &node) {
  if (node.input(0) && isa_and_nonnull<num::IntType>(node.input(0)->element))
    return clipIntegers(node, 0, INT64_MAX);
  if (failed(node.requireReal(0)))
    return failure();
  return elementwise(node, node.input(0), node.f32,
                     [&](Value v, RankedTensorType t, bool) -> Value {
                       return osa::ReluOp::create(node.builder, node.loc, t, v);
                     });
}

LogicalResult network::leakyRelu(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  double alpha = node.getFloat("alpha", 0.01f);
  if (!std::isfinite(alpha))
    return node.refuse(formatv("its alpha is {0}", alpha));
  return elementwise(node, node.input(0), node.f32,
                     [&](Value v, RankedTensorType t, bool) -> Value {
                       return osa::LeakyReluOp::create(
                           node.builder, node.loc, t, v,
                           node.builder.getF32FloatAttr(float(alpha)));
                     });
}

LogicalResult network::clip(NodeContext &node) {
  if (node.input(0) && isa_and_nonnull<num::IntType>(node.input(0)->element)) {
    int64_t bounds[] = {INT64_MIN, INT64_MAX};
    for (size_t i : {0, 1}) {
      if (!node.input(i + 1))
        continue;
      auto values = node.constantInts(i + 1, i ? "maximum" : "minimum");
      if (!values)
        return failure();
      if (values->size() != 1)
        return node.refuse(formatv("its {0} holds {1} values",
                                   i ? "maximum" : "minimum", values->size()));
      bounds[i] = values->front();
    }
    return clipIntegers(node, bounds[0], bounds[1]);
  }
  if (failed(node.requireReal(0)))
    return failure();
  double bounds[] = {node.getFloat("min", -FLT_MAX),
                     node.getFloat("max", FLT_MAX)};
  for (size_t i : {0, 1}) {
    StringRef what = i ? "maximum" : "minimum";
    if (TensorRef bound = node.input(i + 1)) {
      std::optional<std::vector<double>> values;
      if (bound->isPlainConstant() && !bound->constant->isReal())
        values.emplace(bound->constant->ints.begin(),
                       bound->constant->ints.end());
      else
        values = node.constantReals(i + 1, what);
      if (!values)
        return failure();
      if (values->size() != 1)
        return node.refuse(
            formatv("its {0} holds {1} values", what, values->size()));
      bounds[i] =
          std::clamp(values->front(), double(-FLT_MAX), double(FLT_MAX));
    }
    if (std::isnan(bounds[i]))
      return node.refuse(formatv("its {0} is NaN", what));
    if (node.input(0)->whole && double(float(bounds[i])) != bounds[i])
      return node.refuse(
          formatv("its {0} {1} is not exact in float32", what, bounds[i]));
  }
  if (failed(elementwise(node, node.input(0), node.f32,
                         [&](Value v, RankedTensorType t, bool) -> Value {
                           return osa::ClipOp::create(
                               node.builder, node.loc, t, v,
                               node.builder.getF32FloatAttr(float(bounds[0])),
                               node.builder.getF32FloatAttr(float(bounds[1])));
                         })))
    return failure();
  if (node.input(0)->whole) {
    auto [lo, hi] = *node.input(0)->whole;
    setWhole(node, {std::max(lo, int64_t(std::max(bounds[0], -0x1p60))),
                    std::min(hi, int64_t(std::min(bounds[1], 0x1p60)))});
  }
  return success();
}

LogicalResult network::unary(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  if (std::string form = node.getString("approximate", "none"); form != "none")
    return node.refuse(formatv("its attribute approximate is '{0}'", form),
                       "only 'none', the function itself, is supported");
  auto kind = osa::symbolizeUnaryKind(node.op().lower());
  assert(kind && "ONNX names these functions as we do");
  return elementwise(node, node.input(0), node.f32,
                     [&](Value v, RankedTensorType t, bool) -> Value {
                       return osa::UnaryOp::create(node.builder, node.loc, t, v,
                                                   *kind);
                     });
}
