// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expands the operators with built-in quantization. ONNX defines
// QLinearConv and QLinearMatMul, and ONNX Runtime the contrib operators of
// domain com.microsoft, by this equivalence; a bias of QLinearConv has the
// scale x_scale · w_scale, which is stored as a product of two exact numbers.
#include "Expand.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::NodeProto;

/// The operation on reals that a QLinear one quantizes.
static StringRef realOf(const Expansion &e) {
  return e.op().drop_front(StringRef("QLinear").size());
}

//===----------------------------------------------------------------------===//
// QLinear*: integers in, integers out
//===----------------------------------------------------------------------===//

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias); the contrib
/// form may have channels-last images.
void expand::qlinearConv(Expansion &e) {
  bool last = e.getInt("channels_last", 0) != 0;
  std::string x = e.dequantize(e.input(0), e.input(1), e.input(2));
  std::string w = e.dequantize(e.input(3), e.input(4), e.input(5), 0);
  if (last)
    x = e.transpose(x, {0, 3, 1, 2});
  std::string bias;
  if (!e.input(8).empty()) {
    std::string scaled = e.dequantize(e.input(8), e.input(1), "", 0);
    bias = e.put("Mul", {scaled, e.input(4)});
  }
  std::string y = e.real("Conv", {x, w, bias}, {"channels_last"});
  e.quantize(last ? e.transpose(y, {0, 2, 3, 1}) : y, 6);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
void expand::qlinearMatMul(Expansion &e) {
  std::string a = e.dequantize(e.input(0), e.input(1), e.input(2), -2);
  std::string b = e.dequantize(e.input(3), e.input(4), e.input(5), -1);
  e.quantize(e.put("MatMul", {a, b}), 6);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero); alpha · A · B
/// + C, C of scale alpha · a_scale · b_scale; a real result without y_scale.
void expand::qgemm(Expansion &e) {
  bool transposed = e.getInt("transB", 0) != 0;
  std::string a = e.dequantize(e.input(0), e.input(1), e.input(2));
  std::string b =
      e.dequantize(e.input(3), e.input(4), e.input(5), transposed ? 0 : 1);
  std::string y = e.real("Gemm", {a, b}, {"alpha"});
  if (!e.input(6).empty()) {
    std::string scaled = e.dequantize(e.input(6), e.input(1), "", -1);
    y = e.put("Add", {y, e.put("Mul", {scaled, e.input(4)})});
  }
  if (const AttributeProto *alpha = e.attribute("alpha");
      alpha && alpha->f() != 1) {
    NodeProto &factor = e.add("Constant", {});
    *factor.add_attribute() = *alpha;
    factor.mutable_attribute(0)->set_name("value_float");
    std::string name = factor.output(0);
    y = e.put("Mul", {y, name});
  }
  if (e.input(7).empty())
    e.last("Identity", {y});
  else
    e.quantize(y, 7);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
void expand::qlinearBinary(Expansion &e) {
  std::string a = e.dequantize(e.input(0), e.input(1), e.input(2));
  std::string b = e.dequantize(e.input(3), e.input(4), e.input(5));
  e.quantize(e.put(realOf(e), {a, b}), 6);
}

/// (x, x_scale, x_zero, y_scale, y_zero)
void expand::qlinearUnary(Expansion &e) {
  std::string x = e.dequantize(e.input(0), e.input(1), e.input(2));
  e.quantize(e.real(realOf(e), {x}, {"opset"}), 3);
}

/// The same with images in either layout.
void expand::qlinearPool(Expansion &e) {
  bool last = e.getInt("channels_last", 0) != 0;
  std::string x = e.dequantize(e.input(0), e.input(1), e.input(2));
  if (last)
    x = e.transpose(x, {0, 3, 1, 2});
  std::string y = e.real(realOf(e), {x}, {"channels_last"});
  e.quantize(last ? e.transpose(y, {0, 2, 3, 1}) : y, 3);
}

/// (y_scale, y_zero, then x, scale, zero of each)
void expand::qlinearConcat(Expansion &e) {
  std::vector<std::string> parts;
  for (int i = 2; i + 2 < e.inputs(); i += 3)
    parts.push_back(e.dequantize(e.input(i), e.input(i + 1), e.input(i + 2)));
  e.quantize(e.real("Concat", parts), 0);
}

//===----------------------------------------------------------------------===//
// Integers in, their product as whole numbers or as reals out
//===----------------------------------------------------------------------===//

/// (x, w, x_zero, w_zero)
void expand::convInteger(Expansion &e) {
  std::string scale = e.constant(1);
  std::string x = e.dequantize(e.input(0), scale, e.input(2));
  std::string w = e.dequantize(e.input(1), scale, e.input(3), 0);
  e.last("Identity", {e.real("Conv", {x, w})});
}

/// (a, b, a_zero, b_zero)
void expand::matMulInteger(Expansion &e) {
  std::string scale = e.constant(1);
  std::string a = e.dequantize(e.input(0), scale, e.input(2), -2);
  std::string b = e.dequantize(e.input(1), scale, e.input(3), -1);
  e.last("MatMul", {a, b});
}

/// (a, b, a_scale, b_scale, a_zero, b_zero, bias); both per column
void expand::matMulIntegerToFloat(Expansion &e) {
  std::string a = e.dequantize(e.input(0), e.input(2), e.input(4), -1);
  std::string b = e.dequantize(e.input(1), e.input(3), e.input(5), -1);
  if (e.input(6).empty())
    e.last("MatMul", {a, b});
  else
    e.last("Add", {e.put("MatMul", {a, b}), e.input(6)});
}

/// (a, b, b_scale, b_zero, bias): a is quantized by its own range.
void expand::dynamicQuantizeMatMul(Expansion &e) {
  NodeProto &range = e.add("DynamicQuantizeLinear", {e.input(0)});
  std::string q = range.output(0), scale = q + "s", zero = q + "z";
  range.add_output(scale);
  range.add_output(zero);
  std::string a = e.dequantize(q, scale, zero);
  std::string b = e.dequantize(e.input(1), e.input(2), e.input(3), -1);
  if (e.input(4).empty())
    e.last("MatMul", {a, b});
  else
    e.last("Add", {e.put("MatMul", {a, b}), e.input(4)});
}
