// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `osa` dialect's registration and verifiers. Each message begins with the
// number of the constraint in Osa.td or Matmul.td that it reports.
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::osa;

#include "rhizome/Dialect/Osa/OsaDialect.cpp.inc"

#include "rhizome/Dialect/Osa/OsaEnums.cpp.inc"

#include "rhizome/Dialect/Osa/OsaInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/OsaOps.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/Matmul.cpp.inc"

void OsaDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Osa/OsaOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Osa/Matmul.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Osa/Rows.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Checks shared by several operations
//===----------------------------------------------------------------------===//

static RankedTensorType tensorOf(Value v) {
  return cast<RankedTensorType>(v.getType());
}

static LogicalResult checkShape(Operation *op, Value value,
                                ArrayRef<int64_t> shape, StringRef what) {
  RankedTensorType type = tensorOf(value);
  if (type.getShape() == shape)
    return success();
  auto diag = op->emitOpError()
              << what << " is " << type << ", expected shape [";
  llvm::interleaveComma(shape, diag);
  return diag << "]";
}

/// The result has the first operand's shape; `number` is the constraint's.
static LogicalResult checkSameShape(Operation *op, StringRef number) {
  return checkShape(op, op->getResult(0),
                    tensorOf(op->getOperand(0)).getShape(),
                    (number + ": the output").str());
}

/// Operands and result are of one level, for any ranges.
static LogicalResult checkLevel(Operation *op, StringRef number) {
  Type out = tensorOf(op->getResult(0)).getElementType();
  for (Value v : op->getOperands()) {
    Type in = tensorOf(v).getElementType();
    if (in != out && !(isa<num::IntType>(in) && isa<num::IntType>(out)))
      return op->emitOpError()
             << number << ": an operand of " << in << " and an output of "
             << out << " are not of one level";
  }
  return success();
}

/// The elements are passed on: the result's type holds every operand's.
static LogicalResult checkElements(Operation *op, StringRef number) {
  if (failed(checkLevel(op, number)))
    return failure();
  num::IntType out = num::elementInt(op->getResult(0).getType());
  for (Value v : op->getOperands())
    if (num::IntType in = num::elementInt(v.getType());
        in && !(out.contains(in.getLo()) && out.contains(in.getHi())))
      return op->emitOpError() << number << ": the output's " << out
                               << " does not hold the input's " << in;
  return success();
}

namespace {
enum class Holds { Reals, Integers, Either };
}

static LogicalResult checkValues(Operation *op, ElementsAttr attr,
                                 StringRef what, Holds holds) {
  if (failed(verifyValues(attr, what, [&] { return op->emitOpError("D1: "); })))
    return failure();
  Type element = attr.getElementType();
  bool real = element.isF32();
  bool integer = isa<IntegerType>(element) &&
                 element.getIntOrFloatBitWidth() >= 8 &&
                 llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()) &&
                 element.getIntOrFloatBitWidth() <= 64;
  if ((real && holds != Holds::Integers) || (integer && holds != Holds::Reals))
    return success();
  return op->emitOpError() << "D1: " << what << " has elements of " << element
                           << ", which are not read";
}

/// One value or one per channel.
static LogicalResult checkPerChannel(Operation *op, size_t n) {
  auto shape = tensorOf(op->getOperand(0)).getShape();
  if (n != 1 && (shape.empty() || int64_t(n) != shape.back()))
    return op->emitOpError()
           << "C1: " << n << " values for "
           << (shape.empty() ? 1 : shape.back()) << " channels";
  return success();
}

//===----------------------------------------------------------------------===//
// Both levels
//===----------------------------------------------------------------------===//

/// The minimum and the maximum of integers; `signed` says how they extend.
template <typename T>
static std::pair<int64_t, int64_t> extremes(ArrayRef<char> bytes) {
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T v;
    std::memcpy(&v, bytes.data() + i, sizeof v);
    lo = std::min(lo, int64_t(v));
    hi = std::max(hi, int64_t(v));
  }
  return {lo, hi};
}

