// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and pools, from every order of axes in `linalg` to
// channels-last. A signal of one dimension becomes an image of one row.
#include "Raise.h"
#include <cfloat>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace {
/// A convolution or pool on an image: how to permute each tensor so that the
/// axes are in `osa`'s order. Empty permutations keep a tensor unchanged.
struct Form {
  SmallVector<int64_t> input;   ///< to [1, H, W, C]
  SmallVector<int64_t> weights; ///< to [O, KH, KW, C/groups]
  SmallVector<int64_t> output;  ///< from [1, OH, OW, O]
  int64_t groups = 1;
};

/// Strides and dilations, [rows, columns].
std::array<int64_t, 2> pairOf(DenseIntElementsAttr attr) {
  SmallVector<int64_t> values(attr.getValues<int64_t>());
  if (values.size() == 1)
    return {1, values[0]};
  return {values[0], values[1]};
}

const SmallVector<int64_t> kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2};

/// Inserts an axis of size 1 for the rows of a signal.
Value withRows(PatternRewriter &rewriter, Location loc, Value v, size_t at) {
  Shape shape = shapeOf(v);
  shape.insert(shape.begin() + at, 1);
  return reshaped(rewriter, loc, v, shape);
}

/// The convolution to which all orders are converted; `out` is the result's
/// shape, channels-last.
Value convolve(PatternRewriter &rewriter, Location loc, Value x, Value weights,
               const Start &start, std::array<int64_t, 2> strides,
               std::array<int64_t, 2> dilations, int64_t groups,
               ArrayRef<int64_t> out) {
  return osa::Conv2dOp::create(
      rewriter, loc, RankedTensorType::get(out, rewriter.getF32Type()), x,
      weights, start.bias, strides, ArrayRef<int64_t>{0, 0, 0, 0}, dilations,
      groups, 0);
}

/// Replaces a convolution; its initial value is added afterwards, unless it is
/// a bias.
LogicalResult finishConv(PatternRewriter &rewriter, linalg::LinalgOp op,
                         const Start &start, Value result) {
  Value init = op.getDpsInits()[0];
  if (start.other)
    result = osa::AddOp::create(rewriter, op.getLoc(), result.getType(), result,
                                init);
  rewriter.replaceOp(op, result);
  return success();
}

constexpr llvm::StringLiteral kBatch =
    "it computes several images at a time, of which the FPGA takes one";
constexpr llvm::StringLiteral kBatchRemedy =
    "export the network with a batch of one";
constexpr llvm::StringLiteral kWeights = "its weights are not constant";
constexpr llvm::StringLiteral kWeightsRemedy =
    "export the network with its parameters inside";

/// Why a convolution cannot be raised; nullopt if it can.
std::optional<LogicalResult> checkConv(PatternRewriter &rewriter,
                                       linalg::LinalgOp op) {
  if (!isOpen(op))
    return failure();
  if (tensorOf(op.getDpsInputs()[0]).getDimSize(0) != 1)
    return keepOnHost(rewriter, op, kBatch, kBatchRemedy);
  if (!constantOf(op.getDpsInputs()[1]))
    return keepOnHost(rewriter, op, kWeights, kWeightsRemedy);
  return std::nullopt;
}

/// The channels' axis of the result before `output`, which moves it from last.
unsigned channelAxis(ArrayRef<int64_t> output) {
  return output.empty() ? 3 : unsigned(llvm::find(output, 3) - output.begin());
}

/// Convolutions of images whose tensors have four axes each.
template <typename Op> struct RaiseConv : OpRewritePattern<Op> {
  RaiseConv(MLIRContext *context, Form form)
      : OpRewritePattern<Op>(context), form(std::move(form)) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (auto done = checkConv(rewriter, op))
      return *done;
    Location loc = op.getLoc();
    Value x = op.getDpsInputs()[0], w = op.getDpsInputs()[1];
    Start start =
        startOf(rewriter, loc, op.getDpsInits()[0], {channelAxis(form.output)});
    if (!form.input.empty())
      x = transposed(rewriter, loc, x, form.input);
    if (!form.weights.empty())
      w = transposed(rewriter, loc, w, form.weights);
    Shape out = shapeOf(op->getResult(0)), last = out;
    if (!form.output.empty())
      for (auto [i, axis] : llvm::enumerate(form.output))
        last[axis] = out[i];
    Value v = convolve(rewriter, loc, x, w, start, pairOf(op.getStrides()),
                       pairOf(op.getDilations()), 1, last);
    if (!form.output.empty())
      v = transposed(rewriter, loc, v, form.output);
    return finishConv(rewriter, op, start, v);
  }
  Form form;
};

