// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and windows of the host: matrices of any rank, Einsum, convolutions
// and pools over any number of spatial axes, batches and computed weights
// included.
#include "Importer.h"
#include "rhizome/Host/Loops.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

static Type elementOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}

/// ONNX's MatMul: vectors become matrices and lose the axis again; null if the
/// shapes do not fit.
Value Importer::hostProduct(Value x, Value y) {
  Loops l = loops();
  Loops::Shape p(Loops::shapeOf(x)), q(Loops::shapeOf(y));
  bool row = p.size() == 1, column = q.size() == 1;
  if (row)
    p.insert(p.begin(), 1);
  if (column)
    q.push_back(1);
  if (p.empty() || q.empty() || p.back() != q[q.size() - 2] ||
      !Loops::broadcast(ArrayRef(p).drop_back(2), ArrayRef(q).drop_back(2)))
    return {};
  Value v = l.matmul(l.reshape(x, p), l.reshape(y, q));
  Loops::Shape shape(Loops::shapeOf(v));
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return l.reshape(v, shape);
}

LogicalResult Importer::onePerChannel(Value bias, int64_t channels) {
  ArrayRef<int64_t> shape = Loops::shapeOf(bias);
  if (ShapedType::getNumElements(shape) == channels)
    return success();
  return refuse(formatv("its bias has the shape {0}, not {1}", describe(shape),
                        describe({channels})));
}

std::optional<Importer::Factors> Importer::hostFactors(bool takesWide) {
  for (size_t i : {0, 1}) {
    if (!input(i)) {
      refuse(formatv("its input {0} is missing", i));
      return std::nullopt;
    }
    int type = typeOf(input(i));
    bool isWide = type == TensorProto::INT32 || type == TensorProto::UINT32 ||
                  type == TensorProto::INT64 || type == TensorProto::UINT64;
    if (!HostTensor::isRealType(type) && !(takesWide && isWide)) {
      refuse(formatv("its input {0} has the type {1}, for which {2} is not "
                     "defined",
                     i, typeName(type), node->op()),
             "put a DequantizeLinear or Cast before it");
      return std::nullopt;
    }
  }
  Factors f = {hostValue(0), hostValue(1), input(2) ? hostValue(2) : Value()};
  if (!f.x || !f.y || (input(2) && !f.addend))
    return std::nullopt;
  if (f.addend && Loops::isReal(f.addend) != Loops::isReal(f.x)) {
    refuse(formatv("its inputs 0 and 2 have the types {0} and {1}, which must "
                   "be one",
                   typeName(typeOf(input(0))), typeName(typeOf(input(2)))),
           "put a Cast before one of them");
    return std::nullopt;
  }
  return f;
}

LogicalResult Importer::hostMatMul() {
  auto factors = hostFactors(/*takesWide=*/true);
  if (!factors)
    return failure();
  Value x = factors->x, y = factors->y;
  Value v = Loops::isReal(x) == Loops::isReal(y) ? hostProduct(x, y) : Value();
  if (!v)
    return refuse(formatv("its inputs {0} and {1} do not fit",
                          describe(input(0)->shape),
                          describe(input(1)->shape)));
  int type = typeOf(input(0));
  return give(0, wrapped(v, type), type);
}

