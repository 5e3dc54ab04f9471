// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors are matched by the names of the quantizers that make them, which the
// integer operations keep as locations. What their codes mean stands in the
// integer model (marks::kQuantizers), so that it needs no network on reals.
#include "Layers.h"
#include "rhizome/Calibrate/Calibrate.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Model/States.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;

ElementScales::ElementScales(osa::QuantizeOp q, ArrayRef<int64_t> shape)
    : scales(osa::floatValues(q.getScale())) {
  auto attr = q.getZeroPoint();
  if (isa<FloatType>(attr.getElementType()))
    for (float z : osa::floatValues(attr))
      zeros.push_back(int64_t(z));
  else
    zeros = osa::intValues(attr);
  int64_t axis = int64_t(q.getAxis());
  for (size_t d = size_t(axis + 1); axis >= 0 && d < shape.size(); ++d)
    inner *= size_t(shape[d]);
}

std::vector<float> ElementScales::reals(const Tensor &codes) const {
  std::vector<float> values(codes.ints.size());
  for (auto [i, code] : llvm::enumerate(codes.ints))
    values[i] = float(code - zero(i)) * scale(i);
  return values;
}

int64_t evaluate::classOf(const std::vector<Tensor> &outputs) {
  const Tensor &t = outputs.front();
  if (!t.isFloat)
    return t.ints.front();
  return std::max_element(t.floats.begin(), t.floats.end()) - t.floats.begin();
}

void Spread::add(double value) {
  low = count ? std::min(low, value) : value;
  high = count ? std::max(high, value) : value;
  squares += value * value;
  ++count;
}

double Spread::rms() const {
  return count ? std::sqrt(squares / double(count)) : 0;
}

void Noise::add(double want, double got) {
  signal += want * want;
  noise += (got - want) * (got - want);
}

std::optional<double> Noise::decibels() const {
  if (!(signal > 0) || !std::isfinite(noise))
    return std::nullopt;
  return calibrate::decibels(signal, noise);
}

void Octaves::add(double value) {
  if (value == 0) {
    ++zeros;
    return;
  }
  int place = std::ilogb(value) - kFirst;
  ++counts[size_t(std::clamp(place, 0, kCount - 1))];
}

int64_t Octaves::total() const {
  int64_t sum = zeros;
  for (int64_t n : counts)
    sum += n;
  return sum;
}

int Octaves::bitsFor(double share) const {
  const double most = share * double(total());
  double above = 0;
  int i = kCount;
  while (i > 0 && above + double(counts[size_t(i - 1)]) <= most)
    above += double(counts[size_t(--i)]);
  return kFirst + i;
}

unsigned TracedLayer::bits() const {
  return number ? unsigned(number->width()) : num::bitsForRange(lo, hi);
}

OwningOpRef<ModuleOp> evaluate::withoutRounding(ModuleOp quantized, bool ours) {
  OwningOpRef<ModuleOp> exact = quantized.clone();
  auto function = exact->lookupSymbol<func::FuncOp>("main");
  OpBuilder b(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    auto back = dyn_cast<osa::DequantizeOp>(op);
    auto q = back ? back.getInput().getDefiningOp<osa::QuantizeOp>()
                  : osa::QuantizeOp();
    if (!q)
      continue;
    if (ours) {
      back.replaceAllUsesWith(q.getInput());
      continue;
    }
    if (q.getRounding() == osa::Rounding::Sign ||
        q.getInput().getDefiningOp<osa::ConstantOp>() ||
        q.getScale() != back.getScale() ||
        q.getZeroPoint() != back.getZeroPoint() ||
        q.getScale().getNumElements() != 1)
      continue;
    num::IntType type = num::elementInt(q.getType());
    ElementScales one(q, cast<RankedTensorType>(q.getType()).getShape());
    float scale = one.scale(0);
    int64_t zero = one.zero(0);
    b.setInsertionPoint(back);
    Value clipped = osa::ClipOp::create(
        b, q.getLoc(), back.getType(), q.getInput(),
        b.getF32FloatAttr(float(type.getLo() - zero) * scale).getValue(),
        b.getF32FloatAttr(float(type.getHi() - zero) * scale).getValue());
    back.replaceAllUsesWith(clipped);
  }
  canonicalizeReal(*exact);
  return exact;
}

