// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `osa` dialect's registration and verifiers. Each message begins with the
// number of the constraint in Osa.td that it reports.
#include "rhizome/Dialect/Osa/Osa.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::osa;

#include "rhizome/Dialect/Osa/OsaDialect.cpp.inc"

#include "rhizome/Dialect/Osa/OsaInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/OsaOps.cpp.inc"

void OsaDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Osa/OsaOps.cpp.inc"
      >();
}

static RankedTensorType tensor(Value v) {
  return cast<RankedTensorType>(v.getType());
}

/// All tensors static, and of the shape that `shape` says.
static LogicalResult checkShape(Operation *op, Value value,
                                ArrayRef<int64_t> shape, StringRef what) {
  RankedTensorType type = tensor(value);
  if (type.getShape() == shape)
    return success();
  auto diag = op->emitOpError()
              << what << " is " << type << ", expected shape [";
  llvm::interleaveComma(shape, diag);
  return diag << "]";
}

static bool positive(int64_t v) { return v >= 1; }
static bool notNegative(int64_t v) { return v >= 0; }

static LogicalResult checkWindow(Operation *op, ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> pads,
                                 ArrayRef<int64_t> dilations) {
  if (strides.size() != 2 || !llvm::all_of(strides, positive))
    return op->emitOpError("C2: strides must be two positive values");
  if (dilations.size() != 2 || !llvm::all_of(dilations, positive))
    return op->emitOpError("C2: dilations must be two positive values");
  if (pads.size() != 4 || !llvm::all_of(pads, notNegative))
    return op->emitOpError("C2: pads must be four values ≥ 0");
  return success();
}

/// Input and output ranks and, for pools, the output's size.
template <typename Op> static LogicalResult verifyPool(Op op) {
  if (failed(checkWindow(op, op.getStrides(), op.getPads(), op.getDilations())))
    return failure();
  if (tensor(op.getInput()).getRank() != 4 || op.getKernel().size() != 2 ||
      !llvm::all_of(op.getKernel(), positive))
    return op.emitOpError("C1: expects an input [1,H,W,C] and a kernel of two "
                          "positive values");
  Window w = *getWindow(op);
  int64_t oh = windowOutput(w.height, w.padTop, w.padBottom, w.kernelH,
                            w.strideH, w.dilationH);
  int64_t ow = windowOutput(w.width, w.padLeft, w.padRight, w.kernelW,
                            w.strideW, w.dilationW);
  return checkShape(op, op.getOutput(), {1, oh, ow, w.channels}, "the output");
}

static LogicalResult verifySameShape(Operation *op) {
  return checkShape(op, op->getResult(0), tensor(op->getOperand(0)).getShape(),
                    "the output");
}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType().getShape() != tensor(getResult()).getShape())
    return emitOpError("C1: value and result differ in shape");
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult Conv2dOp::verify() {
  auto in = tensor(getInput()).getShape(), w = tensor(getWeights()).getShape();
  if (in.size() != 4 || w.size() != 4)
    return emitOpError("C1: expects an input [1,H,W,C] and weights of rank 4");
  if (failed(checkWindow(*this, getStrides(), getPads(), getDilations())))
    return failure();
  int64_t groups = getGroups();
  if (groups < 1 || in[3] % groups || w[0] % groups || w[3] != in[3] / groups)
    return emitOpError() << "C3: groups = " << groups << " does not divide "
                         << in[3] << " input channels into weights of " << w[3];
  auto p = getPads(), s = getStrides(), d = getDilations();
  if (getBias() && failed(checkShape(*this, getBias(), {w[0]}, "C1: the bias")))
    return failure();
  return checkShape(*this, getOutput(),
                    {1, windowOutput(in[1], p[0], p[2], w[1], s[0], d[0]),
                     windowOutput(in[2], p[1], p[3], w[2], s[1], d[1]), w[0]},
                    "C4: the output");
}

LogicalResult DenseOp::verify() {
  auto in = tensor(getInput()).getShape(), w = tensor(getWeights()).getShape();
  if (in.empty() || w.size() != 2 || w[1] != in.back())
    return emitOpError("C1: the input's last axis and the weights' differ");
  SmallVector<int64_t> out(in);
  out.back() = w[0];
  if (getBias() && failed(checkShape(*this, getBias(), {w[0]}, "C1: the bias")))
    return failure();
  return checkShape(*this, getOutput(), out, "C1: the output");
}

/// True if every window along an axis holds a position of the input.
static bool allWindowsMeet(int64_t size, int64_t padLow, int64_t kernel,
                           int64_t stride, int64_t dilation, int64_t outputs) {
  for (int64_t o = 0; o < outputs; ++o) {
    bool meets = false;
    for (int64_t k = 0; k < kernel && !meets; ++k) {
      int64_t at = o * stride - padLow + k * dilation;
      meets = at >= 0 && at < size;
    }
    if (!meets)
      return false;
  }
  return true;
}

