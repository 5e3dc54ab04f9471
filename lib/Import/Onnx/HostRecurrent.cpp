// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers: what the input gives the gates is one product for all
// steps, and the steps are one body with a trip count, which carries the state
// and the sequence of outputs.
#include "Host.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "rhizome/Numeric/Functions.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Operand;
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
  Value x;       ///< [T, B, I]
  Value lengths; ///< [B], or null if all sequences have T steps
  Value h0, c0;  ///< [D, B, H] or null
  int64_t gates, steps, batch, in, directions, size;
  std::vector<Activation> activations; ///< as many for each direction
  bool isLinearBefore, isCoupled, isReverse, isBatchFirst;
  double clip;
};

/// The layer's inputs by number.
constexpr size_t kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4,
                 kPeepholes = 7;

/// One direction of a layer; gates in ONNX's order.
class Direction {
public:
  Direction(NodeContext &node, const Layer &layer, int64_t number);
  /// Writes the steps. `all` is the sequence of outputs [T, D·B, H], of which
  /// this direction's part is written; null if nobody reads it.
  void run(Value &all);

  Value h, c; ///< [B, H], before and after the steps; c is an LSTM's

private:
  /// What a step computes of the state before it.
  void step(Value now);
  void gru(Value now, ArrayRef<Operand> live);
  void lstm(Value now, ArrayRef<Operand> live);
  void rnn(Value now, ArrayRef<Operand> live);

  /// Rows of this direction's part of W or R, transposed: [K, count].
  Value matrix(size_t input, int64_t first, int64_t count);
  /// The part of this direction of the bias or the peepholes.
  Value vector(size_t input, int64_t first, int64_t count);
  /// The bias of all gates' input products; null without one.
  Value inputBias();
  /// `init` [.., N] + Σ x[.., k] · weights[k, n].
  Value product(Value init, Value x, Value weights);
  /// The columns of the gates from `first` on of a step's input products.
  Value given(Value now, int64_t first, int64_t count);
  /// A gate's [B, H] in [B, G·H], of which it is block `number`.
  Operand gate(Value v, int64_t number);
  Operand own(Value v) {
    return {v, AffineMap::getMultiDimIdentityMap(2, node.context)};
  }
  Operand peephole(int64_t which) {
    return {peepholes[which], AffineMap::get(2, 0, l.dim(1), node.context)};
  }
  /// [B, H] of what these hold for each element.
  Value each(ArrayRef<Operand> operands, Loops::Body body) {
    return l.loop({layer.batch, layer.size}, {}, l.real(), {}, operands, body);
  }
  Value activated(S &s, Value v, const Activation &f) const {
    if (layer.clip > 0)
      v = s.min(s.max(v, s.real(-layer.clip)), s.real(layer.clip));
    return f.apply(s, v);
  }

  NodeContext &node;
  const Layer &layer;
  Loops l;
  int64_t number;
  bool isBackwards;
  Value fromX;   ///< all steps' input products with their bias, [T, B, G·H]
  Value live;    ///< [T, B], 1 before a sequence's end, else 0; or null
  Value r, rOfH; ///< [H, N]: of all gates, or of GRU's z and r and of its h
  Value biasOfH; ///< [B, H] of GRU's inner product
  SmallVector<Value, 3> peepholes; ///< [H] each, or none
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

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value Direction::matrix(size_t input, int64_t first, int64_t count) {
  TensorRef t = node.input(input);
  const int64_t all = t->shape[1], depth = t->shape[2];
  if (t->isPlainConstant()) {
    const auto &from = t->constant->reals;
    std::vector<float> to;
    to.reserve(size_t(count * depth));
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = first; n < first + count; ++n)
        to.push_back(float(from[size_t((number * all + n) * depth + k)]));
    return realConstant(node, {depth, count}, to);
  }
  Value part = l.slice(hostValue(node, input), {number, first, 0}, {1, 1, 1},
                       {1, count, depth});
  return l.transpose(l.reshape(part, {count, depth}), {1, 0});
}

