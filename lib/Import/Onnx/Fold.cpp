// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folding of constant nodes: shape arithmetic and what exporters leave around
// weights. Every float result is rounded to its tensor's precision.
#include "Constant.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <functional>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::StringRef;
using onnx::TensorProto;

namespace {
class Folder {
public:
  Folder(const Node &node, ArrayRef<HostRef> inputs, int64_t limit,
         std::string &error)
      : node(node), inputs(inputs), limit(limit), error(error) {}
  Fold run(HostRef &out);

private:
  Fold fail(std::string why) {
    error = std::move(why);
    return Fold::Failed;
  }
  const HostTensor *in(size_t i) const {
    return i < inputs.size() ? inputs[i].get() : nullptr;
  }
  /// A result of `type` and `shape`, allocated; null (with the error set) if
  /// it would be too large.
  std::shared_ptr<HostTensor> make(int type, Shape shape);
  std::optional<std::vector<int64_t>> integers(size_t i, StringRef attribute);

  Fold constant(HostRef &out);
  Fold constantOfShape(HostRef &out);
  Fold cast(HostRef &out);
  Fold binary(HostRef &out);
  Fold unary(HostRef &out);
  Fold gather(HostRef &out);
  Fold concat(HostRef &out);
  Fold slice(HostRef &out);
  Fold expand(HostRef &out);

  const Node &node;
  ArrayRef<HostRef> inputs;
  int64_t limit; ///< elements of the result
  std::string &error;
};
} // namespace

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

std::shared_ptr<HostTensor> Folder::make(int type, Shape shape) {
  std::optional<int64_t> count = elementCount(shape);
  if (!count || *count > limit) {
    error = formatv("it computes a constant of shape {0}, more than the {1} "
                    "elements still allowed",
                    describe(shape), limit);
    return nullptr;
  }
  auto out = std::make_shared<HostTensor>();
  out->type = type;
  out->shape = std::move(shape);
  (out->isReal() ? out->reals.resize(*count) : out->ints.resize(*count));
  return out;
}

std::optional<std::vector<int64_t>> Folder::integers(size_t i,
                                                     StringRef attribute) {
  if (const HostTensor *t = in(i))
    return t->isReal() ? std::nullopt : std::optional(t->ints);
  return node.getInts(attribute);
}

Fold Folder::constant(HostRef &out) {
  if (const onnx::AttributeProto *a = node.find("value")) {
    if (!a->has_t())
      return fail("its attribute 'value' holds no tensor");
    out = decodeTensor(a->t(), "", error);
    return out ? Fold::Folded : Fold::Failed;
  }
  for (StringRef name :
       {"value_float", "value_floats", "value_int", "value_ints"}) {
    const onnx::AttributeProto *a = node.find(name);
    if (!a)
      continue;
    auto t = std::make_shared<HostTensor>();
    t->type = name.contains("float") ? TensorProto::FLOAT : TensorProto::INT64;
    t->reals.assign(a->floats().begin(), a->floats().end());
    t->ints.assign(a->ints().begin(), a->ints().end());
    if (name == "value_float")
      t->reals = {a->f()};
    if (name == "value_int")
      t->ints = {a->i()};
    if (name.ends_with("s"))
      t->shape = {int64_t(t->size())};
    out = t;
    return Fold::Folded;
  }
  return fail("it holds neither a tensor nor numbers");
}

Fold Folder::constantOfShape(HostRef &out) {
  const HostTensor *shape = in(0);
  if (!shape || shape->isReal())
    return fail("its shape is not a tensor of integers");
  HostRef value;
  if (const onnx::AttributeProto *a = node.find("value")) {
    value = decodeTensor(a->t(), "", error);
    if (!value)
      return Fold::Failed;
    if (value->size() != 1)
      return fail(
          formatv("its value has {0} elements instead of one", value->size()));
  }
  auto t = make(value ? value->type : TensorProto::FLOAT, shape->ints);
  if (!t)
    return Fold::Failed;
  if (value && t->isReal())
    llvm::fill(t->reals, value->reals[0]);
  else if (value)
    llvm::fill(t->ints, value->ints[0]);
  out = t;
  return Fold::Folded;
}

Fold Folder::cast(HostRef &out) {
  const HostTensor *x = in(0);
  int to = int(node.getInt("to", 0));
  if (!x)
    return fail("its input is missing");
  bool known = HostTensor::isRealType(to) ||
               (to >= TensorProto::UINT8 && to <= TensorProto::UINT64 &&
                to != TensorProto::STRING && to != TensorProto::COMPLEX64);
  if (!known)
    return fail(formatv("it casts a constant to {0}", typeName(to)));
  auto t = make(to, x->shape);
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
        return fail(formatv("it casts the value {0} to {1}", x->reals[i],
                            typeName(to)));
      t->ints[i] = wrapTo(to, int64_t(x->reals[i]));
    }
  }
  out = t;
  return Fold::Folded;
}

