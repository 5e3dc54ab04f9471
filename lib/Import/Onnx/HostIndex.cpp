// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the host that choose elements by tensors of indices: each
// computes, for every place of its result, where the element comes from.
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

LogicalResult onhost::gather(NodeContext &node) {
  Value x = hostValue(node, 0), which = x ? hostValue(node, 1) : Value();
  if (!which)
    return failure();
  StringRef op = node.op();
  Loops l = loops(node);
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  int type = typeOf(node.input(0));
  if (Loops::isReal(which))
    return node.refuse("its indices are not integers");
  if (op == "GatherND") {
    int64_t batch = node.getInt("batch_dims", 0);
    int64_t depth = by.empty() ? 0 : by.back();
    if (by.empty() || batch < 0 || batch >= int64_t(by.size()) ||
        batch + depth > int64_t(from.size()))
      return node.refuse(formatv("its indices {0} do not fit its data {1}",
                                 describe(by), describe(from)));
    Shape shape(by.begin(), by.end() - 1);
    shape.insert(shape.end(), from.begin() + batch + depth, from.end());
    unsigned outer = unsigned(by.size()) - 1;
    return give(node, 0,
                l.each(shape, elementOf(x),
                       [&](S &s, R) {
                         Places at = indices(s, 0, unsigned(batch)),
                                row = indices(s, 0, outer);
                         for (int64_t i = 0; i < depth; ++i) {
                           Places place = row;
                           place.push_back(s.whole(i));
                           at.push_back(
                               fromEnd(s, s.at(which, place), from[batch + i]));
                         }
                         llvm::append_range(
                             at,
                             indices(s, outer, unsigned(shape.size()) - outer));
                         return s.at(x, at);
                       }),
                type);
  }
  auto axis = node.axisAttribute(0, from.size());
  if (!axis)
    return failure();
  unsigned a = unsigned(*axis);
  if (op == "GatherElements") {
    if (by.size() != from.size())
      return node.refuse("its indices have another rank than its data");
    return give(node, 0,
                l.each(by, elementOf(x),
                       [&](S &s, R) {
                         Places at = indices(s, 0, unsigned(by.size()));
                         at[a] = fromEnd(s, s.at(which, at), from[a]);
                         return s.at(x, at);
                       }),
                type);
  }
  Shape shape(from.begin(), from.begin() + a);
  shape.insert(shape.end(), by.begin(), by.end());
  shape.insert(shape.end(), from.begin() + a + 1, from.end());
  unsigned inner = unsigned(by.size());
  return give(
      node, 0,
      l.each(shape, elementOf(x),
             [&](S &s, R) {
               Places at = indices(s, 0, a);
               at.push_back(
                   fromEnd(s, s.at(which, indices(s, a, inner)), from[a]));
               llvm::append_range(
                   at, indices(s, a + inner, unsigned(from.size()) - a - 1));
               return s.at(x, at);
             }),
      type);
}

