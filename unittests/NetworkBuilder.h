// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds integer `@network` functions op by op for tests, with weights and
// shapes drawn from a seed. Accumulator ranges are derived from the drawn
// weights, as in the compiler, so that nothing wraps.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include <random>

namespace rhizome::test {
class NetworkBuilder {
public:
  using Shape = llvm::ArrayRef<int64_t>;

  explicit NetworkBuilder(mlir::MLIRContext &context, uint64_t seed = 7)
      : b(&context), rng(seed) {
    context.loadDialect<osa::OsaDialect, flow::FlowDialect, rtl::RtlDialect,
                        num::NumDialect, mlir::func::FuncDialect>();
    module = mlir::ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(module->getBody());
  }

  // Draws.
  int64_t draw(int64_t lo, int64_t hi) {
    return lo + int64_t(rng() % uint64_t(hi - lo + 1));
  }
  bool coin() { return rng() & 1; }
  num::IntType drawType(int64_t maxBits) {
    return num::IntType::getFull(b.getContext(), coin(),
                                 unsigned(draw(1, maxBits)));
  }

  // Frame of a function.
  mlir::Type tensor(Shape shape, num::IntType t) {
    return mlir::RankedTensorType::get(shape, t);
  }
  mlir::Value begin(Shape shape, num::IntType t) {
    func = mlir::func::FuncOp::create(b, b.getUnknownLoc(), "network",
                                      b.getFunctionType(tensor(shape, t), {}));
    mlir::Block *body = func.addEntryBlock();
    b.setInsertionPointToEnd(body);
    return value = body->getArgument(0);
  }
  mlir::func::FuncOp end() {
    mlir::func::ReturnOp::create(b, b.getUnknownLoc(), value);
    func.setFunctionType(
        b.getFunctionType(func.getArgumentTypes(), value.getType()));
    return func;
  }

  /// Makes `func`, with the inputs x and h and the named results, the task of
  /// a module that keeps h from frame to frame: each is result \p from of the
  /// one before, the first \p initial.
  void keepState(llvm::ArrayRef<llvm::StringRef> results, llvm::StringRef from,
                 mlir::DenseElementsAttr initial) {
    auto name = [&](llvm::StringRef text) { return b.getStringAttr(text); };
    func.setFunctionType(
        b.getFunctionType(func.front().getArgumentTypes(),
                          func.front().getTerminator()->getOperandTypes()));
    func.setArgAttr(0, flow::kTensor, name("x"));
    func.setArgAttr(1, flow::kTensor, name("h"));
    for (auto [i, result] : llvm::enumerate(results))
      func.setResultAttr(unsigned(i), flow::kTensor, name(result));
    func->setAttr(flow::kPlace,
                  flow::PlaceAttr::get(b.getContext(), flow::Place::Fpga));
    mlir::ModuleOp m = *module;
    m->setAttr(flow::kInputs, b.getStrArrayAttr({"x"}));
    m->setAttr(flow::kOutputs, b.getStrArrayAttr({"y"}));
    m->setAttr(flow::kStates,
               b.getArrayAttr({flow::StateAttr::get(b.getContext(), "h", from,
                                                    initial, "state", "")}));
    m->setAttr(
        flow::kTasks,
        b.getArrayAttr({mlir::FlatSymbolRefAttr::get(func.getSymNameAttr())}));
  }

