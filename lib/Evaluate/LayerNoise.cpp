// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors are matched by the names of the quantizers that make them, which the
// integer operations keep as locations.
#include "LayerNoise.h"
#include "Saturation.h"
#include "rhizome/Calibrate/Calibrate.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Model/States.h"

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

/// Takes the rounding out of a network. If the quantizers are ours it was
/// `calibrated`: they leave nothing behind. Of the file's own, those of
/// activations with one scale become the clips that they are as well.
static void dropRounding(func::FuncOp function, bool calibrated) {
  OpBuilder b(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    auto back = dyn_cast<osa::DequantizeOp>(op);
    auto q = back ? back.getInput().getDefiningOp<osa::QuantizeOp>()
                  : osa::QuantizeOp();
    if (!q)
      continue;
    if (calibrated) {
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
}

namespace {
/// A tensor that both networks hold.
struct Match {
  std::string name, op;
  Operation *exact = nullptr, *integer = nullptr;
  osa::QuantizeOp quantizer;
  double signal = 0, noise = 0;
};
} // namespace

static std::string opName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    if (auto child = dyn_cast<NameLoc>(name.getChildLoc()))
      return child.getName().str();
  return "";
}

/// Codes as the reals that they stand for.
static std::vector<float> dequantized(const Tensor &codes, osa::QuantizeOp q) {
  ElementScales scales(q, codes.shape);
  std::vector<float> reals(codes.ints.size());
  for (auto [i, code] : llvm::enumerate(codes.ints))
    reals[i] = float(code - scales.zero(i)) * scales.scale(i);
  return reals;
}

llvm::Expected<std::vector<EvaluateResult::Layer>>
evaluate::layerNoise(ModuleOp real, bool calibrated, const HostModel &model,
                     const Frames &given, SaturationCounter &saturation) {
  OwningOpRef<ModuleOp> exact = real.clone(), rounded = real.clone();
  canonicalizeReal(*rounded);
  auto exactMain = exact->lookupSymbol<func::FuncOp>("main");
  dropRounding(exactMain, calibrated);
  canonicalizeReal(*exact);

  // By names, where the shapes agree.
  auto nameOf = [](Operation *op) { return osa::nodeName(op); };
  SmallVector<osa::QuantizeOp> quantizers;
  rounded->lookupSymbol<func::FuncOp>("main").walk([&](osa::QuantizeOp q) {
    if (!q.getInput().getDefiningOp<osa::ConstantOp>())
      quantizers.push_back(q);
  });
  std::map<std::string, Operation *> integerOps, exactOps;
  for (const HostModel::Task &task : model.tasks())
    if (task.onFpga)
      for (Operation &op : func::FuncOp(task.function).getBody().front())
        if (isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp>(op))
          integerOps[nameOf(&op)] = &op;
  for (Operation &op : exactMain.getBody().front())
    if (op.getNumResults() == 1 && !isa<osa::ConstantOp>(op))
      exactOps[nameOf(&op)] = &op;
  std::vector<Match> list;
  for (osa::QuantizeOp q : quantizers) {
    std::string name = nameOf(q);
    auto integer = integerOps.find(name), real = exactOps.find(name);
    if (name.empty() || integer == integerOps.end() || real == exactOps.end())
      continue;
    auto shape = cast<ShapedType>(q.getType()).getShape();
    auto shapeOf = [](Operation *op) {
      return cast<ShapedType>(op->getResult(0).getType()).getShape();
    };
    if (shapeOf(integer->second) != shape || shapeOf(real->second) != shape)
      continue;
    list.push_back(
        {name, opName(q.getLoc()), real->second, integer->second, q});
    integerOps.erase(integer); // a name counts once
  }

  // The outputs come last.
  std::vector<Match> outputs(model.outputs().size());
  for (auto [k, value] : llvm::enumerate(model.outputs()))
    outputs[k].name = value.name;
  Interpreter onExact(exactMain);
  auto count = [](Match &match, const std::vector<float> &want,
                  const std::vector<float> &got) {
    for (size_t i = 0; i < want.size() && i < got.size(); ++i) {
      double e = double(got[i]) - want[i];
      match.signal += double(want[i]) * want[i];
      match.noise += e * e;
    }
  };
  MainStates exactStates(exactMain);
  std::vector<Tensor> states = model.initialStates();
  for (size_t f = 0; f < given.size(); ++f) {
    llvm::DenseMap<Operation *, std::vector<float>> reals;
    auto probed = [&](Operation *op, const Tensor &t) {
      for (const Match &match : list)
        if (match.exact == op)
          reals[op] = t.floats;
    };
    auto want = onExact.run(exactStates.arguments(given[f]), probed);
    if (failed(want))
      return llvm::createStringError(
          "the model cannot be evaluated layer by layer");
    exactStates.keep(*want);
    Passage passage(model, {given[f]}, states);
    auto watched = [&](const HostModel::Task &task, ArrayRef<Tensor> in) {
      ProbeFn watch = saturation.watch(task.function, in);
      return model.interpret(task, in, [&](Operation *op, const Tensor &t) {
        watch(op, t);
        for (Match &match : list)
          if (match.integer == op)
            count(match, reals[match.exact], dequantized(t, match.quantizer));
      });
    };
    if (llvm::Error error = passage.run(watched))
      return error;
    llvm::Expected<Frames> ended = passage.outputs();
    if (!ended)
      return ended.takeError();
    states = passage.states();
    const std::vector<Tensor> &out = ended->front();
    for (auto [k, match] : llvm::enumerate(outputs))
      count(match, (*want)[k].floats, out[k].floats);
  }
  std::vector<EvaluateResult::Layer> layers;
  for (const Match &match : list)
    layers.push_back(
        {match.name, match.op, calibrate::decibels(match.signal, match.noise)});
  for (const Match &match : outputs)
    if (match.signal > 0)
      layers.push_back({match.name, "output",
                        calibrate::decibels(match.signal, match.noise)});
  return layers;
}
