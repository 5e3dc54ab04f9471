// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each border is followed element by element through reshapes, transposes and
// one (de)quantizer, and then written in digits and strides, which is exact or
// is not done at all.
#include "rhizome/Deploy/Border.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Model/HostModel.h"
#include "rhizome/Model/States.h"
#include "rhizome/Transforms/Tasks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace rhizome;

namespace {
using Places = std::vector<int64_t>;

llvm::ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}

bool isInteger(Value v) { return bool(num::elementInt(v.getType())); }

/// Zero points come as integers, or as whole floats (QONNX).
std::vector<int64_t> zeroPoints(ElementsAttr attr) {
  if (isa<FloatType>(attr.getElementType())) {
    std::vector<float> reals = osa::floatValues(attr);
    return {reals.begin(), reals.end()};
  }
  return osa::intValues(attr, !attr.getElementType().isUnsignedInteger());
}

/// What stood at each place of a transpose's operand, in its result's order.
Places transposed(const Places &places, osa::TransposeOp op) {
  llvm::ArrayRef<int64_t> in = shapeOf(op.getOperand()),
                          out = shapeOf(op.getResult());
  llvm::ArrayRef<int64_t> permutation = op.getPermutation();
  std::vector<int64_t> strides(in.size(), 1);
  for (size_t d = in.size(); d-- > 1;)
    strides[d - 1] = strides[d] * in[d];
  Places result(places.size());
  std::vector<int64_t> at(out.size(), 0);
  int64_t place = 0;
  for (int64_t &value : result) {
    value = places[size_t(place)];
    for (size_t d = out.size(); d-- > 0;) {
      int64_t stride = strides[size_t(permutation[d])];
      place += stride;
      if (++at[d] < out[d])
        break;
      place -= stride * out[d];
      at[d] = 0;
    }
  }
  return result;
}

/// Places as digits and strides; nothing if they are no such order.
std::optional<std::vector<OrderDigit>> orderOf(const Places &places) {
  std::vector<OrderDigit> order;
  Places left = places;
  if (left.front() != 0)
    return std::nullopt;
  while (left.size() > 1) {
    int64_t stride = left[1] - left[0];
    size_t size = 2;
    while (size < left.size() && left[size] - left[size - 1] == stride)
      ++size;
    if (stride <= 0 || left.size() % size)
      return std::nullopt;
    for (size_t i = 0; i < left.size(); ++i)
      if (left[i] != left[i / size * size] + int64_t(i % size) * stride)
        return std::nullopt;
    order.insert(order.begin(), {int64_t(size), stride});
    Places outer;
    for (size_t i = 0; i < left.size(); i += size)
      outer.push_back(left[i]);
    left = std::move(outer);
  }
  if (order.empty())
    order.push_back({1, 1});
  return order;
}

/// Channels in the order of a tensor's elements as m / inner % count.
std::optional<int64_t> innerOf(const Places &channels, int64_t count) {
  if (count == 1)
    return 1;
  size_t inner = 1;
  while (inner < channels.size() && channels[inner] == channels[0])
    ++inner;
  for (size_t m = 0; m < channels.size(); ++m)
    if (channels[m] != int64_t(m / inner) % count)
      return std::nullopt;
  return int64_t(inner);
}

/// What the model takes: its inputs, and then its states.
std::vector<std::string> inputsOf(ModuleOp module) {
  std::vector<std::string> names = flow::inputsOf(module);
  for (flow::StateAttr state : flow::statesOf(module))
    if (!state.isOnFpga())
      names.push_back(state.getName().str());
  return names;
}

/// A tensor and the way between it and one port.
struct Followed {
  Value tensor; ///< the caller's; an argument or a returned value if ofModel
  bool ofModel = false;
  int64_t index = 0; ///< of the model's input or output
  HostBorder border;
};

class Follower {
public:
  Follower(ModuleOp module, const BorderPort &port, Value value)
      : value(value), inputs(inputsOf(module)),
        outputs(flow::outputsOf(module)) {
    border.port = port.port;
    border.element = port.element;
    border.dataWidth = port.dataWidth;
    places.resize(size_t(port.elements()));
    std::iota(places.begin(), places.end(), 0);
  }

