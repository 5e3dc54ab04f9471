// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QONNX's quantizers (Quant, BipolarQuant, Trunc) and FINN's MultiThreshold.
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

void importer::liftParameters(NodeContext &node) {
  for (TensorRef &t : llvm::drop_begin(node.inputs)) {
    if (!t || !t->isPlainConstant() || t->constant->isReal())
      continue;
    auto real = std::make_shared<HostTensor>(*t->constant);
    real->type = TensorProto::FLOAT;
    real->reals.assign(real->ints.begin(), real->ints.end());
    // Integers that float32 cannot represent stay integers, and are refused.
    if (llvm::any_of(real->ints,
                     [](int64_t v) { return std::abs(v) > (1 << 24); }))
      continue;
    real->ints.clear();
    t = constantTensor(node.context, real);
  }
}

/// The single axis along which a parameter of shape `shape` varies beside a
/// tensor of `rank`: −1 if none, nullopt if there are several.
static std::optional<int64_t> channelAxis(ArrayRef<int64_t> shape,
                                          size_t rank) {
  int64_t axis = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (axis >= 0 || shape.size() - i > rank)
      return std::nullopt;
    axis = int64_t(i + rank - shape.size());
  }
  return axis;
}

std::optional<osa::Rounding> importer::qonnxRounding(StringRef mode) {
  using osa::Rounding;
  return llvm::StringSwitch<std::optional<Rounding>>(mode.upper())
      .Cases({"ROUND", "HALF_EVEN"}, Rounding::HalfEven)
      .Case("CEIL", Rounding::Up)
      .Case("FLOOR", Rounding::Down)
      .Cases({"DOWN", "ROUND_TO_ZERO"}, Rounding::TowardZero)
      .Case("UP", Rounding::AwayFromZero)
      .Case("HALF_UP", Rounding::HalfAway)
      .Case("HALF_DOWN", Rounding::HalfTowardZero)
      .Default(std::nullopt);
}

num::IntType importer::qonnxType(MLIRContext *context, bool isSigned,
                                 bool narrow, unsigned width) {
  int64_t half = int64_t(1) << (width - 1);
  int64_t lo = isSigned ? -half + narrow : 0;
  int64_t hi = isSigned ? half - 1 : 2 * half - 1 - narrow;
  return num::IntType::get(context, isSigned, width, lo, hi);
}

/// A Quant that rounds x / scale + zero, expanded: real arithmetic around a
/// quantizer without scale and zero point.
static LogicalResult shiftedQuant(NodeContext &node, const TensorRef &x,
                                  QuantStep step) {
  TensorRef scale = node.input(1), zero = node.input(2);
  if (x->isConstant())
    return node.refuse(
        formatv("it rounds a constant after adding the zero point "
                "{0}",
                step.zeroPoint.front()),
        "an even zero point, or the modes CEIL and FLOOR, are "
        "supported for constants");
  step.scale = {1.0};
  step.zeroPoint = {0};
  step.axis = -1;
  TensorRef t = emitBinaryTensors(node, "Div", x, scale);
  t = t ? emitBinaryTensors(node, "Add", t, zero) : nullptr;
  if (!t)
    return failure();
  Value &v = t->last ? t->last : t->plain;
  v = quantStep(node, v, step, -1);
  step.quantize = false;
  v = quantStep(node, v, step, -1);
  t = emitBinaryTensors(node, "Sub", t, zero);
  t = t ? emitBinaryTensors(node, "Mul", t, scale) : nullptr;
  return t ? node.setResult(0, t) : failure();
}

/// The float next to `bound` that a quantizer of this rounding takes to the
/// code of `bound`, which float32 may not hold.
static float codeBound(double bound, osa::Rounding rounding) {
  auto near = float(bound);
  using osa::Rounding;
  bool mayBeAbove = true, mayBeBelow = true;
  switch (rounding) {
  case Rounding::Up:
    mayBeAbove = false;
    break;
  case Rounding::Down:
    mayBeBelow = false;
    break;
  case Rounding::TowardZero:
    (bound > 0 ? mayBeBelow : mayBeAbove) = false;
    break;
  case Rounding::AwayFromZero:
    (bound > 0 ? mayBeAbove : mayBeBelow) = false;
    break;
  default:
    break;
  }
  if (double(near) > bound && !mayBeAbove)
    return std::nextafter(near, -INFINITY);
  if (double(near) < bound && !mayBeBelow)
    return std::nextafter(near, INFINITY);
  return near;
}