Value Direction::vector(size_t input, int64_t first, int64_t count) {
  TensorRef t = node.input(input);
  if (t->isPlainConstant()) {
    auto from = t->constant->reals.begin() + number * t->shape[1] + first;
    return realConstant(node, {count}, std::vector<float>(from, from + count));
  }
  Value part =
      l.slice(hostValue(node, input), {number, first}, {1, 1}, {1, count});
  return l.reshape(part, {count});
}

Value Direction::inputBias() {
  if (!node.input(kBias))
    return {};
  const int64_t all = layer.gates * layer.size;
  // What the state's products add after the reset gate stays theirs.
  const bool isApart = node.op() == "GRU" && layer.isLinearBefore;
  const int64_t both = isApart ? 2 * layer.size : all;
  Value sum = plus(node, vector(kBias, 0, both), vector(kBias, all, both));
  return isApart ? l.concat({sum, vector(kBias, both, layer.size)}, 0) : sum;
}

Direction::Direction(NodeContext &node, const Layer &layer, int64_t number)
    : node(node), layer(layer), l(loops(node)), number(number),
      isBackwards(layer.isReverse || number == 1) {
  const int64_t all = layer.gates * layer.size, size = layer.size,
                batch = layer.batch;
  auto initial = [&](Value state) {
    if (!state)
      return realConstant(node, {batch, size},
                          std::vector<float>(size_t(batch * size), 0.f));
    Value part = l.slice(state, {number, 0, 0}, {1, 1, 1}, {1, batch, size});
    return l.reshape(part, {batch, size});
  };
  h = initial(layer.h0);
  if (node.op() == "LSTM")
    c = initial(layer.c0);
  Value bias = inputBias();
  if (!bias)
    bias = realConstant(node, {all}, std::vector<float>(size_t(all), 0.f));
  fromX = product(l.expand(bias, {layer.steps, batch, all}), layer.x,
                  matrix(kWeights, 0, all));
  const int64_t together = node.op() == "GRU" ? 2 * size : all;
  r = matrix(kRecurrence, 0, together);
  if (node.op() == "GRU") {
    rOfH = matrix(kRecurrence, together, size);
    Value inner =
        node.input(kBias) && layer.isLinearBefore
            ? vector(kBias, all + together, size)
            : realConstant(node, {size}, std::vector<float>(size_t(size), 0.f));
    if (layer.isLinearBefore)
      biasOfH = l.expand(inner, {batch, size});
  }
  if (node.op() == "LSTM" && node.input(kPeepholes))
    for (int64_t i = 0; i < 3; ++i)
      peepholes.push_back(vector(kPeepholes, i * size, size));
  if (layer.lengths)
    live = l.each({layer.steps, batch}, l.real(), [&](S &s, R) {
      Value length = s.at(layer.lengths, {s.index(1)});
      return s.toReal(s.flag(s.less(s.index(0), length)));
    });
  size_t each = layer.activations.size() / size_t(layer.directions);
  f = ArrayRef(layer.activations).slice(size_t(number) * each, each);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value Direction::product(Value init, Value x, Value weights) {
  const unsigned rank = unsigned(Loops::shapeOf(init).size());
  SmallVector<AffineExpr> row;
  for (unsigned i = 0; i + 1 < rank; ++i)
    row.push_back(l.dim(i));
  row.push_back(l.dim(rank));
  MLIRContext *context = node.context;
  SmallVector<AffineMap> maps{
      AffineMap::get(rank + 1, 0, row, context),
      AffineMap::get(rank + 1, 0, {l.dim(rank), l.dim(rank - 1)}, context),
      AffineMap::getMultiDimIdentityMap(rank + 1, context).dropResult(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             node.builder, node.loc, init.getType(), ValueRange{x, weights},
             init, maps, kinds,
             [](OpBuilder &b, Location loc, ValueRange a) {
               S s(b, loc);
               linalg::YieldOp::create(b, loc, s.add(a[2], s.mul(a[0], a[1])));
             })
      .getResult(0);
}

Value Direction::given(Value now, int64_t first, int64_t count) {
  return sliceAt(node, fromX, now, {0, first * layer.size},
                 {layer.batch, count * layer.size});
}

Operand Direction::gate(Value v, int64_t block) {
  OpBuilder &b = node.builder;
  // A view: linalg reads operands as a whole.
  SmallVector<OpFoldResult> offsets{b.getIndexAttr(0),
                                    b.getIndexAttr(block * layer.size)},
      sizes{b.getIndexAttr(layer.batch), b.getIndexAttr(layer.size)},
      strides(2, b.getIndexAttr(1));
  return own(
      tensor::ExtractSliceOp::create(b, node.loc, v, offsets, sizes, strides));
}

/// What a state becomes: the fresh one, or after a sequence's end the old one.
static Value chosen(S &s, R live, Value fresh, Value old) {
  if (live.empty())
    return fresh;
  return s.select(s.less(s.real(0), live[0]), fresh, old);
}

void Direction::rnn(Value now, ArrayRef<Operand> live) {
  SmallVector<Operand> in{own(product(given(now, 0, 1), h, r)), own(h)};
  in.append(live.begin(), live.end());
  h = each(in, [&](S &s, R e) {
    return chosen(s, e.drop_front(2), activated(s, e[0], f[0]), e[1]);
  });
}

void Direction::gru(Value now, ArrayRef<Operand> live) {
  Value zr = product(given(now, 0, 2), h, r);
  Value candidate;
  if (layer.isLinearBefore) {
    Value inner = product(biasOfH, h, rOfH);
    candidate =
        each({gate(zr, 1), own(inner), own(given(now, 2, 1))}, [&](S &s, R e) {
          Value reset = activated(s, e[0], f[0]);
          return s.add(e[2], s.mul(reset, e[1]));
        });
  } else {
    Value kept = each({gate(zr, 1), own(h)}, [&](S &s, R e) {
      return s.mul(activated(s, e[0], f[0]), e[1]);
    });
    candidate = product(given(now, 2, 1), kept, rOfH);
  }
  SmallVector<Operand> in{gate(zr, 0), own(candidate), own(h)};
  in.append(live.begin(), live.end());
  h = each(in, [&](S &s, R e) {
    Value z = activated(s, e[0], f[0]), fresh = activated(s, e[1], f[1]);
    Value mixed = s.add(s.mul(s.sub(s.real(1), z), fresh), s.mul(z, e[2]));
    return chosen(s, e.drop_front(3), mixed, e[2]);
  });
}

void Direction::lstm(Value now, ArrayRef<Operand> live) {
  Value gates = product(given(now, 0, 4), h, r); // i, o, f, c
  const unsigned peeped = peepholes.empty() ? 0 : 1;
  auto withPeephole = [&](S &s, Value v, Value state, R weights) {
    return peeped ? s.add(v, s.mul(state, weights[0])) : v;
  };
  SmallVector<Operand> in{gate(gates, 0), gate(gates, 2), gate(gates, 3),
                          own(c)};
  if (peeped)
    in.append({peephole(0), peephole(2)});
  in.append(live.begin(), live.end());
  c = each(in, [&](S &s, R e) {
    R weights = e.slice(4, 2 * peeped);
    Value i = activated(
        s, withPeephole(s, e[0], e[3], weights.take_front(peeped)), f[0]);
    Value forget =
        layer.isCoupled
            ? s.sub(s.real(1), i)
            : activated(s,
                        withPeephole(s, e[1], e[3], weights.drop_front(peeped)),
                        f[0]);
    Value g = activated(s, e[2], f[1]);
    Value fresh = s.add(s.mul(forget, e[3]), s.mul(i, g));
    return chosen(s, e.drop_front(4 + 2 * peeped), fresh, e[3]);
  });
  in = {gate(gates, 1), own(c), own(h)};
  if (peeped)
    in.push_back(peephole(1));
  in.append(live.begin(), live.end());
  h = each(in, [&](S &s, R e) {
    Value o =
        activated(s, withPeephole(s, e[0], e[1], e.slice(3, peeped)), f[0]);
    Value fresh = s.mul(o, f[2].apply(s, e[1]));
    return chosen(s, e.drop_front(3 + peeped), fresh, e[2]);
  });
}

void Direction::step(Value now) {
  SmallVector<Operand> alive;
  if (live)
    alive.push_back({sliceAt(node, live, now, {0}, {layer.batch}),
                     AffineMap::get(2, 0, l.dim(0), node.context)});
  if (node.op() == "GRU")
    gru(now, alive);
  else if (node.op() == "LSTM")
    lstm(now, alive);
  else
    rnn(now, alive);
}

void Direction::run(Value &all) {
  OpBuilder &b = node.builder;
  auto index = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(b, node.loc, v);
  };
  Value begin = index(0), end = index(layer.steps), one = index(1);
  Value last = isBackwards ? index(layer.steps - 1) : Value();
  SmallVector<Value> carried{h};
  for (Value v : {c, all})
    if (v)
      carried.push_back(v);
  auto loop = scf::ForOp::create(b, node.loc, begin, end, one, carried);
  SmallVector<Value *> names{&h};
  for (Value *v : {&c, &all})
    if (*v)
      names.push_back(v);
  for (auto [name, arg] : llvm::zip_equal(names, loop.getRegionIterArgs()))
    *name = arg;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value now = loop.getInductionVar();
    if (isBackwards)
      now = arith::SubIOp::create(b, node.loc, last, now);
    step(now);
    if (all) {
      Value shown = h;
      if (live) // zero after a sequence's end
        shown = each({own(h),
                      {sliceAt(node, live, now, {0}, {layer.batch}),
                       AffineMap::get(2, 0, l.dim(0), node.context)}},
                     [](S &s, R e) {
                       return chosen(s, e.drop_front(1), e[0], s.real(0));
                     });
      all = insertAt(node, all, now, shown, {number * layer.batch, 0});
    }
    SmallVector<Value> yielded;
    for (Value *name : names)
      yielded.push_back(*name);
    scf::YieldOp::create(b, node.loc, yielded);
  }
  for (auto [name, result] : llvm::zip_equal(names, loop.getResults()))
    *name = result;
}

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

