// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host operations that select elements by tensors of indices: each
// computes, for every element of its result, the source index.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;
using Places = SmallVector<Value>;

/// Negative indices count from the end.
static Value fromEnd(S &s, Value index, int64_t size) {
  return s.select(s.less(index, s.whole(0)), s.add(index, s.whole(size)),
                  index);
}

static Places indices(S &s, unsigned first, unsigned count) {
  Places at;
  for (unsigned i = 0; i < count; ++i)
    at.push_back(s.index(first + i));
  return at;
}

/// The indices `read(row)` of rows of `shape` as places on an axis of `size`:
/// counted from the front, and none beyond it, whatever the model computes.
static Value placesOf(NodeContext &node, ArrayRef<int64_t> shape, int64_t size,
                      function_ref<Value(S &)> read) {
  Loops l = loops(node);
  return l.each(shape, l.whole(), [&](S &s, R) {
    return fromEnd(s, s.within(read(s), -size, size - 1, "index"), size);
  });
}

/// The same of a whole tensor of indices.
static Value placesOf(NodeContext &node, Value which, int64_t size) {
  ArrayRef<int64_t> shape = Loops::shapeOf(which);
  return placesOf(node, shape, size, [&](S &s) {
    return s.at(which, indices(s, 0, unsigned(shape.size())));
  });
}

/// One of the numbers in each tuple of indices along the last axis.
static Value placesOf(NodeContext &node, Value which, int64_t number,
                      int64_t size) {
  ArrayRef<int64_t> rows = Loops::shapeOf(which).drop_back();
  return placesOf(node, rows, size, [&](S &s) {
    Places at = indices(s, 0, unsigned(rows.size()));
    at.push_back(s.whole(number));
    return s.at(which, at);
  });
}

/// Data and integer indices of a Gather; null (refused) for others.
static std::pair<Value, Value> gatherInputs(NodeContext &node) {
  Value x = hostValue(node, 0), which = x ? hostValue(node, 1) : Value();
  if (which && Loops::isReal(which)) {
    node.refuse("its indices are not integers");
    return {};
  }
  return {x, which};
}

