// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's QuantizeLinear and DequantizeLinear in the network, and the rounding
// to whole numbers used by other operations. On a constant, a quantizer is
// recorded as a step, so that a later permutation of the weights reaches the
// stored values.
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

/// Input `i` as positive, finite scales.
std::optional<std::vector<double>> importer::scaleValues(NodeContext &node,
                                                         size_t i) {
  if (!node.input(i) || !node.input(i)->isConstant()) {
    node.refuse("its scale is not constant",
                "quantize statically: store the scale as an initializer");
    return std::nullopt;
  }
  auto values = node.constantReals(i, "scale");
  if (!values)
    return std::nullopt;
  for (double v : *values)
    if (!(v > 0) || !std::isfinite(v) || !(float(v) > 0) ||
        !std::isfinite(float(v))) {
      node.refuse(
          formatv("its scale holds the value {0}", v),
          "a scale must be positive and finite: calibrate the model anew");
      return std::nullopt;
    }
  if (values->empty()) {
    node.refuse("its scale is empty");
    return std::nullopt;
  }
  return values;
}

LogicalResult importer::applySteps(NodeContext &node, const TensorRef &x,
                                   ArrayRef<QuantStep> steps) {
  if (node.state.options.rawIntegerFraction)
    return node.refuse(
        "the model has quantizers, but its tensors are to be read as "
        "raw integers",
        "leave out --raw-integers");
  if (x->isConstant()) {
    auto out = std::make_shared<GraphTensor>(*x);
    out->plain = out->last = out->host = Value();
    llvm::append_range(out->steps, steps);
    out->element = steps.back().quantize ? Type(steps.back().type) : node.f32;
    return node.setResult(0, out);
  }
  bool last = x->last != nullptr;
  Value v = last ? x->last : plain(node, x);
  if (!v)
    return failure();
  for (const QuantStep &step : steps)
    v = quantStep(node, v, step,
                  last ? lastAxis(step.axis, x->rank()) : step.axis);
  return last ? setLast(node, v, x->shape) : setPlain(node, v);
}

/// Scale, zero point and axis of QuantizeLinear and DequantizeLinear.
static LogicalResult linearStep(NodeContext &node, QuantStep &step,
                                int64_t rank) {
  if (node.getInt("block_size", 0) != 0)
    return node.refuse("it quantizes in blocks",
                       "quantize per tensor or per channel");
  if (node.input(1) && node.input(1)->rank() > 1)
    return node.refuse(formatv("its scale has the shape {0} and no block_size",
                               describe(node.input(1)->shape)),
                       "give one scale, one per channel, or a block_size");
  // Both are checked before refusing.
  auto scale = scaleValues(node, 1);
  std::optional<std::vector<int64_t>> values;
  if (node.input(2) && !(values = node.constantInts(2, "zero point")))
    return failure();
  if (!scale)
    return failure();
  step.scale = *scale;
  step.zeroPoint.assign(scale->size(), 0);
  if (node.input(2)) {
    if (values->empty() || (values->size() != scale->size() &&
                            values->size() != 1 && scale->size() != 1))
      return node.refuse(formatv("it has {0} scales but {1} zero points",
                                 scale->size(), values->size()));
    size_t count = std::max(values->size(), scale->size());
    step.zeroPoint = *values;
    step.zeroPoint.resize(count, values->front());
    step.scale.resize(count, scale->front());
  }
  size_t count = step.scale.size();
  if (count == 1)
    return success();
  std::optional<int64_t> axis = node.axisAttribute(1, rank);
  if (!axis)
    return failure();
  if (node.input(0)->shape[*axis] != int64_t(count))
    return node.refuse(
        formatv("it has {0} scales for axis {1} of the shape {2}", count, *axis,
                describe(node.input(0)->shape)));
  step.axis = *axis;
  return success();
}

static bool isBlocked(NodeContext &node) {
  return node.getInt("block_size", 0) != 0;
}