LogicalResult Importer::hostGemm() {
  auto factors = hostFactors(/*takesWide=*/true);
  if (!factors)
    return failure();
  Value a = factors->x, b = factors->y, c = factors->addend;
  if (input(0)->rank() != 2 || input(1)->rank() != 2)
    return refuse("its inputs are no matrices");
  Loops l = loops();
  if (node->getInt("transA", 0))
    a = l.transpose(a, {1, 0});
  if (node->getInt("transB", 0))
    b = l.transpose(b, {1, 0});
  Value v = Loops::isReal(a) == Loops::isReal(b) ? hostProduct(a, b) : Value();
  if (!v || (c && Loops::broadcast(Loops::shapeOf(v), Loops::shapeOf(c)) !=
                      Loops::Shape(Loops::shapeOf(v))))
    return refuse(formatv("its inputs {0} and {1} do not fit",
                          describe(input(0)->shape),
                          describe(input(1)->shape)));
  double alpha = node->getFloat("alpha", 1), beta = node->getFloat("beta", 1);
  int type = typeOf(input(0));
  auto scaled = [&](Value x, double factor) {
    if (factor == 1)
      return x;
    return eachOf({x}, type, [&](S &s, R e) {
      return s.mul(e[0], s.number(factor, e[0]));
    });
  };
  v = scaled(v, alpha);
  if (c && beta != 0)
    v = computeBinary("Add", v, scaled(c, beta), type);
  return give(0, v, type);
}

LogicalResult Importer::hostEinsum() {
  std::string equation = node->getString("equation", "");
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  bool explicitOut = StringRef(equation).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != inputs.size())
    return refuse(formatv("its equation '{0}' has {1} operands, it has {2}",
                          equation, terms.size(), inputs.size()));
  // Letters, and for "…" as many negative names as the longest needs.
  std::map<int, int64_t> sizes;
  std::map<int, int> uses;
  SmallVector<SmallVector<int>> names;
  int dots = 0;
  auto spell = [&](StringRef term,
                   int rank) -> std::optional<SmallVector<int>> {
    SmallVector<int> out;
    int letters = 0;
    for (char c : term)
      letters += c != '.';
    for (size_t i = 0; i < term.size(); ++i) {
      if (term[i] != '.') {
        out.push_back(term[i]);
        continue;
      }
      int count = rank < 0 ? dots : rank - letters;
      dots = std::max(dots, count);
      for (int k = count; k > 0; --k)
        out.push_back(-k);
      i += 2;
    }
    if (rank >= 0 && int(out.size()) != rank)
      return std::nullopt;
    return out;
  };
  SmallVector<Value> values;
  for (size_t i = 0; i < terms.size(); ++i) {
    values.push_back(hostValue(i));
    if (!values.back())
      return failure();
    auto spelled = spell(terms[i], int(input(i)->rank()));
    if (!spelled)
      return refuse(formatv("its equation '{0}' does not fit its input {1}",
                            equation, i));
    for (auto [name, size] : llvm::zip_equal(*spelled, input(i)->shape)) {
      int64_t &known = sizes.try_emplace(name, 1).first->second;
      if (known != 1 && size != 1 && known != size)
        return refuse(formatv("its equation '{0}' gives '{1}' two sizes",
                              equation, char(name)));
      known = std::max(known, size);
      ++uses[name];
    }
    names.push_back(*spelled);
  }
  SmallVector<int> result;
  if (explicitOut) {
    result = *spell(right, -1);
  } else {
    for (int k = dots; k > 0; --k)
      result.push_back(-k);
    for (auto [name, count] : uses)
      if (name > 0 && count == 1)
        result.push_back(name);
  }
  Shape shape, reduced;
  std::map<int, unsigned> place;
  for (int name : result) {
    if (!sizes.count(name) || !place.try_emplace(name, place.size()).second)
      return refuse(formatv("its equation '{0}' is not valid", equation));
    shape.push_back(sizes[name]);
  }
  for (auto [name, size] : sizes)
    if (place.try_emplace(name, place.size()).second)
      reduced.push_back(size);
  Loops l = loops();
  SmallVector<host::Operand> operands;
  for (auto [value, spelled] : llvm::zip_equal(values, names)) {
    SmallVector<AffineExpr> exprs;
    for (auto [name, size] : llvm::zip_equal(spelled, Loops::shapeOf(value)))
      exprs.push_back(size == 1 ? builder.getAffineConstantExpr(0)
                                : l.dim(place[name]));
    operands.push_back(
        {value, AffineMap::get(place.size(), 0, exprs, context)});
  }
  Type element = elementOf(values[0]);
  Value v = l.loop(shape, reduced, element, l.number(0, element), operands,
                   [&](S &s, R a) {
                     Value product = a[0];
                     for (Value factor : a.drop_front().drop_back())
                       product = s.mul(product, factor);
                     return s.add(a.back(), product);
                   });
  int type = typeOf(input(0));
  return give(0, wrapped(v, type), type);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Kernel, strides, dilations and padding along each spatial axis, and the
