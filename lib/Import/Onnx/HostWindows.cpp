// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows on the host: convolutions and pools over any number of spatial axes,
// including batches and computed weights.
#include "Asked.h"
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

namespace {
/// Along each spatial axis.
struct HostWindow {
  Shape kernel, strides, dilations, low, high, out;
};
} // namespace

/// Kernel, strides, dilations and padding along each spatial axis, and the
/// result's size.
static std::optional<HostWindow> hostWindow(NodeContext &node,
                                            ArrayRef<int64_t> spatial,
                                            ArrayRef<int64_t> kernel) {
  size_t n = spatial.size();
  HostWindow w;
  w.kernel.assign(kernel.begin(), kernel.end());
  auto list = [&](StringRef name, int64_t fallback, size_t count) {
    return node.getInts(name).value_or(std::vector<int64_t>(count, fallback));
  };
  w.strides = list("strides", 1, n);
  w.dilations = list("dilations", 1, n);
  Shape pads = list("pads", 0, 2 * n);
  std::string automatic = node.getString("auto_pad", "NOTSET");
  bool ceil = node.getInt("ceil_mode", 0) != 0;
  if (auto fault = windowFault(node.file, n, (1 << 24) - 1)) {
    node.refuse(fault->reason, fault->remedy);
    return std::nullopt;
  }
  if (kernel.empty()) {
    node.refuse("its kernel_shape is missing");
    return std::nullopt;
  }
  if (!llvm::all_of(kernel, [](int64_t v) { return v > 0; })) {
    node.refuse(formatv("its window is {0}", describe(kernel)));
    return std::nullopt;
  }
  for (size_t i = 0; i < n; ++i) {
    int64_t span = (kernel[i] - 1) * w.dilations[i] + 1, low = pads[i],
            high = pads[i + n];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      int64_t out = (spatial[i] + w.strides[i] - 1) / w.strides[i];
      int64_t all =
          std::max<int64_t>(0, (out - 1) * w.strides[i] + span - spatial[i]);
      low = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      high = all - low;
    } else if (automatic == "VALID") {
      low = high = 0;
    }
    int64_t room = spatial[i] + low + high - span;
    int64_t out = room < 0 ? 0
                           : (ceil ? (room + w.strides[i] - 1) / w.strides[i]
                                   : room / w.strides[i]) +
                                 1;
    // In ceil mode the last window begins inside the input or its padding.
    if (ceil && out > 0 && (out - 1) * w.strides[i] >= spatial[i] + low)
      --out;
    if (out < 1) {
      node.refuse(
          formatv("its window does not fit its input {0}", describe(spatial)));
      return std::nullopt;
    }
    w.low.push_back(low);
    w.high.push_back(high);
    w.out.push_back(out);
  }
  return w;
}

/// The input's coordinates for the loops' position and tap, each clamped to the
/// size, and whether they were inside.
static Value coordinates(S &s, const HostWindow &w, ArrayRef<int64_t> spatial,
                         unsigned outFirst, unsigned tapFirst,
                         SmallVector<Value> &at) {
  Value inside;
  for (size_t i = 0; i < spatial.size(); ++i) {
    Value p = s.mul(s.index(outFirst + unsigned(i)), s.whole(w.strides[i]));
    p = s.add(p,
              s.mul(s.index(tapFirst + unsigned(i)), s.whole(w.dilations[i])));
    p = s.sub(p, s.whole(w.low[i]));
    Value in = s.both(s.notLess(p, s.whole(0)), s.less(p, s.whole(spatial[i])));
    inside = inside ? s.both(inside, in) : in;
    at.push_back(s.select(in, p, s.whole(0)));
  }
  return inside;
}