namespace {
/// A layer in the making.
struct Followed {
  TracedLayer layer;
  ElementScales scales;
  Operation *integer = nullptr; ///< gives the codes
  /// Gives the same in the network without rounding: an operation's result or
  /// an argument; null if there is none.
  Value exact = {};
  /// What it rounds there: before a clip that stands for the quantizer.
  Value exactInput = {};
  /// Of the integer model: what saturates, on its way to `integer`.
  Value rounded = {};
  Operation *rounds = nullptr;
  Noise noise = {};
  std::vector<float> wanted = {}; ///< of this frame
};

class Tracing {
public:
  Tracing(const HostModel &model, ModuleOp exact, SaturationCounter &saturation)
      : model(model), saturation(saturation) {
    if (exact)
      exactMain = exact.lookupSymbol<func::FuncOp>("main");
  }
  llvm::Expected<LayerTrace> run(const Frames &given);

private:
  void findInputs(const HostModel::Task &task);
  void findLayers(const HostModel::Task &task);
  void findExact();
  void addLayer(Followed followed, Operation *integer);
  llvm::Error runExact(const std::vector<Tensor> &frame);
  void meetReals(Followed &followed, ArrayRef<float> reals);
  void meet(Followed &followed, Value value, const Tensor &tensor);
  void meetCodes(Followed &followed, const Tensor &codes);
  Passage::Run observed();
  llvm::Error runHostInputs(const Passage &passage);
  void finish(LayerTrace &trace);

  const HostModel &model;
  SaturationCounter &saturation;
  func::FuncOp exactMain;
  std::vector<Followed> list;
  std::vector<const HostModel::Task *> before; ///< the host's, with quantizers
  std::optional<Interpreter> onExact;
  std::optional<MainStates> exactStates;
  LayerTrace trace;
  std::vector<Tensor> want;  ///< of this frame
  std::vector<Noise> noises; ///< of the outputs
};
} // namespace

static std::string opName(Location loc, StringRef otherwise) {
  if (auto name = dyn_cast<NameLoc>(loc))
    if (auto child = dyn_cast<NameLoc>(name.getChildLoc()))
      return child.getName().str();
  return otherwise.str();
}

/// The fixed-point format whose codes are the layer's, "" if none is.
static std::string formatOf(const TracedLayer &layer) {
  int exponent;
  if (layer.perChannel || layer.zero != 0 || layer.scale <= 0 ||
      std::frexp(layer.scale, &exponent) != 0.5)
    return "";
  const int fraction = 1 - exponent;
  const std::string sign = layer.lo < 0 ? "" : "u";
  return sign + "fixed<" + std::to_string(int(layer.bits()) - fraction) + "," +
         std::to_string(fraction) + ">";
}

void Tracing::addLayer(Followed followed, Operation *integer) {
  TracedLayer &layer = followed.layer;
  layer.shape =
      cast<ShapedType>(integer->getResult(0).getType()).getShape().vec();
  followed.integer = integer;
  const std::vector<float> &scales = followed.scales.allScales();
  layer.perChannel = scales.size() > 1;
  layer.scale = *llvm::max_element(scales);
  layer.zero = followed.scales.allZeros().front();
  layer.lowest = double(layer.lo - layer.zero) * layer.scale;
  layer.highest = double(layer.hi - layer.zero) * layer.scale;
  layer.format = formatOf(layer);
  list.push_back(std::move(followed));
}

/// The quantizers of a task of the host that only converts.
void Tracing::findInputs(const HostModel::Task &task) {
  bool any = false;
  func::FuncOp function = task.function;
  for (auto q : function.getBody().front().getOps<osa::QuantizeOp>()) {
    if (q.getRounding() == osa::Rounding::Sign ||
        q.getInput().getDefiningOp<osa::ConstantOp>())
      continue;
    num::IntType type = num::elementInt(q.getType());
    TracedLayer layer;
    layer.name = osa::nodeName(q);
    layer.op = opName(q.getLoc(), "input");
    layer.isInput = true;
    layer.lo = type.getLo();
    layer.hi = type.getHi();
    Followed followed{
        layer, ElementScales(q, cast<ShapedType>(q.getType()).getShape())};
    followed.rounded = q.getInput();
    followed.rounds = q;
    addLayer(std::move(followed), q);
    any = true;
  }
  if (any)
    before.push_back(&task);
}