/// There may be many weights: they are read in place.
static std::pair<int64_t, int64_t> extremesOf(ElementsAttr attr,
                                              bool isSigned) {
  ArrayRef<char> bytes = rawValues(attr);
  switch (attr.getElementType().getIntOrFloatBitWidth()) {
  case 8:
    return isSigned ? extremes<int8_t>(bytes) : extremes<uint8_t>(bytes);
  case 16:
    return isSigned ? extremes<int16_t>(bytes) : extremes<uint16_t>(bytes);
  case 32:
    return isSigned ? extremes<int32_t>(bytes) : extremes<uint32_t>(bytes);
  default:
    return extremes<int64_t>(bytes);
  }
}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType().getShape() != tensorOf(getResult()).getShape())
    return emitOpError("C1: value and result differ in shape");
  if (failed(checkValues(*this, getValue(), "value", Holds::Either)))
    return failure();
  Type from = getValue().getElementType(),
       to = tensorOf(getResult()).getElementType();
  auto range = dyn_cast<num::IntType>(to);
  if (from != to && !(range && isa<IntegerType>(from)))
    return emitOpError() << "C2: elements of " << from << " can't be of " << to;
  if (!range || getValue().getNumElements() == 0)
    return success();
  auto [lo, hi] = extremesOf(getValue(), range.getIsSigned());
  if (!range.contains(lo) || !range.contains(hi))
    return emitOpError() << "C3: " << (range.contains(lo) ? hi : lo)
                         << " is not a value of " << range;
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// Sizes with which arithmetic on shapes does not overflow.
static bool notNegative(int64_t v) { return v >= 0 && v <= INT32_MAX; }
static bool positive(int64_t v) { return v >= 1 && v <= INT32_MAX; }

static LogicalResult checkWindow(Operation *op, ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> pads,
                                 ArrayRef<int64_t> dilations,
                                 StringRef number) {
  if (strides.size() != 2 || !llvm::all_of(strides, positive))
    return op->emitOpError()
           << number << ": strides must be two positive values";
  if (dilations.size() != 2 || !llvm::all_of(dilations, positive))
    return op->emitOpError()
           << number << ": dilations must be two positive values";
  if (pads.size() != 4 || !llvm::all_of(pads, notNegative))
    return op->emitOpError() << number << ": pads must be four values ≥ 0";
  return success();
}

/// The output's size follows from the window and is positive.
static LogicalResult checkWindowOutput(Operation *op, int64_t outChannels,
                                       StringRef number) {
  Window w = *getWindow(op);
  int64_t oh = windowOutput(w.height, w.padTop, w.padBottom, w.kernelH,
                            w.strideH, w.dilationH);
  int64_t ow = windowOutput(w.width, w.padLeft, w.padRight, w.kernelW,
                            w.strideW, w.dilationW);
  if (oh < 1 || ow < 1)
    return op->emitOpError()
           << number << ": a kernel of " << w.kernelH << "x" << w.kernelW
           << " does not fit an input of " << w.height << "x" << w.width;
  return checkShape(op, op->getResult(0), {1, oh, ow, outChannels},
                    (number + ": the output").str());
}

LogicalResult Conv2dOp::verify() {
  auto in = tensorOf(getInput()).getShape(),
       w = tensorOf(getWeights()).getShape();
  if (in.size() != 4 || in[0] != 1 || w.size() != 4 ||
      tensorOf(getOutput()).getRank() != 4)
    return emitOpError("C1: expects an input [1,H,W,C] and weights of rank 4");
  if (failed(checkWindow(*this, getStrides(), getPads(), getDilations(), "C2")))
    return failure();
  if (!positive(w[1]) || !positive(w[2]))
    return emitOpError("C2: the kernel is empty or too large");
  int64_t groups = getGroups();
  if (groups < 1 || in[3] % groups || w[0] % groups || w[3] != in[3] / groups)
    return emitOpError() << "C3: groups = " << groups << " does not divide "
                         << in[3] << " input channels into weights of " << w[3];
  if (getBias() && failed(checkShape(*this, getBias(), {w[0]}, "C1: the bias")))
    return failure();
  if (failed(checkWindowOutput(*this, w[0], "C4")) ||
      failed(checkLevel(*this, "C5")))
    return failure();
  // If there are no pads, or the range begins above 0, it may be outside it.
  num::IntType type = num::elementInt(getInput().getType());
  auto pad = int64_t(getPadValue());
  if (type ? !num::IntType::getFull(getContext(), type.getIsSigned(),
                                    type.getWidth())
                  .contains(pad)
           : pad != 0)
    return emitOpError() << "C6: the input can't have the pad_value " << pad;
  return success();
}

LogicalResult DenseOp::verify() {
  auto in = tensorOf(getInput()).getShape(),
       w = tensorOf(getWeights()).getShape();
  if (in.empty() || w.size() != 2 || w[1] != in.back())
    return emitOpError("C1: the input's last axis and the weights' differ");
  SmallVector<int64_t> out(in);
  out.back() = w[0];
  if (getBias() && failed(checkShape(*this, getBias(), {w[0]}, "C1: the bias")))
    return failure();
  if (failed(checkShape(*this, getOutput(), out, "C1: the output")))
    return failure();
  return checkLevel(*this, "C2");
}