LogicalResult onhost::gather(NodeContext &node) {
  auto [x, which] = gatherInputs(node);
  auto axis =
      which ? node.axisAttribute(0, node.input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  unsigned a = unsigned(*axis), inner = unsigned(by.size());
  Shape shape(from.begin(), from.begin() + a);
  shape.insert(shape.end(), by.begin(), by.end());
  shape.insert(shape.end(), from.begin() + a + 1, from.end());
  Value places = placesOf(node, which, from[a]);
  auto read = [&, x = x](S &s, R) {
    Places at = indices(s, 0, a);
    at.push_back(s.at(places, indices(s, a, inner)));
    llvm::append_range(at,
                       indices(s, a + inner, unsigned(from.size()) - a - 1));
    return s.at(x, at);
  };
  return give(node, 0, loops(node).each(shape, elementOf(x), read),
              typeOf(node.input(0)));
}

LogicalResult onhost::gatherElements(NodeContext &node) {
  auto [x, which] = gatherInputs(node);
  auto axis =
      which ? node.axisAttribute(0, node.input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  if (by.size() != from.size())
    return node.refuse("its indices have another rank than its data");
  for (size_t d = 0; d < from.size(); ++d)
    if (int64_t(d) != *axis && by[d] > from[d])
      return node.refuse(formatv("its indices {0} do not fit its data {1}",
                                 describe(by), describe(from)));
  Value places = placesOf(node, which, from[*axis]);
  auto read = [&, x = x](S &s, R) {
    Places at = indices(s, 0, unsigned(by.size()));
    at[*axis] = s.at(places, at);
    return s.at(x, at);
  };
  return give(node, 0, loops(node).each(by, elementOf(x), read),
              typeOf(node.input(0)));
}

LogicalResult onhost::gatherND(NodeContext &node) {
  auto [x, which] = gatherInputs(node);
  if (!which)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  int64_t batch = node.getInt("batch_dims", 0);
  int64_t depth = by.empty() ? 0 : by.back();
  if (by.empty() || batch < 0 || batch >= int64_t(by.size()) ||
      batch + depth > int64_t(from.size()))
    return node.refuse(formatv("its indices {0} do not fit its data {1}",
                               describe(by), describe(from)));
  Shape shape(by.begin(), by.end() - 1);
  shape.insert(shape.end(), from.begin() + batch + depth, from.end());
  unsigned outer = unsigned(by.size()) - 1;
  SmallVector<Value> places;
  for (int64_t i = 0; i < depth; ++i)
    places.push_back(placesOf(node, which, i, from[batch + i]));
  auto read = [&, x = x](S &s, R) {
    Places at = indices(s, 0, unsigned(batch)), row = indices(s, 0, outer);
    for (Value place : places)
      at.push_back(s.at(place, row));
    llvm::append_range(at, indices(s, outer, unsigned(shape.size()) - outer));
    return s.at(x, at);
  };
  return give(node, 0, loops(node).each(shape, elementOf(x), read),
              typeOf(node.input(0)));
}

namespace {
/// Data, indices and updates of a Scatter, and how an update combines with the
/// element. Every element of the result looks through the updates for those
/// that hit it, in their order, so that the last one wins.
struct Scatter {
  Value data, which, updates;
  std::string reduction;
  int type;

  Value combine(S &s, Value old, Value fresh) const {
    bool u = isUnsigned(type);
    if (reduction == "add")
      return s.add(old, fresh);
    if (reduction == "mul")
      return s.mul(old, fresh);
    if (reduction == "max")
      return s.max(old, fresh, u);
    if (reduction == "min")
      return s.min(old, fresh, u);
    return fresh;
  }
};
} // namespace

static std::optional<Scatter> scatterInputs(NodeContext &node) {
  Scatter in;
  in.data = hostValue(node, 0);
  in.which = in.data ? hostValue(node, 1) : Value();
  in.updates = in.which ? hostValue(node, 2) : Value();
  if (!in.updates)
    return std::nullopt;
  if (Loops::isReal(in.which) ||
      Loops::isReal(in.data) != Loops::isReal(in.updates)) {
    node.refuse("its inputs' element types do not fit");
    return std::nullopt;
  }
  in.reduction = node.getString("reduction", "none");
  in.type = typeOf(node.input(0));
  return in;
}

LogicalResult onhost::scatterElements(NodeContext &node) {
  auto in = scatterInputs(node);
  auto given = in ? node.axisAttribute(0, node.input(0)->rank()) : std::nullopt;
  if (!given)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  unsigned rank = unsigned(from.size()), axis = unsigned(*given);
  if (by.size() != rank || by != node.input(2)->shape)
    return node.refuse("its indices and updates do not fit its data");
  for (unsigned i = 0; i < rank; ++i)
    if (i != axis && by[i] > from[i])
      return node.refuse(formatv("its indices {0} do not fit its data {1}",
                                 describe(by), describe(from)));
  Value places = placesOf(node, in->which, from[axis]);
  Value out = loops(node).fold(in->data, {by[axis]}, [&](S &s, R a) {
    // Updates may cover less than the data.
    Value inside;
    Places place = indices(s, 0, rank);
    for (unsigned i = 0; i < rank; ++i)
      if (i != axis && by[i] < from[i]) {
        Value isIn = s.less(place[i], s.whole(by[i]));
        place[i] = s.min(place[i], s.whole(by[i] - 1));
        inside = inside ? s.both(inside, isIn) : isIn;
      }
    place[axis] = s.index(rank);
    Value hit = s.equal(s.at(places, place), s.index(axis));
    if (inside)
      hit = s.both(inside, hit);
    return s.select(hit, in->combine(s, a[0], s.at(in->updates, place)), a[0]);
  });
  return give(node, 0, wrapped(node, out, in->type), in->type);
}

LogicalResult onhost::scatterND(NodeContext &node) {
  auto in = scatterInputs(node);
  if (!in)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  unsigned rank = unsigned(from.size());
  int64_t depth = by.empty() ? 0 : by.back();
  if (by.empty() || depth > int64_t(rank))
    return node.refuse("its indices do not fit its data");
  Shape tuples(by.begin(), by.end() - 1), expected = tuples;
  expected.insert(expected.end(), from.begin() + depth, from.end());
  if (expected != node.input(2)->shape)
    return node.refuse(formatv("its updates {0} should be {1}",
                               describe(node.input(2)->shape),
                               describe(expected)));
  const unsigned count = unsigned(tuples.size());
  SmallVector<Value> places;
  for (int64_t i = 0; i < depth; ++i)
    places.push_back(placesOf(node, in->which, i, from[i]));
  if (tuples.empty())
    tuples = {1};
  Value out = loops(node).fold(in->data, tuples, [&](S &s, R a) {
    Places tuple = indices(s, rank, count), update = tuple;
    llvm::append_range(update,
                       indices(s, unsigned(depth), rank - unsigned(depth)));
    Value fresh = in->combine(s, a[0], s.at(in->updates, update)), hit;
    for (auto [i, place] : llvm::enumerate(places)) {
      Value same = s.equal(s.at(place, tuple), s.index(unsigned(i)));
      hit = hit ? s.both(hit, same) : same;
    }
    return hit ? s.select(hit, fresh, a[0]) : fresh;
  });
  return give(node, 0, wrapped(node, out, in->type), in->type);
}

LogicalResult onhost::oneHot(NodeContext &node) {
  Value which = hostValue(node, 0),
        depth = which ? hostValue(node, 1) : Value(),
        values = depth ? hostValue(node, 2) : Value();
  if (!values)
    return failure();
  TensorRef d = node.input(1);
  if (!d->isPlainConstant() || d->constant->size() != 1)
    return node.refuse("its depth is not constant",
                       "fold constants before export");
  int64_t n = d->constant->isReal() ? int64_t(d->constant->reals[0])
                                    : d->constant->ints[0];
  Shape shape = node.input(0)->shape;
  int64_t rank = int64_t(shape.size()), axis = node.getInt("axis", -1);
  if (n < 1 || axis < -rank - 1 || axis > rank ||
      ShapedType::getNumElements(Loops::shapeOf(values)) != 2)
    return node.refuse("its depth, axis or values are not valid");
  axis = axis < 0 ? axis + rank + 1 : axis;
  shape.insert(shape.begin() + axis, n);
  return give(node, 0,
              loops(node).each(shape, elementOf(values),
                               [&](S &s, R) {
                                 Places at;
                                 for (unsigned i = 0; i < shape.size(); ++i)
                                   if (int64_t(i) != axis)
                                     at.push_back(s.index(i));
                                 Value index = s.at(which, at);
                                 if (Scalars::isReal(index))
                                   index = s.toWhole(index);
                                 Value same = s.equal(fromEnd(s, index, n),
                                                      s.index(unsigned(axis)));
                                 return s.at(values, {s.flag(same)});
                               }),
              typeOf(node.input(2)));
}

LogicalResult onhost::reverse(NodeContext &node) {
  Value x = hostValue(node, 0), lengths = x ? hostValue(node, 1) : Value();
  if (!lengths)
    return failure();
  unsigned batch = unsigned(node.getInt("batch_axis", 1)),
           time = unsigned(node.getInt("time_axis", 0));
  unsigned rank = unsigned(node.input(0)->rank());
  if (rank < 2 || batch > 1 || time > 1 || batch == time)
    return node.refuse("its axes are not valid");
  const Shape &from = node.input(0)->shape;
  if (Loops::isReal(lengths) || node.input(1)->shape != Shape{from[batch]})
    return node.refuse(formatv("its lengths {0} do not fit its input {1}",
                               describe(node.input(1)->shape), describe(from)));
  int type = typeOf(node.input(0));
  Loops l = loops(node);
  Value counts = l.map({lengths}, l.whole(), [&](S &s, R a) {
    return s.within(a[0], 0, from[time], "length");
  });
  return give(node, 0,
              loops(node).each(node.input(0)->shape, elementOf(x),
                               [&](S &s, R) {
                                 Places at = indices(s, 0, rank);
                                 Value n = s.at(counts, {at[batch]});
                                 Value mirrored =
                                     s.sub(s.sub(n, s.whole(1)), at[time]);
                                 at[time] = s.select(s.less(at[time], n),
                                                     mirrored, at[time]);
                                 return s.at(x, at);
                               }),
              type);
}

LogicalResult onhost::compress(NodeContext &node) {
  Value x = hostValue(node, 0);
  auto keep = x ? node.constantInts(1, "condition") : std::nullopt;
  if (!keep)
    return failure();
  Shape from = node.input(0)->shape;
  int64_t axis = 0;
  if (node.has("axis")) {
    auto given = node.axisAttribute(0, from.size());
    if (!given)
      return failure();
    axis = *given;
  } else {
    from = {*elementCount(from)};
    x = loops(node).reshape(x, from);
  }
  std::vector<int64_t> places;
  for (size_t i = 0; i < keep->size() && int64_t(i) < from[axis]; ++i)
    if ((*keep)[i])
      places.push_back(int64_t(i));
  Shape shape = from;
  shape[axis] = int64_t(places.size());
  if (places.empty())
    return node.refuse("its result would be empty");
  Value list = wholeConstant(node, {int64_t(places.size())}, places);
  return give(node, 0,
              loops(node).each(shape, elementOf(x),
                               [&](S &s, R) {
                                 Places at =
                                     indices(s, 0, unsigned(shape.size()));
                                 at[axis] = s.at(list, {at[axis]});
                                 return s.at(x, at);
                               }),
              typeOf(node.input(0)));
}