  /// From what a task of the host gives back to what the caller gives.
  std::optional<Followed> input() {
    llvm::SmallVector<Operation *> steps;
    Value v = value;
    bool quantized = false;
    while (Operation *op = v.getDefiningOp()) {
      bool isQuantizer = isa<osa::QuantizeOp>(op);
      if (!isa<osa::ReshapeOp, osa::TransposeOp>(op) &&
          (!isQuantizer || quantized))
        break;
      quantized |= isQuantizer;
      steps.push_back(op);
      v = op->getOperand(0);
    }
    // Reals that nobody quantizes, e.g. through thresholds, are the host's.
    if (!quantized && !isInteger(v) && !v.getDefiningOp())
      if (isa<FloatType>(cast<ShapedType>(v.getType()).getElementType()))
        return std::nullopt;
    for (Operation *op : llvm::reverse(steps)) {
      if (auto transpose = dyn_cast<osa::TransposeOp>(op))
        places = transposed(places, transpose);
      if (auto quantize = dyn_cast<osa::QuantizeOp>(op)) {
        border.rounding = osa::stringifyRounding(quantize.getRounding()).str();
        take(quantize.getScale(), quantize.getZeroPoint(), quantize.getAxis(),
             shapeOf(quantize.getInput()));
      }
    }
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument)
      return finish(v, false, 0);
    auto task = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    int64_t index =
        indexOf(inputs, flow::takenBy(task), argument.getArgNumber());
    return finish(v, index >= 0, std::max<int64_t>(index, 0));
  }

  /// From what a task of the host takes on to what the caller gets.
  std::optional<Followed> output() {
    Value v = value;
    bool dequantized = false;
    for (;;) {
      for (OpOperand &use : v.getUses())
        if (auto end = dyn_cast<func::ReturnOp>(use.getOwner())) {
          auto task = cast<func::FuncOp>(end->getParentOp());
          int64_t index =
              indexOf(outputs, flow::givenBy(task), use.getOperandNumber());
          return inverted(v, index >= 0, std::max<int64_t>(index, 0));
        }
      if (!v.hasOneUse())
        return inverted(v, false, 0);
      Operation *op = *v.getUsers().begin();
      if (auto transpose = dyn_cast<osa::TransposeOp>(op)) {
        places = transposed(places, transpose);
      } else if (auto dequantize = dyn_cast<osa::DequantizeOp>(op)) {
        if (dequantized)
          return inverted(v, false, 0);
        dequantized = true;
        take(dequantize.getScale(), dequantize.getZeroPoint(),
             dequantize.getAxis(), shapeOf(v));
      } else if (isa<osa::MulOp, osa::AddOp>(op)) {
        if (!dequantized || !affine(op, v))
          return inverted(v, false, 0);
      } else if (!isa<osa::ReshapeOp>(op)) {
        return inverted(v, false, 0);
      }
      v = op->getResult(0);
    }
  }

