// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host operations that move elements to positions known at import, and
// those that make tensors from shapes alone.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
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

LogicalResult onhost::slice(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  const Shape &from = node.input(0)->shape;
  int64_t rank = int64_t(from.size());
  auto list = [&](size_t i,
                  StringRef name) -> std::optional<std::vector<int64_t>> {
    if (node.input(i))
      return node.constantInts(i, name);
    return node.getInts(name).value_or(std::vector<int64_t>());
  };
  auto starts = list(1, "starts"), ends = list(2, "ends"),
       axes = list(3, "axes"), steps = list(4, "steps");
  if (!starts || !ends || !axes || !steps)
    return failure();
  if (axes->empty() && !node.input(3)) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (steps->empty())
    steps->assign(starts->size(), 1);
  if (starts->size() != ends->size() || axes->size() != starts->size() ||
      steps->size() != starts->size())
    return node.refuse("its starts, ends, axes and steps differ in number");
  Shape begin(rank, 0), step(rank, 1), size = from;
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    int64_t by = (*steps)[i];
    if (axis < 0 || axis >= rank || by == 0)
      return node.refuse(
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
  return give(node, 0, loops(node).slice(x, begin, step, size),
              typeOf(node.input(0)));
}

LogicalResult onhost::split(NodeContext &node) {
  Value x = hostValue(node, 0);
  auto axis = x ? node.axisAttribute(0, node.input(0)->rank()) : std::nullopt;
  if (!axis)
    return failure();
  const Shape &from = node.input(0)->shape;
  int64_t count = node.proto.output_size(), n = from[*axis];
  auto parts = node.getInts("split");
  if (node.input(1)) {
    parts = node.constantInts(1, "split");
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
    return node.refuse(
        formatv("it splits an axis of size {0} into {1}", n, describe(*parts)));
  Shape begin(from.size(), 0), step(from.size(), 1), size = from;
  for (int64_t i = 0; i < count; ++i) {
    size[*axis] = (*parts)[i];
    if (failed(give(node, size_t(i), loops(node).slice(x, begin, step, size),
                    typeOf(node.input(0)))))
      return failure();
    begin[*axis] += (*parts)[i];
  }
  return success();
}

LogicalResult onhost::concat(NodeContext &node) {
  if (node.inputs.empty() || !node.inputs[0])
    return node.refuse("it has no input");
  auto axis = node.axisAttribute(1, node.inputs[0]->rank());
  if (!axis)
    return failure();
  SmallVector<Value> parts;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorRef &t = node.inputs[i];
    if (!t)
      return node.refuse(formatv("its input {0} is missing", i));
    const bool isEmpty = elementCount(t->shape) == 0;
    Value v = isEmpty ? Value() : hostValue(node, i);
    if (!v && !isEmpty)
      return failure();
    Shape a = node.inputs[0]->shape, b = node.inputs[i]->shape;
    if (a.size() == b.size())
      a[*axis] = b[*axis] = 0;
    if (a != b || HostTensor::isRealType(typeOf(t)) !=
                      HostTensor::isRealType(typeOf(node.inputs[0])))
      return node.refuse(
          formatv("its inputs 0 and {0} differ in shape or element type", i));
    if (v)
      parts.push_back(v);
  }
  if (parts.empty())
    return node.refuse("all its inputs are empty");
  return give(node, 0,
              parts.size() == 1 ? parts.front()
                                : loops(node).concat(parts, *axis),
              typeOf(node.inputs[0]));
}

LogicalResult onhost::expand(NodeContext &node) {
  Value x = hostValue(node, 0);
  auto wanted = x ? node.constantInts(1, "shape") : std::nullopt;
  if (!wanted)
    return failure();
  const Shape &from = node.input(0)->shape;
  auto shape = broadcast(from, *wanted);
  if (!shape)
    return node.refuse(formatv("its shape {0} does not expand to {1}",
                               describe(from), describe(*wanted)));
  return give(node, 0, loops(node).expand(x, *shape), typeOf(node.input(0)));
}

LogicalResult onhost::tile(NodeContext &node) {
  Value x = hostValue(node, 0);
  auto repeats = x ? node.constantInts(1, "repeats") : std::nullopt;
  if (!repeats)
    return failure();
  const Shape &from = node.input(0)->shape;
  if (repeats->size() != from.size())
    return node.refuse("its repeats do not fit its rank");
  Shape shape = from;
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] *= (*repeats)[i];
  if (!elementCount(shape))
    return node.refuse(
        formatv("its result would have the shape {0}", describe(shape)));
  Value y = loops(node).each(shape, elementOf(x), [&](S &s, R) {
    Places at;
    for (unsigned i = 0; i < from.size(); ++i)
      at.push_back(s.rem(s.index(i), s.whole(from[i])));
    return s.at(x, at);
  });
  return give(node, 0, y, typeOf(node.input(0)));
}