MatmulShape osa::matmulShape(MatmulOp op) {
  auto lhs = tensorOf(op.getLhs()).getShape(),
       rhs = tensorOf(op.getRhs()).getShape();
  auto axes = op.getRhsAxes();
  return {lhs[0], lhs[1],       lhs[2],
          lhs[3], rhs[axes[2]], {axes[0], axes[1], axes[2]}};
}

LogicalResult MatmulOp::verify() {
  auto lhs = tensorOf(getLhs()).getShape(), rhs = tensorOf(getRhs()).getShape();
  if (lhs.size() != 4)
    return emitOpError("C1: expects a left operand [O,B,M,K]");
  SmallVector<int64_t> axes(getRhsAxes());
  llvm::sort(axes);
  if (rhs.size() != 3 || ArrayRef<int64_t>(axes) != ArrayRef<int64_t>{0, 1, 2})
    return emitOpError("C2: expects a right operand of three axes and rhs_axes "
                       "that name each once");
  MatmulShape s = matmulShape(*this);
  if (rhs[s.axes[0]] != s.batch || rhs[s.axes[1]] != s.inner)
    return emitOpError() << "C2: the right operand has a batch of "
                         << rhs[s.axes[0]] << " and sums of " << rhs[s.axes[1]]
                         << ", the left one " << s.batch << " and " << s.inner;
  if (failed(checkShape(*this, getOutput(),
                        {s.outer, s.batch, s.rows, s.columns},
                        "C1: the output")) ||
      failed(checkLevel(*this, "C3")))
    return failure();
  if (!num::elementInt(getOutput().getType()) &&
      (getLhsZero() != 0 || getRhsZero() != 0))
    return emitOpError("C4: a zero point among reals");
  return success();
}

/// Input and output ranks, and the output's size.
template <typename Op> static LogicalResult verifyPool(Op op) {
  auto in = tensorOf(op.getInput()).getShape();
  if (in.size() != 4 || in[0] != 1 || op.getKernel().size() != 2 ||
      !llvm::all_of(op.getKernel(), positive) ||
      tensorOf(op.getOutput()).getRank() != 4)
    return op.emitOpError("C1: expects an input [1,H,W,C] and a kernel of two "
                          "positive values");
  if (failed(checkWindow(op, op.getStrides(), op.getPads(), op.getDilations(),
                         "C1")))
    return failure();
  return checkWindowOutput(op, in[3], "C3");
}

/// True if every window along an axis contains a position of the input.
static bool allWindowsMeet(int64_t size, int64_t padLow, int64_t kernel,
                           int64_t stride, int64_t dilation, int64_t outputs) {
  for (int64_t o = 0; o < outputs; ++o) {
    int64_t begin = o * stride - padLow;
    // The first of the window's positions that is not before the input.
    int64_t k = begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
    if (k >= kernel || begin + k * dilation >= size)
      return false;
  }
  return true;
}

/// A pool whose result is undefined if a window is empty.
template <typename Op> static LogicalResult verifyFullPool(Op op) {
  if (failed(verifyPool(op)))
    return failure();
  Window w = *getWindow(op);
  if (!allWindowsMeet(w.height, w.padTop, w.kernelH, w.strideH, w.dilationH,
                      w.outHeight) ||
      !allWindowsMeet(w.width, w.padLeft, w.kernelW, w.strideW, w.dilationW,
                      w.outWidth))
    return op.emitOpError("C2: a window holds no position of the input");
  return success();
}

LogicalResult MaxPoolOp::verify() {
  return failed(verifyFullPool(*this)) ? failure() : checkElements(*this, "C4");
}
LogicalResult AvgPoolOp::verify() { return verifyFullPool(*this); }

LogicalResult SumPoolOp::verify() {
  if (failed(verifyPool(*this)))
    return failure();
  auto out = tensorOf(getOutput()).getShape();
  size_t n = getPositionScale().size();
  if (n != 0 && int64_t(n) != out[1] * out[2])
    return emitOpError() << "C2: position_scale holds " << n << " values for "
                         << out[1] * out[2] << " positions";
  if (!llvm::all_of(getPositionScale(), [](int64_t v) { return v >= 1; }))
    return emitOpError("C2: position_scale must be positive");
  return success();
}

