// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two tensors: which pixels of the left operand meet which words of
// the right one, matrix by matrix, and what makes up for zeros that are not the
// bytes' own.
#include "Lowering.h"

using namespace llvm;
using namespace mlir;
using namespace rhizome;
using namespace rhizome::engine;

/// A value as a sum of bytes, none if it is 0.
static std::vector<int8_t> partsOf(int64_t value) {
  std::vector<int8_t> parts;
  while (value != 0) {
    const int64_t part = std::clamp(value, kLeastByte, kMostByte);
    parts.push_back(int8_t(part));
    value -= part;
  }
  return parts;
}

void Lowering::visit(osa::MatmulOp op) {
  int left = bytesOf(*op, op.getLhs());
  const int right = bytesOf(*op, op.getRhs());
  if (left < 0 || right < 0)
    return;
  const osa::MatmulShape s = osa::matmulShape(op);
  if (s.axes[0] == 2 && s.batch > 1)
    return refuse(op, "the right operand's matrices take turns byte by byte");
  const bool isTurned = s.axes[0] == 2 ? s.axes[2] == 1 : s.axes[2] == 2;
  const int64_t last = isTurned ? s.columns : s.inner;
  if (tensor(left).channels != s.inner || tensor(right).channels != last)
    return refuse(op, "its operands' rows are no whole words");
  if (wordsOf(s.inner) > 511)
    return refuse(op, "it has sums of " + Twine(s.inner) +
                          " products, more than " + Twine(511 * core.in));
  // Of the words of a sum that is no whole number of them, the rest must not
  // count: it is 0 on one side.
  if (s.inner % core.in != 0)
    left = copied(op, left, s.inner);

  // The left operand's rows: all those of a matrix, or of all in turn.
  const bool inTurn = s.rows == 1;
  const int64_t rows = inTurn ? s.outer : s.rows;
  const View leftLine = lineOrCopy(op, left), rightLine = lineOrCopy(op, right);
  std::vector<Layer::Batch> batches;
  const int64_t height = isTurned ? s.inner : s.columns;
  // Without the axis of the channels, which one is outside?
  const bool isOutside = s.axes[0] < s.axes[isTurned ? 1 : 2] || s.batch == 1;
  for (int64_t b = 0; b < s.batch; ++b) {
    Layer::Batch batch;
    batch.input = addView(inTurn ? part(leftLine, b, s.batch)
                                 : part(leftLine, b * rows, 1),
                          1, rows, s.inner);
    batch.weights = addView(isOutside ? part(rightLine, b * height, 1)
                                      : part(rightLine, b, s.batch),
                            1, height, last);
    batches.push_back(batch);
  }

  Layer &layer = addLayer(Layer::Matrix, op, batches.front().input);
  layer.batches = std::move(batches);
  layer.isTurned = isTurned;
  layer.isInTurn = inTurn;
  layer.products = s.outer * s.batch * s.rows * s.inner * s.columns;
  const ByteTensor &l = tensor(left), &r = tensor(right);
  const int64_t leftAdd = l.bias - int64_t(op.getLhsZero()),
                rightAdd = r.bias - int64_t(op.getRhsZero());
  // (l + a) · (r + b) = l · r + a · r + l · b + a · b
  layer.inputAdds = partsOf(leftAdd);
  layer.weightAdds = partsOf(rightAdd);
  const int64_t rest = s.inner * leftAdd * rightAdd;
  const std::array<int64_t, 2> ls = {l.least() + leftAdd, l.most() + leftAdd},
                               rs = {r.least() + rightAdd, r.most() + rightAdd};
  int64_t least = ls[0] * rs[0], most = least;
  for (int64_t x : ls)
    for (int64_t y : rs) {
      least = std::min(least, x * y);
      most = std::max(most, x * y);
    }
  Meaning meaning;
  meaning.kind = Meaning::Sums;
  meaning.index = int(net.layers.size()) - 1;
  meaning.rest.assign(size_t(s.columns), rest);
  meaning.least.assign(size_t(s.columns), s.inner * least - rest);
  meaning.most.assign(size_t(s.columns), s.inner * most - rest);
  finishSums(op, op.getOutput(), std::move(meaning));
}
