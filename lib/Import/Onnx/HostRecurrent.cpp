// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers, unrolled over their steps.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

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
/// An activation with its two parameters.
struct Activation {
  std::string name;
  double alpha, beta;

  bool isKnown() const {
    static const StringRef all[] = {"sigmoid",     "tanh",           "relu",
                                    "hardsigmoid", "leakyrelu",      "affine",
                                    "softsign",    "softplus",       "elu",
                                    "scaledtanh",  "thresholdedrelu"};
    return llvm::is_contained(all, StringRef(name));
  }
  Value apply(S &s, Value x) const {
    auto line = [&] { return s.add(s.mul(x, s.real(alpha)), s.real(beta)); };
    if (name == "sigmoid")
      return s.sigmoid(x);
    if (name == "relu")
      return s.max(x, s.real(0));
    if (name == "hardsigmoid")
      return s.min(s.max(line(), s.real(0)), s.real(1));
    if (name == "affine")
      return line();
    if (name == "leakyrelu")
      return s.select(s.less(x, s.real(0)), s.mul(x, s.real(alpha)), x);
    if (name == "thresholdedrelu")
      return s.select(s.notLess(x, s.real(alpha)), x, s.real(0));
    if (name == "scaledtanh")
      return s.mul(s.real(alpha),
                   s.apply<math::TanhOp>(s.mul(x, s.real(beta))));
    if (name == "softsign")
      return s.div(x, s.add(s.real(1), s.apply<math::AbsFOp>(x)));
    if (name == "softplus")
      return s.apply<math::LogOp>(s.add(s.real(1), s.exp(x)));
    if (name == "elu")
      return s.select(s.less(x, s.real(0)),
                      s.mul(s.real(alpha), s.sub(s.exp(x), s.real(1))), x);
    return s.apply<math::TanhOp>(x);
  }
};

/// One direction's weights and state; gates in ONNX's order.
struct Cell {
  Value w, r, wb, rb; ///< [I, G·H], [H, G·H], [G·H] or null
  Value h, c;         ///< [B, H]
  Value peepholes;    ///< [3·H] or null
  std::vector<Activation> f;
};
} // namespace

static std::vector<Activation> activationsOf(const Node &node,
                                             ArrayRef<StringRef> defaults,
                                             size_t directions) {
  std::vector<Activation> out;
  const onnx::AttributeProto *given = node.find("activations"),
                             *alpha = node.find("activation_alpha"),
                             *beta = node.find("activation_beta");
  int a = 0, b = 0;
  for (size_t i = 0; i < defaults.size() * directions; ++i) {
    Activation f;
    f.name = given && int(i) < given->strings_size()
                 ? StringRef(given->strings(int(i))).lower()
                 : defaults[i % defaults.size()].lower();
    f.alpha = f.name == "hardsigmoid" ? 0.2 : f.name == "leakyrelu" ? 0.01 : 1;
    f.beta = f.name == "hardsigmoid" ? 0.5 : f.name == "scaledtanh" ? 1 : 0;
    bool takesAlpha = f.name != "sigmoid" && f.name != "tanh" &&
                      f.name != "relu" && f.name != "softsign" &&
                      f.name != "softplus";
    bool takesBeta =
        f.name == "hardsigmoid" || f.name == "affine" || f.name == "scaledtanh";
    if (takesAlpha && alpha && a < alpha->floats_size())
      f.alpha = alpha->floats(a++);
    if (takesBeta && beta && b < beta->floats_size())
      f.beta = beta->floats(b++);
    out.push_back(f);
  }
  return out;
}

