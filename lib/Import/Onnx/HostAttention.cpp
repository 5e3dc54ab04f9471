// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: softmax(softcap(Q · Kᵀ · scale) + bias) · V for each head. The
// bias contains every mask: the file's, the causal one, windows and padding. A
// query whose keys are all masked has weights of zero, as in ONNX, not NaN.
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
/// Query, key and value of an Attention, [batch, heads, length, size] each, the
/// past's keys and values before the current ones.
struct Heads {
  mlir::Value query, key, value;
  int64_t past = 0;    ///< keys before the current ones
  bool isFlat = false; ///< the file's tensors have the heads in one axis
};
} // namespace

/// The inputs with one axis for the heads.
static std::optional<Heads> attentionHeads(NodeContext &node) {
  Heads h;
  h.query = hostValue(node, 0);
  h.key = h.query ? hostValue(node, 1) : Value();
  h.value = h.key ? hostValue(node, 2) : Value();
  if (!h.value)
    return std::nullopt;
  Loops l = loops(node);
  h.isFlat = node.input(0)->rank() == 3;
  if (h.isFlat) { // [B, L, heads · D]
    int64_t heads = node.getInt("q_num_heads", 0),
            others = node.getInt("kv_num_heads", heads);
    auto split = [&](Value t, int64_t n) -> Value {
      auto s = Loops::shapeOf(t);
      if (n < 1 || s.size() != 3 || s[2] % n)
        return {};
      return l.transpose(l.reshape(t, {s[0], s[1], n, s[2] / n}), {0, 2, 1, 3});
    };
    h.query = split(h.query, heads), h.key = split(h.key, others);
    h.value = split(h.value, others);
    if (!h.query || !h.key || !h.value) {
      node.refuse("its numbers of heads do not fit its inputs");
      return std::nullopt;
    }
  }
  for (Value v : {h.query, h.key, h.value})
    if (Loops::shapeOf(v).size() != 4) {
      node.refuse("its inputs have not four axes each");
      return std::nullopt;
    }
  if (!node.input(4) && !node.input(5))
    return h;
  Value pastKey = hostValue(node, 4),
        pastValue = pastKey ? hostValue(node, 5) : Value();
  if (!pastValue)
    return std::nullopt;
  auto joins = [](Value past, Value now) {
    Loops::Shape p(Loops::shapeOf(past)), n(Loops::shapeOf(now));
    return p.size() == 4 && p[0] == n[0] && p[1] == n[1] && p[3] == n[3];
  };
  if (!joins(pastKey, h.key) || !joins(pastValue, h.value)) {
    node.refuse("its past keys and values do not fit its inputs");
    return std::nullopt;
  }
  h.past = Loops::shapeOf(pastKey)[2];
  h.key = l.concat({pastKey, h.key}, 2);
  h.value = l.concat({pastValue, h.value}, 2);
  return h;
}

/// The term added to the scores, [batch, heads, queries, keys]; null if there
/// is none, nullopt if refused.
static std::optional<Value> attentionBias(NodeContext &node,
                                          const Heads &heads) {
  Loops l = loops(node);
  Loops::Shape q(Loops::shapeOf(heads.query)), k(Loops::shapeOf(heads.key));
  Loops::Shape shape = {q[0], q[1], q[2], k[2]};
  bool isCausal = node.getInt("is_causal", 0) != 0;
  int64_t left = node.getInt("left_window_size", -1),
          right = node.getInt("right_window_size", -1);
  if (left < -1 || right < -1) {
    node.refuse(
        formatv("its window reaches {0} to the left and {1} to the right", left,
                right),
        "give sizes from 0 on, or -1 for no bound");
    return std::nullopt;
  }
  Value mask = node.input(3) ? hostValue(node, 3) : Value(),
        filled = node.input(6) ? hostValue(node, 6) : Value();
  if ((node.input(3) && !mask) || (node.input(6) && !filled))
    return std::nullopt;
  Loops::Shape m;
  if (mask) {
    m.assign(Loops::shapeOf(mask).begin(), Loops::shapeOf(mask).end());
    // Keys beyond a shorter mask are masked.
    bool fits = !m.empty() && m.size() <= 4 && m.back() <= k[2];
    for (size_t i = 0; fits && i + 1 < m.size(); ++i)
      fits = m[i] == 1 || m[i] == shape[4 - m.size() + i];
    if (!fits) {
      node.refuse(formatv("its mask {0} does not fit the scores {1}",
                          describe(m), describe(shape)));
      return std::nullopt;
    }
  }
  if (filled && (heads.past || Loops::isReal(filled) ||
                 Loops::shapeOf(filled) != ArrayRef<int64_t>{q[0]})) {
    node.refuse("its input nonpad_kv_seqlen is not one integer for each sample "
                "beside keys without a past");
    return std::nullopt;
  }
  if (!mask && !filled && !isCausal && left < 0 && right < 0)
    return Value();
  return l.each(shape, l.real(), [&](S &s, R) {
    Value key = s.index(3), bias = s.real(0), isSeen;
    auto require = [&](Value condition) {
      isSeen = isSeen ? s.both(isSeen, condition) : condition;
    };
    if (mask) {
      SmallVector<Value> at;
      for (size_t i = 0; i + 1 < m.size(); ++i)
        at.push_back(m[i] == 1 ? s.whole(0) : s.index(4 - m.size() + i));
      at.push_back(s.min(key, s.whole(m.back() - 1)));
      Value read = s.at(mask, at);
      if (Scalars::isReal(read))
        bias = read;
      else
        require(s.truth(read));
      if (m.back() < k[2])
        require(s.less(key, s.whole(m.back())));
    }
    Value before = s.whole(heads.past);
    if (filled) {
      Value count = s.at(filled, {s.index(0)});
      require(s.less(key, count));
      before = s.sub(count, s.whole(q[2]));
    }
    Value ahead = s.sub(key, s.add(s.index(2), before));
    if (isCausal)
      require(s.notLess(s.whole(0), ahead));
    if (right >= 0)
      require(s.notLess(s.whole(right), ahead));
    if (left >= 0)
      require(s.notLess(ahead, s.whole(-left)));
    return isSeen ? s.select(isSeen, bias, s.real(-INFINITY)) : bias;
  });
}