/// A pool whose result is undefined where a window is empty.
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

LogicalResult MaxPoolOp::verify() { return verifyFullPool(*this); }
LogicalResult AvgPoolOp::verify() { return verifyFullPool(*this); }

LogicalResult SumPoolOp::verify() {
  if (failed(verifyPool(*this)))
    return failure();
  auto out = tensor(getOutput()).getShape();
  size_t n = getPositionScale().size();
  if (n != 0 && int64_t(n) != out[1] * out[2])
    return emitOpError() << "C1: position_scale holds " << n << " values for "
                         << out[1] * out[2] << " positions";
  if (!llvm::all_of(getPositionScale(), positive))
    return emitOpError("C1: position_scale must be positive");
  return success();
}

LogicalResult ConcatOp::verify() {
  int64_t axis = getAxis(), sum = 0;
  auto out = tensor(getOutput()).getShape();
  if (getInputs().empty() || axis < 0 || axis >= int64_t(out.size()))
    return emitOpError("the axis is out of range");
  for (Value v : getInputs()) {
    SmallVector<int64_t> shape(tensor(v).getShape());
    if (shape.size() != out.size())
      return emitOpError("the inputs differ in rank");
    sum += shape[axis];
    shape[axis] = out[axis];
    if (ArrayRef<int64_t>(shape) != out)
      return emitOpError("the inputs differ outside the axis");
  }
  return sum == out[axis] ? success()
                          : emitOpError("the output's axis is not the sum");
}

LogicalResult ReshapeOp::verify() {
  if (tensor(getInput()).getNumElements() !=
      tensor(getOutput()).getNumElements())
    return emitOpError("input and output differ in the number of elements");
  return success();
}

LogicalResult TransposeOp::verify() {
  auto in = tensor(getInput()).getShape();
  SmallVector<int64_t> out;
  for (int64_t axis : getPermutation()) {
    if (axis < 0 || axis >= int64_t(in.size()))
      return emitOpError("the permutation names an axis out of range");
    out.push_back(in[axis]);
  }
  return checkShape(*this, getOutput(), out, "the output");
}

LogicalResult GatherOp::verify() {
  SmallVector<int64_t> out(tensor(getInput()).getShape());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= int64_t(out.size()))
    return emitOpError("C1: the axis is out of range");
  for (int64_t index : getIndices())
    if (index < 0 || index >= out[axis])
      return emitOpError() << "C2: the index " << index << " is not below "
                           << out[axis];
  out[axis] = int64_t(getIndices().size());
  return checkShape(*this, getOutput(), out, "C1: the output");
}

LogicalResult PadOp::verify() {
  SmallVector<int64_t> out(tensor(getInput()).getShape());
  if (getLow().size() != out.size() || getHigh().size() != out.size())
    return emitOpError("low and high need one value per axis");
  if (!llvm::all_of(getLow(), notNegative) ||
      !llvm::all_of(getHigh(), notNegative))
    return emitOpError("low and high must not be negative");
  for (auto [i, size] : llvm::enumerate(out))
    size += getLow()[i] + getHigh()[i];
  return checkShape(*this, getOutput(), out, "the output");
}

static LogicalResult checkScale(Operation *op, ElementsAttr scale) {
  for (float s : floatValues(scale))
    if (!(s > 0) || std::isinf(s))
      return op->emitOpError()
             << "C1: the scale " << s << " is not positive and finite";
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (!num::elementInt(getOutput().getType()))
    return emitOpError("the output's elements must be !num.int");
  return failed(checkScale(*this, getScale())) ? failure()
                                               : verifySameShape(*this);
}
LogicalResult DequantizeOp::verify() {
  if (!num::elementInt(getInput().getType()))
    return emitOpError("the input's elements must be !num.int");
  return failed(checkScale(*this, getScale())) ? failure()
                                               : verifySameShape(*this);
}

