// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work and traffic of one operation, and window geometry. The only place that
// counts MACs.
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::osa;

static double perByte(int64_t flops, int64_t bits) {
  return bits ? double(flops) * 8 / double(bits) : 0;
}

double Work::engineIntensity() const {
  return perByte(flops, inputBits + paramBits);
}

double Work::streamIntensity() const { return perByte(flops, inputBits); }

static int64_t bitsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  if (auto i = num::elementInt(type))
    return tensor.getNumElements() * i.getWidth();
  return tensor.getNumElements() *
         tensor.getElementType().getIntOrFloatBitWidth();
}

static int64_t elements(Value v) {
  return cast<RankedTensorType>(v.getType()).getNumElements();
}

/// Sums of K products each, and a bias on top.
static int64_t flopsOf(int64_t outputs, int64_t macs, Value bias) {
  return 2 * macs - outputs + (bias ? elements(bias) : 0);
}

Work osa::computeWork(Operation *op) {
  Work work;
  if (isa<ConstantOp>(op))
    return work;
  for (Value v : op->getOperands())
    (v.getDefiningOp<ConstantOp>() ? work.paramBits : work.inputBits) +=
        bitsOf(v.getType());
  for (Value v : op->getResults())
    work.outputBits += bitsOf(v.getType());
  int64_t out = op->getNumResults() ? elements(op->getResult(0)) : 0;
  if (auto conv = dyn_cast<Conv2dOp>(op)) {
    auto w = cast<RankedTensorType>(conv.getWeights().getType()).getShape();
    work.macs = out * w[1] * w[2] * w[3];
    work.flops = flopsOf(out, work.macs, conv.getBias());
  } else if (auto dense = dyn_cast<DenseOp>(op)) {
    work.macs =
        out *
        cast<RankedTensorType>(dense.getWeights().getType()).getShape()[1];
    work.flops = flopsOf(out, work.macs, dense.getBias());
  } else if (auto matmul = dyn_cast<MatmulOp>(op)) {
    work.macs = out * matmulShape(matmul).inner;
    work.flops = flopsOf(out, work.macs, Value());
  } else if (auto window = getWindow(op)) {
    work.ops = out * window->kernelH * window->kernelW;
    // K - 1 comparisons or sums, and the division of a mean.
    work.flops = work.ops - (isa<AvgPoolOp>(op) ? 0 : out);
  } else if (auto requantize = dyn_cast<RequantizeOp>(op)) {
    work.ops = 3 * out;
    work.paramBits += 64 * (requantize.getMultiplier().size() +
                            requantize.getOffset().size());
  } else if (auto threshold = dyn_cast<ThresholdOp>(op)) {
    work.ops = out;
    work.paramBits += bitsOf(threshold.getThresholds().getType());
  } else if (auto table = dyn_cast<TableOp>(op)) {
    work.ops = out;
    work.paramBits += bitsOf(table.getValues().getType());
  } else if (isa<RowSoftmaxOp, RowNormOp, NormalizeOp>(op)) {
    // A sum or two, and what a quotient or a root does with every element.
    work.ops = (isa<RowSoftmaxOp>(op) ? 4 : 6) * out;
  } else if (!isa<ReshapeOp, TransposeOp, GatherOp, ConcatOp, PadOp>(op)) {
    work.ops = out;
  }
  if (!work.flops)
    work.flops = work.ops;
  return work;
}

template <typename Op>
static Window makeWindow(Op op, int64_t kernelH, int64_t kernelW) {
  auto in = cast<RankedTensorType>(op.getInput().getType()).getShape();
  auto out = cast<RankedTensorType>(op.getOutput().getType()).getShape();
  auto s = op.getStrides(), p = op.getPads(), d = op.getDilations();
  return {in[1], in[2], in[3], kernelH, kernelW, s[0],   s[1],  d[0],
          d[1],  p[0],  p[1],  p[2],    p[3],    out[1], out[2]};
}

std::optional<Window> osa::getWindow(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Window>>(op)
      .Case<Conv2dOp>([](Conv2dOp conv) {
        auto w = cast<RankedTensorType>(conv.getWeights().getType()).getShape();
        return makeWindow(conv, w[1], w[2]);
      })
      .Case<MaxPoolOp, AvgPoolOp, SumPoolOp>([](auto pool) {
        return makeWindow(pool, pool.getKernel()[0], pool.getKernel()[1]);
      })
      .Default([](Operation *) { return std::nullopt; });
}
