// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks through the operations of a network: what makes sums begins a layer,
// the requantizer after it and an addition after that join it.
#include "Lowering.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;
using namespace rhizome;
using namespace rhizome::engine;

/// Of the two halves of a requantizer with ties to even, see `tiesToEven`.
static constexpr int64_t kHalfBias = 64;

Network Lowering::run(func::FuncOp function) {
  for (auto [i, argument] : enumerate(function.getArguments())) {
    auto tensor = tensorOf(argument, "input " + std::to_string(i));
    if (!tensor) {
      refuse(function, "its input " + std::to_string(i) +
                           " has elements of more than 8 bits");
      continue;
    }
    net.inputs.push_back(addTensor(argument, *tensor));
  }
  for (Operation &op : function.front().without_terminator())
    visit(op);
  for (Value result : function.front().getTerminator()->getOperands()) {
    const Meaning &meaning = meanings[result];
    if (meaning.kind == Meaning::Unknown)
      continue;
    Operation *made = result.getDefiningOp() ? result.getDefiningOp()
                                             : function.getOperation();
    if (meaning.kind != Meaning::Bytes) {
      refuse(made, "an output must be bytes that a layer makes");
      continue;
    }
    int output = meaning.index;
    if (tensor(output).producer < 0 || tensor(output).view.of >= 0)
      output = copied(made, output);
    tensor(output).isOutput = true;
    net.outputs.push_back(output);
  }
  for (auto [i, layer] : enumerate(net.layers)) {
    std::vector<int> read = {layer.input, layer.other};
    for (const Layer::Batch &batch : layer.batches)
      read.insert(read.end(), {batch.input, batch.weights});
    for (int one : read)
      if (one >= 0 &&
          (tensor(one).readers.empty() || tensor(one).readers.back() != int(i)))
        tensor(one).readers.push_back(int(i));
    if (!layer.isProduct())
      read.push_back(layer.output);
    for (const Layer::Batch &batch : layer.batches)
      read.push_back(batch.output);
    for (int one : read)
      for (; one >= 0; one = tensor(one).view.of)
        if (const View &view = tensor(one).view; view.of >= 0) {
          tensor(view.of).isFlat |= view.unit != View::Pixels;
          tensor(view.of).isDense |= view.unit == View::FlatWords;
        }
  }
  return std::move(net);
}

void Lowering::refuse(Operation *op, const Twine &reason) {
  refusals.push_back({op, reason.str()});
}

/// The tensor of a value, unless its elements need more than a byte.
std::optional<ByteTensor> Lowering::tensorOf(Value value, std::string name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  num::IntType element = type ? num::elementInt(type) : num::IntType();
  if (!element || element.getHi() - element.getLo() > 255)
    return std::nullopt;
  ByteTensor tensor;
  tensor.name = std::move(name);
  auto shape = type.getShape();
  if (!shape.empty())
    tensor.channels = shape.back();
  if (shape.size() == 4 && shape[0] == 1) {
    tensor.height = shape[1];
    tensor.width = shape[2];
  } else {
    for (int64_t size : shape.drop_back(shape.empty() ? 0 : 1))
      tensor.width *= size;
  }
  tensor.low = element.getLo();
  tensor.high = element.getHi();
  if (tensor.low < kLeastByte || tensor.high > kMostByte)
    tensor.bias =
        tensor.low >= 0 && tensor.high <= 255 ? 128 : tensor.low - kLeastByte;
  return tensor;
}

int Lowering::addTensor(Value value, ByteTensor tensor) {
  net.tensors.push_back(std::move(tensor));
  Meaning &meaning = meanings[value];
  meaning.kind = Meaning::Bytes;
  meaning.index = int(net.tensors.size()) - 1;
  return meaning.index;
}

/// The tensor of bytes that an operand is, or -1; then the operation is
/// refused, unless what makes the operand has been.
int Lowering::bytesOf(Operation &op, Value operand) {
  const Meaning &meaning = meanings[operand];
  if (meaning.kind == Meaning::Bytes)
    return meaning.index;
  if (meaning.kind != Meaning::Unknown)
    refuse(&op, "its operand has more than 8 bits: no requantizer stands "
                "before it");
  else if (osa::isConstantInts(operand))
    refuse(&op, "an operand is constant that the engine's instructions take "
                "from a layer");
  return -1;
}

