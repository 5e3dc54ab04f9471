// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the network on its frames: all observations are stored by frame and
// merged in order, so that the number of threads has no effect.
#include "ObservedModel.h"
#include "Runner.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/Support/Parallel.h"
#include <atomic>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::calibrate;

double calibrate::decibels(double signal, double noise) {
  if (noise <= 0 || signal <= 0)
    return noise <= 0 ? 200 : 0;
  return std::min(200.0, 10 * std::log10(signal / noise));
}

ObservedModel::ObservedModel(ModuleOp original, const Frames &frames,
                             const Options &options)
    : module(original.clone()), frames(frames), options(options) {
  places = placeQuantizers(main());
  makeRows();
}

func::FuncOp ObservedModel::main() const {
  return const_cast<OwningOpRef<ModuleOp> &>(module)
      ->lookupSymbol<func::FuncOp>("main");
}

static std::string opName(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    if (auto child = dyn_cast<NameLoc>(name.getChildLoc()))
      return child.getName().str();
  return op->getName().stripDialect().str();
}

/// The elements of a sum to which a constant adds what no softmax lets pass.
static std::vector<char> hiddenBy(Value v) {
  constexpr float kMasked = -1e4f;
  auto sum = v.getDefiningOp<osa::AddOp>();
  if (!sum)
    return {};
  for (Value operand : sum->getOperands()) {
    auto constant = operand.getDefiningOp<osa::ConstantOp>();
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!constant || !type.getElementType().isF32())
      continue;
    std::vector<float> mask = osa::floatValues(constant.getValue());
    if (llvm::none_of(mask, [](float m) { return m <= kMasked; }))
      continue;
    std::vector<char> hidden;
    for (int64_t at : broadcastMap(
             type.getShape(), cast<RankedTensorType>(v.getType()).getShape()))
      hidden.push_back(mask[size_t(at)] <= kMasked);
    return hidden;
  }
  return {};
}

void ObservedModel::makeRows() {
  DenseMap<Value, size_t> points;
  DenseMap<Operation *, size_t> weights;
  for (auto [i, constant] : llvm::enumerate(places.constants))
    if (!constant.isBias)
      weights[constant.operand->getOwner()] = i;
  for (auto [i, point] : llvm::enumerate(places.activations)) {
    points[point.value] = i;
    if (point.isInput)
      list.push_back(
          {osa::nodeName(point.loc), "input", point.value, i, {}, true});
  }
  size_t layers = 0;
  // The layer, or the point, that a value belongs to.
  DenseMap<Value, size_t> rowOf;
  for (auto [i, row] : llvm::enumerate(list))
    rowOf[row.value] = i;
  for (Operation &op : main().getBody().front()) {
    if (op.getNumResults() != 1 || isa<osa::ConstantOp>(op))
      continue;
    Value v = op.getResult(0);
    std::optional<size_t> row;
    for (Value operand : op.getOperands())
      if (auto found = rowOf.find(operand); found != rowOf.end() && !row)
        row = found->second;
    if (isa<osa::Conv2dOp, osa::DenseOp>(op)) {
      if (row)
        list[*row].readers.push_back(list.size());
      row = list.size();
      auto found = weights.find(&op);
      list.push_back(
          {osa::nodeName(&op),
           opName(&op),
           v,
           {},
           found == weights.end() ? std::nullopt : std::optional(found->second),
           false,
           osa::computeWork(&op).macs,
           {},
           layers++});
    }
    auto point = points.find(v);
    if (point != points.end() && !places.activations[point->second].isInput) {
      bool ends = row && !list[*row].point && list[*row].layer &&
                  op.getNumOperands() &&
                  !isa<osa::ConcatOp, osa::AvgPoolOp, osa::UnaryOp>(op);
      if (!ends) {
        row = list.size();
        list.push_back({osa::nodeName(&op), opName(&op), v});
      }
      list[*row].point = point->second;
      list[*row].value = v;
    }
    if (row && point == points.end() && list[*row].isInput &&
        !isa<osa::TransposeOp, osa::ReshapeOp, osa::MaxPoolOp>(op) &&
        v != list[*row].value)
      continue;
    if (row)
      rowOf[v] = *row;
  }
  for (Row &row : list)
    row.hidden = hiddenBy(row.value);
}

static llvm::Error stopped(size_t frame) {
  return llvm::createStringError(
      "the network cannot be evaluated on frame %zu of the calibration data",
      frame);
}

/// Sets `frame` to the number of the first frame that stopped a run.
static void noteStop(std::atomic<size_t> &first, size_t frame) {
  size_t seen = first;
  while (frame < seen && !first.compare_exchange_weak(seen, frame))
    ;
}