/// The element of a parameter that stands beside element `i` of `shape`; it
/// broadcasts.
static size_t besideElement(ArrayRef<int64_t> own, ArrayRef<int64_t> shape,
                            int64_t i) {
  int64_t at = 0, stride = 1;
  for (size_t d = shape.size(), k = own.size(); d-- > 0 && k-- > 0;) {
    if (own[k] != 1)
      at += i % shape[d] * stride;
    stride *= own[k];
    i /= shape[d];
  }
  return size_t(at);
}

/// What a Quant with several bit widths rounds: what is beyond a width is
/// brought to its last code, so that one width then rounds all alike. A width
/// of 0 has the code 0. Null if refused.
static TensorRef boundedByWidths(NodeContext &node,
                                 const std::vector<double> &bits,
                                 osa::Rounding rounding) {
  TensorRef x = node.input(0);
  auto scale = scaleValues(node, 1);
  auto zero = node.constantReals(2, "zero point");
  if (!scale || !zero)
    return nullptr;
  auto refuse = [&](std::string reason, std::string remedy) -> TensorRef {
    node.refuse(std::move(reason), std::move(remedy));
    return nullptr;
  };
  const Shape &ofBits = node.input(3)->shape, &ofScale = node.input(1)->shape,
              &ofZero = node.input(2)->shape;
  // The bounds vary as widths, scales and zero points do together.
  auto shape = broadcast(ofBits, ofScale);
  shape = shape ? broadcast(*shape, ofZero) : shape;
  auto whole = shape ? broadcast(*shape, x->shape) : shape;
  auto count =
      whole == std::optional(x->shape) ? elementCount(*shape) : std::nullopt;
  if (!count || *count > kMaxFoldedElements)
    return refuse(formatv("its bit widths {0} do not fit {1}", describe(ofBits),
                          describe(x->shape)),
                  "give one, or one for each channel");
  const bool isSigned = node.getInt("signed", 1) != 0,
             narrow = node.getInt("narrow", 0) != 0;
  auto low = std::make_shared<HostTensor>(),
       high = std::make_shared<HostTensor>();
  low->type = high->type = TensorProto::FLOAT;
  low->shape = high->shape = *shape;
  for (int64_t i = 0; i < *count; ++i) {
    double s = (*scale)[besideElement(ofScale, *shape, i)],
           z = (*zero)[besideElement(ofZero, *shape, i)],
           width = bits[besideElement(ofBits, *shape, i)];
    if (z != std::floor(z) || (width == 0 && z != 0))
      return refuse(formatv("its zero point holds the value {0}", z),
                    "whole numbers are supported, and 0 beside a bit "
                    "width of 0");
    if (isSigned && width == 1)
      return refuse("one of its bit widths is 1, with a sign",
                    "several bit widths are supported if none of them is "
                    "a signed single bit");
    double lo = 0, hi = 0;
    if (width > 0) {
      num::IntType type =
          qonnxType(node.context, isSigned, narrow, unsigned(width));
      lo = double(type.getLo());
      hi = double(type.getHi());
    }
    low->reals.push_back(codeBound((lo - z) * s, rounding));
    high->reals.push_back(codeBound((hi - z) * s, rounding));
  }
  TensorRef bounded;
  if (x->isPlainConstant()) {
    auto values = std::make_shared<HostTensor>(*x->constant);
    for (auto [i, v] : llvm::enumerate(values->reals)) {
      size_t at = besideElement(*shape, x->shape, int64_t(i));
      v = std::clamp(v, low->reals[at], high->reals[at]);
    }
    bounded = constantTensor(node.context, values);
  } else if (x->isConstant()) {
    return refuse("it rounds a constant a second time, to several bit "
                  "widths",
                  "quantize the constant once");
  } else {
    bounded =
        emitBinaryTensors(node, "Max", x, constantTensor(node.context, low));
    bounded = bounded ? emitBinaryTensors(node, "Min", bounded,
                                          constantTensor(node.context, high))
                      : nullptr;
  }
  return bounded;
}