void Lowering::visit(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<osa::ConstantOp>([](auto) {})
      .Case<osa::Conv2dOp, osa::DenseOp>([&](auto one) { products(one); })
      .Case<osa::SumPoolOp, osa::MaxPoolOp, osa::RequantizeOp, osa::ScaledAddOp,
            osa::ReshapeOp, osa::TableOp, osa::ThresholdOp, osa::MatmulOp,
            osa::ConcatOp, osa::GatherOp, osa::TransposeOp, osa::PadOp>(
          [&](auto one) { visit(one); })
      .Default([&](Operation *) {
        refuse(&op, "the engine has no instruction for '" +
                        op.getName().getStringRef() + "'");
      });
}

Layer &Lowering::addLayer(Layer::Kind kind, Operation *op, int input) {
  Layer layer;
  layer.kind = kind;
  layer.op = op;
  layer.name = osa::nodeName(op);
  layer.input = input;
  const ByteTensor &in = net.tensors[size_t(input)];
  layer.window = {in.height, in.width, in.channels, 1, 1, 1,         1,       1,
                  1,         0,        0,           0, 0, in.height, in.width};
  net.layers.push_back(std::move(layer));
  return net.layers.back();
}

/// Convolutions, and dense layers as convolutions of a pixel or, after a
/// reshape, of a whole image.
template <typename Op> void Lowering::products(Op op) {
  const int input = bytesOf(*op, op.getInput());
  if (input < 0)
    return;
  auto weights = osa::constantInts(op.getWeights());
  if (!weights)
    return refuse(op, "its weights are no constants");
  if (any_of(*weights,
             [](int64_t w) { return w < kLeastByte || w > kMostByte; }))
    return refuse(op, "its weights do not fit 8 bits with a sign");
  Layer &layer = addLayer(Layer::Matrix, op, input);
  osa::Window &w = layer.window;
  int64_t pad = 0;
  if constexpr (std::is_same_v<Op, osa::Conv2dOp>) {
    w = *osa::getWindow(op);
    layer.groups = op.getGroups();
    pad = int64_t(op.getPadValue());
  } else {
    // A reshape leaves what it flattens as it is.
    const int64_t channels =
        cast<RankedTensorType>(op.getInput().getType()).getShape().back();
    if (channels != w.channels) {
      w.kernelH = w.height;
      w.kernelW = w.width;
      w.outHeight = w.outWidth = 1;
    }
  }
  trimPads(w);
  layer.weights.assign(weights->begin(), weights->end());
  layer.products = osa::computeWork(op).macs;
  const int64_t channels =
      cast<RankedTensorType>(op.getOutput().getType()).getShape().back();
  std::vector<int64_t> bias(size_t(channels), 0);
  if (op.getBias()) {
    auto values = osa::constantInts(op.getBias());
    if (!values)
      return drop(op, "its bias is no constant");
    bias = *values;
  }
  finishSums(op, op.getOutput(), layer, pad, bias);
}

void Lowering::visit(osa::SumPoolOp op) {
  const int input = bytesOf(*op, op.getInput());
  if (input < 0)
    return;
  auto scale = op.getPositionScale();
  if (any_of(scale, [&](int64_t s) { return s != scale.front(); }))
    return refuse(op, "its sums are scaled differently at each position");
  if (!scale.empty() && scale.front() > kMostByte)
    return refuse(op, "its sums are scaled by more than 127");
  Layer &layer = addLayer(Layer::Dot, op, input);
  layer.window = *osa::getWindow(op);
  trimPads(layer.window);
  const int64_t factor = scale.empty() ? 1 : scale.front();
  const int64_t taps = layer.window.kernelH * layer.window.kernelW;
  layer.weights.assign(size_t(layer.window.channels * taps), int8_t(factor));
  const int64_t zero = int64_t(op.getZero());
  std::vector<int64_t> bias(size_t(layer.window.channels),
                            -taps * factor * zero);
  finishSums(op, op.getOutput(), layer, zero, bias);
}