/// result's size.
std::optional<HostWindow> Importer::hostWindow(ArrayRef<int64_t> spatial,
                                               ArrayRef<int64_t> kernel) {
  size_t n = spatial.size();
  HostWindow w;
  w.kernel.assign(kernel.begin(), kernel.end());
  auto list = [&](StringRef name, int64_t fallback, size_t count) {
    return node->getInts(name).value_or(std::vector<int64_t>(count, fallback));
  };
  w.strides = list("strides", 1, n);
  w.dilations = list("dilations", 1, n);
  Shape pads = list("pads", 0, 2 * n);
  std::string automatic = node->getString("auto_pad", "NOTSET");
  bool ceil = node->getInt("ceil_mode", 0) != 0;
  auto positive = [](int64_t v) { return v > 0 && v < (1 << 24); };
  auto padding = [](int64_t v) { return v >= 0 && v < (1 << 24); };
  if (kernel.size() != n || w.strides.size() != n || w.dilations.size() != n ||
      pads.size() != 2 * n || !llvm::all_of(kernel, positive) ||
      !llvm::all_of(w.strides, positive) ||
      !llvm::all_of(w.dilations, positive) || !llvm::all_of(pads, padding)) {
    refuse("its kernel, strides, dilations or pads are not valid");
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
      refuse(
          formatv("its window does not fit its input {0}", describe(spatial)));
      return std::nullopt;
    }
    w.low.push_back(low);
    w.high.push_back(high);
    w.out.push_back(out);
  }
  return w;
}

/// The input's coordinates for the loops' position and tap, each at least 0 and
/// below the size, and whether they lay inside.
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

/// The convolution of the current node without a bias, of reals or integers;
/// null if refused.
Value Importer::convolved(Value x, Value w) {
  Loops::Shape from(Loops::shapeOf(x)), kernel(Loops::shapeOf(w));
  int64_t groups = node->getInt("group", 1);
  if (from.size() < 3 || kernel.size() != from.size() || groups < 1 ||
      from[1] != kernel[1] * groups || kernel[0] % groups ||
      Loops::isReal(x) != Loops::isReal(w)) {
    refuse(formatv("its input {0} and weights {1} do not fit", describe(from),
                   describe(kernel)));
    return {};
  }
  ArrayRef<int64_t> spatial = ArrayRef(from).drop_front(2);
  auto window = hostWindow(spatial, ArrayRef(kernel).drop_front(2));
  if (!window)
    return {};
  unsigned n = unsigned(spatial.size());
  int64_t perIn = kernel[1], perOut = kernel[0] / groups;
  Loops l = loops();
  Shape shape = {from[0], kernel[0]}, reduced = {perIn};
  llvm::append_range(shape, window->out);
  llvm::append_range(reduced, window->kernel);
  unsigned rank = n + 2;
  return l.loop(shape, reduced, elementOf(x), l.number(0, elementOf(x)), {},
                [&](S &s, R a) {
                  Value channel = s.index(rank);
                  if (groups > 1) {
                    Value group = s.div(s.index(1), s.whole(perOut));
                    channel = s.add(channel, s.mul(group, s.whole(perIn)));
                  }
                  SmallVector<Value> at = {s.index(0), channel};
                  Value in = coordinates(s, *window, spatial, 2, rank + 1, at);
                  SmallVector<Value> tap = {s.index(1), s.index(rank)};
                  for (unsigned i = 0; i < n; ++i)
                    tap.push_back(s.index(rank + 1 + i));
                  Value read = s.at(x, at);
                  read = s.select(in, read, s.number(0, read));
                  return s.add(a[0], s.mul(read, s.at(w, tap)));
                });
}