/// Grouped ones, with an axis of groups before the channels.
template <typename Op> struct RaiseGroupedConv : OpRewritePattern<Op> {
  RaiseGroupedConv(MLIRContext *context, bool groupsFirst)
      : OpRewritePattern<Op>(context), groupsFirst(groupsFirst) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (auto done = checkConv(rewriter, op))
      return *done;
    Location loc = op.getLoc();
    Value x = op.getDpsInputs()[0], w = op.getDpsInputs()[1];
    Shape in = shapeOf(x), out = shapeOf(op->getResult(0));
    Start start = startOf(rewriter, loc, op.getDpsInits()[0], {1, 2});
    x = transposed(rewriter, loc,
                   reshaped(rewriter, loc, x, {1, in[1] * in[2], in[3], in[4]}),
                   kToLast);
    if (!groupsFirst)
      w = transposed(rewriter, loc, w, {1, 0, 2, 3, 4});
    Shape ws = shapeOf(w);
    w = transposed(
        rewriter, loc,
        reshaped(rewriter, loc, w, {ws[0] * ws[1], ws[2], ws[3], ws[4]}),
        kToLast);
    Value v = convolve(rewriter, loc, x, w, start, pairOf(op.getStrides()),
                       pairOf(op.getDilations()), in[1],
                       {1, out[3], out[4], out[1] * out[2]});
    v = reshaped(rewriter, loc, transposed(rewriter, loc, v, kToFirst), out);
    return finishConv(rewriter, op, start, v);
  }
  bool groupsFirst;
};

/// Depthwise ones: each channel has its own filter, or M of them.
template <typename Op> struct RaiseDepthwise : OpRewritePattern<Op> {
  RaiseDepthwise(MLIRContext *context, bool channelsLast)
      : OpRewritePattern<Op>(context), channelsLast(channelsLast) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (auto done = checkConv(rewriter, op))
      return *done;
    Location loc = op.getLoc();
    Value x = op.getDpsInputs()[0], w = op.getDpsInputs()[1];
    Shape out = shapeOf(op->getResult(0)), ws = shapeOf(w);
    SmallVector<unsigned> channels = {channelsLast ? 3u : 1u};
    if (out.size() == 5)
      channels = {3, 4};
    Start start = startOf(rewriter, loc, op.getDpsInits()[0], channels);
    int64_t groups = channelsLast ? ws[2] : ws[0];
    int64_t filters = out.size() == 5 ? ws[2] * ws[3] : groups;
    if (!channelsLast) {
      x = transposed(rewriter, loc, x, kToLast);
      w = reshaped(rewriter, loc, w, {filters, ws[1], ws[2], 1});
    } else {
      w = reshaped(rewriter, loc, w, {ws[0], ws[1], filters});
      w = reshaped(rewriter, loc, transposed(rewriter, loc, w, {2, 0, 1}),
                   {filters, ws[0], ws[1], 1});
    }
    Shape last = channelsLast ? Shape{1, out[1], out[2], filters}
                              : Shape{1, out[2], out[3], filters};
    Value v = convolve(rewriter, loc, x, w, start, pairOf(op.getStrides()),
                       pairOf(op.getDilations()), groups, last);
    if (!channelsLast)
      v = transposed(rewriter, loc, v, kToFirst);
    return finishConv(rewriter, op, start, reshaped(rewriter, loc, v, out));
  }
  bool channelsLast;
};

/// Convolutions of signals: [N, C, W] or [N, W, C].
template <typename Op> struct RaiseConv1d : OpRewritePattern<Op> {
  RaiseConv1d(MLIRContext *context, bool channelsLast)
      : OpRewritePattern<Op>(context), channelsLast(channelsLast) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (auto done = checkConv(rewriter, op))
      return *done;
    Location loc = op.getLoc();
    Shape out = shapeOf(op->getResult(0));
    Start start =
        startOf(rewriter, loc, op.getDpsInits()[0], {channelsLast ? 2u : 1u});
    Value x =
        withRows(rewriter, loc, op.getDpsInputs()[0], channelsLast ? 1 : 2);
    Value w = op.getDpsInputs()[1];
    if (channelsLast) { // [KW, C, F]
      w = withRows(rewriter, loc, transposed(rewriter, loc, w, {2, 0, 1}), 1);
    } else { // [F, C, KW]
      x = transposed(rewriter, loc, x, kToLast);
      w = withRows(rewriter, loc, transposed(rewriter, loc, w, {0, 2, 1}), 1);
    }
    Shape last = channelsLast ? Shape{1, 1, out[1], out[2]}
                              : Shape{1, 1, out[2], out[1]};
    Value v = convolve(rewriter, loc, x, w, start, pairOf(op.getStrides()),
                       pairOf(op.getDilations()), 1, last);
    if (!channelsLast)
      v = transposed(rewriter, loc, v, kToFirst);
    return finishConv(rewriter, op, start, reshaped(rewriter, loc, v, out));
  }
  bool channelsLast;
};