void Tracing::findLayers(const HostModel::Task &task) {
  func::FuncOp function = task.function;
  auto module = function->getParentOfType<ModuleOp>();
  auto quantizers = module->getAttrOfType<ArrayAttr>(marks::kQuantizers);
  if (!quantizers)
    return;
  llvm::StringMap<DictionaryAttr> byName;
  for (auto q : quantizers.getAsRange<DictionaryAttr>())
    byName.try_emplace(q.getAs<StringAttr>("name").getValue(), q);
  // Of the operations of a name the last one gives the codes.
  llvm::StringMap<Operation *> ops, saturating;
  std::vector<std::string> order;
  for (Operation &op : function.getBody().front()) {
    if (!isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp>(op))
      continue;
    std::string name = osa::nodeName(&op);
    if (name.empty() || !byName.count(name))
      continue;
    if (op.hasAttr(marks::kSaturates) || isa<osa::RequantizeOp>(op))
      if (!saturating.count(name) || op.hasAttr(marks::kSaturates))
        saturating[name] = &op;
    if (!ops.count(name))
      order.push_back(name);
    ops[name] = &op;
  }
  for (const std::string &name : order) {
    DictionaryAttr q = byName[name];
    TracedLayer layer;
    layer.name = name;
    layer.op = q.getAs<StringAttr>("op").str();
    layer.lo = q.getAs<IntegerAttr>("lo").getInt();
    layer.hi = q.getAs<IntegerAttr>("hi").getInt();
    Followed followed{
        layer,
        ElementScales(q.getAs<DenseF32ArrayAttr>("scale").asArrayRef().vec(),
                      q.getAs<DenseI64ArrayAttr>("zero").asArrayRef().vec())};
    if (Operation *rounds = saturating.lookup(name)) {
      followed.rounds = rounds;
      followed.rounded = rounds->getOperand(0);
    }
    addLayer(std::move(followed), ops[name]);
  }
}

/// By names, where the shapes agree.
void Tracing::findExact() {
  if (!exactMain)
    return;
  llvm::StringMap<Value> values;
  for (BlockArgument arg : exactMain.getArguments())
    if (auto name = exactMain.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                           marks::kName))
      values[name.getValue()] = arg;
  for (Operation &op : exactMain.getBody().front())
    if (op.getNumResults() == 1 && !isa<osa::ConstantOp>(op))
      values[osa::nodeName(&op)] = op.getResult(0);
  for (Followed &followed : list) {
    Value found = values.lookup(followed.layer.name);
    auto type = found ? dyn_cast<RankedTensorType>(found.getType())
                      : RankedTensorType();
    // Of an input the reals are at hand in its own order.
    const bool fits =
        type &&
        (type.getShape() == ArrayRef(followed.layer.shape) ||
         (!followed.layer.isInput &&
          type.getNumElements() == llvm::product_of(followed.layer.shape)));
    if (fits && type.getElementType().isF32()) {
      followed.exact = followed.exactInput = found;
      if (auto clip = found.getDefiningOp<osa::ClipOp>())
        followed.exactInput = clip.getInput();
    }
  }
}

llvm::Error Tracing::runExact(const std::vector<Tensor> &frame) {
  if (!exactMain)
    return llvm::Error::success();
  auto see = [&](Value value, const Tensor &t) {
    for (Followed &followed : list) {
      if (followed.exact == value)
        followed.wanted = t.floats;
      if (followed.exactInput == value)
        meetReals(followed, t.floats);
    }
  };
  std::vector<Tensor> arguments = exactStates->arguments(frame);
  for (BlockArgument arg : exactMain.getArguments())
    see(arg, arguments[arg.getArgNumber()]);
  auto results = onExact->run(arguments, [&](Operation *op, const Tensor &t) {
    if (op->getNumResults() == 1)
      see(op->getResult(0), t);
  });
  if (failed(results))
    return llvm::createStringError(
        "the model cannot be evaluated layer by layer");
  exactStates->keep(*results);
  want = std::move(*results);
  return llvm::Error::success();
}

