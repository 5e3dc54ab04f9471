// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantisers as the file writes them: ONNX's QuantizeLinear/DequantizeLinear
// and QONNX's Quant/BipolarQuant. On a constant they stay behind it as steps,
// so that a later permutation of the weights reaches the stored values.
#include "Importer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

num::IntType Importer::integerType(int onnxType) const {
  switch (onnxType) {
  case TensorProto::INT8:
    return num::IntType::getFull(context, true, 8);
  case TensorProto::UINT8:
    return num::IntType::getFull(context, false, 8);
  case TensorProto::INT16:
    return num::IntType::getFull(context, true, 16);
  case TensorProto::UINT16:
    return num::IntType::getFull(context, false, 16);
  case TensorProto::INT32:
    return num::IntType::getFull(context, true, 32);
  case kInt4:
    return num::IntType::getFull(context, true, 4);
  case kUint4:
    return num::IntType::getFull(context, false, 4);
  default:
    return {};
  }
}

void Importer::liftParameters() {
  static const StringRef ops[] = {"Quant", "IntQuant",   "BipolarQuant",
                                  "Trunc", "FloatQuant", "MultiThreshold"};
  if (!llvm::is_contained(ops, node->op()))
    return;
  for (TensorRef &t : llvm::drop_begin(inputs)) {
    if (!t || !t->isPlainConstant() || t->constant->isReal())
      continue;
    auto real = std::make_shared<HostTensor>(*t->constant);
    real->type = TensorProto::FLOAT;
    real->reals.assign(real->ints.begin(), real->ints.end());
    // What float32 does not hold stays an integer, and is refused.
    if (llvm::any_of(real->ints,
                     [](int64_t v) { return std::abs(v) > (1 << 24); }))
      continue;
    real->ints.clear();
    t = hostTensor(real);
  }
}

/// Input `i` as positive, finite scales.
std::optional<std::vector<double>> Importer::scaleValues(size_t i) {
  if (!input(i) || !input(i)->isConstant()) {
    refuse("its scale is not constant",
           "quantize statically: store the scale as an initializer");
    return std::nullopt;
  }
  auto values = constantReals(i, "scale");
  if (!values)
    return std::nullopt;
  for (double v : *values)
    if (!(v > 0) || !std::isfinite(v) || !(float(v) > 0) ||
        !std::isfinite(float(v))) {
      refuse(formatv("its scale holds the value {0}", v),
             "a scale must be positive and finite: calibrate the model anew");
      return std::nullopt;
    }
  if (values->empty()) {
    refuse("its scale is empty");
    return std::nullopt;
  }
  return values;
}

LogicalResult Importer::applySteps(const TensorRef &x,
                                   ArrayRef<QuantStep> steps) {
  if (options.rawIntegerFraction)
    return refuse("the model has quantisers, but its tensors are to be read as "
                  "raw integers",
                  "leave out --raw-integers");
  if (x->isConstant()) {
    auto out = std::make_shared<GraphTensor>(*x);
    out->plain = out->last = out->host = Value();
    llvm::append_range(out->steps, steps);
    out->element = steps.back().quantise ? Type(steps.back().type) : f32;
    return setResult(0, out);
  }
  bool last = x->last != nullptr;
  Value v = last ? x->last : plain(x);
  if (!v)
    return failure();
  for (const QuantStep &step : steps)
    v = quantStep(v, step, last ? lastAxis(step.axis, x->rank()) : step.axis);
  return last ? setLast(v, x->shape) : setPlain(v);
}

