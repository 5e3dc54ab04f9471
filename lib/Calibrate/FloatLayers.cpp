// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatLayers.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Transforms/Placement.h"
#include <cmath>
#include <numeric>
#include <optional>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::calibrate;

/// The values of a float constant of the file; nullopt for anything else.
static std::optional<std::vector<float>> constantOf(Value v) {
  auto op = v.getDefiningOp<osa::ConstantOp>();
  if (!op || !cast<RankedTensorType>(v.getType()).getElementType().isF32())
    return std::nullopt;
  return osa::floatValues(op.getValue());
}

static ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}

/// Replaces the values of an operand of `op`.
static void setConstant(Operation *op, unsigned operand, StringRef role,
                        ArrayRef<int64_t> shape,
                        const std::vector<float> &values) {
  OpBuilder b(op);
  auto attr = osa::makeFloatAttr(
      op->getContext(), (osa::nodeName(op) + "." + role).str(), shape, values);
  Value v = osa::ConstantOp::create(
      b, op->getLoc(), RankedTensorType::get(shape, b.getF32Type()), attr);
  if (operand < op->getNumOperands())
    op->setOperand(operand, v);
  else
    op->insertOperands(operand, v);
}

/// What an operation does to channel c: gain[c] · x + term[c].
namespace {
struct PerChannel {
  std::vector<double> gain, term;
};
} // namespace

static std::optional<PerChannel> perChannel(Operation *op, Value x,
                                            int64_t channels) {
  PerChannel f{std::vector<double>(channels, 1),
               std::vector<double>(channels, 0)};
  if (auto bn = dyn_cast<osa::BatchNormOp>(op)) {
    auto gamma = osa::floatValues(bn.getGamma()),
         beta = osa::floatValues(bn.getBeta()),
         mean = osa::floatValues(bn.getMean()),
         variance = osa::floatValues(bn.getVariance());
    double epsilon = bn.getEpsilon().convertToFloat();
    auto at = [](const std::vector<float> &v, int64_t c) -> double {
      return v[v.size() == 1 ? 0 : c];
    };
    for (int64_t c = 0; c < channels; ++c) {
      f.gain[c] = at(gamma, c) / std::sqrt(at(variance, c) + epsilon);
      f.term[c] = at(beta, c) - at(mean, c) * f.gain[c];
    }
    return f;
  }
  if (!isa<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp>(op))
    return std::nullopt;
  bool first = op->getOperand(0) != x; // the constant is the first operand
  Value other = op->getOperand(first ? 0 : 1);
  auto values = constantOf(other);
  if (!values || (first && isa<osa::DivOp>(op)) ||
      shapeOf(op->getResult(0)) != shapeOf(x) ||
      (values->size() != 1 && (int64_t(values->size()) != channels ||
                               shapeOf(other).back() != channels)))
    return std::nullopt;
  for (int64_t c = 0; c < channels; ++c) {
    double v = (*values)[values->size() == 1 ? 0 : c];
    if (isa<osa::AddOp>(op)) {
      f.term[c] = v;
    } else if (isa<osa::SubOp>(op)) {
      f.gain[c] = first ? -1 : 1;
      f.term[c] = first ? v : -v;
    } else {
      f.gain[c] = isa<osa::MulOp>(op) ? v : 1 / v;
    }
    if (!std::isfinite(f.gain[c]))
      return std::nullopt;
  }
  return f;
}

static bool isLayer(Operation *op) {
  return isa<osa::Conv2dOp, osa::DenseOp>(op) &&
         constantOf(op->getOperand(1)) &&
         (op->getNumOperands() < 3 || constantOf(op->getOperand(2)));
}

void calibrate::foldIntoWeights(func::FuncOp function) {
  SmallVector<Operation *> layers;
  for (Operation &op : function.getBody().front())
    if (isLayer(&op))
      layers.push_back(&op);
  for (Operation *op : layers)
    while (op->getResult(0).hasOneUse()) {
      Operation *next = *op->getResult(0).getUsers().begin();
      int64_t channels = shapeOf(op->getResult(0)).back();
      auto f = next->getNumResults() == 1
                   ? perChannel(next, op->getResult(0), channels)
                   : std::nullopt;
      if (!f)
        break;
      auto weights = *constantOf(op->getOperand(1));
      auto shape = SmallVector<int64_t>(shapeOf(op->getOperand(1)));
      auto bias = op->getNumOperands() > 2 ? *constantOf(op->getOperand(2))
                                           : std::vector<float>(channels, 0.0f);
      size_t row = weights.size() / channels;
      for (int64_t c = 0; c < channels; ++c) {
        for (size_t i = 0; i < row; ++i)
          weights[c * row + i] = float(weights[c * row + i] * f->gain[c]);
        bias[c] = float(bias[c] * f->gain[c] + f->term[c]);
      }
      if (llvm::any_of(f->gain, [](double g) { return g != 1; }))
        setConstant(op, 1, "weights", shape, weights);
      setConstant(op, 2, "bias", {channels}, bias);
      op->setLoc(withTensorOf(op->getLoc(), next->getLoc()));
      next->getResult(0).replaceAllUsesWith(op->getResult(0));
      next->erase();
    }
}