/// Pads below and to the right that no window reaches are none.
void Lowering::trimPads(osa::Window &w) {
  w.padBottom = std::max<int64_t>(0, (w.outHeight - 1) * w.strideH + w.spanH() -
                                         w.padTop - w.height);
  w.padRight = std::max<int64_t>(0, (w.outWidth - 1) * w.strideW + w.spanW() -
                                        w.padLeft - w.width);
}

void Lowering::drop(Operation *op, const Twine &reason) {
  net.layers.pop_back();
  refuse(op, reason);
}

/// What the sums of the core are less than those of the model, and their
/// ranges; refuses what the core does not hold.
void Lowering::finishSums(Operation *op, Value result, Layer &layer,
                          int64_t pad, ArrayRef<int64_t> bias) {
  const ByteTensor &in = net.tensors[size_t(layer.input)];
  layer.padByte = pad - in.bias;
  if (layer.hasPads() &&
      (layer.padByte < kLeastByte || layer.padByte > kMostByte))
    return drop(op, "its border's value does not fit the input's bytes");
  if (std::string why = tooLarge(layer); !why.empty())
    return drop(op, why);
  int64_t least = in.least(), most = in.most();
  if (layer.hasPads()) {
    least = std::min(least, layer.padByte);
    most = std::max(most, layer.padByte);
  }
  Meaning meaning;
  meaning.kind = Meaning::Sums;
  meaning.index = int(net.layers.size()) - 1;
  const size_t each = layer.weights.size() / bias.size();
  for (auto [channel, start] : enumerate(bias)) {
    int64_t sum = 0, low = 0, high = 0;
    for (int64_t weight : ArrayRef(layer.weights).slice(channel * each, each)) {
      sum += weight;
      low += std::min(weight * least, weight * most);
      high += std::max(weight * least, weight * most);
    }
    meaning.rest.push_back(start + sum * in.bias);
    meaning.least.push_back(low);
    meaning.most.push_back(high);
  }
  finishSums(op, result, std::move(meaning));
}

void Lowering::finishSums(Operation *op, Value result, Meaning meaning) {
  const unsigned bits =
      num::bitsForRange(std::min<int64_t>(-1, *min_element(meaning.least)),
                        *max_element(meaning.most));
  if (int64_t(bits) > core.sum_bits)
    return drop(op, "its sums need " + Twine(bits) +
                        " bits, and the core's accumulators have " +
                        Twine(core.sum_bits));
  if (!result.hasOneUse() ||
      !llvm::isa<osa::RequantizeOp, osa::ThresholdOp>(*result.user_begin()))
    return drop(op, "its sums go elsewhere than to one requantizer");
  meanings[result] = std::move(meaning);
}

std::string Lowering::tooLarge(const Layer &layer) const {
  const osa::Window &w = layer.window;
  const bool isDot = layer.kind != Layer::Matrix;
  const int64_t most = isDot ? 63 : 31;
  if (w.kernelH > most || w.kernelW > most)
    return ("its window of " + Twine(w.kernelH) + " × " + Twine(w.kernelW) +
            " is larger than " + Twine(most) + " × " + Twine(most))
        .str();
  if (!isDot && (w.channels + core.in - 1) / core.in > 511)
    return ("it has " + Twine(w.channels) + " input channels, more than " +
            Twine(511 * core.in))
        .str();
  return "";
}

void Lowering::visit(osa::RequantizeOp op) {
  const Meaning meaning = meanings[op.getInput()];
  switch (meaning.kind) {
  case Meaning::Unknown:
    return;
  case Meaning::Sums:
    return requantizeSums(op, meaning);
  case Meaning::Bytes: {
    Meaning alone;
    alone.left = meaning.index;
    alone.rightFactor = 0;
    alone.right = meaning.index;
    return add(op, op.getOutput(), alone, op.getMultiplier(), op.getOffset(),
               int64_t(op.getShift()), op.getTiesEven());
  }
  case Meaning::Addition:
    return add(op, op.getOutput(), meaning, op.getMultiplier(), op.getOffset(),
               int64_t(op.getShift()), op.getTiesEven());
  }
}