/// Scale, zero point and axis of QuantizeLinear and DequantizeLinear.
LogicalResult Importer::linearStep(QuantStep &step, int64_t rank) {
  if (node->getInt("block_size", 0) != 0)
    return refuse("it quantises in blocks",
                  "quantise per tensor or per channel");
  if (input(1) && input(1)->rank() > 1)
    return refuse(formatv("its scale has the shape {0} and no block_size",
                          describe(input(1)->shape)),
                  "give one scale, one per channel, or a block_size");
  // Both are judged before one of them stops us.
  auto scale = scaleValues(1);
  std::optional<std::vector<int64_t>> values;
  if (input(2) && !(values = constantInts(2, "zero point")))
    return failure();
  if (!scale)
    return failure();
  step.scale = *scale;
  step.zeroPoint.assign(scale->size(), 0);
  if (input(2)) {
    if (values->empty() || (values->size() != scale->size() &&
                            values->size() != 1 && scale->size() != 1))
      return refuse(formatv("it has {0} scales but {1} zero points",
                            scale->size(), values->size()));
    size_t count = std::max(values->size(), scale->size());
    step.zeroPoint = *values;
    step.zeroPoint.resize(count, values->front());
    step.scale.resize(count, scale->front());
  }
  size_t count = step.scale.size();
  if (count == 1)
    return success();
  std::optional<int64_t> axis = axisAttribute(1, rank);
  if (!axis)
    return failure();
  if (input(0)->shape[*axis] != int64_t(count))
    return refuse(formatv("it has {0} scales for axis {1} of the shape {2}",
                          count, *axis, describe(input(0)->shape)));
  step.axis = *axis;
  return success();
}

bool Importer::isBlocked() const { return node->getInt("block_size", 0) != 0; }