LogicalResult ConcatOp::verify() {
  int64_t axis = getAxis(), sum = 0;
  auto out = tensorOf(getOutput()).getShape();
  if (getInputs().empty() || axis < 0 || axis >= int64_t(out.size()))
    return emitOpError("C1: there is no input, or the axis is out of range");
  for (Value v : getInputs()) {
    SmallVector<int64_t> shape(tensorOf(v).getShape());
    if (shape.size() != out.size())
      return emitOpError("C2: the inputs differ in rank");
    sum += shape[axis];
    shape[axis] = out[axis];
    if (ArrayRef<int64_t>(shape) != out)
      return emitOpError("C2: the inputs differ outside the axis");
  }
  if (sum != out[axis])
    return emitOpError("C2: the output's axis is not the sum");
  return checkElements(*this, "C3");
}

LogicalResult ReshapeOp::verify() {
  if (tensorOf(getInput()).getNumElements() !=
      tensorOf(getOutput()).getNumElements())
    return emitOpError("C1: input and output differ in the number of elements");
  return checkElements(*this, "C2");
}

LogicalResult TransposeOp::verify() {
  auto in = tensorOf(getInput()).getShape();
  SmallVector<int64_t> out;
  SmallVector<bool> seen(in.size(), false);
  for (int64_t axis : getPermutation()) {
    if (axis < 0 || axis >= int64_t(in.size()) || seen[axis])
      return emitOpError("C1: the permutation names an axis out of range, or "
                         "twice");
    seen[axis] = true;
    out.push_back(in[axis]);
  }
  if (out.size() != in.size())
    return emitOpError("C1: the permutation does not name every axis");
  if (failed(checkShape(*this, getOutput(), out, "C2: the output")))
    return failure();
  return checkElements(*this, "C3");
}

LogicalResult GatherOp::verify() {
  SmallVector<int64_t> out(tensorOf(getInput()).getShape());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= int64_t(out.size()))
    return emitOpError("C1: the axis is out of range");
  for (int64_t index : getIndices())
    if (index < 0 || index >= out[axis])
      return emitOpError() << "C2: the index " << index << " is not below "
                           << out[axis];
  out[axis] = int64_t(getIndices().size());
  if (failed(checkShape(*this, getOutput(), out, "C1: the output")))
    return failure();
  return checkElements(*this, "C3");
}

LogicalResult PadOp::verify() {
  SmallVector<int64_t> out(tensorOf(getInput()).getShape());
  if (getLow().size() != out.size() || getHigh().size() != out.size())
    return emitOpError("C1: low and high need one value per axis");
  if (!llvm::all_of(getLow(), notNegative) ||
      !llvm::all_of(getHigh(), notNegative))
    return emitOpError("C1: low and high must not be negative");
  for (auto [i, size] : llvm::enumerate(out))
    size += getLow()[i] + getHigh()[i];
  if (failed(checkShape(*this, getOutput(), out, "C2: the output")) ||
      failed(checkElements(*this, "C3")))
    return failure();
  if (tensorOf(getOutput()).getElementType().isF32())
    return success();
  double value = getValue().convertToDouble();
  num::IntType range = num::elementInt(getOutput().getType());
  if (value != std::floor(value) || std::abs(value) > 0x1p62 ||
      (range && !range.contains(int64_t(value))))
    return emitOpError() << "C4: the output can't have the value " << value;
  return success();
}

//===----------------------------------------------------------------------===//
// Real level
//===----------------------------------------------------------------------===//

/// Scale and zero point of a quantizer or dequantizer.
template <typename Op> static LogicalResult verifyScaled(Op op) {
  if (failed(checkValues(op, op.getScale(), "scale", Holds::Reals)) ||
      failed(checkValues(op, op.getZeroPoint(), "zero_point", Holds::Either)))
    return failure();
  for (float s : floatValues(op.getScale()))
    if (!(s > 0) || std::isinf(s))
      return op.emitOpError()
             << "C1: the scale " << s << " is not positive and finite";
  auto shape = tensorOf(op.getInput()).getShape();
  auto axis = int64_t(op.getAxis());
  if (axis < -1 || axis >= int64_t(shape.size()))
    return op.emitOpError() << "C2: there is no axis " << axis;
  int64_t length = axis < 0 ? 1 : shape[axis];
  for (ElementsAttr attr : {op.getScale(), op.getZeroPoint()})
    if (int64_t n = attr.getNumElements();
        (n != 1 && n != length) || attr.getShapedType().getRank() > 1)
      return op.emitOpError() << "C2: " << attr.getType() << " has not 1 or "
                              << length << " values along one axis";
  if (op.getZeroPoint().getElementType().isF32())
    for (float z : floatValues(op.getZeroPoint()))
      if (z != std::floor(z) || std::abs(z) > 0x1p62f)
        return op.emitOpError()
               << "C3: the zero point " << z << " is not whole";
  return checkSameShape(op, "C4");
}

