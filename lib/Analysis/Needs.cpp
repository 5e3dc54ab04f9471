// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a network needs: work, traffic and neighbors of every operation.
#include "rhizome/Analysis/Analysis.h"
#include "rhizome/Generator/Region.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::analysis;

Carried analysis::carriedBy(Type type) {
  Carried carried;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return carried;
  carried.shape = tensor.getShape().vec();
  carried.isSigned = true;
  if (auto integer = num::elementInt(type)) {
    carried.bits = integer.getWidth();
    carried.isSigned = integer.getLo() < 0;
  } else if (auto format = num::formatOf(tensor.getElementType())) {
    carried.bits = unsigned(format->width());
    carried.isSigned = !format->isFixed() || format->isSigned;
  } else {
    carried.bits = tensor.getElementType().getIntOrFloatBitWidth();
  }
  return carried;
}

int64_t analysis::bitsOf(const Carried &carried) {
  return llvm::product_of(carried.shape) * int64_t(carried.bits);
}

static int64_t bitsOf(Type type) { return analysis::bitsOf(carriedBy(type)); }

analysis::Needs analysis::analyze(func::FuncOp network) {
  Needs result;
  DenseMap<Value, int64_t> producer;
  for (BlockArgument argument : network.getArguments()) {
    producer[argument] = -1 - int64_t(argument.getArgNumber());
    result.border.in += ::bitsOf(argument.getType());
    result.inputs.push_back(carriedBy(argument.getType()));
  }
  for (mlir::Operation &op : network.getBody().front()) {
    if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      continue;
    analysis::Operation entry;
    entry.node = osa::nodeName(&op);
    entry.op = op.getName().stripDialect().str();
    entry.work = osa::computeWork(&op);
    if (op.getNumResults())
      entry.result = carriedBy(op.getResult(0).getType());
    for (Value v : op.getOperands()) {
      auto it = producer.find(gen::rootOf(v));
      if (it != producer.end())
        entry.from.push_back(it->second);
    }
    for (Value v : op.getResults())
      producer[v] = int64_t(result.operations.size());
    osa::Work &total = result.total;
    total.macs += entry.work.macs;
    total.ops += entry.work.ops;
    total.flops += entry.work.flops;
    total.paramBits += entry.work.paramBits;
    result.operations.push_back(std::move(entry));
  }
  for (Value v : network.getBody().front().getTerminator()->getOperands()) {
    auto it = producer.find(gen::rootOf(v));
    if (it != producer.end())
      result.outputs.push_back(it->second);
    result.border.out += ::bitsOf(v.getType());
  }
  result.total.inputBits = result.border.in;
  result.total.outputBits = result.border.out;
  return result;
}