private:
  using Names = std::vector<std::string>;
  Value value;
  Names inputs, outputs; ///< of the model
  HostBorder border;
  /// By place in the value at hand: the caller's element, or the frame's.
  Places places;
  Places channels; ///< by the same elements; of one channel zeros
  bool isGood = true;

  /// Which of the model's tensors the i-th of a task's is, −1 if none.
  static int64_t indexOf(const Names &model, const Names &task, size_t i) {
    auto found = llvm::find(model, task[i]);
    return found == model.end() ? -1 : found - model.begin();
  }

  void useChannels(int64_t count, int64_t axis, llvm::ArrayRef<int64_t> shape) {
    Places now(places.size(), 0);
    if (count > 1) {
      int64_t inner = 1;
      for (size_t d = size_t(axis) + 1; d < shape.size(); ++d)
        inner *= shape[d];
      for (size_t j = 0; j < places.size(); ++j)
        now[size_t(places[j])] = int64_t(j) / inner % count;
    }
    if (border.channels > 1 && count > 1)
      isGood &= border.channels == count && now == channels;
    if (border.channels > 1)
      return;
    border.channels = count;
    channels = std::move(now);
  }

  void take(ElementsAttr scale, ElementsAttr zero, int64_t axis,
            llvm::ArrayRef<int64_t> shape) {
    border.scale = osa::floatValues(scale);
    border.zeroPoint = zeroPoints(zero);
    size_t count = std::max(border.scale.size(), border.zeroPoint.size());
    if (axis < 0)
      count = 1;
    border.scale.resize(count, border.scale.front());
    border.zeroPoint.resize(count, border.zeroPoint.front());
    useChannels(int64_t(count), axis, shape);
  }

  /// y · c of a scale of one, or y + c, c being one value or along the last
  /// axis.
  bool affine(Operation *op, Value v) {
    auto constant = op->getOperand(1).getDefiningOp<osa::ConstantOp>();
    if (op->getOperand(0) != v || !constant ||
        op->getResult(0).getType() != v.getType())
      return false;
    llvm::ArrayRef<int64_t> shape = shapeOf(v);
    std::vector<float> values = osa::floatValues(constant.getValue());
    if (shape.empty() || shapeOf(constant.getResult()).size() > 1 ||
        (values.size() != 1 && int64_t(values.size()) != shape.back()))
      return false;
    std::vector<float> &to = isa<osa::MulOp>(op) ? border.scale : border.offset;
    if (isa<osa::MulOp>(op)
            ? llvm::any_of(to, [](float s) { return s != 1; }) ||
                  !border.offset.empty() || llvm::is_contained(values, 0.0f)
            : !border.offset.empty())
      return false;
    useChannels(int64_t(values.size()), int64_t(shape.size()) - 1, shape);
    auto count = size_t(border.channels);
    values.resize(count, values.front());
    to = std::move(values);
    border.scale.resize(count, border.scale.front());
    border.zeroPoint.resize(count, border.zeroPoint.front());
    if (!border.offset.empty())
      border.offset.resize(count, border.offset.front());
    return true;
  }

  /// `places` say where in the frame the elements of `v` are.
  std::optional<Followed> inverted(Value v, bool ofModel, int64_t index) {
    Places inverse(places.size()), channelOf(places.size(), 0);
    for (size_t m = 0; m < places.size(); ++m) {
      inverse[size_t(places[m])] = int64_t(m);
      if (!channels.empty())
        channelOf[m] = channels[size_t(places[m])];
    }
    places = std::move(inverse);
    channels = std::move(channelOf);
    return finish(v, ofModel, index);
  }

  std::optional<Followed> finish(Value v, bool ofModel, int64_t index) {
    auto order = orderOf(places);
    auto inner = innerOf(channels, border.channels);
    if (!isGood || !order || !inner || order->size() > kMostDigits)
      return std::nullopt;
    border.order = std::move(*order);
    border.inner = *inner;
    return Followed{v, ofModel, index, border};
  }

  static constexpr size_t kMostDigits = 16; // RHZ_DIGITS
};

/// The port's own integers, where nothing simpler is known.
Followed codes(const BorderPort &port) {
  Followed followed;
  followed.border.port = port.port;
  followed.border.element = port.element;
  followed.border.dataWidth = port.dataWidth;
  followed.border.order = {{port.elements(), 1}};
  return followed;
}

/// Enters what was followed: tensors of the model in its order, then others.
void enter(std::vector<Followed> all, const std::vector<std::string> &names,
           llvm::ArrayRef<BorderPort> ports, std::vector<HostTensor> &tensors,
           std::vector<HostBorder> &borders) {
  std::map<std::pair<bool, int64_t>, int64_t> known;
  for (auto [k, followed] : llvm::enumerate(all)) {
    if (!followed.ofModel)
      followed.index = int64_t(k);
    known[{!followed.ofModel, followed.index}] = 0;
  }
  int64_t next = 0;
  for (auto &[key, place] : known)
    place = next++;
  tensors.resize(known.size());
  for (auto [k, followed] : llvm::enumerate(all)) {
    int64_t at = known[{!followed.ofModel, followed.index}];
    HostTensor &tensor = tensors[size_t(at)];
    const BorderPort &port = ports[k];
    tensor.ofModel = followed.ofModel;
    tensor.isFloat = !followed.border.scale.empty();
    tensor.shape =
        followed.tensor ? shapeOf(followed.tensor).vec() : port.shape;
    tensor.name = followed.ofModel ? names[size_t(followed.index)] : port.name;
    followed.border.tensor = at;
    borders.push_back(std::move(followed.border));
  }
}
/// What the host gives as this tensor: the operand of a task's return.
Value givenAs(ModuleOp module, const std::string &name) {
  for (auto task : flow::tasksOf(module, flow::Place::Host))
    for (auto [i, given] : llvm::enumerate(flow::givenBy(task)))
      if (given == name)
        return cast<func::FuncOp>(task.getOperation())
            .getBody()
            .front()
            .getTerminator()
            ->getOperand(unsigned(i));
  return {};
}