/// Input `i` of a blocked quantizer, one value per block, expanded to one value
/// per element of input 0; null (refused) if it does not fit.
static TensorRef blockwise(NodeContext &node, size_t i, StringRef what) {
  const Shape &shape = node.input(0)->shape;
  TensorRef blocks = node.input(i);
  if (!blocks || !blocks->isPlainConstant()) {
    node.refuse(formatv("its {0} is not constant", what),
                "use static quantization");
    return nullptr;
  }
  std::optional<int64_t> axis = node.axisAttribute(1, shape.size());
  int64_t size = node.getInt("block_size", 0);
  if (!axis)
    return nullptr;
  Shape expected = shape;
  if (size > 0)
    expected[*axis] = (shape[*axis] + size - 1) / size;
  if (size < 1 || blocks->shape != expected) {
    node.refuse(
        formatv("its {0} has the shape {1} for blocks of {2} along axis {3} "
                "of {4}",
                what, describe(blocks->shape), size, *axis, describe(shape)),
        formatv("the shape {0} is needed", describe(expected)));
    return nullptr;
  }
  const HostTensor &from = *blocks->constant;
  auto host = std::make_shared<HostTensor>();
  host->type = TensorProto::FLOAT;
  host->shape = shape;
  int64_t inner = 1, n = *elementCount(shape);
  if (n > kMaxFoldedElements) {
    node.refuse(formatv("it quantizes {0} elements in blocks", n),
                "quantize per tensor or per channel");
    return nullptr;
  }
  for (size_t d = *axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  for (int64_t e = 0; e < n; ++e) {
    int64_t at = e / inner % shape[*axis], outer = e / inner / shape[*axis];
    int64_t block = (outer * expected[*axis] + at / size) * inner + e % inner;
    double v = from.isReal() ? from.reals[block] : double(from.ints[block]);
    if (from.isReal() && (!(float(v) > 0) || !std::isfinite(float(v)))) {
      node.refuse(formatv("its {0} holds the value {1}", what, v),
                  "a scale must be positive and finite");
      return nullptr;
    }
    host->reals.push_back(v);
  }
  return constantTensor(node.context, host);
}

/// A blocked quantizer as real arithmetic around a plain one, since its scales
/// and zero points are tensors.
static LogicalResult blockedQuantize(NodeContext &node, num::IntType type) {
  TensorRef scale = blockwise(node, 1, "scale"),
            zero = node.input(2) && scale ? blockwise(node, 2, "zero point")
                                          : nullptr;
  if (!scale || (node.input(2) && !zero))
    return failure();
  TensorRef t = emitBinaryTensors(node, "Div", node.input(0), scale);
  if (!t)
    return failure();
  QuantStep whole{true, {1.0}, {0}, -1, type};
  if (zero) {
    whole.type = num::IntType::getFull(node.context, true, 32);
    Value &v = t->last ? t->last : t->plain;
    v = quantStep(node, v, whole, -1);
    whole.quantize = false;
    v = quantStep(node, v, whole, -1);
    if (!(t = emitBinaryTensors(node, "Add", t, zero)))
      return failure();
    whole.quantize = true;
    whole.type = type;
  }
  Value v = quantStep(node, t->last ? t->last : t->plain, whole, -1);
  return t->last ? setLast(node, v, t->shape) : setPlain(node, v);
}

static LogicalResult blockedDequantize(NodeContext &node, num::IntType type) {
  TensorRef scale = blockwise(node, 1, "scale"),
            zero = node.input(2) && scale ? blockwise(node, 2, "zero point")
                                          : nullptr;
  if (!scale || (node.input(2) && !zero))
    return failure();
  TensorRef x = node.input(0);
  if (x->isPlainConstant()) { // stored weights: the floats that ONNX defines
    auto host = std::make_shared<HostTensor>();
    host->type = TensorProto::FLOAT;
    host->shape = x->shape;
    for (size_t i = 0; i < x->constant->size(); ++i)
      host->reals.push_back(float(double(x->constant->ints[i]) -
                                  (zero ? zero->constant->reals[i] : 0.0)) *
                            float(scale->constant->reals[i]));
    return node.setResult(0, constantTensor(node.context, host));
  }
  auto t = std::make_shared<GraphTensor>();
  t->shape = x->shape;
  t->element = node.f32;
  Value v = plain(node, x);
  if (!v)
    return failure();
  t->plain = quantStep(node, v, {false, {1.0}, {0}, -1, type}, -1);
  TensorRef out = t;
  if (zero)
    out = emitBinaryTensors(node, "Sub", out, zero);
  out = out ? emitBinaryTensors(node, "Mul", out, scale) : nullptr;
  return out ? node.setResult(0, out) : failure();
}

LogicalResult network::quantizeLinear(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  QuantStep step;
  step.quantize = true;
  int onnxType = int(node.getInt("output_dtype", 0));
  if (TensorRef zero = node.input(2); zero && zero->constant)
    onnxType = zero->constant->type;
  else if (onnxType == 0)
    onnxType = TensorProto::UINT8;
  step.type = integerType(node.context, onnxType);
  if (!step.type || step.type.getWidth() > 16)
    return node.refuse(formatv("it quantizes to {0}", typeName(onnxType)),
                       "integers of 4, 8 and 16 bits are supported");
  if (isBlocked(node))
    return blockedQuantize(node, step.type);
  if (failed(linearStep(node, step, int64_t(node.input(0)->rank()))))
    return failure();
  return applySteps(node, node.input(0), {step});
}

LogicalResult network::dequantizeLinear(NodeContext &node) {
  TensorRef x = node.input(0);
  if (!x)
    return node.refuse("its input 0 is missing");
  QuantStep step;
  step.type = dyn_cast_or_null<num::IntType>(x->element);
  if (!step.type && !x->isConstant() && x->element != node.f32 &&
      wholeRange(typeOf(x)))
    return node.refuse(
        formatv("its input, {0}, is quantized anew in each frame",
                typeName(typeOf(x))),
        "give --calibration DATA or --number-format 'fixed<I,F>': then its "
        "activations get one scale for all frames, and its weights keep their "
        "codes");
  if (!step.type) {
    return node.refuse(
        formatv("its input has the element type {0}", typeName(typeOf(x))),
        "integers of 8, 16 and 32 bits are supported");
  }
  if (TensorRef zero = node.input(2);
      zero && zero->constant && zero->constant->type != typeOf(x) &&
      integerType(node.context, zero->constant->type) != step.type)
    return node.refuse(
        formatv("its zero point has the type {0}, its input another",
                typeName(zero->constant->type)));
  if (isBlocked(node))
    return blockedDequantize(node, step.type);
  if (failed(linearStep(node, step, int64_t(x->rank()))))
    return failure();
  return applySteps(node, x, {step});
}

/// Integers clamped between the quantizer and the dequantizer to
/// widths that ONNX does not have: the quantizer saturates there.
LogicalResult importer::clipIntegers(NodeContext &node, int64_t lo,
                                     int64_t hi) {
  TensorRef x = node.input(0);
  auto from = cast<num::IntType>(x->element);
  auto clipped = [&](int64_t v) { return std::min(std::max(v, lo), hi); };
  int64_t least = clipped(from.getLo()), most = clipped(from.getHi());
  unsigned width =
      num::bitsForRange(least, most) + (from.getIsSigned() && least >= 0);
  auto to =
      num::IntType::get(node.context, from.getIsSigned(), width, least, most);
  const int onnxType = typeOf(x);
  auto out = std::make_shared<GraphTensor>(*x);
  if (x->isPlainConstant()) {
    auto host = std::make_shared<HostTensor>(*x->constant);
    llvm::transform(host->ints, host->ints.begin(), clipped);
    return node.setResult(0, constantTensor(node.context, host));
  }
  out->element = to;
  out->onnx = onnxType;
  out->host = {};
  if (x->isConstant()) {
    out->steps.back().type = to;
    out->plain = out->last = {};
    return node.setResult(0, out);
  }
  const bool last = x->last != nullptr;
  Value v = last ? x->last : plain(node, x);
  auto type = tensorType(cast<RankedTensorType>(v.getType()).getShape(), to);
  if (auto q = v.getDefiningOp<osa::QuantizeOp>()) {
    v = osa::QuantizeOp::create(node.builder, node.loc, type, q.getInput(),
                                q.getScaleAttr(), q.getZeroPointAttr(),
                                q.getAxisAttr(), q.getRoundingAttr());
  } else {
    v = quantStep(node, v, {false, {1.0}, {0}, -1, from}, -1);
    v = quantStep(node, v, {true, {1.0}, {0}, -1, to}, -1);
  }
  (last ? out->plain : out->last) = {};
  (last ? out->last : out->plain) = v;
  return node.setResult(0, out);
}

TensorRef importer::rounded(NodeContext &node, const TensorRef &x,
                            osa::Rounding rounding,
                            std::pair<int64_t, int64_t> bounds) {
  bool last = x->last != nullptr;
  Value v = last ? x->last : plain(node, x);
  if (!v)
    return nullptr;
  bool isSigned = bounds.first < 0;
  unsigned width =
      num::IntType::getForRange(node.context, bounds.first, bounds.second)
          .getWidth();
  QuantStep step{true,
                 {1.0},
                 {0},
                 -1,
                 num::IntType::get(node.context, isSigned, width, bounds.first,
                                   bounds.second),
                 rounding};
  v = quantStep(node, v, step, -1);
  step.quantize = false;
  v = quantStep(node, v, step, -1);
  auto out = std::make_shared<GraphTensor>();
  out->shape = x->shape;
  out->element = node.f32;
  (last ? out->last : out->plain) = v;
  out->whole = bounds;
  return out;
}

RealInterval importer::boundsOf(NodeContext &node, const TensorRef &t) {
  Value v = t->last ? t->last : plain(node, t);
  return v ? node.state.bounds.of(v) : RealInterval();
}

LogicalResult network::roundToWhole(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)))
    return failure();
  if (x->whole)
    return passThrough(node, x);
  osa::Rounding rounding = node.op() == "Floor"  ? osa::Rounding::Down
                           : node.op() == "Ceil" ? osa::Rounding::Up
                                                 : osa::Rounding::HalfEven;
  TensorRef out = rounded(node, x, rounding, kWideIntegers);
  if (!out)
    return failure();
  out->whole.reset(); // its type is still float
  return node.setResult(0, out);
}