LogicalResult Importer::hostConv() {
  auto factors = hostFactors(/*takesWide=*/false);
  if (!factors)
    return failure();
  Value v = convolved(factors->x, factors->y), bias = factors->addend;
  if (!v)
    return failure();
  const Shape &kernel = input(1)->shape;
  if (bias && failed(onePerChannel(bias, kernel[0])))
    return failure();
  Loops l = loops();
  int type = typeOf(input(0));
  if (bias) {
    Loops::Shape channels(kernel.size(), 1);
    channels[1] = kernel[0];
    v = computeBinary("Add", v, l.reshape(bias, channels), type);
  }
  return give(0, v, type);
}

/// out[o] = Σ in[i] · w over all i, k with o = i · stride + k · dilation − low.
LogicalResult Importer::hostConvTranspose() {
  auto factors = hostFactors(/*takesWide=*/false);
  if (!factors)
    return failure();
  Value x = factors->x, w = factors->y, bias = factors->addend;
  const Shape &from = input(0)->shape, &kernel = input(1)->shape;
  int64_t groups = node->getInt("group", 1);
  if (from.size() < 3 || kernel.size() != from.size() || groups < 1 ||
      from[1] != kernel[0] || from[1] % groups || !Loops::isReal(x))
    return refuse(formatv("its input {0} and weights {1} do not fit",
                          describe(from), describe(kernel)));
  unsigned n = unsigned(from.size()) - 2, rank = n + 2;
  auto list = [&](StringRef name, int64_t fallback, size_t count) {
    return node->getInts(name).value_or(std::vector<int64_t>(count, fallback));
  };
  Shape strides = list("strides", 1, n), dilations = list("dilations", 1, n),
        pads = list("pads", 0, 2 * n), more = list("output_padding", 0, n),
        given = list("output_shape", 0, n);
  std::string automatic = node->getString("auto_pad", "NOTSET");
  if (given.size() == n + 2)
    given.erase(given.begin(), given.begin() + 2);
  if (strides.size() != n || dilations.size() != n || pads.size() != 2 * n ||
      more.size() != n || given.size() != n)
    return refuse("its strides, dilations, pads or output shape are not valid");
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
      return refuse("its result would be empty");
  }
  int64_t perIn = from[1] / groups, perOut = kernel[1];
  if (bias && failed(onePerChannel(bias, perOut * groups)))
    return failure();
  Loops l = loops();
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
    v = plus(v, l.reshape(bias, channels));
  }
  return give(0, v, TensorProto::FLOAT);
}