void Lowering::requantizeSums(osa::RequantizeOp op, const Meaning &sums) {
  auto tensor = tensorOf(op.getOutput(), osa::nodeName(op));
  if (!tensor)
    return refuse(op, "its result needs more than 8 bits");
  Layer &layer = net.layers[size_t(sums.index)];
  const auto multiplier = op.getMultiplier(), offset = op.getOffset();
  auto of = [](ArrayRef<int64_t> values, size_t channel) {
    return values[values.size() == 1 ? 0 : channel];
  };
  auto step = [&](std::vector<Scaling> scaled, int64_t bias, int to) {
    for (Scaling &s : scaled)
      s.offset -= __int128(bias) << s.shift;
    auto lanes = requantizerOf(scaled);
    if (!lanes)
      return false;
    Step made{Step::Requantize};
    made.to = to;
    made.shift = lanes->shift;
    made.low = scaled.front().low;
    made.high = scaled.front().high;
    made.lanes = std::move(lanes->lanes);
    layer.steps.push_back(std::move(made));
    return true;
  };
  auto isDone = [&](const Meaning &from) {
    std::vector<Scaling> scalings;
    for (size_t c = 0; c < from.rest.size(); ++c) {
      const int64_t m = of(multiplier, c);
      scalings.push_back({m, __int128(from.rest[c]) * m + of(offset, c),
                          int64_t(op.getShift()), tensor->least(),
                          tensor->most(), from.least[c], from.most[c]});
    }
    layer.steps.clear();
    layer.temporaries = 0;
    return op.getTiesEven() ? tiesToEven(layer, scalings, *tensor, step)
                            : step(scalings, tensor->bias, -1);
  };
  if (!isDone(sums)) {
    const auto whole = wholeSums(sums);
    if (!whole || !isDone(*whole))
      return refuse(op, op.getTiesEven()
                            ? "no two requantizers of 35 and 47 bits do what "
                              "it does with ties"
                            : "no multiplier of 35 bits and offset of 47 does "
                              "what it does with sums of 27");
  }
  finishLayer(op.getOutput(), sums.index, *tensor);
}

/// The sums of the model: what the core's lack becomes products of constants,
/// which the array adds. Nothing if lanes make them, or they have too many
/// bits.
std::optional<Meaning> Lowering::wholeSums(Meaning sums) {
  Layer &layer = net.layers[size_t(sums.index)];
  if (layer.kind != Layer::Matrix ||
      all_of(sums.rest, [](int64_t rest) { return rest == 0; }))
    return std::nullopt;
  for (auto [rest, least, most] : zip(sums.rest, sums.least, sums.most)) {
    least += rest;
    most += rest;
    if (int64_t(num::bitsForRange(std::min<int64_t>(-1, least), most)) >
        core.sum_bits)
      return std::nullopt;
  }
  layer.rest.assign(sums.rest.size(), 0);
  std::swap(layer.rest, sums.rest);
  return sums;
}

