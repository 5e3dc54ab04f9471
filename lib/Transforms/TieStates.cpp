// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One quantizer for both ends of a state. What a frame hands to the next one is
// rounded there anyway, so its codes can go from one to the next as they are.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Transforms/Integerize.h"

using namespace mlir;
using namespace rhizome;

/// The quantizer through which alone a state is read; null if there is none.
static osa::QuantizeOp quantizerOf(Value v) {
  while (v.hasOneUse()) {
    Operation *op = *v.getUsers().begin();
    if (auto quantize = dyn_cast<osa::QuantizeOp>(op))
      return int64_t(quantize.getAxis()) < 0 ? quantize : osa::QuantizeOp();
    if (!isa<osa::ReshapeOp, osa::TransposeOp>(op))
      break;
    v = op->getResult(0);
  }
  return {};
}

static bool areAlike(osa::QuantizeOp a, osa::QuantizeOp b) {
  return a.getScale() == b.getScale() && a.getZeroPoint() == b.getZeroPoint() &&
         a.getAxis() == b.getAxis() &&
         num::elementInt(a.getType()) == num::elementInt(b.getType());
}

/// `v` as that quantizer gives it back, by one that is there or a new one.
static Value roundedAs(OpBuilder &builder, Value v, osa::QuantizeOp as) {
  if (auto back = v.getDefiningOp<osa::DequantizeOp>())
    if (auto known = back.getInput().getDefiningOp<osa::QuantizeOp>();
        known && areAlike(known, as))
      return v;
  for (Operation *user : v.getUsers())
    if (auto known = dyn_cast<osa::QuantizeOp>(user);
        known && areAlike(known, as))
      for (Operation *reader : known->getUsers())
        if (auto back = dyn_cast<osa::DequantizeOp>(reader))
          return back;
  builder.setInsertionPointAfterValue(v);
  auto codes =
      RankedTensorType::get(cast<RankedTensorType>(v.getType()).getShape(),
                            num::elementInt(as.getType()));
  Value q = osa::QuantizeOp::create(builder, v.getLoc(), codes, v,
                                    as.getScale(), as.getZeroPoint(), -1);
  return osa::DequantizeOp::create(builder, v.getLoc(), v.getType(), q,
                                   as.getScale(), as.getZeroPoint(), -1);
}

void rhizome::tieStates(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || flow::hasTasks(module))
    return;
  auto find = [&](StringRef name, bool result) -> unsigned {
    for (unsigned i = 0;; ++i) { // the verifier knows that it is there
      auto attr = result ? main.getResultAttrOfType<StringAttr>(i, marks::kName)
                         : main.getArgAttrOfType<StringAttr>(i, marks::kName);
      if (attr && attr.getValue() == name)
        return i;
    }
  };
  OpBuilder builder(module.getContext());
  auto terminator = cast<func::ReturnOp>(main.getBody().front().back());
  for (flow::StateAttr state : flow::statesOf(module)) {
    auto own = quantizerOf(main.getArgument(find(state.getName(), false)));
    OpOperand &next = terminator->getOpOperand(find(state.getNext(), true));
    if (own && isa<FloatType>(getElementTypeOrSelf(next.get().getType())))
      next.set(roundedAs(builder, next.get(), own));
  }
}