/// What tasks of the host take as this tensor.
llvm::SmallVector<Value> takenAs(ModuleOp module, const std::string &name) {
  llvm::SmallVector<Value> values;
  for (auto task : flow::tasksOf(module, flow::Place::Host))
    for (auto [i, taken] : llvm::enumerate(flow::takenBy(task)))
      if (taken == name)
        values.push_back(task.getArgument(unsigned(i)));
  return values;
}
} // namespace

std::vector<unsigned> deploy::tensorsAt(func::FuncOp network,
                                        llvm::ArrayRef<BorderPort> ports,
                                        bool results) {
  const std::vector<BorderPort> own = model::hostPorts(network, results);
  llvm::StringMap<unsigned> byName;
  for (auto [i, port] : llvm::enumerate(own))
    byName.try_emplace(port.name, unsigned(i));
  // Networks of integers may leave out names: then the order counts.
  const bool isNamed = byName.size() == own.size();
  std::vector<unsigned> tensors;
  for (auto [k, port] : llvm::enumerate(ports)) {
    auto found = byName.find(port.name);
    const unsigned i =
        isNamed && found != byName.end() ? found->second : unsigned(k);
    assert(i < own.size() && !llvm::is_contained(tensors, i) &&
           own[i].elements() == port.elements() &&
           own[i].element.format == port.element.format &&
           "a port is one of the network's tensors");
    tensors.push_back(i);
  }
  return tensors;
}

HostSection deploy::hostSectionOf(ModuleOp module,
                                  llvm::ArrayRef<BorderPort> inputs,
                                  llvm::ArrayRef<BorderPort> outputs) {
  HostSection host;
  func::FuncOp network = fpgaNetwork(module);
  const std::vector<unsigned> takenAt = tensorsAt(network, inputs, false),
                              givenAt = tensorsAt(network, outputs, true);
  // Where host and FPGA take turns, the caller sees the device's own tensors.
  const bool isOne = flow::tasksOf(module, flow::Place::Fpga).size() == 1;
  const std::vector<std::string> ins = inputsOf(module),
                                 outs = flow::outputsOf(module);
  std::vector<Followed> before, after;
  for (auto [k, port] : llvm::enumerate(inputs)) {
    std::optional<Followed> followed;
    if (isOne) {
      const unsigned i = takenAt[k];
      Value value = givenAs(module, flow::takenBy(network)[i]);
      followed = Follower(module, port, value ? value : network.getArgument(i))
                     .input();
    }
    before.push_back(followed ? std::move(*followed) : codes(port));
  }
  for (auto [k, port] : llvm::enumerate(outputs)) {
    std::optional<Followed> followed;
    if (isOne) {
      const unsigned i = givenAt[k];
      std::string name = flow::givenBy(network)[i];
      llvm::SmallVector<Value> takers = takenAs(module, name);
      bool isOutput = llvm::is_contained(outs, name);
      Operation *end = network.getBody().front().getTerminator();
      if (takers.size() == 1 && !isOutput)
        followed = Follower(module, port, takers[0]).output();
      else if (takers.empty() && isOutput)
        followed = Follower(module, port, end->getOperand(i)).output();
    }
    after.push_back(followed ? std::move(*followed) : codes(port));
  }
  // Complete: every output of the model is one of the device's.
  auto ofModel = [](const Followed &f) { return f.ofModel; };
  host.complete = llvm::all_of(before, ofModel) && llvm::all_of(after, ofModel);
  enter(std::move(before), ins, inputs, host.inputs, host.toDevice);
  enter(std::move(after), outs, outputs, host.outputs, host.fromDevice);
  host.complete &= host.outputs.size() == outs.size();
  for (flow::StateAttr state : flow::statesOf(module)) {
    if (state.isOnFpga())
      continue;
    auto indexOf = [](const std::vector<HostTensor> &tensors, StringRef name) {
      auto found = llvm::find_if(tensors, [&](const HostTensor &tensor) {
        return tensor.ofModel && tensor.name == name;
      });
      return found == tensors.end() ? -1 : found - tensors.begin();
    };
    HostState entry{indexOf(host.inputs, state.getName()),
                    indexOf(host.outputs, state.getNext()),
                    {}};
    Tensor initial = model::initialOf(state);
    entry.initial = initial.floats;
    if (!initial.isFloat)
      entry.initial.assign(initial.ints.begin(), initial.ints.end());
    if (llvm::all_of(entry.initial, [](float v) { return v == 0; }))
      entry.initial.clear();
    if (entry.input >= 0 && entry.output >= 0)
      host.states.push_back(std::move(entry));
    else
      host.complete = false; // its caller cannot hand it on
  }
  return host;
}
