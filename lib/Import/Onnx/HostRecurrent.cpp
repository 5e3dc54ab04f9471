// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers, unrolled over their steps.
#include "Host.h"
#include "rhizome/Numeric/Functions.h"
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
      return numeric::sigmoid(s, x);
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
      return s.mul(s.real(alpha), s.tanh(s.mul(x, s.real(beta))));
    if (name == "softsign")
      return numeric::softsign(s, x);
    if (name == "softplus")
      return numeric::softplus(s, x);
    if (name == "elu")
      return s.select(s.less(x, s.real(0)),
                      s.mul(s.real(alpha), s.sub(s.exp(x), s.real(1))), x);
    return s.tanh(x);
  }
};

/// A layer as the file has it, its steps along the first axis of x.
struct Layer {
  Value x, w, r;       ///< [T, B, I], [D, G·H, I], [D, G·H, H]
  Value bias, lengths; ///< [D, 2·G·H] and [B], or null
  Value h0, c0;        ///< [D, B, H] or null
  Value peepholes;     ///< [D, 3·H] or null
  int64_t gates, steps, batch, in, directions, size;
  std::vector<Activation> activations; ///< as many for each direction
  bool isLinearBefore, isCoupled, isReverse, isBatchFirst;
  double clip;
};

/// One direction of a layer while its steps are built; gates in ONNX's order.
class Cell {
public:
  Cell(NodeContext &node, const Layer &layer, int64_t direction);
  /// The output [B, H] of the step `now`, and the state after it.
  Value step(int64_t now);

  bool isBackwards;
  Value h, c; ///< [B, H]

private:
  Value gru(Value a);
  Value lstm(Value a);
  Value live(int64_t now);
  /// One direction's part of a tensor whose first axis is the direction.
  Value part(Value v, ArrayRef<int64_t> shape);
  /// The block [B, H] of a gate in [B, G·H].
  Value block(Value v, int64_t gate);
  Value activated(Value v, const Activation &f);
  /// A state's product with the weights of `count` gates, and their bias.
  Value recurrent(Value state, int64_t first, int64_t count);
  Value peeped(Value v, Value state, int64_t which);