/// The channel of each element of a tensor; all of one image.
static std::vector<int64_t> channelsOf(ArrayRef<int64_t> shape) {
  std::vector<int64_t> channel(llvm::product_of(shape));
  for (size_t i = 0; i < channel.size(); ++i)
    channel[i] = int64_t(i) % shape.back();
  return channel;
}

static std::vector<int64_t> transposed(const std::vector<int64_t> &in,
                                       ArrayRef<int64_t> from,
                                       osa::TransposeOp op) {
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  std::vector<int64_t> stride(from.size(), 1), out(in.size());
  for (size_t d = from.size(); d-- > 1;)
    stride[d - 1] = stride[d] * from[d];
  for (size_t i = 0; i < out.size(); ++i) {
    size_t rest = i, at = 0;
    for (size_t d = to.size(); d-- > 0; rest /= to[d])
      at += rest % to[d] * stride[op.getPermutation()[d]];
    out[i] = in[at];
  }
  return out;
}

std::vector<Pair> calibrate::findPairs(func::FuncOp function) {
  std::vector<Pair> pairs;
  for (Operation &op : function.getBody().front()) {
    if (!isLayer(&op))
      continue;
    Value v = op.getResult(0);
    std::vector<int64_t> channel; // of each element, after they have moved
    Operation *next = nullptr;
    while (v.hasOneUse()) {
      next = *v.getUsers().begin();
      if (isa<osa::TransposeOp, osa::ReshapeOp>(next) && channel.empty())
        channel = channelsOf(shapeOf(v));
      if (auto t = dyn_cast<osa::TransposeOp>(next))
        channel = transposed(channel, shapeOf(v), t);
      else if (!isa<osa::ReluOp, osa::LeakyReluOp, osa::ReshapeOp>(next) &&
               !(isa<osa::MaxPoolOp, osa::AvgPoolOp>(next) && channel.empty()))
        break;
      v = next->getResult(0);
      next = nullptr;
    }
    if (!next || !isLayer(next) || next->getOperand(0) != v)
      continue;
    if (isa<osa::DenseOp>(next) &&
        llvm::product_of(shapeOf(v)) == shapeOf(next->getOperand(1))[1]) {
      if (channel.empty())
        channel = channelsOf(shapeOf(v));
    } else if (channel.empty()) {
      channel.resize(shapeOf(v).back());
      std::iota(channel.begin(), channel.end(), 0);
    } else {
      continue;
    }
    pairs.push_back({&op, next, std::move(channel)});
  }
  return pairs;
}

void calibrate::equalize(const Pair &pair, const std::vector<float> &largest) {
  auto first = *constantOf(pair.first->getOperand(1)),
       second = *constantOf(pair.second->getOperand(1));
  auto firstShape = SmallVector<int64_t>(shapeOf(pair.first->getOperand(1))),
       secondShape = SmallVector<int64_t>(shapeOf(pair.second->getOperand(1)));
  int64_t channels = firstShape[0], outputs = secondShape[0];
  int64_t perOutput = int64_t(second.size()) / outputs;
  int64_t perTap = secondShape.back(); // input channels of one group
  auto conv = dyn_cast<osa::Conv2dOp>(pair.second);
  int64_t groups = conv ? conv.getGroups() : 1;
  auto channelAt = [&](int64_t o, int64_t i) {
    return pair.channel[o / (outputs / groups) * perTap + i % perTap];
  };
  std::vector<float> reach(channels, 0);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < perOutput; ++i) {
      float &r = reach[channelAt(o, i)];
      r = std::max(r, std::fabs(second[o * perOutput + i]));
    }
  // √(range before / range after), relative to the mean of all.
  std::vector<double> factor(channels, 1);
  double sum = 0;
  int64_t used = 0;
  for (int64_t c = 0; c < channels; ++c)
    if (largest[c] > 0 && reach[c] > 0) {
      factor[c] = std::sqrt(double(largest[c]) / reach[c]);
      sum += std::log(factor[c]);
      ++used;
    }
  double mean = used ? std::exp(sum / double(used)) : 1;
  for (int64_t c = 0; c < channels; ++c)
    // Multiplying by a power of two is exact in float.
    factor[c] = largest[c] > 0 && reach[c] > 0
                    ? std::exp2(std::round(std::log2(factor[c] / mean)))
                    : 1;
  int64_t row = int64_t(first.size()) / channels;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < row; ++i)
      first[c * row + i] = float(first[c * row + i] / factor[c]);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < perOutput; ++i)
      second[o * perOutput + i] =
          float(second[o * perOutput + i] * factor[channelAt(o, i)]);
  setConstant(pair.first, 1, "weights", firstShape, first);
  setConstant(pair.second, 1, "weights", secondShape, second);
  if (pair.first->getNumOperands() > 2) {
    auto bias = *constantOf(pair.first->getOperand(2));
    for (int64_t c = 0; c < channels; ++c)
      bias[c] = float(bias[c] / factor[c]);
    setConstant(pair.first, 2, "bias", {channels}, bias);
  }
}
