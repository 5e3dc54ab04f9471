// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant nodes that move elements, or hold them.
#include "Fold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::StringRef;
using onnx::TensorProto;

std::shared_ptr<HostTensor> Folding::make(int type, Shape shape) {
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

std::optional<std::vector<int64_t>>
Folding::integers(size_t i, StringRef attribute) const {
  if (const HostTensor *t = in(i))
    return t->isReal() ? std::nullopt : std::optional(t->ints);
  return node.getInts(attribute);
}

size_t importer::broadcastOffset(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> index) {
  size_t offset = 0, skip = index.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    offset = offset * shape[i] + (shape[i] == 1 ? 0 : index[i + skip]);
  return offset;
}

void importer::forEachIndex(ArrayRef<int64_t> shape,
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

Fold fold::constant(Folding &f, HostRef &out) {
  if (const onnx::AttributeProto *a = f.node.find("value")) {
    if (!a->has_t())
      return f.fail("its attribute 'value' holds no tensor");
    out = decodeTensor(a->t(), "", f.error);
    return out ? Fold::Folded : Fold::Failed;
  }
  for (StringRef name :
       {"value_float", "value_floats", "value_int", "value_ints"}) {
    const onnx::AttributeProto *a = f.node.find(name);
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
  return f.fail("it holds neither a tensor nor numbers");
}

Fold fold::constantOfShape(Folding &f, HostRef &out) {
  const HostTensor *shape = f.in(0);
  if (!shape || shape->isReal())
    return f.fail("its shape is not a tensor of integers");
  HostRef value;
  if (const onnx::AttributeProto *a = f.node.find("value")) {
    value = decodeTensor(a->t(), "", f.error);
    if (!value)
      return Fold::Failed;
    if (value->size() != 1)
      return f.fail(
          formatv("its value has {0} elements instead of one", value->size()));
  }
  auto t = f.make(value ? value->type : TensorProto::FLOAT, shape->ints);
  if (!t)
    return Fold::Failed;
  if (value && t->isReal())
    llvm::fill(t->reals, value->reals[0]);
  else if (value)
    llvm::fill(t->ints, value->ints[0]);
  out = t;
  return Fold::Folded;
}

/// Normalizes an axis; -1 if it is out of range.
static int64_t axisOf(int64_t axis, size_t rank) {
  int64_t r = int64_t(rank);
  return axis < -r || axis >= r ? -1 : axis < 0 ? axis + r : axis;
}

Fold fold::gather(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0), *indices = f.in(1);
  if (!x || !indices || indices->isReal())
    return f.fail("its indices are not integers");
  int64_t axis = axisOf(f.node.getInt("axis", 0), x->shape.size());
  if (axis < 0)
    return f.fail(formatv("its axis {0} is out of range for the shape {1}",
                          f.node.getInt("axis", 0), describe(x->shape)));
  Shape shape(x->shape.begin(), x->shape.begin() + axis);
  llvm::append_range(shape, indices->shape);
  shape.insert(shape.end(), x->shape.begin() + axis + 1, x->shape.end());
  auto t = f.make(x->type, shape);
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
        return f.fail(formatv("its index {0} is out of range for {1} elements",
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

Fold fold::concat(Folding &f, HostRef &out) {
  if (!f.in(0))
    return f.fail("it has no input");
  int64_t axis = axisOf(f.node.getInt("axis", 0), f.in(0)->shape.size());
  if (axis < 0)
    return f.fail(formatv("its axis {0} is out of range for the shape {1}",
                          f.node.getInt("axis", 0), describe(f.in(0)->shape)));
  Shape shape = f.in(0)->shape;
  shape[axis] = 0;
  for (const HostRef &x : f.inputs) {
    if (!x || x->type != f.in(0)->type || x->shape.size() != shape.size())
      return f.fail("its inputs differ in type or rank");
    for (size_t i = 0; i < shape.size(); ++i)
      if (int64_t(i) != axis && x->shape[i] != shape[i])
        return f.fail(formatv("its inputs' shapes {0} and {1} differ",
                              describe(f.in(0)->shape), describe(x->shape)));
    shape[axis] += x->shape[axis];
  }
  auto t = f.make(f.in(0)->type, shape);
  if (!t)
    return Fold::Failed;
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < axis; ++i)
    outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  size_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const HostRef &x : f.inputs) {
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

Fold fold::slice(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0);
  auto starts = f.integers(1, "starts"), ends = f.integers(2, "ends");
  auto axes = f.integers(3, "axes"), steps = f.integers(4, "steps");
  if (!x || !starts || !ends || starts->size() != ends->size())
    return f.fail("its starts and ends do not match");
  size_t n = starts->size(), rank = x->shape.size();
  if ((axes && axes->size() != n) || (steps && steps->size() != n) || n > rank)
    return f.fail("its starts, ends, axes and steps differ in number");
  Shape shape = x->shape;
  std::vector<int64_t> begin(rank, 0), step(rank, 1);
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = axisOf(axes ? (*axes)[i] : int64_t(i), rank);
    if (axis < 0)
      return f.fail(formatv("its axis {0} is out of range", (*axes)[i]));
    int64_t size = x->shape[axis], by = steps ? (*steps)[i] : 1;
    if (size == 0)
      continue;
    if (by == 0 || by == INT64_MIN)
      return f.fail(formatv("its step is {0}", by));
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
  auto t = f.make(x->type, shape);
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

Fold fold::expand(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0), *shape = f.in(1);
  if (!x || !shape || shape->isReal())
    return f.fail("its shape is not a tensor of integers");
  if (!elementCount(shape->ints))
    return f.fail(formatv("its shape {0} is not valid", describe(shape->ints)));
  std::optional<Shape> to = broadcast(x->shape, shape->ints);
  if (!to)
    return f.fail(formatv("the shape {0} does not broadcast to {1}",
                          describe(x->shape), describe(shape->ints)));
  auto t = f.make(x->type, *to);
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
