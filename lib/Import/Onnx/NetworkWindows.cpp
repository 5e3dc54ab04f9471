// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the network over sliding windows, and batch normalization: all
// channels-last. A one-dimensional signal becomes an image of height 1.
#include "Asked.h"
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

namespace {
/// Along each of two spatial axes (one-dimensional windows have H = 1).
struct WindowSpec {
  std::array<int64_t, 2> kernel, strides, dilations, low, high, out;
  /// Ceil mode needs this much more than the explicit padding.
  std::array<int64_t, 2> extra{0, 0};
  llvm::SmallVector<int64_t, 4> pads() const {
    return {low[0], low[1], high[0] + extra[0], high[1] + extra[1]};
  }
};
} // namespace

LogicalResult importer::checkImage(NodeContext &node, const TensorRef &x) {
  if (!x)
    return node.refuse("its input 0 is missing");
  if (!x->hasChannelsLast())
    return node.refuse(
        formatv("its input has the shape {0}; signals [1, C, L] and "
                "images [1, C, H, W] are supported",
                describe(x->shape)));
  if (x->shape[0] != 1)
    return node.refuse(
        formatv("its input {0} has a batch of {1}, a frame is one "
                "image",
                describe(x->shape), x->shape[0]),
        "give the graph input a batch of 1 with --shape");
  return success();
}

static std::optional<WindowSpec>
window(NodeContext &node, ArrayRef<int64_t> spatial, ArrayRef<int64_t> kernel) {
  size_t n = spatial.size();
  if (auto fault = windowFault(node.file, n, 1 << 30)) {
    node.refuse(fault->reason, fault->remedy);
    return std::nullopt;
  }
  auto list = [&](StringRef name, size_t count, int64_t fallback) {
    return node.getInts(name).value_or(Shape(count, fallback));
  };
  Shape strides = list("strides", n, 1), dilations = list("dilations", n, 1),
        pads = list("pads", 2 * n, 0);
  std::string mode = node.getString("auto_pad", "NOTSET");
  bool ceil = node.getInt("ceil_mode", 0) != 0;
  WindowSpec w;
  w.kernel = w.strides = w.dilations = w.out = {1, 1};
  w.low = w.high = {0, 0};
  for (size_t i = 0; i < n; ++i) {
    size_t a = i + 2 - n; // H is skipped in one dimension
    int64_t size = spatial[i], k = kernel[i], s = strides[i], d = dilations[i],
            span = (k - 1) * d + 1;
    int64_t low = mode == "NOTSET" ? pads[i] : 0;
    int64_t high = mode == "NOTSET" ? pads[i + n] : 0;
    if (mode.starts_with("SAME")) {
      int64_t out = (size + s - 1) / s;
      int64_t total = std::max<int64_t>((out - 1) * s + span - size, 0);
      low = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
    }
    int64_t out = osa::windowOutput(size, low, high, k, s, d);
    if (out < 1) {
      node.refuse(formatv("its window of {0} (dilation {1}) does not fit {2} "
                          "positions with a padding of {3} and {4}",
                          k, d, size, low, high));
      return std::nullopt;
    }
    if (ceil && !mode.starts_with("SAME")) {
      int64_t room = size + low + high - span;
      int64_t up = (room + s - 1) / s + 1;
      // A window that would start after the input is omitted.
      if ((up - 1) * s >= size + low)
        --up;
      int64_t needed = std::max<int64_t>((up - 1) * s + span - size - low, 0);
      if (up > out)
        w.extra[a] = needed - high;
      else if (up < out)
        high = needed;
      out = up;
    }
    w.kernel[a] = k;
    w.strides[a] = s;
    w.dilations[a] = d;
    w.low[a] = low;
    w.high[a] = high;
    w.out[a] = out;
  }
  return w;
}

/// True if every window along one axis contains a position of the input.
static bool everyWindowHit(int64_t size, int64_t low, int64_t kernel,
                           int64_t stride, int64_t dilation, int64_t out) {
  for (int64_t y = 0; y < out; ++y) {
    int64_t start = y * stride - low;
    // The first tap at or after position 0.
    int64_t tap = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    if (tap >= kernel || start + tap * dilation >= size)
      return false;
  }
  return true;
}

static Shape spatialOf(const GraphTensor &t) {
  return Shape(t.shape.begin() + 2, t.shape.end());
}

/// The ONNX shape of a window's output.
static Shape windowShape(size_t rank, int64_t channels, const WindowSpec &w) {
  if (rank == 3)
    return {1, channels, w.out[1]};
  return {1, channels, w.out[0], w.out[1]};
}

