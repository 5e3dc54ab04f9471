// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Constants.h"
#include "rhizome/Dialect/Osa/Osa.h"

using namespace mlir;

namespace rhizome::explore {
static bool isConstant(Value v) {
  return v.getDefiningOp<osa::ConstantOp>() != nullptr;
}

bool multiplies(Operation *op) { return osa::computeWork(op).macs > 0; }

OpOperand *weightsOf(Operation *op) {
  if (multiplies(op))
    for (OpOperand &operand : op->getOpOperands())
      if (isConstant(operand.get()))
        return &operand;
  return nullptr;
}

static double widthOf(Value v) {
  auto type = num::elementInt(v.getType());
  return type ? double(type.getWidth()) : 0;
}

/// The bits of a table, which is stored in i64: each entry takes as many as the
/// longest needs.
static double bitsOf(ElementsAttr table) {
  if (!table.getElementType().isInteger(64) || table.empty())
    return 0;
  unsigned width = 1;
  for (int64_t entry : osa::intValues(table))
    width = std::max(
        width, unsigned(llvm::bit_width(uint64_t(entry < 0 ? ~entry : entry))) +
                   unsigned(entry < 0));
  return double(table.getNumElements()) * width;
}

double constantBitsOf(Operation *op) {
  double bits = 0;
  for (Value v : op->getOperands())
    if (isConstant(v))
      bits +=
          double(cast<ShapedType>(v.getType()).getNumElements()) * widthOf(v);
  for (NamedAttribute attr : op->getAttrs())
    if (auto table = dyn_cast<ElementsAttr>(attr.getValue()))
      bits += bitsOf(table);
  return bits;
}

double usedWeightBitsOf(Operation *op) {
  const OpOperand *weights = weightsOf(op);
  if (!weights || !osa::isConstantInts(weights->get()))
    return 0;
  int64_t used = 0;
  osa::forConstantInts(weights->get(),
                       [&](int64_t weight) { used += weight != 0; });
  return double(used) * widthOf(weights->get());
}
} // namespace rhizome::explore