/// Input `i` of a blocked quantiser, one value a block, as one value an element
/// of input 0; null (refused) if it does not fit.
TensorRef Importer::blockwise(size_t i, StringRef what) {
  const Shape &shape = input(0)->shape;
  TensorRef blocks = input(i);
  if (!blocks || !blocks->isPlainConstant()) {
    refuse(formatv("its {0} is not constant", what), "use static quantisation");
    return nullptr;
  }
  std::optional<int64_t> axis = axisAttribute(1, shape.size());
  int64_t size = node->getInt("block_size", 0);
  if (!axis)
    return nullptr;
  Shape expected = shape;
  if (size > 0)
    expected[*axis] = (shape[*axis] + size - 1) / size;
  if (size < 1 || blocks->shape != expected) {
    refuse(formatv("its {0} has the shape {1} for blocks of {2} along axis {3} "
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
    refuse(formatv("it quantises {0} elements in blocks", n),
           "quantise per tensor or per channel");
    return nullptr;
  }
  for (size_t d = *axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  for (int64_t e = 0; e < n; ++e) {
    int64_t at = e / inner % shape[*axis], outer = e / inner / shape[*axis];
    int64_t block = (outer * expected[*axis] + at / size) * inner + e % inner;
    double v = from.isReal() ? from.reals[block] : double(from.ints[block]);
    if (from.isReal() && (!(float(v) > 0) || !std::isfinite(float(v)))) {
      refuse(formatv("its {0} holds the value {1}", what, v),
             "a scale must be positive and finite");
      return nullptr;
    }
    host->reals.push_back(v);
  }
  return hostTensor(host);
}

/// A blocked quantiser as real arithmetic around a plain one: its scales and
/// zero points are tensors.
LogicalResult Importer::blockedQuantise(num::IntType type) {
  TensorRef scale = blockwise(1, "scale"),
            zero = input(2) && scale ? blockwise(2, "zero point") : nullptr;
  if (!scale || (input(2) && !zero))
    return failure();
  TensorRef t = emitBinaryTensors("Div", input(0), scale);
  if (!t)
    return failure();
  QuantStep whole{true, {1.0}, {0}, -1, type};
  if (zero) {
    whole.type = num::IntType::getFull(context, true, 32);
    Value &v = t->last ? t->last : t->plain;
    v = quantStep(v, whole, -1);
    whole.quantise = false;
    v = quantStep(v, whole, -1);
    if (!(t = emitBinaryTensors("Add", t, zero)))
      return failure();
    whole.quantise = true;
    whole.type = type;
  }
  Value v = quantStep(t->last ? t->last : t->plain, whole, -1);
  return t->last ? setLast(v, t->shape) : setPlain(v);
}

LogicalResult Importer::blockedDequantise(num::IntType type) {
  TensorRef scale = blockwise(1, "scale"),
            zero = input(2) && scale ? blockwise(2, "zero point") : nullptr;
  if (!scale || (input(2) && !zero))
    return failure();
  TensorRef x = input(0);
  if (x->isPlainConstant()) { // stored weights: the floats that ONNX defines
    auto host = std::make_shared<HostTensor>();
    host->type = TensorProto::FLOAT;
    host->shape = x->shape;
    for (size_t i = 0; i < x->constant->size(); ++i)
      host->reals.push_back(float(double(x->constant->ints[i]) -
                                  (zero ? zero->constant->reals[i] : 0.0)) *
                            float(scale->constant->reals[i]));
    return setResult(0, hostTensor(host));
  }
  auto t = std::make_shared<GraphTensor>();
  t->shape = x->shape;
  t->element = f32;
  Value v = plain(x);
  if (!v)
    return failure();
  t->plain = quantStep(v, {false, {1.0}, {0}, -1, type}, -1);
  TensorRef out = t;
  if (zero)
    out = emitBinaryTensors("Sub", out, zero);
  out = out ? emitBinaryTensors("Mul", out, scale) : nullptr;
  return out ? setResult(0, out) : failure();
}

LogicalResult Importer::quantizeLinear() {
  if (failed(requireReal(0)))
    return failure();
  QuantStep step;
  step.quantise = true;
  int onnxType = int(node->getInt("output_dtype", 0));
  if (TensorRef zero = input(2); zero && zero->constant)
    onnxType = zero->constant->type;
  else if (onnxType == 0)
    onnxType = TensorProto::UINT8;
  step.type = integerType(onnxType);
  if (!step.type || step.type.getWidth() > 16)
    return refuse(formatv("it quantises to {0}", typeName(onnxType)),
                  "integers of 4, 8 and 16 bits are supported");
  if (isBlocked())
    return blockedQuantise(step.type);
  if (failed(linearStep(step, int64_t(input(0)->rank()))))
    return failure();
  return applySteps(input(0), {step});
}

LogicalResult Importer::dequantizeLinear() {
  TensorRef x = input(0);
  if (!x)
    return refuse("its input 0 is missing");
  QuantStep step;
  step.type = dyn_cast_or_null<num::IntType>(x->element);
  if (!step.type) {
    std::string have = x->constant         ? typeName(x->constant->type)
                       : x->element == f32 ? "float"
                                           : "indices";
    return refuse(formatv("its input has the element type {0}", have),
                  "integers of 8, 16 and 32 bits are supported");
  }
  if (TensorRef zero = input(2); zero && zero->constant &&
                                 zero->constant->type != typeOf(x) &&
                                 integerType(zero->constant->type) != step.type)
    return refuse(formatv("its zero point has the type {0}, its input another",
                          typeName(zero->constant->type)));
  if (isBlocked())
    return blockedDequantise(step.type);
  if (failed(linearStep(step, int64_t(x->rank()))))
    return failure();
  return applySteps(x, {step});
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

num::IntType Importer::qonnxType(bool isSigned, bool narrow,
                                 unsigned width) const {
  int64_t half = int64_t(1) << (width - 1);
  int64_t lo = isSigned ? -half + narrow : 0;
  int64_t hi = isSigned ? half - 1 : 2 * half - 1 - narrow;
  return num::IntType::get(context, isSigned, width, lo, hi);
}

LogicalResult Importer::quant() {
  TensorRef x = input(0);
  if (failed(requireReal(0)))
    return failure();
  QuantStep step;
  step.quantise = true;
  // All of them are judged before one stops us.
  auto scale = scaleValues(1);
  auto zero = constantReals(2, "zero point"),
       bits = constantReals(3, "bit width");
  if (bits &&
      (bits->size() != 1 || bits->front() != std::floor(bits->front()) ||
       bits->front() < 1 || bits->front() > 16)) {
    refuse(formatv("its bit width is {0}{1}",
                   bits->empty() ? 0.0 : bits->front(),
                   bits->size() > 1 ? " and others" : ""),
           "whole bit widths from 1 to 16, one per tensor, are supported");
    bits = std::nullopt;
  }
  std::string mode = node->getString("rounding_mode", "ROUND");
  std::optional<osa::Rounding> rounding = qonnxRounding(mode);
  if (!rounding)
    refuse(formatv("its rounding mode is '{0}'", mode),
           "ROUND, CEIL, FLOOR, UP, DOWN, HALF_UP and HALF_DOWN are supported");
  if (!scale || !zero || !bits || !rounding)
    return failure();
  step.rounding = *rounding;
  // The scale's axis and the zero point's; one of them may be a single value.
  auto scaleAxis = channelAxis(input(1)->shape, x->rank());
  auto zeroAxis = channelAxis(input(2)->shape, x->rank());
  if (!scaleAxis || !zeroAxis ||
      (*scaleAxis >= 0 && *zeroAxis >= 0 && *scaleAxis != *zeroAxis))
    return refuse(formatv("its scale {0} and zero point {1} vary along several "
                          "axes of {2}",
                          describe(input(1)->shape), describe(input(2)->shape),
                          describe(x->shape)),
                  "quantise per tensor or per channel");
  step.axis = std::max(*scaleAxis, *zeroAxis);
  size_t n = std::max(scale->size(), zero->size());
  if (step.axis >= 0 && x->shape[step.axis] != int64_t(n))
    return refuse(formatv("it has {0} scales for axis {1} of the shape {2}", n,
                          step.axis, describe(x->shape)));
  for (size_t i = 0; i < n; ++i) {
    double z = (*zero)[zero->size() == 1 ? 0 : i];
    if (z != std::floor(z) || std::abs(z) > 65536)
      return refuse(formatv("its zero point holds the value {0}", z),
                    "whole numbers are supported");
    step.scale.push_back((*scale)[scale->size() == 1 ? 0 : i]);
    step.zeroPoint.push_back(int64_t(z));
  }
  bool isSigned = node->getInt("signed", 1) != 0;
  bool narrow = node->getInt("narrow", 0) != 0;
  unsigned width = unsigned(bits->front());
  bool zeroFree =
      llvm::all_of(step.zeroPoint, [](int64_t z) { return z == 0; });
  if (isSigned && width == 1) {
    // QONNX reads one signed bit as −1 and 1.
    if (!zeroFree)
      return refuse("one signed bit has a zero point other than 0");
    step.rounding = osa::Rounding::Sign;
    step.type = num::IntType::get(context, true, 2, -1, 1);
  } else {
    step.type = qonnxType(isSigned, narrow, width);
  }
  // QONNX adds the zero point before it rounds, which is the same only for
  // modes that a whole number does not change.
  bool even =
      llvm::all_of(step.zeroPoint, [](int64_t z) { return z % 2 == 0; });
  bool shifts = step.rounding == osa::Rounding::Up ||
                step.rounding == osa::Rounding::Down ||
                (step.rounding == osa::Rounding::HalfEven && even);
  if (!zeroFree && !shifts)
    return shiftedQuant(step);
  QuantStep back = step;
  back.quantise = false;
  return applySteps(x, {step, back});
}

/// A Quant that rounds x / scale + zero, written out: real arithmetic around a
/// quantiser without scale and zero point.
LogicalResult Importer::shiftedQuant(QuantStep step) {
  TensorRef x = input(0), scale = input(1), zero = input(2);
  if (x->isConstant())
    return refuse(formatv("it rounds a constant after adding the zero point "
                          "{0}",
                          step.zeroPoint.front()),
                  "an even zero point, or the modes CEIL and FLOOR, are "
                  "supported for constants");
  step.scale = {1.0};
  step.zeroPoint = {0};
  step.axis = -1;
  TensorRef t = emitBinaryTensors("Div", x, scale);
  t = t ? emitBinaryTensors("Add", t, zero) : nullptr;
  if (!t)
    return failure();
  Value &v = t->last ? t->last : t->plain;
  v = quantStep(v, step, -1);
  step.quantise = false;
  v = quantStep(v, step, -1);
  t = emitBinaryTensors("Sub", t, zero);
  t = t ? emitBinaryTensors("Mul", t, scale) : nullptr;
  return t ? setResult(0, t) : failure();
}

/// Integers kept within bounds, as between the quantiser and the dequantiser of
/// widths that ONNX does not have: the quantiser saturates there.
LogicalResult Importer::clipIntegers(int64_t lo, int64_t hi) {
  TensorRef x = input(0);
  auto from = cast<num::IntType>(x->element);
  auto clipped = [&](int64_t v) { return std::min(std::max(v, lo), hi); };
  int64_t least = clipped(from.getLo()), most = clipped(from.getHi());
  unsigned width =
      num::bitsForRange(least, most) + (from.getIsSigned() && least >= 0);
  auto to = num::IntType::get(context, from.getIsSigned(), width, least, most);
  const int onnxType = typeOf(x);
  auto out = std::make_shared<GraphTensor>(*x);
  if (x->isPlainConstant()) {
    auto host = std::make_shared<HostTensor>(*x->constant);
    llvm::transform(host->ints, host->ints.begin(), clipped);
    return setResult(0, hostTensor(host));
  }
  out->element = to;
  out->onnx = onnxType;
  out->host = {};
  if (x->isConstant()) {
    out->steps.back().type = to;
    out->plain = out->last = {};
    return setResult(0, out);
  }
  const bool last = x->last != nullptr;
  Value v = last ? x->last : plain(x);
  auto type = this->type(cast<RankedTensorType>(v.getType()).getShape(), to);
  if (auto q = v.getDefiningOp<osa::QuantizeOp>()) {
    v = osa::QuantizeOp::create(builder, loc, type, q.getInput(),
                                q.getScaleAttr(), q.getZeroPointAttr(),
                                q.getAxisAttr(), q.getRoundingAttr());
  } else {
    v = quantStep(v, {false, {1.0}, {0}, -1, from}, -1);
    v = quantStep(v, {true, {1.0}, {0}, -1, to}, -1);
  }
  (last ? out->plain : out->last) = {};
  (last ? out->last : out->plain) = v;
  return setResult(0, out);
}

TensorRef Importer::rounded(const TensorRef &x, osa::Rounding rounding,
                            std::pair<int64_t, int64_t> bounds) {
  bool last = x->last != nullptr;
  Value v = last ? x->last : plain(x);
  if (!v)
    return nullptr;
  bool isSigned = bounds.first < 0;
  unsigned width =
      num::IntType::getForRange(context, bounds.first, bounds.second)
          .getWidth();
  QuantStep step{
      true,
      {1.0},
      {0},
      -1,
      num::IntType::get(context, isSigned, width, bounds.first, bounds.second),
      rounding};
  v = quantStep(v, step, -1);
  step.quantise = false;
  v = quantStep(v, step, -1);
  auto out = std::make_shared<GraphTensor>();
  out->shape = x->shape;
  out->element = f32;
  (last ? out->last : out->plain) = v;
  out->whole = bounds;
  return out;
}

LogicalResult Importer::roundToWhole() {
  TensorRef x = input(0);
  if (failed(requireReal(0)))
    return failure();
  if (x->whole)
    return passThrough(x);
  osa::Rounding rounding = node->op() == "Floor"  ? osa::Rounding::Down
                           : node->op() == "Ceil" ? osa::Rounding::Up
                                                  : osa::Rounding::HalfEven;
  TensorRef out = rounded(x, rounding, kWideIntegers);
  if (!out)
    return failure();
  out->whole.reset(); // its type is a float still
  return setResult(0, out);
}

LogicalResult Importer::bipolarQuant() {
  if (failed(requireReal(0)))
    return failure();
  auto scale = scaleValues(1);
  if (!scale)
    return failure();
  QuantStep step;
  step.quantise = true;
  auto axis = channelAxis(input(1)->shape, input(0)->rank());
  if (!axis || (*axis >= 0 && input(0)->shape[*axis] != int64_t(scale->size())))
    return refuse(formatv("its scale {0} does not fit one axis of {1}",
                          describe(input(1)->shape), describe(input(0)->shape)),
                  "quantise per tensor or per channel");
  step.axis = *axis;
  step.scale = *scale;
  step.zeroPoint.assign(scale->size(), 0);
  step.type = num::IntType::get(context, true, 2, -1, 1);
  step.rounding = osa::Rounding::Sign;
  QuantStep back = step;
  back.quantise = false;
  return applySteps(input(0), {step, back});
}