/// Thresholds of sums, if there are a multiplier and an offset that meet all
/// of them.
void Lowering::visit(osa::ThresholdOp op) {
  const Meaning sums = meanings[op.getInput()];
  if (sums.kind == Meaning::Unknown)
    return;
  auto tensor = tensorOf(op.getOutput(), osa::nodeName(op));
  if (!tensor)
    return refuse(op, "its result needs more than 8 bits");
  const auto shape = op.getThresholds().getShapedType().getShape();
  const auto thresholds = osa::intValues(op.getThresholds());
  const int64_t base = int64_t(op.getBase()), step = int64_t(op.getStep());
  if (sums.kind == Meaning::Bytes) {
    if (shape[0] != 1)
      return refuse(op, "the engine has one table for all channels");
    return table(op, op.getOutput(), *tensor, sums.index, [&](int64_t value) {
      return base + step * count_if(thresholds, [&](int64_t threshold) {
                      return threshold <= value;
                    });
    });
  }
  if (sums.kind == Meaning::Addition)
    return addSteps(op, sums, *tensor, thresholds, size_t(shape[0]));
  auto lanesOf = [&](const Meaning &from) {
    std::vector<Staircase> staircases;
    for (size_t c = 0; c < from.rest.size(); ++c) {
      const auto own = ArrayRef(thresholds)
                           .slice(shape[0] == 1 ? 0 : c * size_t(shape[1]),
                                  size_t(shape[1]));
      staircases.push_back(staircaseOf(own, from, c, base, step, *tensor));
    }
    return requantizerOf(staircases);
  };
  auto lanes = lanesOf(sums);
  if (!lanes)
    if (const auto whole = wholeSums(sums))
      lanes = lanesOf(*whole);
  if (!lanes)
    return refuse(op, "no multiplier of 35 bits and offset of 47 meet its "
                      "thresholds");
  Layer &layer = net.layers[size_t(sums.index)];
  Step made{Step::Requantize};
  made.shift = lanes->shift;
  made.low = tensor->least();
  made.high = tensor->most();
  made.lanes = std::move(lanes->lanes);
  layer.steps.push_back(std::move(made));
  finishLayer(op.getOutput(), sums.index, *tensor);
}

Staircase Lowering::staircaseOf(ArrayRef<int64_t> thresholds,
                                const Meaning &sums, size_t channel,
                                int64_t base, int64_t step,
                                const ByteTensor &tensor) {
  Staircase made = {sums.least[channel],
                    sums.most[channel],
                    tensor.least(),
                    tensor.most(),
                    0,
                    {},
                    step < 0};
  int64_t value = base - tensor.bias;
  std::vector<std::pair<int64_t, int64_t>> steps;
  if (!made.falls) {
    for (int64_t threshold : thresholds)
      steps.push_back({threshold - sums.rest[channel], value += step});
  } else {
    // From the greatest sum down: each threshold takes a step back.
    std::tie(made.least, made.most) = std::pair(-made.most, -made.least);
    value += step * int64_t(thresholds.size());
    for (int64_t threshold : reverse(thresholds))
      steps.push_back({1 - (threshold - sums.rest[channel]), value -= step});
  }
  made.first = made.falls
                   ? base - tensor.bias + step * int64_t(thresholds.size())
                   : base - tensor.bias;
  for (auto [sum, next] : steps) {
    if (sum > made.most)
      break;
    if (sum <= made.least)
      made.first = next;
    else if (!made.steps.empty() && made.steps.back().first == sum)
      made.steps.back().second = next;
    else
      made.steps.push_back({sum, next});
  }
  return made;
}

/// With h the result where ties go up, a tie to even takes 1 from an odd h.
/// So the result is ⌊h / 2⌋ + ⌈h' / 2⌉, where h' is h, less 1 in a tie: both
/// are requantizers of one bit more.
bool Lowering::tiesToEven(
    Layer &layer, const std::vector<Scaling> &scalings,
    const ByteTensor &tensor,
    llvm::function_ref<bool(std::vector<Scaling>, int64_t, int)> addStep) {
  std::vector<Scaling> halves = scalings, others = scalings;
  for (auto [half, other] : zip(halves, others)) {
    half.low = other.low = kLeastByte;
    half.high = other.high = kMostByte;
    other.offset += (__int128(1) << other.shift) - 1;
    ++half.shift;
    ++other.shift;
  }
  const int first = layer.temporaries;
  layer.temporaries += 2;
  if (!addStep(halves, kHalfBias, first) ||
      !addStep(others, kHalfBias, first + 1))
    return false;
  auto lanes = additionOf(Sum{1, 1, 2 * kHalfBias - tensor.bias, 0});
  Step sum{Step::Add};
  sum.a = sum.b = Step::Temporary;
  sum.aTemporary = first;
  sum.bTemporary = first + 1;
  sum.shift = lanes->shift;
  sum.low = tensor.least();
  sum.high = tensor.most();
  sum.lanes = std::move(lanes->lanes);
  layer.steps.push_back(std::move(sum));
  return true;
}