/// Input 4, or null if it says of every sequence that it has all steps.
static Value lengthsOf(NodeContext &node, int64_t steps) {
  TensorRef t = node.input(kLengths);
  if (!t ||
      (t->isPlainConstant() &&
       llvm::all_of(t->constant->ints, [&](int64_t v) { return v >= steps; })))
    return {};
  return hostValue(node, kLengths);
}

/// The layer's tensors, attributes and sizes; nullopt if refused.
static std::optional<Layer> readLayer(NodeContext &node) {
  if (failed(requireReals(node, {kLengths})))
    return std::nullopt;
  const bool isLstm = node.op() == "LSTM";
  Layer y;
  y.x = hostValue(node, 0);
  if (!y.x)
    return std::nullopt;
  for (size_t i : {kWeights, kRecurrence})
    if (!node.input(i)) {
      node.refuse(formatv("its input {0} is missing", i));
      return std::nullopt;
    }
  y.h0 = node.input(5) ? hostValue(node, 5) : Value();
  y.c0 = isLstm && node.input(6) ? hostValue(node, 6) : Value();
  auto hasThree = [](Value v) { return !v || Loops::shapeOf(v).size() == 3; };
  if (!hasThree(y.x) || !hasThree(y.h0) || !hasThree(y.c0) ||
      node.input(kWeights)->rank() != 3 ||
      node.input(kRecurrence)->rank() != 3) {
    node.refuse(
        "its inputs X, W, R and the initial states have not three "
        "axes each",
        formatv("give X the shape [{0}, input size], with a Reshape or "
                "an Unsqueeze before it",
                node.getInt("layout", 0) ? "batch, length" : "length, batch"));
    return std::nullopt;
  }
  y.isBatchFirst = node.getInt("layout", 0) != 0;
  if (y.isBatchFirst)
    for (Value *v : {&y.x, &y.h0, &y.c0})
      if (*v)
        *v = loops(node).transpose(*v, {1, 0, 2});
  y.gates = isLstm ? 4 : node.op() == "GRU" ? 3 : 1;
  ArrayRef<int64_t> xs = Loops::shapeOf(y.x);
  y.steps = xs[0], y.batch = xs[1], y.in = xs[2];
  y.lengths = lengthsOf(node, y.steps);
  y.directions = node.input(kWeights)->shape[0],
  y.size = node.input(kRecurrence)->shape[2];
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
  if (node.input(kWeights)->shape != Shape{y.directions, all, y.in} ||
      node.input(kRecurrence)->shape != Shape{y.directions, all, y.size} ||
      y.directions != (isTwofold ? 2 : 1))
    return node.refuse("its weights do not fit its input",
                       formatv("give W the shape {0} and R the shape {1}",
                               describe({isTwofold ? 2 : 1, all, y.in}),
                               describe({isTwofold ? 2 : 1, all, y.size})));
  // The shapes that ONNX gives the optional inputs.
  auto state = [&](Value v) {
    return v ? Shape(Loops::shapeOf(v).begin(), Loops::shapeOf(v).end())
             : Shape();
  };
  auto shapeOf = [&](size_t i) {
    return node.input(i) ? node.input(i)->shape : Shape();
  };
  const bool isLstm = node.op() == "LSTM";
  const std::tuple<Shape, StringRef, Shape> others[] = {
      {shapeOf(kBias), "B", {y.directions, 2 * all}},
      {shapeOf(kLengths), "sequence_lens", {y.batch}},
      {state(y.h0), "initial_h", {y.directions, y.batch, y.size}},
      {state(y.c0), "initial_c", {y.directions, y.batch, y.size}},
      {isLstm ? shapeOf(kPeepholes) : Shape(),
       "P",
       {y.directions, 3 * y.size}}};
  for (const auto &[shape, name, wanted] : others)
    if (!shape.empty() && shape != wanted)
      return node.refuse(
          formatv("its input {0} has the shape {1}, not {2}", name,
                  describe(shape), describe(wanted)),
          formatv("give {0} the shape {1}", name, describe(wanted)));
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
  const int64_t steps = layer->steps, batch = layer->batch, size = layer->size,
                directions = layer->directions;
  Value all;
  if (node.outputUsed(0))
    all = tensor::EmptyOp::create(
        node.builder, node.loc,
        ArrayRef<int64_t>{steps, directions * batch, size}, node.f32);
  SmallVector<Value> lastH, lastC;
  for (int64_t d = 0; d < directions; ++d) {
    Direction direction(node, *layer, d);
    direction.run(all);
    lastH.push_back(l.reshape(direction.h, {1, batch, size}));
    if (direction.c)
      lastC.push_back(l.reshape(direction.c, {1, batch, size}));
  }
  auto giveState = [&](size_t i, ArrayRef<Value> parts) -> LogicalResult {
    if (!node.outputUsed(i))
      return success();
    Value v = l.concat(parts, 0);
    return give(node, i, layer->isBatchFirst ? l.transpose(v, {1, 0, 2}) : v,
                TensorProto::FLOAT);
  };
  if (all) {
    Value y = l.reshape(all, {steps, directions, batch, size});
    if (layer->isBatchFirst)
      y = l.transpose(y, {2, 0, 1, 3});
    if (failed(give(node, 0, y, TensorProto::FLOAT)))
      return failure();
  }
  if (failed(giveState(1, lastH)))
    return failure();
  return node.op() == "LSTM" ? giveState(2, lastC) : success();
}