/// Every place of the result looks through the updates for those that hit it,
/// in their order, so that the last one wins.
LogicalResult onhost::scatter(NodeContext &node) {
  Value x = hostValue(node, 0), which = x ? hostValue(node, 1) : Value(),
        updates = which ? hostValue(node, 2) : Value();
  if (!updates)
    return failure();
  const Shape &from = node.input(0)->shape, &by = node.input(1)->shape;
  unsigned rank = unsigned(from.size());
  bool nd = node.op() == "ScatterND";
  std::string how = node.getString("reduction", "none");
  int type = typeOf(node.input(0));
  bool u = isUnsigned(type);
  Loops l = loops(node);
  auto combine = [&](S &s, Value old, Value fresh) -> Value {
    if (how == "add")
      return s.add(old, fresh);
    if (how == "mul")
      return s.mul(old, fresh);
    if (how == "max")
      return s.max(old, fresh, u);
    if (how == "min")
      return s.min(old, fresh, u);
    return fresh;
  };
  if (Loops::isReal(which) || Loops::isReal(x) != Loops::isReal(updates))
    return node.refuse("its inputs' element types do not fit");
  SmallVector<AffineExpr> identity;
  for (unsigned i = 0; i < rank; ++i)
    identity.push_back(l.dim(i));
  Shape reduced;
  unsigned axis = 0;
  int64_t depth = 0;
  if (nd) {
    depth = by.empty() ? 0 : by.back();
    if (by.empty() || depth > int64_t(rank))
      return node.refuse("its indices do not fit its data");
    reduced.assign(by.begin(), by.end() - 1);
    Shape expected = reduced;
    expected.insert(expected.end(), from.begin() + depth, from.end());
    if (expected != node.input(2)->shape)
      return node.refuse(formatv("its updates {0} should be {1}",
                                 describe(node.input(2)->shape),
                                 describe(expected)));
  } else {
    auto given = node.axisAttribute(0, rank);
    if (!given)
      return failure();
    if (by.size() != rank || by != node.input(2)->shape)
      return node.refuse("its indices and updates do not fit its data");
    axis = unsigned(*given);
    reduced = {by[axis]};
  }
  // The result so far begins as the data: it is read where nothing has hit
  // yet, told by a count of hits beside it.
  auto hit = [&](S &s) -> Value {
    if (nd) {
      Value all;
      Places tuple = indices(s, rank, unsigned(reduced.size()));
      for (int64_t i = 0; i < depth; ++i) {
        Places place = tuple;
        place.push_back(s.whole(i));
        Value same = s.equal(fromEnd(s, s.at(which, place), from[i]),
                             s.index(unsigned(i)));
        all = all ? s.both(all, same) : same;
      }
      return all ? all : s.equal(s.whole(0), s.whole(0));
    }
    Value inside;
    Places place = indices(s, 0, rank);
    for (unsigned i = 0; i < rank; ++i)
      if (i != axis && by[i] < from[i]) {
        Value in = s.less(place[i], s.whole(by[i]));
        place[i] = s.select(in, place[i], s.whole(0));
        inside = inside ? s.both(inside, in) : in;
      }
    place[axis] = s.index(rank);
    Value same =
        s.equal(fromEnd(s, s.at(which, place), from[axis]), s.index(axis));
    return inside ? s.both(inside, same) : same;
  };
  auto update = [&](S &s) -> Value {
    if (nd) {
      Places place = indices(s, rank, unsigned(reduced.size()));
      llvm::append_range(place,
                         indices(s, unsigned(depth), rank - unsigned(depth)));
      return s.at(updates, place);
    }
    Places place = indices(s, 0, rank);
    for (unsigned i = 0; i < rank; ++i)
      if (i != axis && by[i] < from[i])
        place[i] = s.min(place[i], s.whole(by[i] - 1));
    place[axis] = s.index(rank);
    return s.at(updates, place);
  };
  if (reduced.empty())
    reduced = {1};
  Value out = l.fold(x, reduced, [&](S &s, R a) {
    if (nd && by.size() == 1) { // one tuple
      Value all;
      for (int64_t i = 0; i < depth; ++i) {
        Value same = s.equal(fromEnd(s, s.at(which, {s.whole(i)}), from[i]),
                             s.index(unsigned(i)));
        all = all ? s.both(all, same) : same;
      }
      Value fresh =
          s.at(updates, indices(s, unsigned(depth), rank - unsigned(depth)));
      return all ? s.select(all, combine(s, a[0], fresh), a[0])
                 : combine(s, a[0], fresh);
    }
    return s.select(hit(s), combine(s, a[0], update(s)), a[0]);
  });
  return give(node, 0, wrapped(node, out, type), type);
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
  int type = typeOf(node.input(0));
  return give(node, 0,
              loops(node).each(node.input(0)->shape, elementOf(x),
                               [&](S &s, R) {
                                 Places at = indices(s, 0, rank);
                                 Value n = s.at(lengths, {at[batch]});
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