/// How many of `values` are outside the codes of `format`.
static size_t beyond(const Row &row, const std::vector<float> &values,
                     const AffineFormat &format) {
  double scale = format.scale[0], zero = format.zero[0];
  size_t count = 0;
  for (auto [i, x] : llvm::enumerate(values)) {
    double q = std::nearbyint(x / scale) + zero;
    count += !row.hides(i) && (q < double(format.lo) || q > double(format.hi));
  }
  return count;
}

llvm::Error ObservedModel::observe() {
  std::vector<Value> values;
  std::vector<size_t> rowOf; // of each value
  for (auto [i, row] : llvm::enumerate(list))
    if (row.point && row.value.getDefiningOp()) {
      values.push_back(row.value);
      rowOf.push_back(i);
    }
  std::unique_ptr<Runner> runner = makeRunner(main(), values, frames.size());
  constexpr size_t kSamples = 1 << 16;
  size_t share = std::max<size_t>(kSamples / frames.size(), 16);
  std::vector<std::vector<Observed>> found(frames.size(),
                                           std::vector<Observed>(list.size()));
  outputs.assign(frames.size(), {});
  std::atomic<size_t> stop{frames.size()};
  llvm::parallelFor(0, frames.size(), [&](size_t f) {
    auto look = [&](size_t row, const Tensor &t) {
      Observed &o = found[f][row];
      size_t channels = t.shape.empty() ? 1 : t.shape.back();
      o.largest.assign(channels, 0);
      for (auto [i, x] : llvm::enumerate(t.floats)) {
        if (list[row].hides(i))
          continue;
        if (!std::isfinite(x)) {
          o.high = INFINITY;
          break;
        }
        o.low = std::min(o.low, double(x));
        o.high = std::max(o.high, double(x));
        float &largest = o.largest[i % channels];
        largest = std::max(largest, std::fabs(x));
      }
      double step = std::max(1.0, double(t.floats.size()) / double(share));
      for (double i = 0; i < double(t.floats.size()); i += step)
        if (!list[row].hides(size_t(i)))
          o.samples.push_back(t.floats[size_t(i)]);
    };
    for (auto [i, row] : llvm::enumerate(list))
      if (auto arg = dyn_cast<BlockArgument>(row.value))
        look(i, frames[f][arg.getArgNumber()]);
    auto out = runner->run(frames[f], [&](size_t which, const Tensor &t) {
      look(rowOf[which], t);
    });
    if (failed(out))
      noteStop(stop, f);
    else
      outputs[f] = std::move(*out);
  });
  if (stop < frames.size())
    return stopped(stop);
  seen.assign(list.size(), {});
  for (auto [f, frame] : llvm::enumerate(found))
    for (auto [i, o] : llvm::enumerate(frame)) {
      Observed &all = seen[i];
      all.low = std::min(all.low, o.low);
      all.high = std::max(all.high, o.high);
      if (!std::isfinite(all.low) || !std::isfinite(all.high))
        return llvm::createStringError(
            "'%s' is not finite on frame %zu of the calibration data",
            list[i].name.c_str(), size_t(f));
      all.samples.insert(all.samples.end(), o.samples.begin(), o.samples.end());
      all.largest.resize(std::max(all.largest.size(), o.largest.size()));
      for (auto [c, x] : llvm::enumerate(o.largest))
        all.largest[c] = std::max(all.largest[c], x);
    }
  for (Observed &o : seen)
    llvm::sort(o.samples);
  chosen.clear();
  return llvm::Error::success();
}

AffineFormat ObservedModel::activation(size_t row, unsigned bits) {
  auto [it, fresh] = chosen.try_emplace({row, bits});
  if (fresh)
    it->second = chooseRange(seen[row], bits, options, list[row].isInput);
  return it->second;
}

AffineFormat ObservedModel::weights(size_t row, unsigned bits) {
  auto [it, fresh] = chosenWeights.try_emplace({row, bits});
  if (fresh) {
    Value v = places.constants[*list[row].weights].operand->get();
    it->second = chooseWeights(
        constantFloats(v), cast<RankedTensorType>(v.getType()).getShape()[0],
        bits, options);
  }
  return it->second;
}

std::vector<Value> ObservedModel::apply(ModuleOp copy, const Config &config) {
  auto function = copy.lookupSymbol<func::FuncOp>("main");
  Placement there = placeQuantizers(function);
  SmallVector<Value> layers;
  for (Operation &op : function.getBody().front())
    if (isa<osa::Conv2dOp, osa::DenseOp>(op))
      layers.push_back(op.getResult(0));
  OpBuilder builder(copy.getContext());
  std::vector<Value> values;
  for (auto [i, row] : llvm::enumerate(list)) {
    if (row.weights) {
      OpOperand &operand = *there.constants[*row.weights].operand;
      if (config[i].weights)
        operand.set(quantized(builder, operand.get(),
                              weights(i, config[i].weights),
                              operand.getOwner()->getLoc()));
    }
    if (row.layer)
      values.push_back(layers[*row.layer]);
    if (!row.point)
      continue;
    const Placement::Point &point = there.activations[*row.point];
    values.resize(i + 1);
    values[i] =
        config[i].activations
            ? quantizeUses(builder, point, activation(i, config[i].activations))
            : point.value;
  }
  return values;
}