LogicalResult Importer::hostPool() {
  Value x = hostValue(0);
  if (!x)
    return failure();
  StringRef op = node->op();
  const Shape &from = input(0)->shape;
  if (from.size() < 3)
    return refuse(formatv("its input {0} has no spatial axes", describe(from)));
  ArrayRef<int64_t> spatial = ArrayRef(from).drop_front(2);
  unsigned n = unsigned(spatial.size()), rank = n + 2;
  bool global = op.starts_with("Global");
  Shape kernel =
      global ? Shape(spatial) : node->getInts("kernel_shape").value_or(Shape());
  auto window = global ? HostWindow{kernel,      Shape(n, 1), Shape(n, 1),
                                    Shape(n, 0), Shape(n, 0), Shape(n, 1)}
                       : hostWindow(spatial, kernel);
  if (!window)
    return failure();
  int type = typeOf(input(0));
  bool largest = op.ends_with("MaxPool"), mean = op.ends_with("AveragePool");
  bool u = isUnsigned(type);
  int64_t p = node->getInt("p", 2);
  Loops l = loops();
  Shape shape = {from[0], from[1]};
  llvm::append_range(shape, window->out);
  Type element = elementOf(x);
  if (!largest && !Loops::isReal(x))
    return refuse("its input holds integers");
  auto visit =
      [&](Type result, TypedAttr init,
          function_ref<Value(S &, Value, Value, Value, ArrayRef<Value>)> fn) {
        return l.loop(shape, window->kernel, result, init, {}, [&](S &s, R a) {
          SmallVector<Value> at = {s.index(0), s.index(1)};
          Value in = coordinates(s, *window, spatial, 2, rank, at);
          return fn(s, in, s.at(x, at), a[0], at);
        });
      };
  if (largest) {
    TypedAttr least = Loops::isReal(x) ? l.number(-INFINITY, element)
                      : u ? TypedAttr(builder.getI64IntegerAttr(0))
                          : TypedAttr(builder.getI64IntegerAttr(INT64_MIN));
    Value top =
        visit(element, least,
              [&](S &s, Value in, Value v, Value best, ArrayRef<Value>) {
                return s.select(in, s.max(v, best, u), best);
              });
    if (failed(give(0, top, type)))
      return failure();
    if (!outputUsed(1))
      return success();
    // The first place, in row-major (or column-major) order, that holds it.
    bool columns = node->getInt("storage_order", 0) != 0;
    Value places = visit(
        l.whole(), TypedAttr(builder.getI64IntegerAttr(INT64_MAX)),
        [&](S &s, Value in, Value v, Value best, ArrayRef<Value> at) {
          SmallVector<Value> out;
          for (unsigned i = 0; i < rank; ++i)
            out.push_back(s.index(i));
          Value place = s.add(s.mul(at[0], s.whole(from[1])), at[1]);
          Value within;
          for (unsigned k = 0; k < n; ++k) {
            unsigned i = columns ? n - 1 - k : k;
            within = within
                         ? s.add(s.mul(within, s.whole(spatial[i])), at[2 + i])
                         : at[2 + i];
          }
          place =
              s.add(s.mul(place, s.whole(ShapedType::getNumElements(spatial))),
                    within);
          Value hit = s.both(in, s.equal(v, s.at(top, out)));
          return s.select(hit, s.min(best, place), best);
        });
    return give(1, places, TensorProto::INT64);
  }
  Value sum = visit(element, l.number(0, element),
                    [&](S &s, Value in, Value v, Value so, ArrayRef<Value>) {
                      if (!mean) {
                        v = s.apply<math::AbsFOp>(v);
                        v = p == 1 ? v
                            : p == 2
                                ? s.mul(v, v)
                                : s.apply<math::PowFOp>(v, s.real(double(p)));
                      }
                      return s.select(in, s.add(so, v), so);
                    });
  if (!mean)
    return give(0,
                eachOf({sum}, type,
                       [&](S &s, R a) {
                         if (p == 1)
                           return a[0];
                         return p == 2 ? s.apply<math::SqrtOp>(a[0])
                                       : s.apply<math::PowFOp>(
                                             a[0], s.real(1.0 / double(p)));
                       }),
                type);
  // Taps that count: inside, or inside with the explicit padding.
  bool padding = node->getInt("count_include_pad", 0) != 0;
  Loops::Shape counted(rank, 1);
  std::vector<float> counts(1, 1.f);
  for (unsigned i = 0; i < n; ++i) {
    counted[2 + i] = window->out[i];
    std::vector<float> next;
    for (float before : counts)
      for (int64_t o = 0; o < window->out[i]; ++o) {
        int64_t taps = 0;
        for (int64_t k = 0; k < window->kernel[i]; ++k) {
          int64_t at = o * window->strides[i] + k * window->dilations[i] -
                       window->low[i];
          taps += padding ? at < spatial[i] + window->high[i]
                          : at >= 0 && at < spatial[i];
        }
        next.push_back(before * float(taps));
      }
    counts = next;
  }
  Value divisors = realConstant(counted, counts);
  return give(0,
              eachOf({sum, divisors}, type,
                     [](S &s, R a) { return s.div(a[0], a[1]); }),
              type);
}