LogicalResult network::conv(NodeContext &node) {
  TensorRef x = node.input(0), weights = node.input(1), bias = node.input(2);
  if (failed(checkImage(node, x)) || failed(node.requireReal(0)) ||
      failed(node.requireReal(1)) || (bias && failed(node.requireReal(2))))
    return failure();
  if (!weights->isConstant())
    return node.refuse("its weights are not constant",
                       "export the model with its parameters as initializers");
  size_t rank = x->rank();
  if (weights->rank() != rank)
    return node.refuse(formatv("its weights {0} do not fit its input {1}",
                               describe(weights->shape), describe(x->shape)));
  int64_t groups = node.getInt("group", 1), channels = x->shape[1],
          outputs = weights->shape[0];
  if (groups < 1 || channels % groups || outputs % groups ||
      weights->shape[1] != channels / groups)
    return node.refuse(
        formatv("its weights {0} with group {1} do not fit its input "
                "{2}",
                describe(weights->shape), groups, describe(x->shape)));
  Shape kernel(weights->shape.begin() + 2, weights->shape.end());
  auto given = node.getInts("kernel_shape");
  if ((given && *given != kernel) || llvm::is_contained(kernel, 0) ||
      outputs < 1)
    return node.refuse(formatv("its kernel_shape is {0}, its weights have {1}",
                               given ? describe(*given) : "absent",
                               describe(weights->shape)));
  if (bias && bias->shape != Shape{outputs})
    return node.refuse(formatv("its bias of shape {0} must have {1} values",
                               describe(bias->shape), outputs));
  std::optional<WindowSpec> w = window(node, spatialOf(*x), kernel);
  if (!w)
    return failure();
  TensorRef ohwi = weights;
  if (rank == 3)
    ohwi = reshaped(ohwi, {outputs, weights->shape[1], 1, kernel[0]});
  Value in = channelsLast(node, x);
  Value weight = materialize(node, ohwi, {0, 2, 3, 1});
  Value addend = bias ? plain(node, bias) : Value();
  if (!in || !weight || (bias && !addend))
    return failure();
  Shape shape = windowShape(rank, outputs, *w);
  auto out = tensorType(lastShape(shape), node.f32);
  return setLast(
      node,
      osa::Conv2dOp::create(node.builder, node.loc, out, in, weight, addend,
                            node.builder.getDenseI64ArrayAttr(w->strides),
                            node.builder.getDenseI64ArrayAttr(w->pads()),
                            node.builder.getDenseI64ArrayAttr(w->dilations),
                            node.builder.getI64IntegerAttr(groups),
                            node.builder.getI64IntegerAttr(0)),
      shape);
}

LogicalResult network::maxPool(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(checkImage(node, x)))
    return failure();
  if (x->element != node.f32 && !isa_and_nonnull<num::IntType>(x->element))
    return node.requireReal(0);
  if (node.outputUsed(1))
    return node.refuse("its second output (indices) is used",
                       "only the values are supported");
  auto kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.refuse("its kernel_shape is missing");
  std::optional<WindowSpec> w = window(node, spatialOf(*x), *kernel);
  if (!w)
    return failure();
  Shape spatial = spatialOf(*x);
  if (spatial.size() == 1)
    spatial.insert(spatial.begin(), 1);
  for (int a : {0, 1})
    if (!everyWindowHit(spatial[a], w->low[a], w->kernel[a], w->strides[a],
                        w->dilations[a], w->out[a]))
      return node.refuse(
          formatv("a window of {0} with a padding of {1} and {2} "
                  "holds no position of the input",
                  w->kernel[a], w->low[a], w->high[a]));
  Value in = channelsLast(node, x);
  if (!in)
    return failure();
  Shape shape = windowShape(x->rank(), x->shape[1], *w);
  return setLast(
      node,
      osa::MaxPoolOp::create(node.builder, node.loc,
                             tensorType(lastShape(shape), x->element), in,
                             node.builder.getDenseI64ArrayAttr(w->kernel),
                             node.builder.getDenseI64ArrayAttr(w->strides),
                             node.builder.getDenseI64ArrayAttr(w->pads()),
                             node.builder.getDenseI64ArrayAttr(w->dilations)),
      shape);
}

static LogicalResult emitAveragePool(NodeContext &node, const TensorRef &x,
                                     WindowSpec w, bool countPad) {
  Value in = channelsLast(node, x);
  if (!in)
    return failure();
  Shape shape = windowShape(x->rank(), x->shape[1], w);
  // The explicit padding counts, what ceil mode adds does not: the former is
  // then written as zeros, and positions outside are ignored.
  if (countPad && (w.extra[0] || w.extra[1])) {
    auto t = cast<RankedTensorType>(in.getType());
    Shape low = {0, w.low[0], w.low[1], 0}, high = {0, w.high[0], w.high[1], 0};
    Shape padded(t.getShape());
    for (int i = 0; i < 4; ++i)
      padded[i] += low[i] + high[i];
    in =
        osa::PadOp::create(node.builder, node.loc, tensorType(padded, node.f32),
                           in, node.builder.getDenseI64ArrayAttr(low),
                           node.builder.getDenseI64ArrayAttr(high),
                           node.builder.getF64FloatAttr(0.0));
    w.low = w.high = {0, 0};
    countPad = false;
  }
  return setLast(
      node,
      osa::AvgPoolOp::create(node.builder, node.loc,
                             tensorType(lastShape(shape), node.f32), in,
                             node.builder.getDenseI64ArrayAttr(w.kernel),
                             node.builder.getDenseI64ArrayAttr(w.strides),
                             node.builder.getDenseI64ArrayAttr(w.pads()),
                             node.builder.getDenseI64ArrayAttr(w.dilations),
                             node.builder.getBoolAttr(countPad)),
      shape);
}