void Lowering::visit(osa::ScaledAddOp op) {
  const int left = bytesOf(*op, op.getLhs()), right = bytesOf(*op, op.getRhs());
  if (left < 0 || right < 0)
    return;
  Meaning meaning;
  meaning.kind = Meaning::Addition;
  meaning.left = left;
  meaning.right = right;
  meaning.leftFactor = int64_t(op.getLhsMultiplier());
  meaning.rightFactor = int64_t(op.getRhsMultiplier());
  if (op.getOutput().hasOneUse() &&
      llvm::isa<osa::RequantizeOp, osa::ThresholdOp>(
          *op.getOutput().user_begin())) {
    meanings[op.getOutput()] = std::move(meaning);
    return;
  }
  add(op, op.getOutput(), meaning, 1, 0, 0, false);
}

/// clamp(((left · leftFactor + right · rightFactor) · multiplier + offset) >>
/// shift).
void Lowering::add(Operation *op, Value result, const Meaning &sum,
                   ArrayRef<int64_t> multiplier, ArrayRef<int64_t> offset,
                   int64_t shift, bool tiesEven) {
  auto tensor = tensorOf(result, osa::nodeName(op));
  if (!tensor)
    return refuse(op, "its result needs more than 8 bits");
  const ByteTensor &left = net.tensors[size_t(sum.left)],
                   &right = net.tensors[size_t(sum.right)];
  std::vector<Sum> sums;
  for (size_t c = 0; c < std::max(multiplier.size(), offset.size()); ++c) {
    const __int128 m = multiplier[multiplier.size() == 1 ? 0 : c];
    Sum one = {m * sum.leftFactor, m * sum.rightFactor,
               offset[offset.size() == 1 ? 0 : c], shift};
    one.offset += one.left * left.bias + one.right * right.bias -
                  (__int128(tensor->bias) << shift);
    sums.push_back(one);
  }
  std::vector<Addition> made;
  if (auto same = tiesEven ? std::nullopt : additionOf(sums)) {
    made.push_back({std::move(*same), tensor->least(), tensor->most()});
  } else { // others may make the same bytes
    std::vector<Addends> addends;
    std::vector<Staircase> staircases;
    for (const Sum &one : sums) {
      addends.push_back(addendsOf(sum, int64_t(one.left), int64_t(one.right)));
      auto stairs =
          stepsOf(one, addends.back(), tensor->least(), tensor->most(),
                  tiesEven ? std::optional(tensor->bias) : std::nullopt);
      if (!stairs)
        break;
      staircases.push_back(std::move(*stairs));
    }
    if (staircases.size() == sums.size())
      made = additionsOf(addends, staircases);
  }
  finishAddition(op, result, sum, *tensor, made);
}

Addends Lowering::addendsOf(const Meaning &sum, int64_t leftFactor,
                            int64_t rightFactor) {
  const ByteTensor &left = tensor(sum.left), &right = tensor(sum.right);
  return {leftFactor,  rightFactor,   left.least(),
          left.most(), right.least(), right.most()};
}

/// Thresholds of an addition, of one channel or of all.
void Lowering::addSteps(osa::ThresholdOp op, const Meaning &sum,
                        const ByteTensor &made, ArrayRef<int64_t> thresholds,
                        size_t channels) {
  const int64_t step = int64_t(op.getStep());
  if (step < 0)
    return refuse(op, "the engine's addition has no steps down");
  const Addends addends = addendsOf(sum, sum.leftFactor, sum.rightFactor);
  auto ends = [](int64_t factor, int64_t least, int64_t most) {
    return std::minmax({factor * least, factor * most});
  };
  const auto a = ends(addends.left, addends.leastA, addends.mostA),
             b = ends(addends.right, addends.leastB, addends.mostB);
  Meaning sums;
  sums.least = {a.first + b.first};
  sums.most = {a.second + b.second};
  sums.rest = {addends.left * tensor(sum.left).bias +
               addends.right * tensor(sum.right).bias};
  std::vector<Staircase> staircases;
  const size_t each = thresholds.size() / channels;
  for (size_t c = 0; c < channels; ++c)
    staircases.push_back(staircaseOf(thresholds.slice(c * each, each), sums, 0,
                                     int64_t(op.getBase()), step, made));
  finishAddition(
      op, op.getOutput(), sum, made,
      additionsOf(std::vector<Addends>(channels, addends), staircases));
}