LogicalResult QuantizeOp::verify() { return verifyScaled(*this); }
LogicalResult DequantizeOp::verify() { return verifyScaled(*this); }

LogicalResult MultiThresholdOp::verify() {
  if (failed(checkValues(*this, getThresholds(), "thresholds", Holds::Reals)))
    return failure();
  auto shape = getThresholds().getShapedType().getShape();
  num::IntType out = num::elementInt(getOutput().getType());
  if (shape.size() != 2 || !out.contains(0) || !out.contains(shape[1]))
    return emitOpError("C1: thresholds must have rank 2, and the result hold "
                       "their number");
  std::vector<float> values = floatValues(getThresholds());
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) ||
        (i % size_t(shape[1]) && values[i] < values[i - 1]))
      return emitOpError("C1: the thresholds of a channel must be finite and "
                         "ascend");
  return failed(checkPerChannel(*this, shape[0])) ? failure()
                                                  : checkSameShape(*this, "C2");
}

/// NumPy broadcasting of the two operands gives the output's shape.
static LogicalResult verifyBinary(Operation *op) {
  auto a = tensorOf(op->getOperand(0)).getShape(),
       b = tensorOf(op->getOperand(1)).getShape();
  size_t rank = std::max(a.size(), b.size());
  SmallVector<int64_t> out(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1)
      return op->emitOpError("C1: the operands' shapes do not broadcast");
    out[i] = x == 1 ? y : x;
  }
  return checkShape(op, op->getResult(0), out, "C1: the output");
}
LogicalResult AddOp::verify() { return verifyBinary(*this); }
LogicalResult SubOp::verify() { return verifyBinary(*this); }
LogicalResult MulOp::verify() { return verifyBinary(*this); }
LogicalResult DivOp::verify() { return verifyBinary(*this); }
LogicalResult MaxOp::verify() { return verifyBinary(*this); }
LogicalResult MinOp::verify() { return verifyBinary(*this); }

LogicalResult BatchNormOp::verify() {
  std::pair<ElementsAttr, StringRef> all[] = {{getGamma(), "gamma"},
                                              {getBeta(), "beta"},
                                              {getMean(), "mean"},
                                              {getVariance(), "variance"}};
  for (auto [attr, name] : all)
    if (failed(checkValues(*this, attr, name, Holds::Reals)) ||
        failed(checkPerChannel(*this, attr.getNumElements())))
      return failure();
  return checkSameShape(*this, "C2");
}

LogicalResult ReluOp::verify() { return checkSameShape(*this, "C1"); }
LogicalResult LeakyReluOp::verify() { return checkSameShape(*this, "C1"); }
LogicalResult ClipOp::verify() { return checkSameShape(*this, "C1"); }
LogicalResult UnaryOp::verify() { return checkSameShape(*this, "C1"); }

static LogicalResult checkAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return success();
  return op->emitOpError() << "C1: an input of rank " << rank << " has no axis "
                           << axis;
}

LogicalResult SoftmaxOp::verify() {
  if (failed(
          checkAxis(*this, int64_t(getAxis()), tensorOf(getInput()).getRank())))
    return failure();
  return checkSameShape(*this, "C2");
}

LogicalResult ArgMaxOp::verify() {
  SmallVector<int64_t> shape(tensorOf(getInput()).getShape());
  auto axis = int64_t(getAxis()), rank = int64_t(shape.size());
  if (failed(checkAxis(*this, axis, rank)))
    return failure();
  axis = axis < 0 ? axis + rank : axis;
  if (shape[axis] == 0)
    return emitOpError("C1: the axis is empty");
  if (getKeepdims())
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  return checkShape(*this, getOutput(), shape, "C2: the output");
}

//===----------------------------------------------------------------------===//
// Integer level
//===----------------------------------------------------------------------===//

