// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Constants.h"
#include "rhizome/Dialect/Osa/Osa.h"

using namespace mlir;

namespace rhizome::explore {
bool multiplies(Operation *op) { return osa::computeWork(op).macs > 0; }

OpOperand *weightsOf(Operation *op) {
  if (multiplies(op))
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getDefiningOp<osa::ConstantOp>())
        return &operand;
  return nullptr;
}

double constantBitsOf(Operation *op, bool leavesZeros) {
  double bits = 0;
  for (Value v : op->getOperands()) {
    if (!v.getDefiningOp<osa::ConstantOp>())
      continue;
    int64_t elements = cast<ShapedType>(v.getType()).getNumElements();
    if (leavesZeros && osa::isConstantInts(v)) {
      elements = 0;
      osa::forConstantInts(v, [&](int64_t each) { elements += each != 0; });
    }
    if (auto type = num::elementInt(v.getType()))
      bits += double(elements) * type.getWidth();
  }
  // Of tables, circuits build no more than what differs.
  if (leavesZeros)
    return bits;
  for (NamedAttribute attr : op->getAttrs())
    if (auto table = dyn_cast<ElementsAttr>(attr.getValue()))
      bits += double(table.getNumElements()) *
              table.getElementType().getIntOrFloatBitWidth();
  return bits;
}
} // namespace rhizome::explore
