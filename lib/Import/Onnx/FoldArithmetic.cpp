// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant nodes that compute.
#include "Fold.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::StringRef;
using onnx::TensorProto;

/// Wraps an integer to the width of its type.
static int64_t wrapTo(int type, int64_t value) {
  switch (type) {
  case TensorProto::BOOL:
    return value != 0;
  case TensorProto::UINT8:
    return uint8_t(value);
  case TensorProto::INT8:
    return int8_t(value);
  case TensorProto::UINT16:
    return uint16_t(value);
  case TensorProto::INT16:
    return int16_t(value);
  case TensorProto::UINT32:
    return uint32_t(value);
  case TensorProto::INT32:
    return int32_t(value);
  default:
    return value;
  }
}

/// An integer as a real of `type`, rounded once.
static double realFrom(int64_t value, int from, int type) {
  bool isHuge = from == TensorProto::UINT64 && value < 0;
  if (type == TensorProto::FLOAT)
    return isHuge ? float(uint64_t(value)) : float(value);
  return roundToType(type, isHuge ? double(uint64_t(value)) : double(value));
}

Fold fold::cast(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0);
  int to = int(f.node.getInt("to", 0));
  if (!x)
    return f.fail("its input is missing");
  bool known = HostTensor::isRealType(to) ||
               (to >= TensorProto::UINT8 && to <= TensorProto::UINT64 &&
                to != TensorProto::STRING && to != TensorProto::COMPLEX64);
  if (!known)
    return f.fail(formatv("it casts a constant to {0}", typeName(to)));
  auto t = f.make(to, x->shape);
  if (!t)
    return Fold::Failed;
  for (size_t i = 0; i < x->size(); ++i) {
    if (t->isReal()) {
      t->reals[i] = x->isReal() ? roundToType(to, x->reals[i])
                                : realFrom(x->ints[i], x->type, to);
    } else if (!x->isReal()) {
      t->ints[i] = wrapTo(to, x->ints[i]);
    } else if (to == TensorProto::BOOL) {
      t->ints[i] = x->reals[i] != 0;
    } else {
      if (!(std::abs(x->reals[i]) < 9.2e18))
        return f.fail(formatv("it casts the value {0} to {1}", x->reals[i],
                              typeName(to)));
      t->ints[i] = wrapTo(to, int64_t(x->reals[i]));
    }
  }
  out = t;
  return Fold::Folded;
}

Fold fold::binary(Folding &f, HostRef &out) {
  StringRef op = f.node.op();
  if ((op == "Min" || op == "Max") && f.inputs.size() != 2)
    return Fold::NotFoldable;
  const HostTensor *a = f.in(0), *b = f.in(1);
  if (!a || !b)
    return f.fail("an input is missing");
  if (op == "Pow" && a->isReal() && !b->isReal())
    ; // the exponent may have a type of its own
  else if (a->type != b->type)
    return f.fail(formatv("its inputs have the types {0} and {1}",
                          typeName(a->type), typeName(b->type)));
  std::optional<Shape> shape = broadcast(a->shape, b->shape);
  if (!shape)
    return f.fail(formatv("its inputs' shapes {0} and {1} do not broadcast",
                          describe(a->shape), describe(b->shape)));
  bool compares = op == "Equal";
  auto t = f.make(compares ? int(TensorProto::BOOL) : a->type, *shape);
  if (!t)
    return Fold::Failed;
  bool bad = false;
  auto real = [&](double x, double y) -> double {
    if (op == "Add")
      return x + y;
    if (op == "Sub")
      return x - y;
    if (op == "Mul")
      return x * y;
    if (op == "Div")
      return x / y;
    if (op == "Min")
      return std::min(x, y);
    if (op == "Max")
      return std::max(x, y);
    return std::pow(x, y);
  };
  auto integer = [&](int64_t x, int64_t y) -> int64_t {
    if (op == "Add")
      return int64_t(uint64_t(x) + uint64_t(y));
    if (op == "Sub")
      return int64_t(uint64_t(x) - uint64_t(y));
    if (op == "Mul")
      return int64_t(uint64_t(x) * uint64_t(y));
    if (op == "Min")
      return std::min(x, y);
    if (op == "Max")
      return std::max(x, y);
    if (op == "Div") {
      bad |= y == 0 || (y == -1 && x == INT64_MIN);
      return bad ? 0 : x / y;
    }
    double power = std::pow(double(x), double(y));
    bad |= !(std::abs(power) < 9e15); // exact in a double
    return bad ? 0 : int64_t(power);
  };
  size_t i = 0;
  forEachIndex(t->shape, [&](ArrayRef<int64_t> index) {
    size_t p = broadcastOffset(a->shape, index);
    size_t q = broadcastOffset(b->shape, index);
    if (compares)
      t->ints[i] =
          a->isReal() ? a->reals[p] == b->reals[q] : a->ints[p] == b->ints[q];
    else if (a->isReal())
      t->reals[i] = roundToType(
          t->type,
          real(a->reals[p], b->isReal() ? b->reals[q] : double(b->ints[q])));
    else
      t->ints[i] = wrapTo(t->type, integer(a->ints[p], b->ints[q]));
    ++i;
  });
  if (bad)
    return f.fail("it divides a constant by zero, or overflows");
  out = t;
  return Fold::Folded;
}

Fold fold::unary(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0);
  if (!x)
    return Fold::NotFoldable;
  StringRef op = f.node.op();
  auto t = std::make_shared<HostTensor>(*x);
  if (!x->isReal()) {
    if (op != "Neg" && op != "Abs")
      return Fold::NotFoldable;
    for (int64_t &v : t->ints)
      if (op == "Neg" || v < 0)
        v = wrapTo(t->type, int64_t(0 - uint64_t(v)));
    out = t;
    return Fold::Folded;
  }
  for (double &v : t->reals) {
    if (op == "Sqrt")
      v = std::sqrt(v);
    else if (op == "Neg")
      v = -v;
    else if (op == "Abs")
      v = std::abs(v);
    else if (op == "Floor")
      v = std::floor(v);
    else if (op == "Ceil")
      v = std::ceil(v);
    else if (op == "Reciprocal")
      v = 1 / v;
    v = roundToType(t->type, v);
  }
  out = t;
  return Fold::Folded;
}
