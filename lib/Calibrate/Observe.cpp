// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the network on its frames: all observations are stored by frame and
// merged in order, so that the number of threads has no effect.
#include "ObservedModel.h"
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
  // The row with weights, or the point, that a value belongs to.
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
    if (auto found = weights.find(&op); found != weights.end()) {
      if (row)
        list[*row].readers.push_back(list.size());
      row = list.size();
      list.push_back({osa::nodeName(&op),
                      opName(&op),
                      v,
                      {},
                      found->second,
                      false,
                      osa::computeWork(&op).macs});
    }
    auto point = points.find(v);
    if (point != points.end() && !places.activations[point->second].isInput) {
      bool ends = row && !list[*row].point && list[*row].weights &&
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
static size_t beyond(const std::vector<float> &values,
                     const AffineFormat &format) {
  double scale = format.scale[0], zero = format.zero[0];
  return size_t(llvm::count_if(values, [&](float x) {
    double q = std::nearbyint(x / scale) + zero;
    return q < double(format.lo) || q > double(format.hi);
  }));
}

llvm::Error ObservedModel::observe() {
  Interpreter interpreter(main());
  DenseMap<Operation *, size_t> rowOf;
  for (auto [i, row] : llvm::enumerate(list))
    if (row.point && row.value.getDefiningOp())
      rowOf[row.value.getDefiningOp()] = i;
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
        o.samples.push_back(t.floats[size_t(i)]);
    };
    for (auto [i, row] : llvm::enumerate(list))
      if (auto arg = dyn_cast<BlockArgument>(row.value))
        look(i, frames[f][arg.getArgNumber()]);
    auto out = interpreter.run(frames[f], [&](Operation *op, const Tensor &t) {
      if (auto it = rowOf.find(op); it != rowOf.end())
        look(it->second, t);
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
  Placement there = placeQuantizers(copy.lookupSymbol<func::FuncOp>("main"));
  OpBuilder builder(copy.getContext());
  std::vector<Value> values;
  for (auto [i, row] : llvm::enumerate(list)) {
    if (row.weights) {
      OpOperand &operand = *there.constants[*row.weights].operand;
      if (config[i].weights)
        operand.set(quantized(builder, operand.get(),
                              weights(i, config[i].weights),
                              operand.getOwner()->getLoc()));
      values.push_back(operand.getOwner()->getResult(0));
    }
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
  void add(const Tensor &want, const Tensor &got) {
    for (size_t i = 0; i < want.floats.size() && i < got.floats.size(); ++i) {
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
  Interpreter exact(main()), rounded(function);
  DenseMap<Operation *, size_t> exactRow, roundedRow;
  for (auto [i, row] : llvm::enumerate(list)) {
    if (Operation *op = row.value.getDefiningOp())
      exactRow[op] = i;
    if (Operation *op = values[i].getDefiningOp())
      roundedRow[op] = i;
  }
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
      auto out = exact.run(frames[f], [&](Operation *op, const Tensor &t) {
        if (auto it = exactRow.find(op); it != exactRow.end())
          want[it->second] = t;
      });
      if (failed(out))
        noteStop(stop, f);
      for (auto [i, row] : llvm::enumerate(list))
        if (row.point && config[i].activations)
          cut[f][i] = {want[i].floats.size(), beyond(want[i].floats, *used[i])};
    }
    byRow[f].resize(list.size());
    byOutput[f].resize(results);
    auto out = rounded.run(frames[f], [&](Operation *op, const Tensor &t) {
      if (auto it = roundedRow.find(op); layers && it != roundedRow.end())
        byRow[f][it->second].add(want[it->second], t);
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
