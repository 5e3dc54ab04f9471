// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FINN's MultiThreshold and QONNX's Trunc.
#include "Importer.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

LogicalResult Importer::multiThreshold() {
  TensorRef x = input(0);
  if (failed(requireReal(0)))
    return failure();
  auto values = constantReals(1, "list of thresholds");
  if (!values)
    return failure();
  Shape shape = input(1)->shape;
  double scale = node->getFloat("out_scale", 1),
         bias = node->getFloat("out_bias", 0);
  // Channels are axis 1 of images, or as the layout says; else the last.
  bool image =
      x->rank() == 4 && node->getString("data_layout", "NCHW") != "NHWC";
  if (x->rank() < 2)
    return refuse(formatv("its input has the shape {0}", describe(x->shape)));
  int64_t axis = image ? 1 : int64_t(x->rank()) - 1;
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > (1 << 16) ||
      (shape[0] != 1 && shape[0] != x->shape[axis]))
    return refuse(formatv("its thresholds {0} do not fit {1} channels",
                          describe(shape), x->shape[axis]));
  if (!std::isfinite(scale) || !std::isfinite(bias) || scale == 0)
    return refuse(
        formatv("its out_scale is {0}, its out_bias {1}", scale, bias));
  std::vector<float> sorted(values->begin(), values->end());
  for (int64_t c = 0; c < shape[0]; ++c)
    std::sort(sorted.begin() + c * shape[1],
              sorted.begin() + (c + 1) * shape[1]);
  // Infinite ones always or never count.
  for (float &v : sorted) {
    if (std::isnan(v))
      return refuse("one of its thresholds is NaN");
    v = std::clamp(v, -std::numeric_limits<float>::max(),
                   std::numeric_limits<float>::max());
  }
  // Its channels are the last axis of the value.
  Value v = image ? channelsLast(x) : plain(x);
  if (!v)
    return failure();
  auto in = cast<RankedTensorType>(v.getType());
  auto counts = num::IntType::getForRange(context, 0, shape[1]);
  v = osa::MultiThresholdOp::create(
      builder, loc, type(in.getShape(), counts), v,
      osa::makeFloatAttr(context, node->name, shape, sorted));
  v = quantStep(v, {false, {1.0}, {0}, -1, counts}, -1);
  if (scale != 1)
    v = emitBinary("Mul", v, scalar(scale), v.getType());
  if (bias != 0)
    v = emitBinary("Add", v, scalar(bias), v.getType());
  return image ? setLast(v, x->shape) : setPlain(v);
}

/// (x, scale, zero point, input bits, output bits), or with the output's scale
/// (and its zero point) before the output's bits: drops low bits of what a
/// Quant gave.
LogicalResult Importer::trunc() {
  TensorRef x = input(0);
  if (failed(requireReal(0)))
    return failure();
  bool later = input(5) != nullptr;
  auto scale = scaleValues(1);
  auto outScale = scale && later ? scaleValues(4) : scale;
  auto zero = outScale ? constantReals(2, "zero point") : std::nullopt;
  auto inBits = zero ? constantReals(3, "input bit width") : std::nullopt;
  auto outBits =
      inBits ? constantReals(later ? inputs.size() - 1 : 4, "output bit width")
             : std::nullopt;
  if (!outBits)
    return failure();
  auto isWidth = [](const std::vector<double> &v) {
    return v.size() == 1 && v[0] == std::floor(v[0]) && v[0] >= 1 && v[0] <= 40;
  };
  if (scale->size() != 1 || outScale->size() != 1 || zero->size() != 1 ||
      zero->front() != 0 || !isWidth(*inBits) || !isWidth(*outBits))
    return refuse("its scales, zero point or bit widths are not single numbers "
                  "that fit",
                  "one scale, a zero point of 0 and whole bit widths are "
                  "supported");
  std::string mode = node->getString("rounding_mode", "FLOOR");
  std::optional<osa::Rounding> rounding = qonnxRounding(mode);
  if (!rounding)
    return refuse(formatv("its rounding mode is '{0}'", mode),
                  "ROUND, CEIL, FLOOR, UP, DOWN, HALF_UP and HALF_DOWN are "
                  "supported");
  double ratio = later
                     ? std::round(std::log2(outScale->front() / scale->front()))
                     : inBits->front() - outBits->front();
  QuantStep whole{true, *scale, {0}, -1, {}};
  whole.type = num::IntType::get(context, true, 48, kWideIntegers.first,
                                 kWideIntegers.second);
  QuantStep wholeBack = whole;
  wholeBack.quantise = false;
  QuantStep step = whole;
  step.scale = {std::ldexp(scale->front(), int(ratio))};
  step.rounding = *rounding;
  if (later) // the earlier form does not clamp
    step.type =
        qonnxType(node->getInt("signed", 1) != 0,
                  node->getInt("narrow", 0) != 0, unsigned(outBits->front()));
  QuantStep back = step;
  back.quantise = false;
  back.scale = *outScale;
  return applySteps(x, {whole, wholeBack, step, back});
}