/// What a layer rounds.
void Tracing::meetReals(Followed &followed, ArrayRef<float> reals) {
  TracedLayer &layer = followed.layer;
  if (!layer.real)
    layer.real.emplace();
  layer.isExact = followed.exact != Value();
  for (auto [i, x] : llvm::enumerate(reals)) {
    layer.real->add(x);
    layer.octaves.add(x);
    double code =
        double(x) / followed.scales.scale(i) + double(followed.scales.zero(i));
    layer.below += code < double(layer.lo) - 0.5;
    layer.above += code > double(layer.hi) + 0.5;
  }
}

/// What a layer of the integer model rounds, where the network without rounding
/// has no layer of that name.
void Tracing::meet(Followed &followed, Value value, const Tensor &tensor) {
  if (followed.rounded != value || followed.exact)
    return;
  if (isa<osa::QuantizeOp>(followed.rounds)) {
    followed.wanted = tensor.floats; // the host's own rounding
    return meetReals(followed, tensor.floats);
  }
  // An odd zero point is added after the rounding.
  const bool isLast = followed.rounds == followed.integer;
  std::vector<float> reals;
  for (auto [i, x] : llvm::enumerate(codesBeforeSaturation(
           cast<osa::RequantizeOp>(followed.rounds), tensor)))
    reals.push_back(float(x - (isLast ? double(followed.scales.zero(i)) : 0)) *
                    followed.scales.scale(i));
  meetReals(followed, reals);
}

void Tracing::meetCodes(Followed &followed, const Tensor &codes) {
  std::vector<float> reals = followed.scales.reals(codes);
  for (float x : reals)
    followed.layer.integer.add(x);
  const std::vector<float> &want = followed.wanted;
  auto sameShape = [&] {
    auto type = followed.exact
                    ? cast<RankedTensorType>(followed.exact.getType())
                    : RankedTensorType();
    return !type || type.getShape() == ArrayRef(codes.shape);
  };
  if (want.size() != reals.size() || !sameShape())
    return;
  for (auto [w, got] : llvm::zip(want, reals))
    followed.noise.add(w, got);
}

Passage::Run Tracing::observed() {
  return [this](const HostModel::Task &task, ArrayRef<Tensor> in) {
    ProbeFn watch = saturation.watch(task.function, in);
    func::FuncOp function = task.function;
    for (auto [i, tensor] : llvm::enumerate(in))
      for (Followed &followed : list)
        meet(followed, function.getArgument(unsigned(i)), tensor);
    return model.interpret(task, in, [&](Operation *op, const Tensor &t) {
      watch(op, t);
      for (Followed &followed : list) {
        if (followed.rounded && followed.rounded == op->getResult(0))
          meet(followed, op->getResult(0), t);
        if (followed.integer == op)
          meetCodes(followed, t);
      }
    });
  };
}

/// The host's quantizers, once the passage has what they read.
llvm::Error Tracing::runHostInputs(const Passage &passage) {
  for (const HostModel::Task *task : before) {
    std::vector<Tensor> in = passage.taken(*task, 0);
    llvm::Expected<std::vector<Tensor>> done = observed()(*task, in);
    if (!done)
      return done.takeError();
  }
  return llvm::Error::success();
}

void Tracing::finish(LayerTrace &into) {
  std::map<std::string, Saturation> counted;
  for (const Saturation &s : saturation.counts())
    counted.insert({s.name, s});
  double last = NAN;
  for (Followed &followed : list) {
    TracedLayer &layer = followed.layer;
    layer.values = layer.real ? layer.real->count : layer.integer.count;
    if (auto found = counted.find(layer.name);
        found != counted.end() && found->second.values) {
      layer.values = found->second.values;
      layer.below = found->second.low;
      layer.above = found->second.high;
    }
    if (auto snr = followed.noise.decibels()) {
      layer.snr = snr;
      if (!std::isnan(last))
        layer.lost = last - *layer.snr;
      last = *layer.snr;
    }
    into.layers.push_back(std::move(layer));
  }
  for (auto [k, output] : llvm::enumerate(into.outputs))
    output.snr = noises[k].decibels();
}