/// Softmax of the scores along the keys; zero where every key is masked.
static Value attentionWeights(Loops &l, Value scores, Value bias) {
  const SmallVector<bool> keys = {false, false, false, true};
  Value top = l.max(scores, keys);
  Value powers = l.map({scores, top}, l.real(), [](S &s, R a) {
    Value isNone = s.equal(a[1], s.real(-INFINITY));
    return s.exp(s.sub(a[0], s.select(isNone, s.real(0), a[1])));
  });
  Value weights = l.map({powers, l.sum(powers, keys)}, l.real(), [](S &s, R a) {
    Value isNone = s.equal(a[1], s.real(0));
    return s.div(a[0], s.select(isNone, s.real(1), a[1]));
  });
  if (!bias)
    return weights;
  // Also if a score is NaN.
  return l.map({weights, l.max(bias, keys)}, l.real(), [](S &s, R a) {
    Value isNone = s.equal(a[1], s.real(-INFINITY));
    return s.select(isNone, s.real(0), a[0]);
  });
}

LogicalResult onhost::attention(NodeContext &node) {
  if (failed(requireReals(node, {3, 6}))) // a boolean mask, the keys' lengths
    return failure();
  std::optional<Heads> heads = attentionHeads(node);
  if (!heads)
    return failure();
  Loops l = loops(node);
  Value k = heads->key, v = heads->value;
  Loops::Shape qs(Loops::shapeOf(heads->query)), ks(Loops::shapeOf(k)),
      vs(Loops::shapeOf(v));
  if (qs[0] != ks[0] || vs[0] != ks[0] || vs[1] != ks[1] || vs[2] != ks[2] ||
      qs[3] != ks[3])
    return node.refuse("its inputs do not fit");
  if (qs[1] != ks[1]) { // grouped queries: repeat the keys
    if (qs[1] % ks[1])
      return node.refuse("its numbers of heads do not fit");
    auto repeat = [&](Value t) {
      Loops::Shape s(Loops::shapeOf(t));
      int64_t n = qs[1] / s[1];
      Value wide = l.expand(l.reshape(t, {s[0], s[1], 1, s[2], s[3]}),
                            {s[0], s[1], n, s[2], s[3]});
      return l.reshape(wide, {s[0], qs[1], s[2], s[3]});
    };
    k = repeat(k), v = repeat(v);
  }
  std::optional<Value> bias = attentionBias(node, *heads);
  if (!bias)
    return failure();
  auto each = [&](std::initializer_list<Value> in,
                  function_ref<Value(S &, R)> body) {
    return l.map(in, l.real(), body);
  };
  double scale = node.getFloat("scale", float(1 / std::sqrt(double(qs[3]))));
  Value scores = hostProduct(node, heads->query, l.transpose(k, {0, 1, 3, 2}));
  scores =
      each({scores}, [&](S &s, R a) { return s.mul(a[0], s.real(scale)); });
  // The kinds of the fourth result, in the order of its numbers.
  SmallVector<Value> stages = {scores};
  if (double cap = node.getFloat("softcap", 0); cap > 0)
    scores = each({scores}, [&](S &s, R a) {
      return s.mul(s.real(cap),
                   s.apply<math::TanhOp>(s.div(a[0], s.real(cap))));
    });
  stages.push_back(scores);
  if (*bias)
    scores = each({scores, *bias}, [](S &s, R a) { return s.add(a[0], a[1]); });
  stages.push_back(scores);
  FloatType half =
      halfType(node.context, int(node.getInt("softmax_precision", 0)));
  Value weights =
      attentionWeights(l, half ? l.rounded(scores, half) : scores, *bias);
  if (half)
    weights = l.rounded(weights, half);
  stages.push_back(weights);
  int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode >= int64_t(stages.size()))
    return node.refuse(formatv("its qk_matmul_output_mode is {0}", mode),
                       "0, 1, 2 and 3 are defined");
  Value y = hostProduct(node, weights, v);
  if (heads->isFlat) {
    Loops::Shape s(Loops::shapeOf(y));
    y = l.reshape(l.transpose(y, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
  }
  const Value results[] = {y, heads->key, heads->value, stages[mode]};
  for (auto [i, value] : llvm::enumerate(results))
    if ((i == 0 || node.outputUsed(i)) &&
        failed(give(node, i, value, TensorProto::FLOAT)))
      return failure();
  return success();
}