LogicalResult network::averagePool(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(checkImage(node, x)) || failed(node.requireReal(0)))
    return failure();
  auto kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.refuse("its kernel_shape is missing");
  std::optional<WindowSpec> w = window(node, spatialOf(*x), *kernel);
  if (!w)
    return failure();
  bool countPad = node.getInt("count_include_pad", 0) != 0;
  Shape spatial = spatialOf(*x);
  if (spatial.size() == 1)
    spatial.insert(spatial.begin(), 1);
  for (int a : {0, 1})
    if (!everyWindowHit(spatial[a], w->low[a], w->kernel[a], w->strides[a],
                        w->dilations[a], w->out[a]))
      return node.refuse(
          formatv("a window of {0} with a padding of {1} and {2} "
                  "holds no position of the input",
                  w->kernel[a], w->low[a], w->high[a]));
  return emitAveragePool(node, x, *w, countPad);
}

/// One window over the whole image.
static WindowSpec wholeImage(const GraphTensor &x) {
  Shape spatial = spatialOf(x);
  if (spatial.size() == 1)
    spatial.insert(spatial.begin(), 1);
  WindowSpec w;
  w.kernel = {spatial[0], spatial[1]};
  w.strides = w.dilations = w.out = {1, 1};
  w.low = w.high = {0, 0};
  return w;
}

LogicalResult network::globalPool(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(checkImage(node, x)) || failed(node.requireReal(0)))
    return failure();
  WindowSpec w = wholeImage(*x);
  if (node.op() == "GlobalAveragePool")
    return emitAveragePool(node, x, w, false);
  Value in = channelsLast(node, x);
  if (!in)
    return failure();
  Shape shape = windowShape(x->rank(), x->shape[1], w);
  return setLast(
      node,
      osa::MaxPoolOp::create(node.builder, node.loc,
                             tensorType(lastShape(shape), node.f32), in,
                             node.builder.getDenseI64ArrayAttr(w.kernel),
                             node.builder.getDenseI64ArrayAttr(w.strides),
                             node.builder.getDenseI64ArrayAttr(w.pads()),
                             node.builder.getDenseI64ArrayAttr(w.dilations)),
      shape);
}

LogicalResult network::batchNormalization(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)))
    return failure();
  if (node.getInt("training_mode", 0) != 0 || node.outputUsed(1))
    return node.refuse("it is in training mode",
                       "export the model in inference mode");
  if (node.getInt("spatial", 1) != 1)
    return node.refuse(
        "its attribute spatial is 0, statistics per position are not "
        "supported");
  if (x->rank() < 2 || x->rank() > 4)
    return node.refuse(formatv("its input has the shape {0}; ranks 2 to 4 are "
                               "supported",
                               describe(x->shape)));
  int64_t channels = x->shape[1];
  static const StringRef names[] = {"scale", "bias", "mean", "variance"};
  SmallVector<ElementsAttr> parameters;
  double epsilon = node.getFloat("epsilon", 1e-5f);
  for (size_t i = 0; i < 4; ++i) {
    auto values = node.constantReals(i + 1, names[i]);
    if (!values)
      return failure();
    if (int64_t(values->size()) != channels)
      return node.refuse(formatv("its {0} has {1} values for {2} channels",
                                 names[i], values->size(), channels));
    for (double v : *values)
      if (!std::isfinite(v) || (i == 3 && v + epsilon <= 0))
        return node.refuse(formatv("its {0} holds the value {1}", names[i], v),
                           "repair the model's parameters");
    std::vector<float> narrow(values->begin(), values->end());
    parameters.push_back(
        osa::makeFloatAttr(node.context, node.name, {channels}, narrow));
  }
  auto make = [&](Value v) -> Value {
    return osa::BatchNormOp::create(
        node.builder, node.loc, v.getType(), v, parameters[0], parameters[1],
        parameters[2], parameters[3],
        node.builder.getF32FloatAttr(float(epsilon)));
  };
  Value v = x->rank() == 2 ? plain(node, x) : channelsLast(node, x);
  if (!v)
    return failure();
  return x->rank() == 2 ? setPlain(node, make(v))
                        : setLast(node, make(v), x->shape);
}