/// The index of the largest value, or the index that the model returns.
static int64_t classOf(const std::vector<Tensor> &outputs) {
  const Tensor &t = outputs.front();
  if (!t.isFloat)
    return t.ints.front();
  return std::max_element(t.floats.begin(), t.floats.end()) - t.floats.begin();
}

namespace {
struct Power {
  double signal = 0, noise = 0;
  void add(const Tensor &want, const Tensor &got,
           const std::vector<char> &hidden = {}) {
    for (size_t i = 0; i < want.floats.size() && i < got.floats.size(); ++i) {
      if (!hidden.empty() && hidden[i])
        continue;
      double e = double(got.floats[i]) - want.floats[i];
      signal += double(want.floats[i]) * want.floats[i];
      noise += e * e;
    }
  }
};
} // namespace

llvm::Expected<Quality> ObservedModel::measure(const Config &config,
                                               bool layers, size_t count) {
  count = count ? std::min(count, frames.size()) : frames.size();
  OwningOpRef<ModuleOp> copy = module->clone();
  std::vector<Value> values = apply(*copy, config);
  auto function = copy->lookupSymbol<func::FuncOp>("main");
  std::unique_ptr<Runner> exact, rounded;
  if (layers) {
    std::vector<Value> own;
    for (const Row &row : list)
      own.push_back(row.value);
    exact = makeRunner(main(), own, count);
  } else {
    values.clear();
  }
  rounded = makeRunner(function, values, count);
  // The formats, chosen before threads use them.
  std::vector<std::optional<AffineFormat>> used(list.size());
  for (auto [i, row] : llvm::enumerate(list))
    if (layers && row.point && config[i].activations)
      used[i] = activation(i, config[i].activations);
  size_t results = function.getNumResults();
  std::vector<std::vector<Power>> byRow(count), byOutput(count);
  // For every row, the number of values and how many saturated.
  using Counts = std::pair<size_t, size_t>;
  std::vector<std::vector<Counts>> cut(count, std::vector<Counts>(list.size()));
  std::vector<char> agrees(count);
  std::atomic<size_t> stop{count};
  llvm::parallelFor(0, count, [&](size_t f) {
    std::vector<Tensor> want(list.size());
    if (layers) {
      for (auto [i, row] : llvm::enumerate(list))
        if (auto arg = dyn_cast<BlockArgument>(row.value))
          want[i] = frames[f][arg.getArgNumber()];
      auto out = exact->run(
          frames[f], [&](size_t row, const Tensor &t) { want[row] = t; });
      if (failed(out))
        noteStop(stop, f);
      for (auto [i, row] : llvm::enumerate(list))
        if (row.point && config[i].activations)
          cut[f][i] = {want[i].floats.size(),
                       beyond(row, want[i].floats, *used[i])};
    }
    byRow[f].resize(list.size());
    byOutput[f].resize(results);
    auto out = rounded->run(frames[f], [&](size_t row, const Tensor &t) {
      byRow[f][row].add(want[row], t, list[row].hidden);
    });
    if (failed(out))
      return noteStop(stop, f);
    for (size_t k = 0; k < results; ++k)
      byOutput[f][k].add(outputs[f][k], (*out)[k]);
    agrees[f] = classOf(*out) == classOf(outputs[f]);
  });
  if (stop < count)
    return stopped(stop);
  auto sum = [&](const std::vector<std::vector<Power>> &parts, size_t at) {
    Power all;
    for (const auto &frame : parts) {
      all.signal += frame[at].signal;
      all.noise += frame[at].noise;
    }
    return all;
  };
  Quality quality;
  if (layers)
    for (size_t i = 0; i < list.size(); ++i) {
      Power p = sum(byRow, i);
      quality.snr.push_back(decibels(p.signal, p.noise));
      size_t values = 0, saturated = 0;
      for (const auto &frame : cut) {
        values += frame[i].first;
        saturated += frame[i].second;
      }
      quality.saturated.push_back(values ? double(saturated) / double(values)
                                         : 0);
    }
  quality.outputSnr = 200;
  for (size_t k = 0; k < results; ++k) {
    Power p = sum(byOutput, k);
    quality.outputSnr =
        std::min(quality.outputSnr, decibels(p.signal, p.noise));
    if (p.signal > 0)
      quality.noise = std::max(quality.noise, p.noise / p.signal);
  }
  quality.agreement =
      double(std::count(agrees.begin(), agrees.end(), 1)) / double(count);
  return quality;
}