/// The offset in a tensor of `shape` that broadcasts to the current `index`.
static size_t broadcastOffset(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> index) {
  size_t offset = 0, skip = index.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    offset = offset * shape[i] + (shape[i] == 1 ? 0 : index[i + skip]);
  return offset;
}

/// Calls `visit(index)` for every index of `shape`, in row-major order.
static void forEachIndex(ArrayRef<int64_t> shape,
                         llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  std::vector<int64_t> index(shape.size());
  int64_t count = *elementCount(shape);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

Fold Folder::binary(HostRef &out) {
  StringRef op = node.op();
  const HostTensor *a = in(0), *b = in(1);
  if (!a || !b)
    return fail("an input is missing");
  if (op == "Pow" && a->isReal() && !b->isReal())
    ; // the exponent may have a type of its own
  else if (a->type != b->type)
    return fail(formatv("its inputs have the types {0} and {1}",
                        typeName(a->type), typeName(b->type)));
  std::optional<Shape> shape = broadcast(a->shape, b->shape);
  if (!shape)
    return fail(formatv("its inputs' shapes {0} and {1} do not broadcast",
                        describe(a->shape), describe(b->shape)));
  bool compares = op == "Equal";
  auto t = make(compares ? int(TensorProto::BOOL) : a->type, *shape);
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
    return fail("it divides a constant by zero, or overflows");
  out = t;
  return Fold::Folded;
}

Fold Folder::unary(HostRef &out) {
  const HostTensor *x = in(0);
  if (!x)
    return Fold::NotFoldable;
  StringRef op = node.op();
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

/// Normalises an axis; -1 if it is out of range.
static int64_t axisOf(int64_t axis, size_t rank) {
  int64_t r = int64_t(rank);
  return axis < -r || axis >= r ? -1 : axis < 0 ? axis + r : axis;
}

Fold Folder::gather(HostRef &out) {
  const HostTensor *x = in(0), *indices = in(1);
  if (!x || !indices || indices->isReal())
    return fail("its indices are not integers");
  int64_t axis = axisOf(node.getInt("axis", 0), x->shape.size());
  if (axis < 0)
    return fail(formatv("its axis {0} is out of range for the shape {1}",
                        node.getInt("axis", 0), describe(x->shape)));
  Shape shape(x->shape.begin(), x->shape.begin() + axis);
  llvm::append_range(shape, indices->shape);
  shape.insert(shape.end(), x->shape.begin() + axis + 1, x->shape.end());
  auto t = make(x->type, shape);
  if (!t)
    return Fold::Failed;
  int64_t outer = 1, inner = 1, size = x->shape[axis];
  for (int64_t i = 0; i < axis; ++i)
    outer *= x->shape[i];
  for (size_t i = axis + 1; i < x->shape.size(); ++i)
    inner *= x->shape[i];
  size_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t index : indices->ints) {
      if (index < -size || index >= size)
        return fail(formatv("its index {0} is out of range for {1} elements",
                            index, size));
      int64_t from = (o * size + (index < 0 ? index + size : index)) * inner;
      for (int64_t k = 0; k < inner; ++k, ++to)
        if (t->isReal())
          t->reals[to] = x->reals[from + k];
        else
          t->ints[to] = x->ints[from + k];
    }
  out = t;
  return Fold::Folded;
}

Fold Folder::concat(HostRef &out) {
  if (!in(0))
    return fail("it has no input");
  int64_t axis = axisOf(node.getInt("axis", 0), in(0)->shape.size());
  if (axis < 0)
    return fail(formatv("its axis {0} is out of range for the shape {1}",
                        node.getInt("axis", 0), describe(in(0)->shape)));
  Shape shape = in(0)->shape;
  shape[axis] = 0;
  for (const HostRef &x : inputs) {
    if (!x || x->type != in(0)->type || x->shape.size() != shape.size())
      return fail("its inputs differ in type or rank");
    for (size_t i = 0; i < shape.size(); ++i)
      if (int64_t(i) != axis && x->shape[i] != shape[i])
        return fail(formatv("its inputs' shapes {0} and {1} differ",
                            describe(in(0)->shape), describe(x->shape)));
    shape[axis] += x->shape[axis];
  }
  auto t = make(in(0)->type, shape);
  if (!t)
    return Fold::Failed;
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < axis; ++i)
    outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  size_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const HostRef &x : inputs) {
      int64_t block = x->shape[axis] * inner;
      for (int64_t k = 0; k < block; ++k, ++to)
        if (t->isReal())
          t->reals[to] = x->reals[o * block + k];
        else
          t->ints[to] = x->ints[o * block + k];
    }
  out = t;
  return Fold::Folded;
}