  NodeContext &node;
  const Layer &layer;
  Loops l;
  int64_t direction;
  Value fromX;     ///< all steps' input products, [T, B, G·H]
  Value r, rb;     ///< [H, G·H], [G·H] or null
  Value peepholes; ///< [3·H] or null
  Value zero;      ///< [B, H]
  ArrayRef<Activation> f;
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

Value Cell::part(Value v, ArrayRef<int64_t> shape) {
  Loops::Shape begin(Loops::shapeOf(v).size(), 0), step(begin.size(), 1),
      box(Loops::shapeOf(v));
  begin[0] = direction;
  box[0] = 1;
  return l.reshape(l.slice(v, begin, step, box), shape);
}

Value Cell::block(Value v, int64_t gate) {
  return l.slice(v, {0, gate * layer.size}, {1, 1},
                 {Loops::shapeOf(v)[0], layer.size});
}

Value Cell::activated(Value v, const Activation &f) {
  double clip = layer.clip;
  return eachOf(node, {v}, TensorProto::FLOAT, [&](S &s, R e) {
    Value limited = e[0];
    if (clip > 0)
      limited = s.min(s.max(limited, s.real(-clip)), s.real(clip));
    return f.apply(s, limited);
  });
}

Cell::Cell(NodeContext &node, const Layer &layer, int64_t direction)
    : isBackwards(layer.isReverse || direction == 1), node(node), layer(layer),
      l(loops(node)), direction(direction) {
  const int64_t all = layer.gates * layer.size, size = layer.size,
                batch = layer.batch;
  zero = realConstant(node, {batch, size},
                      std::vector<float>(size_t(batch * size), 0.f));
  Value w = l.transpose(part(layer.w, {all, layer.in}), {1, 0});
  r = l.transpose(part(layer.r, {all, size}), {1, 0});
  fromX = hostProduct(node, layer.x, w);
  if (layer.bias) {
    Value both = part(layer.bias, {2 * all});
    fromX = plus(node, fromX, l.slice(both, {0}, {1}, {all}));
    rb = l.slice(both, {all}, {1}, {all});
  }
  h = layer.h0 ? part(layer.h0, {batch, size}) : zero;
  c = layer.c0 ? part(layer.c0, {batch, size}) : zero;
  if (layer.peepholes)
    peepholes = part(layer.peepholes, {3 * size});
  size_t each = layer.activations.size() / size_t(layer.directions);
  f = ArrayRef(layer.activations).slice(size_t(direction) * each, each);
}

Value Cell::recurrent(Value state, int64_t first, int64_t count) {
  int64_t begin = first * layer.size, size = count * layer.size;
  Value weights = l.slice(r, {0, begin}, {1, 1}, {layer.size, size});
  Value v = hostProduct(node, state, weights);
  return rb ? plus(node, v, l.slice(rb, {begin}, {1}, {size})) : v;
}

/// `a` holds what the input gives the gates z, r, h; the new state.
Value Cell::gru(Value a) {
  Value zr = recurrent(h, 0, 2);
  Value z = activated(plus(node, block(a, 0), block(zr, 0)), f[0]);
  Value reset = activated(plus(node, block(a, 1), block(zr, 1)), f[0]);
  Value inner = layer.isLinearBefore ? times(node, reset, recurrent(h, 2, 1))
                                     : recurrent(times(node, reset, h), 2, 1);
  Value candidate = activated(plus(node, block(a, 2), inner), f[1]);
  return eachOf(node, {z, candidate, h}, TensorProto::FLOAT, [](S &s, R e) {
    return s.add(s.mul(s.sub(s.real(1), e[0]), e[1]), s.mul(e[0], e[2]));
  });
}

Value Cell::peeped(Value v, Value state, int64_t which) {
  if (!peepholes)
    return v;
  Value weights = l.slice(peepholes, {which * layer.size}, {1}, {layer.size});
  return plus(node, v, times(node, state, weights));
}

/// `a` holds what input and state give the gates i, o, f, c; the new state h,
/// and c.
Value Cell::lstm(Value a) {
  Value i = activated(peeped(block(a, 0), c, 0), f[0]), forget;
  if (layer.isCoupled)
    forget = eachOf(node, {i}, TensorProto::FLOAT,
                    [](S &s, R e) { return s.sub(s.real(1), e[0]); });
  else
    forget = activated(peeped(block(a, 2), c, 2), f[0]);
  Value g = activated(block(a, 3), f[1]);
  c = plus(node, times(node, forget, c), times(node, i, g));
  Value o = activated(peeped(block(a, 1), c, 1), f[0]);
  Value shown = eachOf(node, {c}, TensorProto::FLOAT,
                       [&](S &s, R e) { return f[2].apply(s, e[0]); });
  return times(node, o, shown);
}

/// 1 for the samples whose sequence has not ended at `now`, else 0.
Value Cell::live(int64_t now) {
  Value lengths = l.reshape(layer.lengths, {layer.batch, 1});
  return eachOf(node, {lengths}, TensorProto::FLOAT, [&](S &s, R e) {
    return s.toReal(s.flag(s.less(s.whole(now), e[0])));
  });
}

Value Cell::step(int64_t now) {
  const int64_t all = layer.gates * layer.size, batch = layer.batch;
  Value a = l.reshape(l.slice(fromX, {now, 0, 0}, {1, 1, 1}, {1, batch, all}),
                      {batch, all});
  Value oldH = h, oldC = c;
  if (node.op() == "GRU") {
    h = gru(a);
  } else {
    a = plus(node, a, hostProduct(node, h, r));
    if (rb)
      a = plus(node, a, rb);
    h = node.op() == "RNN" ? activated(a, f[0]) : lstm(a);
  }
  if (!layer.lengths)
    return h;
  // Behind a sequence's end the state stays and the output is zero.
  Value isLive = live(now);
  auto choose = [&](Value fresh, Value old) {
    return eachOf(node, {isLive, fresh, old}, TensorProto::FLOAT,
                  [](S &s, R e) {
                    return s.select(s.less(s.real(0), e[0]), e[1], e[2]);
                  });
  };
  Value y = choose(h, zero);
  h = choose(h, oldH);
  c = choose(c, oldC);
  return y;
}

/// The layer's tensors, attributes and sizes; nullopt if refused.
static std::optional<Layer> readLayer(NodeContext &node) {
  if (failed(requireReals(node, {4}))) // the sequences' lengths
    return std::nullopt;
  bool isLstm = node.op() == "LSTM";
  auto optional = [&](size_t i) {
    return node.input(i) ? hostValue(node, i) : Value();
  };
  Layer y;
  y.x = hostValue(node, 0), y.w = y.x ? hostValue(node, 1) : Value();
  y.r = y.w ? hostValue(node, 2) : Value();
  if (!y.r)
    return std::nullopt;
  y.bias = optional(3), y.lengths = optional(4), y.h0 = optional(5);
  y.c0 = isLstm ? optional(6) : Value();
  y.peepholes = isLstm ? optional(7) : Value();
  for (Value v : {y.x, y.w, y.r, y.h0, y.c0})
    if (v && Loops::shapeOf(v).size() != 3) {
      node.refuse("its inputs X, W, R and the initial states have not three "
                  "axes each");
      return std::nullopt;
    }
  y.isBatchFirst = node.getInt("layout", 0) != 0;
  if (y.isBatchFirst)
    for (Value *v : {&y.x, &y.h0, &y.c0})
      if (*v)
        *v = loops(node).transpose(*v, {1, 0, 2});
  y.gates = isLstm ? 4 : node.op() == "GRU" ? 3 : 1;
  ArrayRef<int64_t> xs = Loops::shapeOf(y.x), ws = Loops::shapeOf(y.w);
  y.steps = xs[0], y.batch = xs[1], y.in = xs[2];
  y.directions = ws[0], y.size = Loops::shapeOf(y.r)[2];
  y.isReverse = node.getString("direction", "forward") == "reverse";
  y.isLinearBefore = node.getInt("linear_before_reset", 0) != 0;
  y.isCoupled = node.getInt("input_forget", 0) != 0;
  y.clip = node.getFloat("clip", 0);
  return y;
}

/// Refuses shapes that do not fit each other.
static LogicalResult checkShapes(NodeContext &node, const Layer &y) {
  const int64_t all = y.gates * y.size;
  bool isTwofold = node.getString("direction", "forward") == "bidirectional";
  if (Loops::shapeOf(y.w) != ArrayRef<int64_t>{y.directions, all, y.in} ||
      Loops::shapeOf(y.r) != ArrayRef<int64_t>{y.directions, all, y.size} ||
      y.directions != (isTwofold ? 2 : 1))
    return node.refuse("its weights do not fit its input");
  // The shapes that ONNX gives the optional inputs.
  const std::tuple<Value, StringRef, Loops::Shape> others[] = {
      {y.bias, "B", {y.directions, 2 * all}},
      {y.lengths, "sequence_lens", {y.batch}},
      {y.h0, "initial_h", {y.directions, y.batch, y.size}},
      {y.c0, "initial_c", {y.directions, y.batch, y.size}},
      {y.peepholes, "P", {y.directions, 3 * y.size}}};
  for (const auto &[value, name, shape] : others)
    if (value && Loops::shapeOf(value) != ArrayRef<int64_t>(shape))
      return node.refuse(formatv("its input {0} has the shape {1}, not {2}",
                                 name, describe(Loops::shapeOf(value)),
                                 describe(shape)));
  if (y.steps > 4096)
    return node.refuse(formatv("it has {0} steps", y.steps),
                       "up to 4096 are supported");
  return success();
}

static LogicalResult readActivations(NodeContext &node, Layer &layer) {
  SmallVector<StringRef> defaults = {"tanh"};
  if (node.op() == "LSTM")
    defaults = {"sigmoid", "tanh", "tanh"};
  else if (node.op() == "GRU")
    defaults = {"sigmoid", "tanh"};
  layer.activations =
      activationsOf(node.file, defaults, size_t(layer.directions));
  for (const Activation &f : layer.activations)
    if (!f.isKnown())
      return node.refuse(
          formatv("its activation '{0}' is not supported", f.name));
  return success();
}

LogicalResult onhost::recurrent(NodeContext &node) {
  std::optional<Layer> layer = readLayer(node);
  if (!layer || failed(checkShapes(node, *layer)) ||
      failed(readActivations(node, *layer)))
    return failure();
  Loops l = loops(node);
  const int64_t steps = layer->steps, batch = layer->batch, size = layer->size;
  SmallVector<SmallVector<Value>> outputs(steps); // per step, per direction
  SmallVector<Value> lastH, lastC;
  for (int64_t d = 0; d < layer->directions; ++d) {
    Cell cell(node, *layer, d);
    for (int64_t t = 0; t < steps; ++t) {
      int64_t now = cell.isBackwards ? steps - 1 - t : t;
      outputs[now].push_back(l.reshape(cell.step(now), {1, 1, batch, size}));
    }
    lastH.push_back(l.reshape(cell.h, {1, batch, size}));
    lastC.push_back(l.reshape(cell.c, {1, batch, size}));
  }
  auto giveState = [&](size_t i, ArrayRef<Value> parts) -> LogicalResult {
    if (!node.outputUsed(i))
      return success();
    Value v = l.concat(parts, 0);
    return give(node, i, layer->isBatchFirst ? l.transpose(v, {1, 0, 2}) : v,
                TensorProto::FLOAT);
  };
  if (node.outputUsed(0)) {
    SmallVector<Value> rows;
    for (auto &step : outputs)
      rows.push_back(l.concat(step, 1));
    Value y = l.concat(rows, 0);
    if (layer->isBatchFirst)
      y = l.transpose(y, {2, 0, 1, 3});
    if (failed(give(node, 0, y, TensorProto::FLOAT)))
      return failure();
  }
  if (failed(giveState(1, lastH)))
    return failure();
  return node.op() == "LSTM" ? giveState(2, lastC) : success();
}