unsigned osa::sumBits(RequantizeOp op) {
  num::IntType in = num::elementInt(op.getInput().getType());
  auto multiplier = op.getMultiplier(), offset = op.getOffset();
  __int128 least = 0, most = 0;
  for (size_t c = 0; c < std::max(multiplier.size(), offset.size()); ++c)
    for (int64_t x : {in.getLo(), in.getHi()}) {
      // 2^63 times 2^63 and 2^63 fit 128 bits.
      const __int128 product =
          __int128(x) * multiplier[multiplier.size() == 1 ? 0 : c];
      const __int128 sum = product + offset[offset.size() == 1 ? 0 : c];
      least = std::min({least, product, sum});
      most = std::max({most, product, sum});
    }
  unsigned bits = 1;
  while (most >> (bits - 1) != 0 || least >> (bits - 1) != -(least < 0))
    ++bits;
  return bits;
}

LogicalResult RequantizeOp::verify() {
  if (failed(checkPerChannel(*this, getMultiplier().size())) ||
      failed(checkPerChannel(*this, getOffset().size())))
    return failure();
  auto shift = int64_t(getShift());
  if (shift < 0 || shift > 62)
    return emitOpError() << "C1: the shift " << shift << " is not in 0..62";
  if (getTiesEven() && shift == 0)
    return emitOpError("C1: ties_even needs a shift of at least 1");
  constexpr unsigned kMostBits = 112;
  if (sumBits(*this) > kMostBits)
    return emitOpError() << "C2: the product does not fit " << kMostBits
                         << " bits";
  return checkSameShape(*this, "C3");
}

/// The results of a threshold for inputs in its range. The counts at the
/// ends of the range are the minimum and the maximum.
static LogicalResult checkCounts(ThresholdOp op, ArrayRef<int64_t> thresholds) {
  num::IntType in = num::elementInt(op.getInput().getType()),
               out = num::elementInt(op.getOutput().getType());
  auto shape = op.getThresholds().getShapedType().getShape();
  for (int64_t c = 0; c < shape[0]; ++c) {
    auto of = thresholds.slice(c * shape[1], shape[1]);
    for (int64_t x : {in.getLo(), in.getHi()}) {
      __int128 count = llvm::upper_bound(of, x) - of.begin();
      __int128 v = int64_t(op.getBase()) + count * int64_t(op.getStep());
      if (v < out.getLo() || v > out.getHi())
        return op.emitOpError()
               << "C2: " << int64_t(count) << " thresholds passed give a "
               << "result that " << out << " does not hold";
    }
  }
  return success();
}

LogicalResult ThresholdOp::verify() {
  if (failed(
          checkValues(*this, getThresholds(), "thresholds", Holds::Integers)))
    return failure();
  auto shape = getThresholds().getShapedType().getShape();
  if (shape.size() != 2)
    return emitOpError("C1: thresholds must have rank 2");
  std::vector<int64_t> values = intValues(getThresholds());
  for (size_t i = 1; i < values.size(); ++i)
    if (i % size_t(shape[1]) && values[i] < values[i - 1])
      return emitOpError("C1: the thresholds of a channel must ascend");
  if (failed(checkPerChannel(*this, shape[0])) ||
      failed(checkCounts(*this, values)))
    return failure();
  return checkSameShape(*this, "C3");
}

LogicalResult TableOp::verify() {
  if (failed(checkValues(*this, getValues(), "values", Holds::Integers)))
    return failure();
  auto shape = getValues().getShapedType().getShape();
  num::IntType in = num::elementInt(getInput().getType()),
               out = num::elementInt(getOutput().getType());
  // The difference of distant ends overflows; such a table cannot exist either.
  if (shape.size() != 2 || shape[1] < 1 ||
      uint64_t(shape[1] - 1) != uint64_t(in.getHi()) - uint64_t(in.getLo()))
    return emitOpError("C1: the table needs one entry per input value");
  for (int64_t v : intValues(getValues()))
    if (!out.contains(v))
      return emitOpError() << "C2: the entry " << v << " is not a value of "
                           << out;
  return failed(checkPerChannel(*this, shape[0])) ? failure()
                                                  : checkSameShape(*this, "C3");
}

/// Two operands and a result of one shape.
static LogicalResult verifyPair(Operation *op) {
  return failed(checkShape(op, op->getOperand(1),
                           tensorOf(op->getOperand(0)).getShape(),
                           "C1: the right operand"))
             ? failure()
             : checkSameShape(op, "C1");
}
LogicalResult ScaledAddOp::verify() { return verifyPair(*this); }
LogicalResult ScaledMaxOp::verify() { return verifyPair(*this); }
LogicalResult ProductOp::verify() { return verifyPair(*this); }