LogicalResult onhost::pad(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  const Shape &from = node.input(0)->shape;
  int64_t rank = int64_t(from.size());
  auto pads = node.input(1) ? node.constantInts(1, "list of pads")
                            : node.getInts("pads");
  if (!pads)
    return node.input(1) ? failure()
                         : LogicalResult(node.refuse("its pads are missing"));
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.input(3)) {
    auto given = node.constantInts(3, "list of axes");
    if (!given)
      return failure();
    axes = *given;
  }
  int type = typeOf(node.input(0));
  std::string mode = node.getString("mode", "constant");
  Value value = node.input(2)
                    ? hostValue(node, 2)
                    : scalarConstant(node, node.getFloat("value", 0), type);
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
    return node.refuse(formatv("its pads are {0} for the shape {1}",
                               describe(*pads), describe(from)));
  value = loops(node).reshape(value, {});
  return give(node, 0,
              loops(node).each(
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

LogicalResult onhost::blocks(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  int64_t block = node.getInt("blocksize", 0);
  if (node.input(0)->rank() != 4 || block < 1 || block > 1 << 20)
    return node.refuse("its input is not an image, or its blocksize not valid",
                       "give an input [N, C, H, W] and write blocksize = 2, or "
                       "another from 1 to 1048576");
  const Shape f = node.input(0)->shape;
  Loops l = loops(node);
  int64_t n = f[0], c = f[1], h = f[2], w = f[3], area = block * block;
  Value v;
  if (node.op() == "SpaceToDepth") {
    if (h % block || w % block)
      return node.refuse("its blocksize does not divide its image",
                         "write a blocksize that divides its height and its "
                         "width");
    v = l.reshape(x, {n, c, h / block, block, w / block, block});
    v = node.getString("mode", "DCR") == "CRD"
            ? l.transpose(v, {0, 1, 3, 5, 2, 4})
            : l.transpose(v, {0, 3, 5, 1, 2, 4});
    v = l.reshape(v, {n, c * area, h / block, w / block});
  } else {
    if (c % area)
      return node.refuse("its blocksize does not divide its channels",
                         "write a blocksize whose square divides its channels");
    bool crd = node.getString("mode", "DCR") == "CRD";
    v = crd ? l.reshape(x, {n, c / area, block, block, h, w})
            : l.reshape(x, {n, block, block, c / area, h, w});
    v = l.transpose(v, crd ? ArrayRef<int64_t>{0, 1, 4, 2, 5, 3}
                           : ArrayRef<int64_t>{0, 3, 4, 1, 5, 2});
    v = l.reshape(v, {n, c / area, h * block, w * block});
  }
  return give(node, 0, v, typeOf(node.input(0)));
}

LogicalResult onhost::trilu(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  int64_t k = 0;
  if (node.input(1)) {
    auto given = node.constantInts(1, "k");
    if (!given || given->size() != 1)
      return failure();
    k = given->front();
  }
  unsigned rank = unsigned(node.input(0)->rank());
  if (rank < 2)
    return node.refuse("its input is not a matrix");
  bool upper = node.getInt("upper", 1) != 0;
  int type = typeOf(node.input(0));
  return give(node, 0,
              eachOf(node, {x}, type,
                     [&](S &s, R a) {
                       Value d = s.sub(s.index(rank - 1), s.index(rank - 2));
                       Value keep = upper ? s.notLess(d, s.whole(k))
                                          : s.notLess(s.whole(k), d);
                       return s.select(keep, a[0], s.number(0, a[0]));
                     }),
              type);
}

//===----------------------------------------------------------------------===//
// Constants that follow only from shapes and bounds
//===----------------------------------------------------------------------===//

LogicalResult onhost::size(NodeContext &node) {
  return give(node, 0,
              wholeConstant(node, {}, {*elementCount(node.input(0)->shape)}),
              TensorProto::INT64);
}

LogicalResult onhost::eyeLike(NodeContext &node) {
  if (node.input(0)->rank() != 2)
    return node.refuse("its input is not a matrix");
  int type = int(node.getInt("dtype", typeOf(node.input(0))));
  int64_t k = node.getInt("k", 0);
  bool real = HostTensor::isRealType(type);
  Loops l = loops(node);
  Value y =
      l.each(node.input(0)->shape, real ? l.real() : l.whole(), [&](S &s, R) {
        Value same = s.equal(s.sub(s.index(1), s.index(0)), s.whole(k));
        Value v = s.flag(same);
        return real ? s.toReal(v) : v;
      });
  return give(node, 0, y, type);
}

LogicalResult onhost::range(NodeContext &node) {
  std::vector<double> v;
  for (size_t i = 0; i < 3; ++i) {
    TensorRef t = node.input(i);
    if (!t || !t->isPlainConstant() || t->constant->size() != 1)
      return node.refuse("its bounds are not constant",
                         "fold constants before export");
    v.push_back(t->constant->isReal() ? t->constant->reals[0]
                                      : double(t->constant->ints[0]));
  }
  int64_t n =
      v[2] == 0 ? 0 : int64_t(std::max(0.0, std::ceil((v[1] - v[0]) / v[2])));
  if (n < 1 || n > kMaxFoldedElements)
    return node.refuse("its result would be empty or too large");
  int type = typeOf(node.input(0));
  bool real = HostTensor::isRealType(type);
  Loops l = loops(node);
  Value y = l.each({n}, real ? l.real() : l.whole(), [&](S &s, R) {
    Value i = s.index(0);
    if (real)
      return s.add(s.real(v[0]), s.mul(s.toReal(i), s.real(v[2])));
    return s.add(s.whole(int64_t(v[0])), s.mul(i, s.whole(int64_t(v[2]))));
  });
  return give(node, 0, y, type);
}