llvm::Expected<LayerTrace> Tracing::run(const Frames &given) {
  std::vector<const HostModel::Task *> waiting;
  for (const HostModel::Task &task : model.tasks()) {
    if (!task.onFpga) {
      if (task.isLight)
        waiting.push_back(&task);
      continue;
    }
    for (const HostModel::Task *host : waiting)
      findInputs(*host);
    waiting.clear();
    findLayers(task);
  }
  findExact();
  for (const HostModel::Value &value : model.outputs())
    trace.outputs.push_back({value.name, {}, std::nullopt, std::nullopt});
  noises.resize(trace.outputs.size());
  if (exactMain) {
    onExact.emplace(exactMain);
    exactStates.emplace(exactMain);
    trace.sameClass = 0;
  }
  std::vector<Tensor> states = model.initialStates();
  for (const std::vector<Tensor> &frame : given) {
    if (llvm::Error error = runExact(frame))
      return error;
    Passage passage(model, {frame}, states);
    if (llvm::Error error = passage.run(observed()))
      return error;
    if (llvm::Error error = runHostInputs(passage))
      return error;
    llvm::Expected<Frames> ended = passage.outputs();
    if (!ended)
      return ended.takeError();
    states = passage.states();
    const std::vector<Tensor> &out = ended->front();
    bool isFirst = true;
    for (auto [k, output] : llvm::enumerate(trace.outputs)) {
      for (float x : out[k].floats)
        output.integer.add(x);
      if (!exactMain || k >= want.size())
        continue;
      if (!output.real)
        output.real.emplace();
      for (float x : want[k].floats)
        output.real->add(x);
      for (auto [w, got] : llvm::zip(want[k].floats, out[k].floats))
        noises[k].add(w, got);
      if (isFirst)
        trace.sameClass += classOf(out) == classOf(want);
      isFirst = false;
    }
    if (exactMain)
      trace.exactOutputs.push_back(want);
  }
  finish(trace);
  return std::move(trace);
}

llvm::Expected<LayerTrace>
evaluate::traceLayers(const HostModel &model, ModuleOp exact,
                      const Frames &given, SaturationCounter &saturation) {
  return Tracing(model, exact, saturation).run(given);
}

llvm::Expected<std::optional<double>>
evaluate::snrWithoutSaturation(ModuleOp quantized, ArrayRef<std::string> names,
                               const Frames &given, const Frames &exact) {
  // More than any sum of these networks reaches.
  constexpr int64_t kWider = int64_t(1) << 40;
  std::set<std::string> missing(names.begin(), names.end());
  OwningOpRef<ModuleOp> copy = quantized.clone();
  auto function = copy->lookupSymbol<func::FuncOp>("main");
  for (auto q : function.getBody().front().getOps<osa::QuantizeOp>()) {
    if (!llvm::is_contained(names, osa::nodeName(q)) ||
        q.getInput().getDefiningOp<osa::ConstantOp>())
      continue;
    auto type = cast<RankedTensorType>(q.getType());
    num::IntType codes = num::elementInt(type);
    missing.erase(osa::nodeName(q));
    // A Relu's bend stays where it is: at the zero point.
    const int64_t zero = ElementScales(q, type.getShape()).allZeros().front();
    int64_t lo = codes.getLo() == zero ? zero : -kWider;
    int64_t hi = codes.getHi() == zero ? zero : kWider;
    q.getResult().setType(RankedTensorType::get(
        type.getShape(), num::IntType::getForRange(q.getContext(), lo, hi)));
  }
  if (!missing.empty())
    return std::nullopt;
  Interpreter interpreter(function);
  MainStates states(function);
  double worst = 1e9;
  std::vector<Noise> noises(exact.empty() ? 0 : exact[0].size());
  for (auto [f, frame] : llvm::enumerate(given)) {
    auto results = interpreter.run(states.arguments(frame));
    if (failed(results))
      return llvm::createStringError(
          "the model cannot be evaluated layer by layer");
    states.keep(*results);
    for (size_t k = 0; k < noises.size(); ++k)
      for (auto [w, got] : llvm::zip(exact[f][k].floats, (*results)[k].floats))
        noises[k].add(w, got);
  }
  for (const Noise &noise : noises)
    worst = std::min(worst, noise.decibels().value_or(worst));
  return worst;
}