/// The input with padding of `value` as far as windows read.
static Value padded(Loops &l, Value x, const HostWindow &w, TypedAttr value) {
  Shape low = {0, 0}, high = {0, 0};
  ArrayRef<int64_t> spatial = Loops::shapeOf(x).drop_front(2);
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t reach =
        (w.out[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
    low.push_back(w.low[i]);
    high.push_back(std::max<int64_t>(0, reach - w.low[i] - spatial[i]));
  }
  return l.pad(x, low, high, value);
}

/// The position that a window reads along a spatial axis of the padded input.
static AffineExpr placeOf(Loops &l, const HostWindow &w, unsigned axis,
                          unsigned outFirst, unsigned tapFirst) {
  return l.dim(outFirst + axis) * w.strides[axis] +
         l.dim(tapFirst + axis) * w.dilations[axis];
}

/// Refuses an attribute that says otherwise than the weights.
static LogicalResult checkKernel(NodeContext &node, ArrayRef<int64_t> weights) {
  auto given = node.getInts("kernel_shape");
  if (!given || ArrayRef(*given) == weights.drop_front(2))
    return success();
  return node.refuse(formatv("its kernel_shape is {0}, its weights have {1}",
                             describe(*given), describe(weights)),
                     "make them one, or leave kernel_shape out");
}

/// The convolution of the current node without a bias, of reals or integers;
/// null if refused.
Value importer::convolved(NodeContext &node, Value x, Value w) {
  Loops::Shape from(Loops::shapeOf(x)), kernel(Loops::shapeOf(w));
  int64_t groups = node.getInt("group", 1);
  if (from.size() < 3 || kernel.size() != from.size() || groups < 1 ||
      from[1] != kernel[1] * groups || kernel[0] % groups ||
      Loops::isReal(x) != Loops::isReal(w)) {
    node.refuse(formatv("its input {0} and weights {1} do not fit",
                        describe(from), describe(kernel)));
    return {};
  }
  if (failed(checkKernel(node, kernel)))
    return {};
  ArrayRef<int64_t> spatial = ArrayRef(from).drop_front(2);
  auto window = hostWindow(node, spatial, ArrayRef(kernel).drop_front(2));
  if (!window)
    return {};
  // Loops: sample, group, output, position | input, tap.
  unsigned n = unsigned(spatial.size()), rank = n + 3;
  int64_t perIn = kernel[1], perOut = kernel[0] / groups;
  Loops l = loops(node);
  Value inside = padded(l, x, *window, l.number(0, elementOf(x)));
  Shape shape = {from[0], groups, perOut}, reduced = {perIn};
  Shape source = {from[0], groups, perIn}, filter = {groups, perOut, perIn};
  llvm::append_range(shape, window->out);
  llvm::append_range(reduced, window->kernel);
  llvm::append_range(source, Loops::shapeOf(inside).drop_front(2));
  llvm::append_range(filter, window->kernel);
  SmallVector<AffineExpr> at = {l.dim(0), l.dim(1), l.dim(rank)},
                          tap = {l.dim(1), l.dim(2), l.dim(rank)};
  for (unsigned i = 0; i < n; ++i) {
    at.push_back(placeOf(l, *window, i, 3, rank + 1));
    tap.push_back(l.dim(rank + 1 + i));
  }
  MLIRContext *context = node.builder.getContext();
  unsigned dims = rank + 1 + n;
  Value sum =
      l.loop(shape, reduced, elementOf(x), l.number(0, elementOf(x)),
             {{l.reshape(inside, source), AffineMap::get(dims, 0, at, context)},
              {l.reshape(w, filter), AffineMap::get(dims, 0, tap, context)}},
             [](S &s, R a) { return s.add(a[2], s.mul(a[0], a[1])); });
  Shape result = {from[0], kernel[0]};
  llvm::append_range(result, window->out);
  return l.reshape(sum, result);
}

LogicalResult onhost::conv(NodeContext &node) {
  auto factors = hostFactors(node, /*takesWide=*/false);
  if (!factors)
    return failure();
  Value v = convolved(node, factors->x, factors->y), bias = factors->addend;
  if (!v)
    return failure();
  const Shape &kernel = node.input(1)->shape;
  if (bias && failed(onePerChannel(node, bias, kernel[0])))
    return failure();
  Loops l = loops(node);
  int type = typeOf(node.input(0));
  if (bias) {
    Loops::Shape channels(kernel.size(), 1);
    channels[1] = kernel[0];
    v = computeBinary(node, "Add", v, l.reshape(bias, channels), type);
  }
  return give(node, 0, v, type);
}

/// out[o] = Σ in[i] · w over all i, k with o = i · stride + k · dilation − low.
LogicalResult onhost::convTranspose(NodeContext &node) {
  auto factors = hostFactors(node, /*takesWide=*/false);
  if (!factors)
    return failure();
  Value x = factors->x, w = factors->y, bias = factors->addend;
  const Shape &from = node.input(0)->shape, &kernel = node.input(1)->shape;
  int64_t groups = node.getInt("group", 1);
  if (from.size() < 3 || kernel.size() != from.size() || groups < 1 ||
      from[1] != kernel[0] || from[1] % groups || !Loops::isReal(x))
    return node.refuse(formatv("its input {0} and weights {1} do not fit",
                               describe(from), describe(kernel)));
  if (failed(checkKernel(node, kernel)))
    return failure();
  unsigned n = unsigned(from.size()) - 2, rank = n + 2;
  auto list = [&](StringRef name, int64_t fallback, size_t count) {
    return node.getInts(name).value_or(std::vector<int64_t>(count, fallback));
  };
  Shape strides = list("strides", 1, n), dilations = list("dilations", 1, n),
        pads = list("pads", 0, 2 * n), more = list("output_padding", 0, n),
        given = list("output_shape", 0, n);
  std::string automatic = node.getString("auto_pad", "NOTSET");
  if (given.size() == n + 2)
    given.erase(given.begin(), given.begin() + 2);
  if (auto fault = windowFault(node.file, n, (1 << 24) - 1))
    return node.refuse(fault->reason, fault->remedy);
  if (given.size() != n)
    return node.refuse(formatv("its output_shape is {0}", describe(given)),
                       formatv("leave it out, or write {0} sizes", n));
  Shape out(n);
  for (unsigned i = 0; i < n; ++i) {
    int64_t span = (kernel[i + 2] - 1) * dilations[i] + 1;
    int64_t full = strides[i] * (from[i + 2] - 1) + more[i] + span;
    bool same = automatic.compare(0, 4, "SAME") == 0;
    if (given[i] || same) {
      out[i] = given[i] ? given[i] : from[i + 2] * strides[i];
      int64_t all = std::max<int64_t>(0, full - out[i]);
      pads[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    } else {
      out[i] = full - pads[i] - pads[i + n];
    }
    if (out[i] < 1 || strides[i] < 1 || dilations[i] < 1)
      return node.refuse("its result would be empty");
  }
  int64_t perIn = from[1] / groups, perOut = kernel[1];
  if (bias && failed(onePerChannel(node, bias, perOut * groups)))
    return failure();
  Loops l = loops(node);
  Shape shape = {from[0], perOut * groups}, reduced = {perIn};
  llvm::append_range(shape, out);
  reduced.insert(reduced.end(), kernel.begin() + 2, kernel.end());
  Value v = l.loop(
      shape, reduced, l.real(), l.number(0, l.real()), {}, [&](S &s, R a) {
        Value group = s.div(s.index(1), s.whole(perOut));
        Value channel = s.add(s.index(rank), s.mul(group, s.whole(perIn)));
        SmallVector<Value> at = {s.index(0), channel};
        SmallVector<Value> tap = {channel, s.rem(s.index(1), s.whole(perOut))};
        Value inside;
        for (unsigned i = 0; i < n; ++i) {
          Value k = s.index(rank + 1 + i);
          Value p = s.add(s.index(2 + i), s.whole(pads[i]));
          p = s.sub(p, s.mul(k, s.whole(dilations[i])));
          Value q = s.div(p, s.whole(strides[i]));
          Value hit = s.equal(s.mul(q, s.whole(strides[i])), p);
          Value in = s.both(hit, s.both(s.notLess(q, s.whole(0)),
                                        s.less(q, s.whole(from[i + 2]))));
          inside = inside ? s.both(inside, in) : in;
          at.push_back(s.select(in, q, s.whole(0)));
          tap.push_back(k);
        }
        Value read = s.select(inside, s.at(x, at), s.real(0));
        return s.add(a[0], s.mul(read, s.at(w, tap)));
      });
  if (bias) {
    Loops::Shape channels(rank, 1);
    channels[1] = shape[1];
    v = plus(node, v, l.reshape(bias, channels));
  }
  return give(node, 0, v, TensorProto::FLOAT);
}

namespace {
/// A pool's input and window.
struct Pool {
  NodeContext &node;
  Value x;
  Shape spatial;
  HostWindow window;

  /// Visits the taps of every window: whether the tap is inside, the element
  /// there, the value so far, and the indices.
  using Visit = function_ref<Value(S &, Value, Value, Value, ArrayRef<Value>)>;
  Value visit(Type result, TypedAttr init, Visit fn) const {
    ArrayRef<int64_t> from = Loops::shapeOf(x);
    Shape shape = {from[0], from[1]};
    llvm::append_range(shape, window.out);
    auto tap = [&](S &s, R a) {
      SmallVector<Value> at = {s.index(0), s.index(1)};
      Value in = coordinates(s, window, spatial, 2, unsigned(from.size()), at);
      return fn(s, in, s.at(x, at), a[0], at);
    };
    return loops(node).loop(shape, window.kernel, result, init, {}, tap);
  }
  /// Folds the elements of every window, with `outside` around the input.
  using Fold = function_ref<Value(S &, Value, Value)>;
  Value fold(TypedAttr outside, TypedAttr init, Fold fn) const {
    Loops l = loops(node);
    Value inside = padded(l, x, window, outside);
    unsigned n = unsigned(spatial.size()), rank = n + 2;
    Shape shape(Loops::shapeOf(x).take_front(2));
    llvm::append_range(shape, window.out);
    SmallVector<AffineExpr> at = {l.dim(0), l.dim(1)};
    for (unsigned i = 0; i < n; ++i)
      at.push_back(placeOf(l, window, i, 2, rank));
    auto map = AffineMap::get(rank + n, 0, at, node.builder.getContext());
    return l.loop(shape, window.kernel, elementOf(x), init, {{inside, map}},
                  [&](S &s, R a) { return fn(s, a[0], a[1]); });
  }
};
} // namespace

static std::optional<Pool> poolOf(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return std::nullopt;
  const Shape &from = node.input(0)->shape;
  if (from.size() < 3) {
    node.refuse(formatv("its input {0} has no spatial axes", describe(from)));
    return std::nullopt;
  }
  Shape spatial(from.begin() + 2, from.end());
  size_t n = spatial.size();
  if (node.op().starts_with("Global"))
    return Pool{node, x, spatial,
                HostWindow{spatial, Shape(n, 1), Shape(n, 1), Shape(n, 0),
                           Shape(n, 0), Shape(n, 1)}};
  auto window =
      hostWindow(node, spatial, node.getInts("kernel_shape").value_or(Shape()));
  if (!window)
    return std::nullopt;
  return Pool{node, x, spatial, *window};
}

/// The first index, in row-major (or column-major) order, of each maximum.
static Value placesOf(const Pool &pool, Value top) {
  const Shape &spatial = pool.spatial;
  unsigned n = unsigned(spatial.size());
  bool columns = pool.node.getInt("storage_order", 0) != 0;
  int64_t channels = Loops::shapeOf(pool.x)[1];
  OpBuilder &b = pool.node.builder;
  return pool.visit(
      b.getI64Type(), b.getI64IntegerAttr(INT64_MAX),
      [&](S &s, Value in, Value v, Value best, ArrayRef<Value> at) {
        SmallVector<Value> out;
        for (unsigned i = 0; i < n + 2; ++i)
          out.push_back(s.index(i));
        Value place = s.add(s.mul(at[0], s.whole(channels)), at[1]), within;
        for (unsigned k = 0; k < n; ++k) {
          unsigned i = columns ? n - 1 - k : k;
          within = within ? s.add(s.mul(within, s.whole(spatial[i])), at[2 + i])
                          : at[2 + i];
        }
        place = s.mul(place, s.whole(ShapedType::getNumElements(spatial)));
        place = s.add(place, within);
        Value hit = s.both(in, s.equal(v, s.at(top, out)));
        return s.select(hit, s.min(best, place), best);
      });
}

LogicalResult onhost::maxPool(NodeContext &node) {
  auto pool = poolOf(node);
  if (!pool)
    return failure();
  int type = typeOf(node.input(0));
  bool u = isUnsigned(type);
  TypedAttr least = loops(node).number(-INFINITY, loops(node).real());
  if (!Loops::isReal(pool->x))
    least = node.builder.getI64IntegerAttr(u ? 0 : INT64_MIN);
  Value top = pool->fold(least, least, [&](S &s, Value v, Value best) {
    return s.max(v, best, u);
  });
  if (failed(give(node, 0, top, type)))
    return failure();
  if (!node.outputUsed(1))
    return success();
  return give(node, 1, placesOf(*pool, top), TensorProto::INT64);
}

/// Pools that add up; for reals.
static std::optional<Pool> realPoolOf(NodeContext &node) {
  auto pool = poolOf(node);
  if (pool && !Loops::isReal(pool->x)) {
    node.refuse("its input holds integers");
    return std::nullopt;
  }
  return pool;
}

LogicalResult onhost::lpPool(NodeContext &node) {
  auto pool = realPoolOf(node);
  if (!pool)
    return failure();
  int64_t p = node.getInt("p", 2);
  Loops l = loops(node);
  TypedAttr zero = l.number(0, l.real());
  Value sum = pool->fold(zero, zero, [&](S &s, Value v, Value so) {
    v = s.apply<math::AbsFOp>(v);
    if (p == 2)
      v = s.mul(v, v);
    else if (p != 1)
      v = s.apply<math::PowFOp>(v, s.real(double(p)));
    return s.add(so, v);
  });
  int type = typeOf(node.input(0));
  Value y = eachOf(node, {sum}, type, [&](S &s, R a) -> Value {
    if (p == 1)
      return a[0];
    return p == 2 ? s.apply<math::SqrtOp>(a[0])
                  : s.apply<math::PowFOp>(a[0], s.real(1.0 / double(p)));
  });
  return give(node, 0, y, type);
}

/// For every window, the number of its taps that count: inside, or inside with
/// the explicit padding.
static Value countsOf(const Pool &pool) {
  const HostWindow &w = pool.window;
  bool padding = pool.node.getInt("count_include_pad", 0) != 0;
  Shape shape = {1, 1};
  std::vector<float> counts(1, 1.f);
  for (size_t i = 0; i < pool.spatial.size(); ++i) {
    shape.push_back(w.out[i]);
    std::vector<float> next;
    for (float before : counts)
      for (int64_t o = 0; o < w.out[i]; ++o) {
        int64_t taps = 0;
        for (int64_t k = 0; k < w.kernel[i]; ++k) {
          int64_t at = o * w.strides[i] + k * w.dilations[i] - w.low[i];
          taps += padding ? at < pool.spatial[i] + w.high[i]
                          : at >= 0 && at < pool.spatial[i];
        }
        next.push_back(before * float(taps));
      }
    counts = next;
  }
  return realConstant(pool.node, shape, counts);
}

LogicalResult onhost::averagePool(NodeContext &node) {
  auto pool = realPoolOf(node);
  if (!pool)
    return failure();
  Loops l = loops(node);
  TypedAttr zero = l.number(0, l.real());
  Value sum = pool->fold(zero, zero,
                         [](S &s, Value v, Value so) { return s.add(so, v); });
  int type = typeOf(node.input(0));
  Value y = eachOf(node, {sum, countsOf(*pool)}, type,
                   [](S &s, R a) { return s.div(a[0], a[1]); });
  return give(node, 0, y, type);
}