/// Additions with these constants, in the layer that makes an operand if
/// nothing else needs it.
void Lowering::finishAddition(Operation *op, Value result, const Meaning &sum,
                              ByteTensor made, ArrayRef<Addition> additions) {
  if (additions.empty())
    return refuse(op, "no multipliers of 24 bits and offset of 47 do what it "
                      "does");
  Step step{Step::Add};
  int own = fusedInto(op, sum);
  if (own < 0) {
    Layer &layer = addLayer(Layer::Map, op, sum.left);
    own = int(net.layers.size()) - 1;
    step.a = step.b = Step::Input;
    if (sum.right != sum.left) {
      step.b = Step::Other;
      layer.other = sum.right;
    }
  } else {
    Layer &layer = net.layers[size_t(own)];
    layer.name += " + " + osa::nodeName(op);
    const int temporary = layer.temporaries++;
    layer.steps.back().to = temporary;
    const bool isLeft = layer.output == sum.left;
    (isLeft ? step.a : step.b) = Step::Temporary;
    (isLeft ? step.aTemporary : step.bTemporary) = temporary;
    (isLeft ? step.b : step.a) = Step::Other;
    layer.other = isLeft ? sum.right : sum.left;
    net.tensors[size_t(layer.output)].producer = -1; // none any more
  }
  Layer &layer = net.layers[size_t(own)];
  for (auto [i, addition] : enumerate(additions)) {
    const bool isLast = i + 1 == additions.size();
    if (isLast && i > 0) {
      step.a = step.b = Step::Temporary;
      step.aTemporary = layer.temporaries - 2;
      step.bTemporary = layer.temporaries - 1;
    }
    step.to = isLast ? -1 : layer.temporaries++;
    step.shift = addition.lanes.shift;
    step.low = addition.low;
    step.high = addition.high;
    step.lanes = addition.lanes.lanes;
    layer.steps.push_back(step);
  }
  made.producer = own;
  layer.output = addTensor(result, made);
}

/// The layer that makes one operand of an addition for nothing else, after
/// the other operand is there; -1 if there is none.
int Lowering::fusedInto(Operation *op, const Meaning &sum) {
  if (sum.left == sum.right)
    return -1;
  const int left = net.tensors[size_t(sum.left)].producer,
            right = net.tensors[size_t(sum.right)].producer;
  const int later = std::max(left, right);
  if (later < 0 || left == right)
    return -1;
  const Layer &layer = net.layers[size_t(later)];
  if (layer.kind == Layer::Maximum || layer.kind == Layer::Map ||
      layer.other >= 0 || layer.isProduct())
    return -1;
  Operation *add =
      llvm::isa<osa::ScaledAddOp>(op) ? op : op->getOperand(0).getDefiningOp();
  for (Value operand : add->getOperands())
    if (meanings[operand].index == layer.output)
      return operand.hasOneUse() && !operand.getDefiningOp<osa::ReshapeOp>()
                 ? later
                 : -1;
  return -1;
}

void Lowering::visit(osa::MaxPoolOp op) {
  const int input = bytesOf(*op, op.getInput());
  if (input < 0)
    return;
  auto tensor = tensorOf(op.getOutput(), osa::nodeName(op));
  const ByteTensor &in = net.tensors[size_t(input)];
  if (!tensor || in.least() < tensor->low - in.bias ||
      tensor->low - in.bias < kLeastByte || tensor->high - in.bias > kMostByte)
    return refuse(op, "its result's bytes are not those of its input");
  tensor->bias = in.bias;
  Layer &layer = addLayer(Layer::Maximum, op, input);
  layer.window = *osa::getWindow(op);
  trimPads(layer.window);
  // No byte is less, and each window has one of the input.
  layer.padByte = in.least();
  if (std::string why = tooLarge(layer); !why.empty())
    return drop(op, why);
  tensor->producer = int(net.layers.size()) - 1;
  layer.output = addTensor(op.getOutput(), *tensor);
}