LogicalResult network::quant(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)))
    return failure();
  QuantStep step;
  step.quantize = true;
  // All of them are checked before refusing.
  auto scale = scaleValues(node, 1);
  auto zero = node.constantReals(2, "zero point"),
       bits = node.constantReals(3, "bit width");
  // A constant is rounded once and for all, to codes that double holds.
  const double most = x->isConstant() ? 48 : 16;
  if (bits && bits->empty()) {
    node.refuse("its bit width is empty");
    bits = std::nullopt;
  }
  for (double width : bits.value_or(std::vector<double>()))
    if (width != std::floor(width) || width < 0 || width > most ||
        (width == 0 && bits->size() == 1)) {
      node.refuse(
          width == std::floor(width) && std::abs(width) < 1e6
              ? formatv("its bit width is {0}", int64_t(width)).str()
              : formatv("its bit width is {0}", width).str(),
          formatv("whole bit widths from 1 to {0} are supported, and 0 for "
                  "some of several channels",
                  int(most)));
      bits = std::nullopt;
      break;
    }
  std::string mode = node.getString("rounding_mode", "ROUND");
  std::optional<osa::Rounding> rounding = qonnxRounding(mode);
  if (!rounding)
    node.refuse(
        formatv("its rounding mode is '{0}'", mode),
        "ROUND, CEIL, FLOOR, UP, DOWN, HALF_UP and HALF_DOWN are supported");
  if (!scale || !zero || !bits || !rounding)
    return failure();
  step.rounding = *rounding;
  if (bits->size() > 1 && !(x = boundedByWidths(node, *bits, *rounding)))
    return failure();
  // The scale's axis and the zero point's; one of them may be a single value.
  auto scaleAxis = channelAxis(node.input(1)->shape, x->rank());
  auto zeroAxis = channelAxis(node.input(2)->shape, x->rank());
  if (!scaleAxis || !zeroAxis ||
      (*scaleAxis >= 0 && *zeroAxis >= 0 && *scaleAxis != *zeroAxis))
    return node.refuse(
        formatv("its scale {0} and zero point {1} vary along several "
                "axes of {2}",
                describe(node.input(1)->shape), describe(node.input(2)->shape),
                describe(x->shape)),
        "quantize per tensor or per channel");
  step.axis = std::max(*scaleAxis, *zeroAxis);
  size_t n = std::max(scale->size(), zero->size());
  if (step.axis >= 0 && x->shape[step.axis] != int64_t(n))
    return node.refuse(
        formatv("it has {0} scales for axis {1} of the shape {2}", n, step.axis,
                describe(x->shape)));
  for (size_t i = 0; i < n; ++i) {
    double z = (*zero)[zero->size() == 1 ? 0 : i];
    if (z != std::floor(z) || std::abs(z) > 65536)
      return node.refuse(formatv("its zero point holds the value {0}", z),
                         "whole numbers are supported");
    step.scale.push_back((*scale)[scale->size() == 1 ? 0 : i]);
    step.zeroPoint.push_back(int64_t(z));
  }
  bool isSigned = node.getInt("signed", 1) != 0;
  bool narrow = node.getInt("narrow", 0) != 0;
  unsigned width = unsigned(*llvm::max_element(*bits));
  bool zeroFree =
      llvm::all_of(step.zeroPoint, [](int64_t z) { return z == 0; });
  if (isSigned && width == 1) {
    // QONNX interprets one signed bit as −1 and 1.
    if (!zeroFree)
      return node.refuse("one signed bit has a zero point other than 0");
    step.rounding = osa::Rounding::Sign;
    step.type = num::IntType::get(node.context, true, 2, -1, 1);
  } else {
    step.type = qonnxType(node.context, isSigned, narrow, width);
  }
  // QONNX adds the zero point before it rounds, which is the same only for
  // modes that a whole number does not change.
  bool even =
      llvm::all_of(step.zeroPoint, [](int64_t z) { return z % 2 == 0; });
  bool shifts = step.rounding == osa::Rounding::Up ||
                step.rounding == osa::Rounding::Down ||
                (step.rounding == osa::Rounding::HalfEven && even);
  if (!zeroFree && !shifts)
    return shiftedQuant(node, x, step);
  QuantStep back = step;
  back.quantize = false;
  return applySteps(node, x, {step, back});
}

LogicalResult network::bipolarQuant(NodeContext &node) {
  if (failed(node.requireReal(0)))
    return failure();
  auto scale = scaleValues(node, 1);
  if (!scale)
    return failure();
  QuantStep step;
  step.quantize = true;
  auto axis = channelAxis(node.input(1)->shape, node.input(0)->rank());
  if (!axis ||
      (*axis >= 0 && node.input(0)->shape[*axis] != int64_t(scale->size())))
    return node.refuse(formatv("its scale {0} does not fit one axis of {1}",
                               describe(node.input(1)->shape),
                               describe(node.input(0)->shape)),
                       "quantize per tensor or per channel");
  step.axis = *axis;
  step.scale = *scale;
  step.zeroPoint.assign(scale->size(), 0);
  step.type = num::IntType::get(node.context, true, 2, -1, 1);
  step.rounding = osa::Rounding::Sign;
  QuantStep back = step;
  back.quantize = false;
  return applySteps(node, node.input(0), {step, back});
}