/// Pools of images and signals. A sum is the mean times the window's size.
template <typename Op> struct RaisePool : OpRewritePattern<Op> {
  RaisePool(MLIRContext *context, bool isMax, bool channelsLast)
      : OpRewritePattern<Op>(context), isMax(isMax),
        channelsLast(channelsLast) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isOpen(op))
      return failure();
    std::optional<double> start = splatOf(op.getDpsInits()[0]);
    if (!start || !(isMax ? *start <= -FLT_MAX : *start == 0))
      return keepOnHost(rewriter, op, "it continues another reduction");
    Location loc = op.getLoc();
    Value x = op.getDpsInputs()[0];
    if (tensorOf(x).getDimSize(0) != 1)
      return keepOnHost(rewriter, op, kBatch, kBatchRemedy);
    // A pool's padding never wins, or adds nothing.
    SmallVector<int64_t> pads(4, 0);
    auto pad = x.getDefiningOp<osa::PadOp>();
    double value = pad ? pad.getValue().convertToDouble() : 1;
    if (isMax ? value <= -FLT_MAX : value == 0)
      x = pad.getInput();
    else
      pad = {};
    Shape out = shapeOf(op->getResult(0)),
          kernel = shapeOf(op.getDpsInputs()[1]);
    const bool isSignal = out.size() == 3;
    const size_t rows = channelsLast ? 1 : 2;
    if (pad) {
      size_t columns = isSignal ? rows : rows + 1;
      auto low = pad.getLow(), high = pad.getHigh();
      for (size_t d = 0; d < out.size(); ++d)
        if (d != columns && (isSignal || d != rows) && (low[d] || high[d]))
          return failure();
      pads = {isSignal ? 0 : low[rows], low[columns], isSignal ? 0 : high[rows],
              high[columns]};
    }
    Shape image = out;
    if (isSignal) {
      x = withRows(rewriter, loc, x, rows);
      image.insert(image.begin() + rows, 1);
      kernel.insert(kernel.begin(), 1);
    }
    if (!channelsLast) {
      x = transposed(rewriter, loc, x, kToLast);
      image = {1, image[2], image[3], image[1]};
    }
    auto type = RankedTensorType::get(image, rewriter.getF32Type());
    auto strides = pairOf(op.getStrides()),
         dilations = pairOf(op.getDilations());
    Value v;
    if (isMax)
      v = osa::MaxPoolOp::create(rewriter, loc, type, x, kernel, strides, pads,
                                 dilations);
    else
      v = osa::AvgPoolOp::create(rewriter, loc, type, x, kernel, strides, pads,
                                 dilations, true);
    if (!channelsLast)
      v = transposed(rewriter, loc, v, kToFirst);
    v = reshaped(rewriter, loc, v, out);
    if (!isMax)
      v = osa::MulOp::create(
          rewriter, loc, v.getType(), v,
          scalarConstant(rewriter, loc, double(kernel[0] * kernel[1])));
    rewriter.replaceOp(op, v);
    return success();
  }
  bool isMax, channelsLast;
};
} // namespace

void importer::addWindows(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<RaiseConv<linalg::Conv2DNchwFchwOp>>(
      context, Form{kToLast, kToLast, kToFirst});
  patterns.add<RaiseConv<linalg::Conv2DNhwcHwcfOp>>(context,
                                                    Form{{}, {3, 0, 1, 2}, {}});
  patterns.add<RaiseConv<linalg::Conv2DNhwcFhwcOp>>(context, Form{});
  patterns.add<RaiseGroupedConv<linalg::Conv2DNgchwGfchwOp>>(context, true);
  patterns.add<RaiseGroupedConv<linalg::Conv2DNgchwFgchwOp>>(context, false);
  patterns.add<RaiseDepthwise<linalg::DepthwiseConv2DNchwChwOp>>(context,
                                                                 false);
  patterns.add<RaiseDepthwise<linalg::DepthwiseConv2DNhwcHwcOp>,
               RaiseDepthwise<linalg::DepthwiseConv2DNhwcHwcmOp>>(context,
                                                                  true);
  patterns.add<RaiseConv1d<linalg::Conv1DNcwFcwOp>>(context, false);
  patterns.add<RaiseConv1d<linalg::Conv1DNwcWcfOp>>(context, true);
  patterns.add<RaisePool<linalg::PoolingNchwMaxOp>,
               RaisePool<linalg::PoolingNcwMaxOp>>(context, true, false);
  patterns.add<RaisePool<linalg::PoolingNhwcMaxOp>,
               RaisePool<linalg::PoolingNwcMaxOp>>(context, true, true);
  patterns.add<RaisePool<linalg::PoolingNchwSumOp>,
               RaisePool<linalg::PoolingNcwSumOp>>(context, false, false);
  patterns.add<RaisePool<linalg::PoolingNhwcSumOp>,
               RaisePool<linalg::PoolingNwcSumOp>>(context, false, true);
}