/// NumPy broadcasting of the two operands gives the output's shape.
static LogicalResult verifyBinary(Operation *op) {
  auto a = tensor(op->getOperand(0)).getShape(),
       b = tensor(op->getOperand(1)).getShape();
  size_t rank = std::max(a.size(), b.size());
  SmallVector<int64_t> out(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1)
      return op->emitOpError("the operands' shapes do not broadcast");
    out[i] = x == 1 ? y : x;
  }
  return checkShape(op, op->getResult(0), out, "the output");
}
LogicalResult AddOp::verify() { return verifyBinary(*this); }
LogicalResult SubOp::verify() { return verifyBinary(*this); }
LogicalResult MulOp::verify() { return verifyBinary(*this); }
LogicalResult DivOp::verify() { return verifyBinary(*this); }
LogicalResult MaxOp::verify() { return verifyBinary(*this); }
LogicalResult MinOp::verify() { return verifyBinary(*this); }
LogicalResult BatchNormOp::verify() { return verifySameShape(*this); }
LogicalResult ReluOp::verify() { return verifySameShape(*this); }
LogicalResult LeakyReluOp::verify() { return verifySameShape(*this); }
LogicalResult ClipOp::verify() { return verifySameShape(*this); }
LogicalResult SoftmaxOp::verify() { return verifySameShape(*this); }
LogicalResult UnaryOp::verify() { return verifySameShape(*this); }
LogicalResult ArgMaxOp::verify() { return success(); }

/// One value or one per channel.
static LogicalResult checkPerChannel(Operation *op, size_t n) {
  auto shape = tensor(op->getOperand(0)).getShape();
  if (n != 1 && (shape.empty() || int64_t(n) != shape.back()))
    return op->emitOpError()
           << "C1: " << n << " values for "
           << (shape.empty() ? 1 : shape.back()) << " channels";
  return success();
}

LogicalResult RequantiseOp::verify() {
  if (failed(checkPerChannel(*this, getMultiplier().size())) ||
      failed(checkPerChannel(*this, getOffset().size())))
    return failure();
  if (getShift() < 0 || getShift() > 62)
    return emitOpError() << "C1: the shift " << getShift()
                         << " is not in 0..62";
  if (getTiesEven() && getShift() == 0)
    return emitOpError("C1: ties_even needs a shift of at least 1");
  num::IntType in = num::elementInt(getInput().getType());
  if (!in || !num::elementInt(getOutput().getType()))
    return emitOpError("input and output need !num.int elements");
  size_t n = std::max(getMultiplier().size(), getOffset().size());
  for (size_t c = 0; c < n; ++c) {
    __int128 m = getMultiplier()[getMultiplier().size() == 1 ? 0 : c];
    __int128 o = getOffset()[getOffset().size() == 1 ? 0 : c];
    for (int64_t x : {in.getLo(), in.getHi()}) {
      __int128 v = m * x + o;
      if (v > INT64_MAX / 2 || v < INT64_MIN / 2)
        return emitOpError("C2: the product does not fit 63 bits");
    }
  }
  return verifySameShape(*this);
}

LogicalResult ThresholdOp::verify() {
  auto shape = getThresholds().getShapedType().getShape();
  if (shape.size() != 2)
    return emitOpError("C1: thresholds must have rank 2");
  std::vector<int64_t> values = intValues(getThresholds());
  for (size_t i = 1; i < values.size(); ++i)
    if (i % size_t(shape[1]) && values[i] < values[i - 1])
      return emitOpError("C1: the thresholds of a channel must ascend");
  return failed(checkPerChannel(*this, shape[0])) ? failure()
                                                  : verifySameShape(*this);
}

LogicalResult MultiThresholdOp::verify() {
  auto shape = getThresholds().getShapedType().getShape();
  num::IntType out = num::elementInt(getOutput().getType());
  if (shape.size() != 2 || !out || !out.contains(0) || !out.contains(shape[1]))
    return emitOpError("C1: thresholds must have rank 2, and the result hold "
                       "their number");
  std::vector<float> values = floatValues(getThresholds());
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) ||
        (i % size_t(shape[1]) && values[i] < values[i - 1]))
      return emitOpError("C1: the thresholds of a channel must be finite and "
                         "ascend");
  return failed(checkPerChannel(*this, shape[0])) ? failure()
                                                  : verifySameShape(*this);
}

LogicalResult TableOp::verify() {
  auto shape = getValues().getShapedType().getShape();
  num::IntType in = num::elementInt(getInput().getType());
  if (shape.size() != 2 || !in || shape[1] != in.getHi() - in.getLo() + 1)
    return emitOpError("C1: the table needs one entry per input value");
  return failed(checkPerChannel(*this, shape[0])) ? failure()
                                                  : verifySameShape(*this);
}

/// Two operands and a result of one shape.
static LogicalResult verifyPair(Operation *op) {
  return failed(checkShape(op, op->getOperand(1),
                           tensor(op->getOperand(0)).getShape(),
                           "the right operand"))
             ? failure()
             : verifySameShape(op);
}
LogicalResult ScaledAddOp::verify() { return verifyPair(*this); }
LogicalResult ScaledMaxOp::verify() { return verifyPair(*this); }
LogicalResult ProductOp::verify() { return verifyPair(*this); }