LogicalResult onhost::recurrent(NodeContext &node) {
  StringRef op = node.op();
  if (failed(requireReals(node, {4}))) // the sequences' lengths
    return failure();
  Value x = hostValue(node, 0), w = x ? hostValue(node, 1) : Value(),
        r = w ? hostValue(node, 2) : Value();
  if (!r)
    return failure();
  auto optional = [&](size_t i) {
    return node.input(i) ? hostValue(node, i) : Value();
  };
  Value bias = optional(3), lengths = optional(4), h0 = optional(5),
        c0 = op == "LSTM" ? optional(6) : Value(),
        peepholes = op == "LSTM" ? optional(7) : Value();
  Loops l = loops(node);
  for (Value v : {x, w, r, h0, c0})
    if (v && Loops::shapeOf(v).size() != 3)
      return node.refuse(
          "its inputs X, W, R and the initial states have not three "
          "axes each");
  if (node.getInt("layout", 0)) {
    x = l.transpose(x, {1, 0, 2});
    if (h0)
      h0 = l.transpose(h0, {1, 0, 2});
    if (c0)
      c0 = l.transpose(c0, {1, 0, 2});
  }
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  Loops::Shape xs(Loops::shapeOf(x)), ws(Loops::shapeOf(w)),
      rs(Loops::shapeOf(r));
  int64_t steps = xs[0], batch = xs[1], in = xs[2], directions = ws[0],
          size = rs[2];
  std::string direction = node.getString("direction", "forward");
  if (ws[2] != in || ws[1] != gates * size || rs[1] != gates * size ||
      rs[0] != directions ||
      directions != (direction == "bidirectional" ? 2 : 1))
    return node.refuse("its weights do not fit its input");
  // The shapes that ONNX gives the optional inputs.
  const std::tuple<Value, StringRef, Loops::Shape> others[] = {
      {bias, "B", {directions, 2 * gates * size}},
      {lengths, "sequence_lens", {batch}},
      {h0, "initial_h", {directions, batch, size}},
      {c0, "initial_c", {directions, batch, size}},
      {peepholes, "P", {directions, 3 * size}}};
  for (const auto &[value, name, shape] : others)
    if (value && Loops::shapeOf(value) != ArrayRef<int64_t>(shape))
      return node.refuse(formatv("its input {0} has the shape {1}, not {2}",
                                 name, describe(Loops::shapeOf(value)),
                                 describe(shape)));
  if (steps > 4096)
    return node.refuse(formatv("it has {0} steps", steps),
                       "up to 4096 are supported");
  SmallVector<StringRef> defaults =
      op == "LSTM"  ? SmallVector<StringRef>{"sigmoid", "tanh", "tanh"}
      : op == "GRU" ? SmallVector<StringRef>{"sigmoid", "tanh"}
                    : SmallVector<StringRef>{"tanh"};
  auto activations = activationsOf(node.file, defaults, size_t(directions));
  for (const Activation &f : activations)
    if (!f.isKnown())
      return node.refuse(
          formatv("its activation '{0}' is not supported", f.name));
  bool linearBefore = node.getInt("linear_before_reset", 0) != 0,
       coupled = node.getInt("input_forget", 0) != 0;
  double clip = node.getFloat("clip", 0);

  // One direction's part of a tensor whose first axis is the direction.
  auto part = [&](Value v, int64_t d, ArrayRef<int64_t> shape) {
    Loops::Shape begin(Loops::shapeOf(v).size(), 0), step(begin.size(), 1),
        box(Loops::shapeOf(v));
    begin[0] = d;
    box[0] = 1;
    return l.reshape(l.slice(v, begin, step, box), shape);
  };
  auto columns = [&](Value v, int64_t from) { // [B, H] of [B, G·H]
    return l.slice(v, {0, from * size}, {1, 1}, {Loops::shapeOf(v)[0], size});
  };
  auto entries = [&](Value v, int64_t from) {
    return l.slice(v, {from * size}, {1}, {size});
  };
  Value zero = realConstant(node, {batch, size},
                            std::vector<float>(size_t(batch * size), 0.f));
  auto each = [&](ArrayRef<Value> v, Loops::Body body) {
    return eachOf(node, v, TensorProto::FLOAT, body);
  };
  auto limited = [&](S &s, Value v) {
    return clip > 0 ? s.min(s.max(v, s.real(-clip)), s.real(clip)) : v;
  };

  SmallVector<SmallVector<Value>> outputs(steps); // per step, per direction
  SmallVector<Value> lastH, lastC;
  for (int64_t d = 0; d < directions; ++d) {
    Cell cell;
    cell.w = l.transpose(part(w, d, {gates * size, in}), {1, 0});
    cell.r = l.transpose(part(r, d, {gates * size, size}), {1, 0});
    if (bias) {
      Value all = part(bias, d, {2 * gates * size});
      cell.wb = l.slice(all, {0}, {1}, {gates * size});
      cell.rb = l.slice(all, {gates * size}, {1}, {gates * size});
    }
    cell.h = h0 ? part(h0, d, {batch, size}) : zero;
    cell.c = c0 ? part(c0, d, {batch, size}) : zero;
    if (peepholes)
      cell.peepholes = part(peepholes, d, {3 * size});
    cell.f.assign(activations.begin() + d * int64_t(defaults.size()),
                  activations.begin() + (d + 1) * int64_t(defaults.size()));
    // All steps' input products at once.
    Value fromX = hostProduct(node, x, cell.w);
    if (cell.wb)
      fromX = plus(node, fromX, cell.wb);
    bool backwards = direction == "reverse" || d == 1;
    for (int64_t t = 0; t < steps; ++t) {
      int64_t now = backwards ? steps - 1 - t : t;
      Value a = l.reshape(
          l.slice(fromX, {now, 0, 0}, {1, 1, 1}, {1, batch, gates * size}),
          {batch, gates * size});
      Value h, c = cell.c;
      auto gate = [&](Value v, const Activation &f) {
        return each({v},
                    [&](S &s, R e) { return f.apply(s, limited(s, e[0])); });
      };
      if (op == "GRU") {
        auto recurrent = [&](Value state, int64_t first, int64_t count) {
          Value weights =
              l.slice(cell.r, {0, first * size}, {1, 1}, {size, count * size});
          Value v = hostProduct(node, state, weights);
          return cell.rb ? plus(node, v,
                                l.slice(cell.rb, {first * size}, {1},
                                        {count * size}))
                         : v;
        };
        Value zr = recurrent(cell.h, 0, 2);
        Value z = gate(plus(node, columns(a, 0), columns(zr, 0)), cell.f[0]);
        Value reset =
            gate(plus(node, columns(a, 1), columns(zr, 1)), cell.f[0]);
        Value inner = linearBefore
                          ? times(node, reset, recurrent(cell.h, 2, 1))
                          : recurrent(times(node, reset, cell.h), 2, 1);
        Value candidate = gate(plus(node, columns(a, 2), inner), cell.f[1]);
        h = each({z, candidate, cell.h}, [](S &s, R e) {
          return s.add(s.mul(s.sub(s.real(1), e[0]), e[1]), s.mul(e[0], e[2]));
        });
      } else {
        a = plus(node, a, hostProduct(node, cell.h, cell.r));
        if (cell.rb)
          a = plus(node, a, cell.rb);
        if (op == "RNN") {
          h = gate(a, cell.f[0]);
        } else {
          auto peep = [&](Value v, Value state, int64_t which) {
            return cell.peepholes ? plus(node, v,
                                         times(node, state,
                                               entries(cell.peepholes, which)))
                                  : v;
          };
          Value i = gate(peep(columns(a, 0), cell.c, 0), cell.f[0]);
          Value f =
              coupled
                  ? each({i}, [](S &s, R e) { return s.sub(s.real(1), e[0]); })
                  : gate(peep(columns(a, 2), cell.c, 2), cell.f[0]);
          Value g = gate(columns(a, 3), cell.f[1]);
          c = plus(node, times(node, f, cell.c), times(node, i, g));
          Value o = gate(peep(columns(a, 1), c, 1), cell.f[0]);
          h = times(node, o, each({c}, [&](S &s, R e) {
                      return cell.f[2].apply(s, e[0]);
                    }));
        }
      }
      Value y = h;
      if (lengths) {
        // Behind a sequence's end the state stays and the output is zero.
        Value live = each({l.reshape(lengths, {batch, 1})}, [&](S &s, R e) {
          return s.toReal(s.flag(s.less(s.whole(now), e[0])));
        });
        auto choose = [&](Value fresh, Value old) {
          return each({live, fresh, old}, [](S &s, R e) {
            return s.select(s.less(s.real(0), e[0]), e[1], e[2]);
          });
        };
        y = choose(h, zero);
        h = choose(h, cell.h);
        c = choose(c, cell.c);
      }
      cell.h = h;
      cell.c = c;
      outputs[now].push_back(l.reshape(y, {1, 1, batch, size}));
    }
    lastH.push_back(l.reshape(cell.h, {1, batch, size}));
    lastC.push_back(l.reshape(cell.c, {1, batch, size}));
  }
  bool batchFirst = node.getInt("layout", 0) != 0;
  auto state = [&](Value v) {
    return batchFirst ? l.transpose(v, {1, 0, 2}) : v;
  };
  if (node.outputUsed(0)) {
    SmallVector<Value> rows;
    for (auto &step : outputs)
      rows.push_back(l.concat(step, 1));
    Value y = l.concat(rows, 0);
    if (batchFirst)
      y = l.transpose(y, {2, 0, 1, 3});
    if (failed(give(node, 0, y, TensorProto::FLOAT)))
      return failure();
  }
  if (node.outputUsed(1) &&
      failed(give(node, 1, state(l.concat(lastH, 0)), TensorProto::FLOAT)))
    return failure();
  if (op == "LSTM" && node.outputUsed(2))
    return give(node, 2, state(l.concat(lastC, 0)), TensorProto::FLOAT);
  return success();
}
