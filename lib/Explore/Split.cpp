// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Split.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace rhizome::explore {
static int64_t channelsOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape().back();
}

bool isSplittable(Operation *op, int parts) {
  auto conv = dyn_cast<osa::Conv2dOp>(op);
  return ((conv && conv.getGroups() == 1) || isa<osa::DenseOp>(op)) &&
         channelsOf(op->getResult(0)) >= parts;
}

namespace {
/// Channels [low, high) of `of`.
struct Share {
  int64_t low, high, of;
};

Type narrowed(Type type, const Share &share) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.back() = share.high - share.low;
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Rows of an attribute whose first axis is channels, or has one entry.
ElementsAttr rowsOf(ElementsAttr attr, const Share &share, StringRef name) {
  SmallVector<int64_t> shape(attr.getShapedType().getShape());
  if (shape[0] == 1 && share.of != 1)
    return attr;
  std::vector<int64_t> values = osa::intValues(attr);
  int64_t row = int64_t(values.size()) / shape[0];
  shape[0] = share.high - share.low;
  auto i64 = num::IntType::getFull(attr.getContext(), true, 64);
  return osa::makeIntAttr(
      attr.getContext(), name, shape, i64,
      ArrayRef(values).slice(share.low * row, shape[0] * row));
}

SmallVector<int64_t> entriesOf(ArrayRef<int64_t> values, const Share &share) {
  if (int64_t(values.size()) != share.of)
    return SmallVector<int64_t>(values);
  return SmallVector<int64_t>(values.slice(share.low, share.high - share.low));
}

/// The rows of a constant that these channels need.
Value constantRows(OpBuilder &b, Value v, const Share &share) {
  auto type = cast<RankedTensorType>(v.getType());
  std::vector<int64_t> values = *osa::constantInts(v);
  SmallVector<int64_t> shape(type.getShape());
  int64_t row = int64_t(values.size()) / shape[0];
  shape[0] = share.high - share.low;
  num::IntType element = num::elementInt(type);
  return osa::ConstantOp::create(
      b, v.getLoc(), RankedTensorType::get(shape, element),
      osa::makeIntAttr(
          b.getContext(), "share", shape, element,
          ArrayRef(values).slice(share.low * row, shape[0] * row)));
}

/// The part of an operation that computes these channels from `input`.
Value partOf(OpBuilder &b, Operation *op, Value input, const Share &share,
             Location loc) {
  Operation *part = b.clone(*op);
  part->setLoc(loc);
  part->setOperand(0, input);
  part->getResult(0).setType(narrowed(op->getResult(0).getType(), share));
  b.setInsertionPoint(part);
  if (isa<osa::Conv2dOp, osa::DenseOp>(op))
    for (unsigned i = 1; i < op->getNumOperands(); ++i)
      part->setOperand(i, constantRows(b, op->getOperand(i), share));
  llvm::TypeSwitch<Operation *>(part)
      .Case<osa::RequantizeOp>([&](osa::RequantizeOp r) {
        r.setMultiplier(entriesOf(r.getMultiplier(), share));
        r.setOffset(entriesOf(r.getOffset(), share));
      })
      .Case<osa::ThresholdOp>([&](osa::ThresholdOp t) {
        t.setThresholdsAttr(rowsOf(t.getThresholds(), share, "thresholds"));
      })
      .Case<osa::TableOp>([&](osa::TableOp t) {
        t.setValuesAttr(rowsOf(t.getValues(), share, "table"));
      });
  b.setInsertionPointAfter(part);
  return part->getResult(0);
}
} // namespace

SmallVector<Operation *> splitChannels(Operation *op, int parts) {
  SmallVector<Operation *> made;
  // The operations that only read it and work elementwise move along.
  SmallVector<Operation *> chain{op};
  for (Operation *last = op; last->getResult(0).hasOneUse();) {
    last = *last->getResult(0).getUsers().begin();
    if (!isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp>(last))
      break;
    chain.push_back(last);
  }
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(chain.back());
  int64_t channels = channelsOf(op->getResult(0));
  Value whole = chain.back()->getResult(0);
  // Each part is joined to the previous ones, so that between two consecutive
  // devices there is one tensor of it, however many contain parts.
  Value joined;
  auto named = [&](Operation *of, const std::string &suffix) {
    return NameLoc::get(b.getStringAttr(osa::nodeName(of) + suffix));
  };
  for (int64_t k = 0; k < parts; ++k) {
    Share share{channels * k / parts, channels * (k + 1) / parts, channels};
    Value value = op->getOperand(0);
    for (Operation *step : chain) {
      value =
          partOf(b, step, value, share, named(step, "." + std::to_string(k)));
      if (step == op)
        made.push_back(value.getDefiningOp());
    }
    if (!joined) {
      joined = value;
      continue;
    }
    auto type = cast<RankedTensorType>(
        narrowed(whole.getType(), {0, share.high, channels}));
    std::string suffix = share.high < channels ? "." + std::to_string(k) : "";
    joined =
        osa::ConcatOp::create(b, named(op, ".concat" + suffix), type,
                              ValueRange{joined, value}, type.getRank() - 1);
  }
  whole.replaceAllUsesWith(joined);
  for (Operation *step : llvm::reverse(chain))
    step->erase();
  return made;
}
} // namespace rhizome::explore
