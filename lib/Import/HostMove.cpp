// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the host that move elements: each computes, for every place of
// its result, where the element comes from.
#include "Importer.h"
#include "rhizome/Host/Loops.h"
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

static Type elementOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}
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

LogicalResult Importer::hostGather() {
  Value x = hostValue(0), which = x ? hostValue(1) : Value();
  if (!which)
    return failure();
  StringRef op = node->op();
  Loops l = loops();
  const Shape &from = input(0)->shape, &by = input(1)->shape;
  int type = typeOf(input(0));
  if (Loops::isReal(which))
    return refuse("its indices are not integers");
  if (op == "GatherND") {
    int64_t batch = node->getInt("batch_dims", 0);
    int64_t depth = by.empty() ? 0 : by.back();
    if (by.empty() || batch < 0 || batch >= int64_t(by.size()) ||
        batch + depth > int64_t(from.size()))
      return refuse(formatv("its indices {0} do not fit its data {1}",
                            describe(by), describe(from)));
    Shape shape(by.begin(), by.end() - 1);
    shape.insert(shape.end(), from.begin() + batch + depth, from.end());
    unsigned outer = unsigned(by.size()) - 1;
    return give(0,
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
  auto axis = axisAttribute(0, from.size());
  if (!axis)
    return failure();
  unsigned a = unsigned(*axis);
  if (op == "GatherElements") {
    if (by.size() != from.size())
      return refuse("its indices have another rank than its data");
    return give(0,
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
      0,
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
LogicalResult Importer::hostScatter() {
  Value x = hostValue(0), which = x ? hostValue(1) : Value(),
        updates = which ? hostValue(2) : Value();
  if (!updates)
    return failure();
  const Shape &from = input(0)->shape, &by = input(1)->shape;
  unsigned rank = unsigned(from.size());
  bool nd = node->op() == "ScatterND";
  std::string how = node->getString("reduction", "none");
  int type = typeOf(input(0));
  bool u = isUnsigned(type);
  Loops l = loops();
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
    return refuse("its inputs' element types do not fit");
  SmallVector<AffineExpr> identity;
  for (unsigned i = 0; i < rank; ++i)
    identity.push_back(l.dim(i));
  Shape reduced;
  unsigned axis = 0;
  int64_t depth = 0;
  if (nd) {
    depth = by.empty() ? 0 : by.back();
    if (by.empty() || depth > int64_t(rank))
      return refuse("its indices do not fit its data");
    reduced.assign(by.begin(), by.end() - 1);
    Shape expected = reduced;
    expected.insert(expected.end(), from.begin() + depth, from.end());
    if (expected != input(2)->shape)
      return refuse(formatv("its updates {0} should be {1}",
                            describe(input(2)->shape), describe(expected)));
  } else {
    auto given = axisAttribute(0, rank);
    if (!given)
      return failure();
    if (by.size() != rank || by != input(2)->shape)
      return refuse("its indices and updates do not fit its data");
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
  return give(0, wrapped(out, type), type);
}

LogicalResult Importer::hostSlice() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  const Shape &from = input(0)->shape;
  int64_t rank = int64_t(from.size());
  auto list = [&](size_t i,
                  StringRef name) -> std::optional<std::vector<int64_t>> {
    if (input(i))
      return constantInts(i, name);
    return node->getInts(name).value_or(std::vector<int64_t>());
  };
  auto starts = list(1, "starts"), ends = list(2, "ends"),
       axes = list(3, "axes"), steps = list(4, "steps");
  if (!starts || !ends || !axes || !steps)
    return failure();
  if (axes->empty() && !input(3)) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (steps->empty())
    steps->assign(starts->size(), 1);
  if (starts->size() != ends->size() || axes->size() != starts->size() ||
      steps->size() != starts->size())
    return refuse("its starts, ends, axes and steps differ in number");
  Shape begin(rank, 0), step(rank, 1), size = from;
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    int64_t by = (*steps)[i];
    if (axis < 0 || axis >= rank || by == 0)
      return refuse(
          formatv("its axis {0} or step {1} is not valid", (*axes)[i], by));
    int64_t n = from[axis];
    auto place = [&](int64_t v) {
      v = v < 0 ? std::max<int64_t>(v, -n - 1) + n : v;
      return by > 0 ? std::clamp<int64_t>(v, 0, n)
                    : std::clamp<int64_t>(v, -1, n - 1);
    };
    int64_t first = place((*starts)[i]), last = place((*ends)[i]);
    begin[axis] = first;
    step[axis] = by;
    int64_t span = by > 0 ? last - first : first - last;
    size[axis] = span <= 0 ? 0 : (span + std::abs(by) - 1) / std::abs(by);
  }
  return give(0, loops().slice(x, begin, step, size), typeOf(input(0)));
}

LogicalResult Importer::hostSplit() {
  Value x = hostValue(0);
  auto axis = x ? axisAttribute(0, input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  const Shape &from = input(0)->shape;
  int64_t count = node->proto.output_size(), n = from[*axis];
  auto parts = node->getInts("split");
  if (input(1)) {
    parts = constantInts(1, "split");
    if (!parts)
      return failure();
  }
  if (!parts) {
    int64_t each = (n + count - 1) / count;
    parts.emplace();
    for (int64_t i = 0, left = n; i < count; ++i, left -= each)
      parts->push_back(std::clamp<int64_t>(left, 0, each));
  }
  if (int64_t(parts->size()) != count ||
      std::accumulate(parts->begin(), parts->end(), int64_t(0)) != n)
    return refuse(
        formatv("it splits an axis of size {0} into {1}", n, describe(*parts)));
  Shape begin(from.size(), 0), step(from.size(), 1), size = from;
  for (int64_t i = 0; i < count; ++i) {
    size[*axis] = (*parts)[i];
    if (failed(give(size_t(i), loops().slice(x, begin, step, size),
                    typeOf(input(0)))))
      return failure();
    begin[*axis] += (*parts)[i];
  }
  return success();
}

LogicalResult Importer::hostConcat() {
  if (inputs.empty() || !inputs[0])
    return refuse("it has no input");
  auto axis = axisAttribute(1, inputs[0]->rank());
  if (!axis)
    return failure();
  SmallVector<Value> parts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value v = hostValue(i);
    if (!v)
      return failure();
    Shape a = inputs[0]->shape, b = inputs[i]->shape;
    if (a.size() == b.size())
      a[*axis] = b[*axis] = 0;
    if (a != b ||
        Loops::isReal(v) != Loops::isReal(parts.empty() ? v : parts[0]))
      return refuse(
          formatv("its inputs 0 and {0} differ in shape or element type", i));
    if (inputs[i]->shape[*axis] > 0)
      parts.push_back(v);
  }
  if (parts.empty())
    return refuse("all its inputs are empty");
  return give(0, loops().concat(parts, *axis), typeOf(inputs[0]));
}

LogicalResult Importer::hostExpand() {
  Value x = hostValue(0);
  auto wanted = x ? constantInts(1, node->op() == "Tile" ? "repeats" : "shape")
                  : std::nullopt;
  if (!wanted)
    return failure();
  const Shape &from = input(0)->shape;
  int type = typeOf(input(0));
  if (node->op() == "Tile") {
    if (wanted->size() != from.size())
      return refuse("its repeats do not fit its rank");
    Shape shape = from;
    for (size_t i = 0; i < shape.size(); ++i)
      shape[i] *= (*wanted)[i];
    if (!elementCount(shape))
      return refuse(
          formatv("its result would have the shape {0}", describe(shape)));
    return give(0,
                loops().each(shape, elementOf(x),
                             [&](S &s, R) {
                               Places at;
                               for (unsigned i = 0; i < from.size(); ++i)
                                 at.push_back(
                                     s.rem(s.index(i), s.whole(from[i])));
                               return s.at(x, at);
                             }),
                type);
  }
  auto shape = broadcast(from, *wanted);
  if (!shape)
    return refuse(formatv("its shape {0} does not expand to {1}",
                          describe(from), describe(*wanted)));
  return give(0, loops().expand(x, *shape), type);
}

LogicalResult Importer::hostPad() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  const Shape &from = input(0)->shape;
  int64_t rank = int64_t(from.size());
  auto pads =
      input(1) ? constantInts(1, "list of pads") : node->getInts("pads");
  if (!pads)
    return input(1) ? failure() : LogicalResult(refuse("its pads are missing"));
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (input(3)) {
    auto given = constantInts(3, "list of axes");
    if (!given)
      return failure();
    axes = *given;
  }
  int type = typeOf(input(0));
  std::string mode = node->getString("mode", "constant");
  Value value = input(2) ? hostValue(2)
                         : scalarConstant(node->getFloat("value", 0), type);
  if (!value)
    return failure();
  bool good = pads->size() == 2 * axes.size() &&
              ShapedType::getNumElements(Loops::shapeOf(value)) == 1 &&
              Loops::isReal(value) == Loops::isReal(x);
  Shape low(rank, 0), shape = from;
  for (size_t i = 0; good && i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    good = axis >= 0 && axis < rank;
    if (!good)
      break;
    int64_t before = (*pads)[i], after = (*pads)[i + axes.size()];
    low[axis] = before;
    shape[axis] += before + after;
    good = shape[axis] > 0 && std::abs(before) < (int64_t(1) << 30) &&
           std::abs(after) < (int64_t(1) << 30);
  }
  if (!good || !elementCount(shape))
    return refuse(formatv("its pads are {0} for the shape {1}", describe(*pads),
                          describe(from)));
  value = loops().reshape(value, {});
  return give(0,
              loops().each(
                  shape, elementOf(x),
                  [&](S &s, R) {
                    Value inside;
                    Places at;
                    for (unsigned i = 0; i < rank; ++i) {
                      Value p = s.index(i), n = s.whole(from[i]);
                      if (low[i] || shape[i] != from[i]) {
                        p = s.sub(p, s.whole(low[i]));
                        if (mode == "constant") {
                          Value in =
                              s.both(s.notLess(p, s.whole(0)), s.less(p, n));
                          p = s.select(in, p, s.whole(0));
                          inside = inside ? s.both(inside, in) : in;
                        } else if (mode == "edge") {
                          p = s.max(s.min(p, s.whole(from[i] - 1)), s.whole(0));
                        } else {
                          // A period of n (wrap) or 2(n − 1) (reflect).
                          int64_t period =
                              mode == "wrap"
                                  ? from[i]
                                  : std::max<int64_t>(1, 2 * (from[i] - 1));
                          p = s.rem(p, s.whole(period));
                          p = s.select(s.less(p, s.whole(0)),
                                       s.add(p, s.whole(period)), p);
                          if (mode != "wrap")
                            p = s.min(p, s.sub(s.whole(period), p));
                        }
                      }
                      at.push_back(p);
                    }
                    Value v = s.at(x, at);
                    return inside ? s.select(inside, v, s.at(value, {})) : v;
                  }),
              type);
}

LogicalResult Importer::hostBlocks() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  int64_t block = node->getInt("blocksize", 0);
  if (input(0)->rank() != 4 || block < 1 || block > 1 << 20)
    return refuse("its input is no image, or its blocksize not valid");
  const Shape f = input(0)->shape;
  Loops l = loops();
  int64_t n = f[0], c = f[1], h = f[2], w = f[3], area = block * block;
  Value v;
  if (node->op() == "SpaceToDepth") {
    if (h % block || w % block)
      return refuse("its blocksize does not divide its image");
    v = l.reshape(x, {n, c, h / block, block, w / block, block});
    v = node->getString("mode", "DCR") == "CRD"
            ? l.transpose(v, {0, 1, 3, 5, 2, 4})
            : l.transpose(v, {0, 3, 5, 1, 2, 4});
    v = l.reshape(v, {n, c * area, h / block, w / block});
  } else {
    if (c % area)
      return refuse("its blocksize does not divide its channels");
    bool crd = node->getString("mode", "DCR") == "CRD";
    v = crd ? l.reshape(x, {n, c / area, block, block, h, w})
            : l.reshape(x, {n, block, block, c / area, h, w});
    v = l.transpose(v, crd ? ArrayRef<int64_t>{0, 1, 4, 2, 5, 3}
                           : ArrayRef<int64_t>{0, 3, 4, 1, 5, 2});
    v = l.reshape(v, {n, c / area, h * block, w * block});
  }
  return give(0, v, typeOf(input(0)));
}

LogicalResult Importer::hostTrilu() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  int64_t k = 0;
  if (input(1)) {
    auto given = constantInts(1, "k");
    if (!given || given->size() != 1)
      return failure();
    k = given->front();
  }
  unsigned rank = unsigned(input(0)->rank());
  if (rank < 2)
    return refuse("its input is no matrix");
  bool upper = node->getInt("upper", 1) != 0;
  int type = typeOf(input(0));
  return give(0,
              eachOf({x}, type,
                     [&](S &s, R a) {
                       Value d = s.sub(s.index(rank - 1), s.index(rank - 2));
                       Value keep = upper ? s.notLess(d, s.whole(k))
                                          : s.notLess(s.whole(k), d);
                       return s.select(keep, a[0], s.number(0, a[0]));
                     }),
              type);
}

LogicalResult Importer::hostOneHot() {
  Value which = hostValue(0), depth = which ? hostValue(1) : Value(),
        values = depth ? hostValue(2) : Value();
  if (!values)
    return failure();
  TensorRef d = input(1);
  if (!d->isPlainConstant() || d->constant->size() != 1)
    return refuse("its depth is not constant", "fold constants before export");
  int64_t n = d->constant->isReal() ? int64_t(d->constant->reals[0])
                                    : d->constant->ints[0];
  Shape shape = input(0)->shape;
  int64_t rank = int64_t(shape.size()), axis = node->getInt("axis", -1);
  if (n < 1 || axis < -rank - 1 || axis > rank ||
      ShapedType::getNumElements(Loops::shapeOf(values)) != 2)
    return refuse("its depth, axis or values are not valid");
  axis = axis < 0 ? axis + rank + 1 : axis;
  shape.insert(shape.begin() + axis, n);
  return give(0,
              loops().each(shape, elementOf(values),
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
              typeOf(input(2)));
}

LogicalResult Importer::hostReverse() {
  Value x = hostValue(0), lengths = x ? hostValue(1) : Value();
  if (!lengths)
    return failure();
  unsigned batch = unsigned(node->getInt("batch_axis", 1)),
           time = unsigned(node->getInt("time_axis", 0));
  unsigned rank = unsigned(input(0)->rank());
  if (rank < 2 || batch > 1 || time > 1 || batch == time)
    return refuse("its axes are not valid");
  int type = typeOf(input(0));
  return give(0,
              loops().each(input(0)->shape, elementOf(x),
                           [&](S &s, R) {
                             Places at = indices(s, 0, rank);
                             Value n = s.at(lengths, {at[batch]});
                             Value mirrored =
                                 s.sub(s.sub(n, s.whole(1)), at[time]);
                             at[time] = s.select(s.less(at[time], n), mirrored,
                                                 at[time]);
                             return s.at(x, at);
                           }),
              type);
}

LogicalResult Importer::hostCompress() {
  Value x = hostValue(0);
  auto keep = x ? constantInts(1, "condition") : std::nullopt;
  if (!keep)
    return failure();
  Shape from = input(0)->shape;
  int64_t axis = 0;
  if (node->has("axis")) {
    auto given = axisAttribute(0, from.size());
    if (!given)
      return failure();
    axis = *given;
  } else {
    from = {*elementCount(from)};
    x = loops().reshape(x, from);
  }
  std::vector<int64_t> places;
  for (size_t i = 0; i < keep->size() && int64_t(i) < from[axis]; ++i)
    if ((*keep)[i])
      places.push_back(int64_t(i));
  Shape shape = from;
  shape[axis] = int64_t(places.size());
  if (places.empty())
    return refuse("its result would be empty");
  Value list = wholeConstant({int64_t(places.size())}, places);
  return give(0,
              loops().each(shape, elementOf(x),
                           [&](S &s, R) {
                             Places at = indices(s, 0, unsigned(shape.size()));
                             at[axis] = s.at(list, {at[axis]});
                             return s.at(x, at);
                           }),
              typeOf(input(0)));
}

/// Constants that follow from shapes alone.
LogicalResult Importer::hostMake() {
  StringRef op = node->op();
  Loops l = loops();
  if (op == "Size")
    return give(0, wholeConstant({}, {*elementCount(input(0)->shape)}),
                TensorProto::INT64);
  if (op == "EyeLike") {
    if (input(0)->rank() != 2)
      return refuse("its input is no matrix");
    int type = int(node->getInt("dtype", typeOf(input(0))));
    int64_t k = node->getInt("k", 0);
    bool real = HostTensor::isRealType(type);
    return give(0,
                l.each(input(0)->shape, real ? l.real() : l.whole(),
                       [&](S &s, R) {
                         Value same =
                             s.equal(s.sub(s.index(1), s.index(0)), s.whole(k));
                         Value v = s.flag(same);
                         return real ? s.toReal(v) : v;
                       }),
                type);
  }
  // Range: of constants.
  std::vector<double> v;
  for (size_t i = 0; i < 3; ++i) {
    TensorRef t = input(i);
    if (!t || !t->isPlainConstant() || t->constant->size() != 1)
      return refuse("its bounds are not constant",
                    "fold constants before export");
    v.push_back(t->constant->isReal() ? t->constant->reals[0]
                                      : double(t->constant->ints[0]));
  }
  int64_t n =
      v[2] == 0 ? 0 : int64_t(std::max(0.0, std::ceil((v[1] - v[0]) / v[2])));
  if (n < 1 || n > kMaxFoldedElements)
    return refuse("its result would be empty or too large");
  int type = typeOf(input(0));
  bool real = HostTensor::isRealType(type);
  return give(0,
              l.each({n}, real ? l.real() : l.whole(),
                     [&](S &s, R) {
                       Value i = s.index(0);
                       if (real)
                         return s.add(s.real(v[0]),
                                      s.mul(s.toReal(i), s.real(v[2])));
                       return s.add(s.whole(int64_t(v[0])),
                                    s.mul(i, s.whole(int64_t(v[2]))));
                     }),
              type);
}