  mlir::Location loc(llvm::StringRef name) {
    return mlir::NameLoc::get(b.getStringAttr(name));
  }
  Shape shape() {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
  num::IntType element() { return num::elementInt(value.getType()); }

  // Constants.
  std::vector<int64_t> drawValues(int64_t n, num::IntType t) {
    std::vector<int64_t> values(n);
    for (int64_t &v : values) {
      v = draw(t.getLo(), t.getHi());
      if (bellShaped)
        v = (v + draw(t.getLo(), t.getHi()) + draw(t.getLo(), t.getHi())) / 3;
    }
    return values;
  }
  mlir::Value constant(Shape shape, num::IntType t,
                       llvm::ArrayRef<int64_t> values) {
    return osa::ConstantOp::create(
        b, b.getUnknownLoc(), tensor(shape, t),
        osa::makeIntAttr(b.getContext(), "w", shape, t, values));
  }

  // Layers; each takes `value` and stores its result there.
  struct Conv {
    int64_t out = 1, kh = 1, kw = 1, groups = 1;
    int64_t strides[2] = {1, 1}, pads[4] = {0, 0, 0, 0}, dilations[2] = {1, 1};
    int64_t weightBits = 8;
    bool bias = false;
  };
  void conv(llvm::StringRef name, const Conv &c) {
    Shape in = shape();
    int64_t groupIn = in[3] / c.groups, n = c.out * c.kh * c.kw * groupIn;
    auto wType =
        num::IntType::getFull(b.getContext(), true, unsigned(c.weightBits));
    std::vector<int64_t> w = drawValues(n, wType), bias;
    if (c.bias)
      bias = drawValues(c.out, num::IntType::getFull(b.getContext(), true, 9));
    int64_t pad = draw(element().getLo(), element().getHi());
    num::IntType acc = accumulator(w, bias, c.out);
    int64_t oh = osa::windowOutput(in[1], c.pads[0], c.pads[2], c.kh,
                                   c.strides[0], c.dilations[0]);
    int64_t ow = osa::windowOutput(in[2], c.pads[1], c.pads[3], c.kw,
                                   c.strides[1], c.dilations[1]);
    mlir::Value weights = constant({c.out, c.kh, c.kw, groupIn}, wType, w);
    value = osa::Conv2dOp::create(b, loc(name), tensor({1, oh, ow, c.out}, acc),
                                  value, weights, biasOf(bias), c.strides,
                                  c.pads, c.dilations, c.groups, pad);
  }

  void dense(llvm::StringRef name, int64_t out, int64_t weightBits = 8,
             bool withBias = false) {
    llvm::SmallVector<int64_t> s(shape());
    auto wType =
        num::IntType::getFull(b.getContext(), true, unsigned(weightBits));
    std::vector<int64_t> w = drawValues(out * s.back(), wType), bias;
    if (withBias)
      bias = drawValues(out, num::IntType::getFull(b.getContext(), true, 9));
    num::IntType acc = accumulator(w, bias, out);
    mlir::Value weights = constant({out, s.back()}, wType, w);
    s.back() = out;
    value = osa::DenseOp::create(b, loc(name), tensor(s, acc), value, weights,
                                 biasOf(bias));
  }

  /// Multiplier, offset and shift that bring the range to `out`'s, per
  /// channel; with `unit` only a shift.
  void requantize(llvm::StringRef name, num::IntType out, bool unit,
                  bool perChannel) {
    num::IntType in = element();
    int64_t n = perChannel ? shape().back() : 1;
    int64_t down =
        std::max<int64_t>(0, int64_t(in.getWidth()) - int64_t(out.getWidth()));
    int64_t extra = unit ? 0 : draw(2, 10);
    std::vector<int64_t> m(n, 1), o(n);
    int64_t shift = down + extra;
    for (int64_t i = 0; i < n; ++i) {
      if (!unit)
        m[i] = draw(-(int64_t(1) << extra), int64_t(1) << extra);
      int64_t half = int64_t(1) << std::min<int64_t>(shift, 40);
      o[i] = draw(-half, half);
    }
    value = osa::RequantizeOp::create(b, loc(name), tensor(shape(), out), value,
                                      m, o, shift, coin() && shift > 0);
  }

  void threshold(llvm::StringRef name, int64_t count, bool perChannel) {
    num::IntType in = element();
    int64_t n = perChannel ? shape().back() : 1;
    std::vector<int64_t> t;
    for (int64_t c = 0; c < n; ++c) {
      std::vector<int64_t> one(count);
      for (int64_t &v : one)
        v = draw(in.getLo() - 1, in.getHi() + 1);
      llvm::sort(one);
      t.insert(t.end(), one.begin(), one.end());
    }
    int64_t base = draw(-4, 4), step = draw(1, 2);
    auto out =
        num::IntType::getForRange(b.getContext(), base, base + step * count);
    auto i64 = num::IntType::getFull(b.getContext(), true, 64);
    value = osa::ThresholdOp::create(
        b, loc(name), tensor(shape(), out), value,
        osa::makeIntAttr(b.getContext(), "t", {n, count}, i64, t), base, step);
  }

  void table(llvm::StringRef name, num::IntType out, bool perChannel) {
    num::IntType in = element();
    int64_t n = perChannel ? shape().back() : 1;
    int64_t entries = in.getHi() - in.getLo() + 1;
    auto i64 = num::IntType::getFull(b.getContext(), true, 64);
    value = osa::TableOp::create(
        b, loc(name), tensor(shape(), out), value,
        osa::makeIntAttr(b.getContext(), "t", {n, entries}, i64,
                         drawValues(n * entries, out)));
  }

  struct Pool {
    int64_t kernel[2] = {2, 2}, strides[2] = {2, 2}, pads[4] = {0, 0, 0, 0},
            dilations[2] = {1, 1};
  };
  llvm::SmallVector<int64_t> pooled(const Pool &p) {
    Shape in = shape();
    return {1,
            osa::windowOutput(in[1], p.pads[0], p.pads[2], p.kernel[0],
                              p.strides[0], p.dilations[0]),
            osa::windowOutput(in[2], p.pads[1], p.pads[3], p.kernel[1],
                              p.strides[1], p.dilations[1]),
            in[3]};
  }
  void maxPool(llvm::StringRef name) { maxPool(name, Pool()); }
  void maxPool(llvm::StringRef name, const Pool &p) {
    value =
        osa::MaxPoolOp::create(b, loc(name), tensor(pooled(p), element()),
                               value, p.kernel, p.strides, p.pads, p.dilations);
  }
  void sumPool(llvm::StringRef name, const Pool &p, bool zeroed, bool scaled) {
    num::IntType in = element();
    auto out = pooled(p);
    int64_t zero = zeroed ? draw(in.getLo(), in.getHi()) : 0;
    std::vector<int64_t> scale;
    int64_t most = 1;
    for (int64_t i = 0; scaled && i < out[1] * out[2]; ++i) {
      scale.push_back(draw(1, 9));
      most = std::max(most, scale.back());
    }
    int64_t taps = p.kernel[0] * p.kernel[1] * most;
    auto acc = num::IntType::getForRange(
        b.getContext(), taps * std::min<int64_t>(in.getLo() - zero, 0),
        taps * std::max<int64_t>(in.getHi() - zero, 0));
    value =
        osa::SumPoolOp::create(b, loc(name), tensor(out, acc), value, p.kernel,
                               p.strides, p.pads, p.dilations, zero, scale);
  }

  void add(llvm::StringRef name, mlir::Value other, int64_t ma, int64_t mb) {
    auto x = element(), y = num::elementInt(other.getType());
    auto ends = [](num::IntType t, int64_t m) {
      return std::minmax({t.getLo() * m, t.getHi() * m});
    };
    auto a = ends(x, ma), c = ends(y, mb);
    auto out = num::IntType::getForRange(b.getContext(), a.first + c.first,
                                         a.second + c.second);
    value = osa::ScaledAddOp::create(b, loc(name), tensor(shape(), out), value,
                                     other, ma, mb);
  }

  /// The maximum of two scaled values, or their product minus zeros.
  void pair(llvm::StringRef name, mlir::Value other, bool product, int64_t a,
            int64_t b_, int64_t offset) {
    auto x = element(), y = num::elementInt(other.getType());
    std::vector<int64_t> xs, ys, all;
    for (int64_t v : {x.getLo(), x.getHi()})
      xs.push_back(product ? v - a : v * a);
    for (int64_t v : {y.getLo(), y.getHi()})
      ys.push_back(product ? v - b_ : v * b_ + offset);
    llvm::sort(xs);
    llvm::sort(ys);
    for (int64_t v : xs)
      for (int64_t w : ys)
        all.push_back(product ? v * w : std::max(v, w));
    llvm::sort(all);
    auto type = tensor(shape(), num::IntType::getForRange(
                                    b.getContext(), all.front(), all.back()));
    if (product)
      value = osa::ProductOp::create(b, loc(name), type, value, other, a, b_);
    else
      value = osa::ScaledMaxOp::create(b, loc(name), type, value, other, a, b_,
                                       offset);
  }

  void gather(llvm::StringRef name, int64_t axis, Shape indices) {
    llvm::SmallVector<int64_t> s(shape());
    s[axis] = int64_t(indices.size());
    value = osa::GatherOp::create(b, loc(name), tensor(s, element()), value,
                                  axis, indices);
  }

  void concat(llvm::StringRef name, mlir::Value other, int64_t axis) {
    llvm::SmallVector<int64_t> s(shape());
    s[axis] +=
        llvm::cast<mlir::RankedTensorType>(other.getType()).getShape()[axis];
    value = osa::ConcatOp::create(b, loc(name), tensor(s, element()),
                                  mlir::ValueRange{value, other}, axis);
  }

  void transpose(llvm::StringRef name, llvm::ArrayRef<int64_t> permutation) {
    llvm::SmallVector<int64_t> s;
    for (int64_t axis : permutation)
      s.push_back(shape()[axis]);
    value = osa::TransposeOp::create(b, loc(name), tensor(s, element()), value,
                                     permutation);
  }

  void pad(llvm::StringRef name, int64_t top, int64_t left, int64_t bottom,
           int64_t right, int64_t with) {
    llvm::SmallVector<int64_t> s(shape());
    s[1] += top + bottom;
    s[2] += left + right;
    value = osa::PadOp::create(b, loc(name), tensor(s, element()), value,
                               llvm::ArrayRef<int64_t>{0, top, left, 0},
                               llvm::ArrayRef<int64_t>{0, bottom, right, 0},
                               llvm::APFloat(double(with)));
  }

  void flatten() {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    value = osa::ReshapeOp::create(
        b, loc("flatten"), tensor({1, type.getNumElements()}, element()),
        value);
  }

  mlir::OpBuilder b;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  mlir::Value value;
  std::mt19937_64 rng;
  bool bellShaped = false; ///< concentrated values, like trained ones

private:
  mlir::Value biasOf(const std::vector<int64_t> &bias) {
    if (bias.empty())
      return {};
    auto t = num::IntType::getFull(b.getContext(), true, 9);
    return constant({int64_t(bias.size())}, t, bias);
  }

  /// The range of out channels with these weights.
  num::IntType accumulator(llvm::ArrayRef<int64_t> w,
                           llvm::ArrayRef<int64_t> bias, int64_t out) {
    num::IntType x = element();
    int64_t each = int64_t(w.size()) / out, lo = 0, hi = 0;
    for (int64_t o = 0; o < out; ++o) {
      int64_t l = bias.empty() ? 0 : bias[o], h = l;
      for (int64_t v : w.slice(o * each, each)) {
        l += std::min(v * x.getLo(), v * x.getHi());
        h += std::max(v * x.getLo(), v * x.getHi());
      }
      lo = o ? std::min(lo, l) : l;
      hi = o ? std::max(hi, h) : h;
    }
    return num::IntType::getForRange(b.getContext(), lo, hi);
  }
};
} // namespace rhizome::test
