// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Saturation.h"
#include "Layers.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;

namespace {
/// Values below the first code and above the last.
struct Beyond {
  int64_t low = 0, high = 0;
};
} // namespace

static Beyond beyond(osa::QuantizeOp q, const Tensor &reals) {
  num::IntType type = num::elementInt(q.getType());
  ElementScales scales(q, reals.shape);
  Beyond result;
  for (auto [i, x] : llvm::enumerate(reals.floats)) {
    double code = std::nearbyint(x / scales.scale(i)) + double(scales.zero(i));
    result.low += code < double(type.getLo());
    result.high += code > double(type.getHi());
  }
  return result;
}

std::vector<double> evaluate::codesBeforeSaturation(osa::RequantizeOp op,
                                                    const Tensor &integers) {
  num::IntType type = num::elementInt(op.getType());
  auto marked = op->getAttrOfType<DenseBoolArrayAttr>(marks::kSaturates);
  const bool low = marked && marked[0], high = marked && marked[1];
  auto multiplier = op.getMultiplier(), offset = op.getOffset();
  // A scalar is one channel.
  size_t channels = integers.shape.empty() ? 1 : size_t(integers.shape.back());
  std::vector<double> codes;
  codes.reserve(integers.ints.size());
  for (auto [i, x] : llvm::enumerate(integers.ints)) {
    size_t c = i % channels;
    __int128 v = __int128(x) * multiplier[multiplier.size() == 1 ? 0 : c] +
                 offset[offset.size() == 1 ? 0 : c];
    bool tie = (v & ((__int128(1) << op.getShift()) - 1)) == 0;
    v >>= op.getShift();
    if (op.getTiesEven() && tie && (v & 1))
      v -= 1;
    // An activation's own bend.
    if (!low)
      v = std::max<__int128>(v, type.getLo());
    if (!high)
      v = std::min<__int128>(v, type.getHi());
    codes.push_back(double(v));
  }
  return codes;
}

static Beyond beyond(osa::RequantizeOp op, const Tensor &integers) {
  num::IntType type = num::elementInt(op.getType());
  Beyond result;
  for (double code : codesBeforeSaturation(op, integers)) {
    result.low += code < double(type.getLo());
    result.high += code > double(type.getHi());
  }
  return result;
}

static std::vector<func::FuncOp> tasksOn(const HostModel &model, bool onFpga) {
  std::vector<func::FuncOp> functions;
  for (const HostModel::Task &task : model.tasks())
    if (task.onFpga == onFpga)
      functions.push_back(task.function);
  return functions;
}

SaturationCounter::SaturationCounter(const HostModel &model, bool onFpga)
    : SaturationCounter(tasksOn(model, onFpga)) {}

SaturationCounter::SaturationCounter(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    for (Operation &op : function.getBody().front())
      add(op);
}

void SaturationCounter::add(Operation &op) {
  auto quantize = dyn_cast<osa::QuantizeOp>(op);
  bool rounds = quantize && quantize.getRounding() != osa::Rounding::Sign;
  if (!rounds && !op.hasAttr(marks::kSaturates))
    return;
  readers[op.getOperand(0)].push_back(list.size());
  quantizers.push_back(&op);
  std::string kind = "input";
  if (auto name = dyn_cast<NameLoc>(op.getLoc()))
    if (auto child = dyn_cast<NameLoc>(name.getChildLoc()))
      kind = child.getName().str();
  list.push_back({osa::nodeName(&op), kind});
}

void SaturationCounter::count(Value value, const Tensor &tensor) {
  auto found = readers.find(value);
  if (found == readers.end())
    return;
  for (size_t i : found->second) {
    Operation *op = quantizers[i];
    Beyond cut = isa<osa::QuantizeOp>(op)
                     ? beyond(cast<osa::QuantizeOp>(op), tensor)
                     : beyond(cast<osa::RequantizeOp>(op), tensor);
    std::lock_guard<std::mutex> guard(mutex);
    list[i].values += tensor.size();
    list[i].low += cut.low;
    list[i].high += cut.high;
  }
}

Passage::Run SaturationCounter::interpreted(const HostModel &model) {
  return [this, &model](const HostModel::Task &task, ArrayRef<Tensor> in) {
    return model.interpret(task, in, watch(task.function, in));
  };
}

ProbeFn SaturationCounter::watch(func::FuncOp function,
                                 ArrayRef<Tensor> inputs) {
  for (auto [i, tensor] : llvm::enumerate(inputs))
    count(function.getArgument(i), tensor);
  return [this](Operation *op, const Tensor &result) {
    count(op->getResult(0), result);
  };
}

llvm::Expected<std::vector<Saturation>>
evaluate::hostSaturation(const HostModel &model, const Passage &passage) {
  std::vector<const HostModel::Task *> watched, waiting;
  for (const HostModel::Task &task : model.tasks()) {
    if (task.onFpga)
      llvm::append_range(watched, std::exchange(waiting, {}));
    else if (task.isLight)
      waiting.push_back(&task);
  }
  std::vector<mlir::func::FuncOp> functions;
  for (const HostModel::Task *task : watched)
    functions.push_back(task->function);
  SaturationCounter counter(functions);
  for (const HostModel::Task *task : watched)
    if (llvm::Error error = parallelFrames(
            int64_t(passage.size()), [&](int64_t f) -> llvm::Error {
              std::vector<Tensor> in = passage.taken(*task, size_t(f));
              return model
                  .interpret(*task, in, counter.watch(task->function, in))
                  .takeError();
            }))
      return error;
  return counter.counts();
}