Fold Folder::slice(HostRef &out) {
  const HostTensor *x = in(0);
  auto starts = integers(1, "starts"), ends = integers(2, "ends");
  auto axes = integers(3, "axes"), steps = integers(4, "steps");
  if (!x || !starts || !ends || starts->size() != ends->size())
    return fail("its starts and ends do not match");
  size_t n = starts->size(), rank = x->shape.size();
  if ((axes && axes->size() != n) || (steps && steps->size() != n) || n > rank)
    return fail("its starts, ends, axes and steps differ in number");
  Shape shape = x->shape;
  std::vector<int64_t> begin(rank, 0), step(rank, 1);
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = axisOf(axes ? (*axes)[i] : int64_t(i), rank);
    if (axis < 0)
      return fail(formatv("its axis {0} is out of range", (*axes)[i]));
    int64_t size = x->shape[axis], by = steps ? (*steps)[i] : 1;
    if (size == 0)
      continue;
    if (by == 0 || by == INT64_MIN)
      return fail(formatv("its step is {0}", by));
    auto bound = [&](int64_t v, int64_t lo, int64_t hi) {
      if (v < 0)
        v += size;
      return std::clamp(v, lo, hi);
    };
    int64_t from = by > 0 ? bound((*starts)[i], 0, size)
                          : bound((*starts)[i], 0, size - 1);
    int64_t to =
        by > 0 ? bound((*ends)[i], 0, size) : bound((*ends)[i], -1, size - 1);
    int64_t span = by > 0 ? to - from : from - to;
    int64_t stride = by > 0 ? by : -by;
    begin[axis] = from;
    step[axis] = by;
    shape[axis] = span <= 0 ? 0 : (span - 1) / stride + 1;
  }
  auto t = make(x->type, shape);
  if (!t)
    return Fold::Failed;
  size_t to = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    size_t from = 0;
    for (size_t i = 0; i < rank; ++i)
      from = from * x->shape[i] + (begin[i] + index[i] * step[i]);
    if (t->isReal())
      t->reals[to++] = x->reals[from];
    else
      t->ints[to++] = x->ints[from];
  });
  out = t;
  return Fold::Folded;
}

Fold Folder::expand(HostRef &out) {
  const HostTensor *x = in(0), *shape = in(1);
  if (!x || !shape || shape->isReal())
    return fail("its shape is not a tensor of integers");
  if (!elementCount(shape->ints))
    return fail(formatv("its shape {0} is not valid", describe(shape->ints)));
  std::optional<Shape> to = broadcast(x->shape, shape->ints);
  if (!to)
    return fail(formatv("the shape {0} does not broadcast to {1}",
                        describe(x->shape), describe(shape->ints)));
  auto t = make(x->type, *to);
  if (!t)
    return Fold::Failed;
  size_t i = 0;
  forEachIndex(t->shape, [&](ArrayRef<int64_t> index) {
    size_t from = broadcastOffset(x->shape, index);
    if (t->isReal())
      t->reals[i++] = x->reals[from];
    else
      t->ints[i++] = x->ints[from];
  });
  out = t;
  return Fold::Folded;
}

Fold Folder::run(HostRef &out) {
  StringRef op = node.op();
  if (op == "Constant")
    return constant(out);
  if (op == "ConstantOfShape")
    return constantOfShape(out);
  if (op == "Cast")
    return cast(out);
  if (op == "Gather")
    return gather(out);
  if (op == "Concat")
    return concat(out);
  if (op == "Slice")
    return slice(out);
  if (op == "Expand")
    return expand(out);
  if (llvm::is_contained({"Add", "Sub", "Mul", "Div", "Pow", "Equal"}, op) ||
      (llvm::is_contained({"Min", "Max"}, op) && inputs.size() == 2))
    return binary(out);
  if (llvm::is_contained({"Sqrt", "Neg", "Abs", "Floor", "Ceil", "Reciprocal"},
                         op))
    return unary(out);
  return Fold::NotFoldable;
}

Fold importer::foldNode(const Node &node, ArrayRef<HostRef> inputs,
                        HostRef &out, int64_t limit, std::string &error) {
  return Folder(node, inputs, std::min(limit, kMaxFoldedElements), error)
      .run(out);
}