std::optional<Lowering::Bytes>
Lowering::bytesThrough(Operation *op, Value input, Value result) {
  const int number = bytesOf(*op, input);
  if (number < 0)
    return std::nullopt;
  auto made = tensorOf(result, osa::nodeName(op));
  if (made)
    return Bytes{number, std::move(*made)};
  refuse(op, "its result needs more than 8 bits");
  return std::nullopt;
}

void Lowering::visit(osa::TableOp op) {
  auto bytes = bytesThrough(op, op.getInput(), op.getOutput());
  if (!bytes)
    return;
  auto &[input, made] = *bytes;
  auto values = osa::intValues(op.getValues());
  if (op.getValues().getShapedType().getShape()[0] != 1)
    return refuse(op, "the engine has one table for all channels");
  const int64_t low = num::elementInt(op.getInput().getType()).getLo();
  table(op, op.getOutput(), made, input,
        [&](int64_t value) { return values[size_t(value - low)]; });
}

void Lowering::table(Operation *op, Value result, ByteTensor made, int input,
                     llvm::function_ref<int64_t(int64_t)> valueOf) {
  const ByteTensor &in = net.tensors[size_t(input)];
  Layer &layer = addLayer(Layer::Map, op, input);
  Step step{Step::Table};
  step.a = step.b = Step::Input;
  step.table.resize(256);
  for (int64_t byte = kLeastByte; byte <= kMostByte; ++byte) {
    const int64_t value =
        std::clamp<int64_t>(byte, in.least(), in.most()) + in.bias;
    step.table[size_t(byte - kLeastByte)] = int8_t(valueOf(value) - made.bias);
  }
  layer.steps.push_back(std::move(step));
  finishLayer(result, int(net.layers.size()) - 1, std::move(made));
}

void Lowering::finishLayer(Value result, int number, ByteTensor made) {
  made.producer = number;
  if (!net.layers[size_t(number)].isProduct()) {
    net.layers[size_t(number)].output = addTensor(result, std::move(made));
    return;
  }
  // Row after row, or the rows of all matrices in turn: if these are whole
  // words, as parts of longer rows.
  Layer &layer = net.layers[size_t(number)];
  const int64_t count = int64_t(layer.batches.size()),
                each = layer.window.outWidth, channels = made.channels;
  const bool isPart = layer.isInTurn && channels % core.in == 0;
  int output = -1;
  if (isPart) {
    ByteTensor whole = made;
    whole.height = 1;
    whole.width = each;
    whole.channels = channels * count;
    net.tensors.push_back(std::move(whole));
    View view = *words(int(net.tensors.size()) - 1);
    view.columnColumns = wordsOf(channels);
    view.rowColumns = made.width * view.columnColumns;
    view.rowRows = 0;
    output = addView(view, made.height, made.width, channels);
    meanings[result].kind = Meaning::Bytes;
    meanings[result].index = output;
  } else {
    output = addTensor(result, std::move(made));
  }
  layer.output = output;
  const View rows = *line(isPart ? net.rootOf(output) : output);
  for (auto [b, batch] : enumerate(layer.batches)) {
    View view = rows;
    if (isPart)
      view.word = int64_t(b) * wordsOf(channels);
    else
      view = layer.isInTurn ? part(rows, int64_t(b), count)
                            : part(rows, int64_t(b) * each, 1);
    batch.output = addView(view, 1, each, channels);
    tensor(batch.output).producer = number;
  }
}

Network engine::layersOf(func::FuncOp network, const Core &core,
                         std::vector<EngineRefusal> &refusals) {
  return Lowering(core, refusals).run(network);
}