LogicalResult network::multiThreshold(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)))
    return failure();
  auto values = node.constantReals(1, "list of thresholds");
  if (!values)
    return failure();
  Shape shape = node.input(1)->shape;
  double scale = node.getFloat("out_scale", 1),
         bias = node.getFloat("out_bias", 0);
  // Channels are axis 1 of images, or as the layout says; otherwise the last.
  bool image =
      x->rank() == 4 && node.getString("data_layout", "NCHW") != "NHWC";
  if (x->rank() < 2)
    return node.refuse(
        formatv("its input has the shape {0}", describe(x->shape)));
  int64_t axis = image ? 1 : int64_t(x->rank()) - 1;
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > (1 << 16) ||
      (shape[0] != 1 && shape[0] != x->shape[axis]))
    return node.refuse(formatv("its thresholds {0} do not fit {1} channels",
                               describe(shape), x->shape[axis]));
  if (!std::isfinite(scale) || !std::isfinite(bias) || scale == 0)
    return node.refuse(
        formatv("its out_scale is {0}, its out_bias {1}", scale, bias));
  std::vector<float> sorted(values->begin(), values->end());
  for (int64_t c = 0; c < shape[0]; ++c)
    std::sort(sorted.begin() + c * shape[1],
              sorted.begin() + (c + 1) * shape[1]);
  // Infinite thresholds always or never count.
  for (float &v : sorted) {
    if (std::isnan(v))
      return node.refuse("one of its thresholds is NaN");
    v = std::clamp(v, -std::numeric_limits<float>::max(),
                   std::numeric_limits<float>::max());
  }
  // Its channels are the last axis of the value.
  Value v = image ? channelsLast(node, x) : plain(node, x);
  if (!v)
    return failure();
  auto in = cast<RankedTensorType>(v.getType());
  auto counts = num::IntType::getForRange(node.context, 0, shape[1]);
  v = osa::MultiThresholdOp::create(
      node.builder, node.loc, tensorType(in.getShape(), counts), v,
      osa::makeFloatAttr(node.context, node.name, shape, sorted));
  v = quantStep(node, v, {false, {1.0}, {0}, -1, counts}, -1);
  if (scale != 1)
    v = emitBinary(node, "Mul", v, scalar(node, scale), v.getType());
  if (bias != 0)
    v = emitBinary(node, "Add", v, scalar(node, bias), v.getType());
  return image ? setLast(node, v, x->shape) : setPlain(node, v);
}

/// (x, scale, zero point, input bits, output bits), or with the output's scale
/// (and its zero point) before the output's bits: drops low bits of the result
/// of a Quant.
LogicalResult network::trunc(NodeContext &node) {
  TensorRef x = node.input(0);
  if (failed(node.requireReal(0)))
    return failure();
  bool later = node.input(5) != nullptr;
  auto scale = scaleValues(node, 1);
  auto outScale = scale && later ? scaleValues(node, 4) : scale;
  auto zero = outScale ? node.constantReals(2, "zero point") : std::nullopt;
  auto inBits = zero ? node.constantReals(3, "input bit width") : std::nullopt;
  auto outBits = inBits ? node.constantReals(later ? node.inputs.size() - 1 : 4,
                                             "output bit width")
                        : std::nullopt;
  if (!outBits)
    return failure();
  auto isWidth = [](const std::vector<double> &v) {
    return v.size() == 1 && v[0] == std::floor(v[0]) && v[0] >= 1 && v[0] <= 40;
  };
  if (scale->size() != 1 || outScale->size() != 1 || zero->size() != 1 ||
      zero->front() != 0 || !isWidth(*inBits) || !isWidth(*outBits))
    return node.refuse(
        "its scales, zero point or bit widths are not single numbers "
        "that fit",
        "one scale, a zero point of 0 and whole bit widths are "
        "supported");
  std::string mode = node.getString("rounding_mode", "FLOOR");
  std::optional<osa::Rounding> rounding = qonnxRounding(mode);
  if (!rounding)
    return node.refuse(
        formatv("its rounding mode is '{0}'", mode),
        "ROUND, CEIL, FLOOR, UP, DOWN, HALF_UP and HALF_DOWN are "
        "supported");
  double ratio = later
                     ? std::round(std::log2(outScale->front() / scale->front()))
                     : inBits->front() - outBits->front();
  QuantStep whole{true, *scale, {0}, -1, {}};
  whole.type = num::IntType::get(node.context, true, 48, kWideIntegers.first,
                                 kWideIntegers.second);
  QuantStep wholeBack = whole;
  wholeBack.quantize = false;
  QuantStep step = whole;
  step.scale = {std::ldexp(scale->front(), int(ratio))};
  step.rounding = *rounding;
  if (later) // the earlier form does not clamp
    step.type =
        qonnxType(node.context, node.getInt("signed", 1) != 0,
                  node.getInt("narrow", 0) != 0, unsigned(outBits->front()));
  QuantStep back = step;
  back.quantize = false;
  back.scale = *outScale;
  return applySteps(node, x, {whole, wholeBack, step, back});
}
