// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// convert-osa-to-linalg: integer-level osa to linalg.generic on signless
// integers (real-level functions: RealToLinalg.cpp). It decides storage and the
// width of arithmetic; the order of loops, buffers and machine code are the
// business of lib/Cpu. It shares nothing with the
// interpreter, which it is tested against.
#include "RealToLinalg.h"
#include "RowsToLinalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Support/LinalgLoops.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;

namespace rhizome {
#define GEN_PASS_DEF_CONVERTOSATOLINALG
#include "rhizome/Conversion/Passes.h.inc"
} // namespace rhizome

namespace {
/// A converted tensor: signless elements and how they extend.
struct Stored {
  Value value;
  Storage storage;

  ArrayRef<int64_t> shape() const {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
};

/// The type that an osa value's range and shape come from.
num::IntType intType(Value v) { return num::elementInt(v.getType()); }
ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}
RankedTensorType storedType(RankedTensorType type) {
  return RankedTensorType::get(
      type.getShape(),
      IntegerType::get(type.getContext(),
                       Storage::of(num::elementInt(type)).width));
}

/// Converts the body of one function, operation by operation.
class Lowering {
public:
  Lowering(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  /// Binds an osa value to what stands for it.
  void bind(Value osaValue, Value converted) { values[osaValue] = converted; }
  Value converted(Value osaValue) const { return values.lookup(osaValue); }

  LogicalResult convert(Operation *op) {
    loc = op->getLoc();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<osa::ConstantOp>([&](auto o) { return constant(o); })
        .Case<osa::Conv2dOp>([&](auto o) { return conv2d(o); })
        .Case<osa::DenseOp>([&](auto o) { return dense(o); })
        .Case<osa::MatmulOp>([&](auto o) { return matmul(o); })
        .Case<osa::MaxPoolOp>([&](auto o) { return maxPool(o); })
        .Case<osa::SumPoolOp>([&](auto o) { return sumPool(o); })
        .Case<osa::RequantizeOp>([&](auto o) { return requantize(o); })
        .Case<osa::ThresholdOp>([&](auto o) { return threshold(o); })
        .Case<osa::TableOp>([&](auto o) { return table(o); })
        .Case<osa::ScaledAddOp>([&](auto o) { return scaledAdd(o); })
        .Case<osa::ConcatOp>([&](auto o) { return concat(o); })
        .Case<osa::PadOp>([&](auto o) { return pad(o); })
        .Case<osa::TransposeOp>([&](auto o) { return transpose(o); })
        .Case<osa::GatherOp>([&](auto o) { return gather(o); })
        .Case<osa::ScaledMaxOp>([&](auto o) { return scaledMax(o); })
        .Case<osa::ProductOp>([&](auto o) { return product(o); })
        .Case<osa::RowSoftmaxOp>([&](auto o) { return rowSoftmax(o); })
        .Case<osa::RowNormOp>([&](auto o) {
          host::Loops loops(b, loc);
          Value x = store(load(o.getInput()), 64);
          return finish(o, {rowNormLoops(loops, o, x), {64, true}});
        })
        .Case<osa::ReshapeOp>(
            [&](auto o) { return finish(o, load(o.getInput())); })
        .Default([](Operation *other) {
          return other->emitOpError("has no CPU form at the integer level");
        });
  }

private:
  using Body = function_ref<Value(OpBuilder &, ValueRange)>;

  //===--- Values and types ---===//

  Stored load(Value osaValue) const {
    return {values.lookup(osaValue), Storage::of(intType(osaValue))};
  }
  IntegerType bits(unsigned width) { return b.getIntegerType(width); }
  RankedTensorType tensorType(ArrayRef<int64_t> shape, unsigned width) {
    return RankedTensorType::get(shape, bits(width));
  }
  Value scalar(OpBuilder &at, int64_t value, unsigned width) {
    return arith::ConstantOp::create(
        at, loc,
        IntegerAttr::get(bits(width), APInt(width, value, true, true)));
  }
  /// A constant tensor; more than one value live in a resource blob.
  Value tensor(ArrayRef<int64_t> shape, ArrayRef<int64_t> content,
               unsigned width) {
    num::IntType any = num::IntType::getFull(b.getContext(), true, width);
    ElementsAttr attr =
        osa::makeIntAttr(b.getContext(), "cpu", shape, any, content);
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attr));
  }
  Value empty(ArrayRef<int64_t> shape, unsigned width) {
    return tensor::EmptyOp::create(b, loc, shape, bits(width));
  }
  Value filled(ArrayRef<int64_t> shape, unsigned width, int64_t value) {
    return linalg::FillOp::create(b, loc, scalar(b, value, width),
                                  empty(shape, width))
        .getResult(0);
  }
  /// `v` in `width` bits, extended as its storage says.
  Value resize(OpBuilder &at, Value v, Storage from, unsigned width) {
    unsigned have = v.getType().getIntOrFloatBitWidth();
    if (have == width)
      return v;
    if (have > width)
      return arith::TruncIOp::create(at, loc, bits(width), v);
    return from.isSigned
               ? arith::ExtSIOp::create(at, loc, bits(width), v).getResult()
               : arith::ExtUIOp::create(at, loc, bits(width), v).getResult();
  }

  //===--- Loops ---===//

  /// linalg.generic with the given indices; dimensions that `out` doesn't
  /// name are reductions.
  Value generic(ArrayRef<Value> ins, ArrayRef<AffineMap> inMaps, Value init,
                AffineMap out, Body body) {
    SmallVector<AffineMap> maps(inMaps);
    maps.push_back(out);
    SmallVector<utils::IteratorType> iterators;
    for (unsigned d = 0; d < out.getNumDims(); ++d)
      iterators.push_back(out.isFunctionOfDim(d)
                              ? utils::IteratorType::parallel
                              : utils::IteratorType::reduction);
    return linalg::GenericOp::create(
               b, loc, init.getType(), ins, init, maps, iterators,
               [&](OpBuilder &nested, Location, ValueRange args) {
                 linalg::YieldOp::create(nested, loc, body(nested, args));
               })
        .getResult(0);
  }
  AffineExpr dim(unsigned i) { return b.getAffineDimExpr(i); }
  AffineMap map(unsigned dims, ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(dims, 0, exprs, b.getContext());
  }
  AffineMap identity(unsigned rank) { return b.getMultiDimIdentityMap(rank); }
  /// One value for all, or one along the last of `rank` dimensions.
  AffineMap perChannel(unsigned rank, size_t count) {
    if (count == 1)
      return map(rank, {b.getAffineConstantExpr(0)});
    return map(rank, {dim(rank - 1)});
  }

  Value reshape(Value v, ArrayRef<int64_t> shape) {
    return host::Loops(b, loc).reshape(v, shape);
  }

  /// The same values in the storage given.
  Value store(Stored from, unsigned width) {
    if (from.storage.width == width)
      return from.value;
    unsigned rank = from.shape().size();
    return generic({from.value}, {identity(rank)}, empty(from.shape(), width),
                   identity(rank), [&](OpBuilder &at, ValueRange args) {
                     return resize(at, args[0], from.storage, width);
                   });
  }
  /// Binds the op's result, converted to its own storage and shape.
  LogicalResult finish(Operation *op, Stored result) {
    Value out = op->getResult(0);
    Value stored = store(result, Storage::of(intType(out)).width);
    bind(out, reshape(stored, shapeOf(out)));
    return success();
  }
  /// Sums run at least in i32 and wrap modulo their width, so the result's
  /// range decides it.
  Storage accumulator(Value osaValue) {
    Storage s = Storage::of(intType(osaValue));
    return {std::max(32u, s.width), s.isSigned};
  }

  /// `v` with `low` and `high` more elements of `value` per axis.
  Stored padded(Stored v, num::IntType range, ArrayRef<int64_t> low,
                ArrayRef<int64_t> high, int64_t value) {
    auto zero = [](int64_t n) { return n == 0; };
    if (llvm::all_of(low, zero) && llvm::all_of(high, zero))
      return v;
    Storage wide = Storage::forRange(std::min(range.getLo(), value),
                                     std::max(range.getHi(), value));
    Value inner = store(v, wide.width);
    SmallVector<int64_t> shape(v.shape());
    for (auto [d, n] : llvm::enumerate(shape))
      n += low[d] + high[d];
    return {insert(inner, filled(shape, wide.width, value), low), wide};
  }
  Value insert(Value part, Value whole, ArrayRef<int64_t> offsets) {
    SmallVector<OpFoldResult> at, sizes, strides;
    for (auto [offset, size] : llvm::zip_equal(offsets, shapeOf(part))) {
      at.push_back(b.getIndexAttr(offset));
      sizes.push_back(b.getIndexAttr(size));
      strides.push_back(b.getIndexAttr(1));
    }
    return tensor::InsertSliceOp::create(b, loc, part, whole, at, sizes,
                                         strides);
  }

  //===--- Operations ---===//

  LogicalResult constant(osa::ConstantOp op) {
    num::IntType type = intType(op.getResult());
    bind(op.getResult(),
         tensor(shapeOf(op.getResult()), *osa::constantInts(op.getResult()),
                Storage::of(type).width));
    return success();
  }

  LogicalResult conv2d(osa::Conv2dOp op) {
    osa::Window w = *osa::getWindow(op);
    // Rows and columns that no window reads would only cost time.
    int64_t bottom = std::max<int64_t>(0, (w.outHeight - 1) * w.strideH +
                                              w.spanH() - w.padTop - w.height);
    int64_t right = std::max<int64_t>(0, (w.outWidth - 1) * w.strideW +
                                             w.spanW() - w.padLeft - w.width);
    Stored in = padded(load(op.getInput()), intType(op.getInput()),
                       {0, w.padTop, w.padLeft, 0}, {0, bottom, right, 0},
                       int64_t(op.getPadValue()));
    return contract(op, in, w, int64_t(op.getGroups()), op.getWeights(),
                    op.getBias());
  }

  LogicalResult dense(osa::DenseOp op) {
    Stored in = load(op.getInput());
    int64_t channels = in.shape().back();
    int64_t rows = ShapedType::getNumElements(in.shape().drop_back());
    osa::Window w{rows, 1, channels, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, rows, 1};
    in.value = reshape(in.value, {1, rows, 1, channels});
    return contract(op, in, w, 1, op.getWeights(), op.getBias());
  }

  LogicalResult matmul(osa::MatmulOp op) {
    const osa::MatmulShape s = osa::matmulShape(op);
    Stored lhs = load(op.getLhs()), rhs = load(op.getRhs());
    Storage acc = accumulator(op.getOutput());
    // Loops: outer, batch, row, column, then the reduction.
    SmallVector<AffineExpr> right(3);
    right[s.axes[0]] = dim(1);
    right[s.axes[1]] = dim(4);
    right[s.axes[2]] = dim(3);
    auto less = [&](OpBuilder &at, Value v, Storage from, int64_t zero) {
      v = resize(at, v, from, acc.width);
      if (zero == 0)
        return v;
      return arith::SubIOp::create(at, loc, v, scalar(at, zero, acc.width))
          .getResult();
    };
    Value sum =
        generic({lhs.value, rhs.value},
                {map(5, {dim(0), dim(1), dim(2), dim(4)}), map(5, right)},
                filled(shapeOf(op.getOutput()), acc.width, 0),
                map(5, {dim(0), dim(1), dim(2), dim(3)}),
                [&](OpBuilder &nested, ValueRange args) -> Value {
                  Value l = less(nested, args[0], lhs.storage, op.getLhsZero());
                  Value r = less(nested, args[1], rhs.storage, op.getRhsZero());
                  Value product = arith::MulIOp::create(nested, loc, l, r);
                  return arith::AddIOp::create(nested, loc, args[2], product);
                });
    return finish(op, {sum, acc});
  }

  /// Products of windows and weights, summed. `in` is [1,H,W,C], padded. Loops:
  /// y, x, group, output channel, then the reduction as weights lie.
  LogicalResult contract(Operation *op, Stored in, const osa::Window &w,
                         int64_t groups, Value weights, Value bias) {
    auto constants = osa::constantInts(weights);
    if (!constants)
      return op->emitOpError("needs weights from an osa.constant");
    int64_t outs = shapeOf(op->getResult(0)).back();
    int64_t rowsIn = in.shape()[1], columnsIn = in.shape()[2];
    int64_t perIn = w.channels / groups, perOut = outs / groups;
    // One row of a window is contiguous if columns are neither dilated nor
    // split into groups: treat it as one run.
    bool runs = groups == 1 && w.dilationW == 1;
    int64_t kernelW = runs ? 1 : w.kernelW;
    int64_t run = runs ? w.kernelW * perIn : perIn;
    Storage weightStorage = Storage::of(intType(weights));
    Value filter = tensor({groups, perOut, w.kernelH, kernelW, run}, *constants,
                          weightStorage.width);
    Storage acc = accumulator(op->getResult(0));
    constexpr unsigned dims = 7;
    AffineExpr y = dim(0), x = dim(1), g = dim(2), o = dim(3), kh = dim(4),
               kw = dim(5), r = dim(6);
    AffineMap filterMap = map(dims, {g, o, kh, kw, r});
    AffineMap outMap = map(dims, {y, x, g, o});
    SmallVector<int64_t> outShape = {w.outHeight, w.outWidth, groups, perOut};
    AffineExpr row = y * w.strideH + kh * w.dilationH;
    Value source;
    AffineMap inMap;
    if (runs) {
      source = reshape(in.value, {rowsIn, columnsIn * w.channels});
      inMap = map(dims, {row, x * (w.strideW * w.channels) + r});
    } else {
      AffineExpr column = x * w.strideW + kw * w.dilationW;
      source = reshape(in.value, {rowsIn, columnsIn, groups, perIn});
      inMap = map(dims, {row, column, g, r});
    }

    Value init;
    if (bias) {
      unsigned rank = outShape.size();
      Storage biasStorage = Storage::of(intType(bias));
      Value values =
          reshape(converted(bias), ArrayRef<int64_t>(outShape).drop_front(2));
      SmallVector<AffineExpr> channel;
      for (unsigned d = 2; d < rank; ++d)
        channel.push_back(dim(d));
      init = generic({values}, {map(rank, channel)}, empty(outShape, acc.width),
                     identity(rank), [&](OpBuilder &nested, ValueRange args) {
                       return resize(nested, args[0], biasStorage, acc.width);
                     });
    } else {
      init = filled(outShape, acc.width, 0);
    }
    Value sum =
        generic({source, filter}, {inMap, filterMap}, init, outMap,
                [&](OpBuilder &nested, ValueRange args) -> Value {
                  Value v = resize(nested, args[0], in.storage, acc.width);
                  Value f = resize(nested, args[1], weightStorage, acc.width);
                  Value product = arith::MulIOp::create(nested, loc, v, f);
                  return arith::AddIOp::create(nested, loc, args[2], product);
                });
    return finish(op, {sum, acc});
  }

  /// Folds every window of `in` (padded already) with `body(element, so far)`.
  Value pool(Value in, const osa::Window &w, Value init, Body body) {
    Value source = reshape(in, {shapeOf(in)[1], shapeOf(in)[2], w.channels});
    AffineExpr y = dim(0), x = dim(1), kh = dim(2), kw = dim(3), c = dim(4);
    // The third operand gives the kernel's extents; it is never read.
    return generic({source, empty({w.kernelH, w.kernelW}, 8)},
                   {map(5, {y * w.strideH + kh * w.dilationH,
                            x * w.strideW + kw * w.dilationW, c}),
                    map(5, {kh, kw})},
                   init, map(5, {y, x, c}),
                   [&](OpBuilder &nested, ValueRange args) {
                     return body(nested, {args[0], args[2]});
                   });
  }

  LogicalResult maxPool(osa::MaxPoolOp op) {
    osa::Window w = *osa::getWindow(op);
    num::IntType type = intType(op.getInput());
    // What never wins stands outside the input.
    Stored in = padded(load(op.getInput()), type, {0, w.padTop, w.padLeft, 0},
                       {0, w.padBottom, w.padRight, 0}, type.getLo());
    Value init = filled({w.outHeight, w.outWidth, w.channels}, in.storage.width,
                        type.getLo());
    Value best =
        pool(in.value, w, init, [&](OpBuilder &at, ValueRange args) -> Value {
          if (in.storage.isSigned)
            return arith::MaxSIOp::create(at, loc, args[0], args[1]);
          return arith::MaxUIOp::create(at, loc, args[0], args[1]);
        });
    return finish(op, {best, in.storage});
  }

  LogicalResult sumPool(osa::SumPoolOp op) {
    osa::Window w = *osa::getWindow(op);
    int64_t zero = int64_t(op.getZero());
    Stored in = padded(load(op.getInput()), intType(op.getInput()),
                       {0, w.padTop, w.padLeft, 0},
                       {0, w.padBottom, w.padRight, 0}, zero);
    Storage acc = accumulator(op.getOutput());
    SmallVector<int64_t> shape = {w.outHeight, w.outWidth, w.channels};
    Value sum = pool(in.value, w, filled(shape, acc.width, 0),
                     [&](OpBuilder &at, ValueRange args) -> Value {
                       Value v = resize(at, args[0], in.storage, acc.width);
                       v = arith::SubIOp::create(at, loc, v,
                                                 scalar(at, zero, acc.width));
                       return arith::AddIOp::create(at, loc, args[1], v);
                     });
    if (auto scale = op.getPositionScale(); !scale.empty()) {
      Value factors = tensor({w.outHeight, w.outWidth}, scale, acc.width);
      sum = generic({sum, factors}, {identity(3), map(3, {dim(0), dim(1)})},
                    empty(shape, acc.width), identity(3),
                    [&](OpBuilder &at, ValueRange args) -> Value {
                      return arith::MulIOp::create(at, loc, args[0], args[1]);
                    });
    }
    return finish(op, {sum, acc});
  }

  LogicalResult rowSoftmax(osa::RowSoftmaxOp op) {
    host::Loops loops(b, loc);
    auto table = op.getExponentials();
    Value entries = tensor({int64_t(table.size())}, table, 64);
    Value x = store(load(op.getInput()), 64);
    return finish(op, {rowSoftmaxLoops(loops, op, x, entries), {64, true}});
  }

  /// True if x·m + o fits so many bits for all x in the input's range.
  static bool fits(unsigned bits, num::IntType type,
                   ArrayRef<int64_t> multiplier, ArrayRef<int64_t> offset) {
    auto ok = [end = __int128(1) << (bits - 1)](__int128 v) {
      return v >= -end && v < end;
    };
    size_t n = std::max(multiplier.size(), offset.size());
    for (size_t c = 0; c < n; ++c) {
      __int128 m = multiplier[multiplier.size() == 1 ? 0 : c];
      __int128 o = offset[offset.size() == 1 ? 0 : c];
      if (!ok(m) || !ok(o) || !ok(type.getLo()) || !ok(type.getHi()) ||
          !ok(m * type.getLo() + o) || !ok(m * type.getHi() + o))
        return false;
    }
    return true;
  }

  /// `shifted`, with its lowest bit cleared where the low `shift` bits of
  /// `exact` are all zero; `shift` may exceed the width.
  Value clearOddTies(OpBuilder &at, Value exact, Value shifted, int64_t shift,
                     unsigned width) {
    int64_t mask = shift >= int64_t(width) ? -1 : (int64_t(1) << shift) - 1;
    Value low = arith::AndIOp::create(at, loc, exact, scalar(at, mask, width));
    Value tie = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, low,
                                      scalar(at, 0, width));
    Value even = arith::AndIOp::create(at, loc, shifted, scalar(at, -2, width));
    return arith::SelectOp::create(at, loc, tie, even, shifted);
  }

  LogicalResult requantize(osa::RequantizeOp op) {
    Stored in = load(op.getInput());
    num::IntType to = intType(op.getOutput());
    auto multiplier = op.getMultiplier(), offset = op.getOffset();
    unsigned width = 128;
    for (unsigned narrower : {64, 32})
      if (fits(narrower, intType(op.getInput()), multiplier, offset))
        width = narrower;
    const unsigned stored = std::min(width, 64u);
    unsigned out = Storage::of(to).width, rank = in.shape().size();
    int64_t least = width == 32 ? INT32_MIN : INT64_MIN;
    int64_t most = width == 32 ? INT32_MAX : INT64_MAX;
    int64_t shift = std::min<int64_t>(op.getShift(), width - 1);
    Value m = tensor({int64_t(multiplier.size())}, multiplier, stored);
    Value o = tensor({int64_t(offset.size())}, offset, stored);
    Value result = generic(
        {in.value, m, o},
        {identity(rank), perChannel(rank, multiplier.size()),
         perChannel(rank, offset.size())},
        empty(in.shape(), out), identity(rank),
        [&](OpBuilder &at, ValueRange args) -> Value {
          Value v = resize(at, args[0], in.storage, width);
          v = arith::MulIOp::create(at, loc, v,
                                    resize(at, args[1], {stored, true}, width));
          v = arith::AddIOp::create(at, loc, v,
                                    resize(at, args[2], {stored, true}, width));
          Value exact = v;
          v = arith::ShRSIOp::create(at, loc, v, scalar(at, shift, width));
          if (op.getTiesEven())
            v = clearOddTies(at, exact, v, int64_t(op.getShift()), width);
          // A bound beyond the arithmetic's width binds nothing there.
          int64_t lo = std::clamp(to.getLo(), least, most);
          int64_t hi = std::clamp(to.getHi(), least, most);
          v = arith::MaxSIOp::create(at, loc, v, scalar(at, lo, width));
          v = arith::MinSIOp::create(at, loc, v, scalar(at, hi, width));
          return resize(at, v, {width, true}, out);
        });
    return finish(op, {result, Storage::of(to)});
  }

  /// Elementwise ops on [rows, channels], or on [1, all] if one set of
  /// constants serves every channel.
  std::pair<int64_t, int64_t> rowsAndChannels(ArrayRef<int64_t> shape,
                                              int64_t sets) {
    int64_t n = ShapedType::getNumElements(shape);
    if (sets == 1)
      return {1, n};
    return {n / std::max<int64_t>(shape.back(), 1), shape.back()};
  }

  LogicalResult threshold(osa::ThresholdOp op) {
    Stored in = load(op.getInput());
    num::IntType from = intType(op.getInput());
    auto shape = op.getThresholds().getShapedType().getShape();
    int64_t sets = shape[0], count = shape[1];
    std::vector<int64_t> given = osa::intValues(op.getThresholds());
    // A threshold above the range never counts: hi + 1 says so.
    int64_t top = from.getHi() == INT64_MAX ? INT64_MAX : from.getHi() + 1;
    unsigned width =
        Storage::forRange(std::min<int64_t>(from.getLo(), -1), top).width;
    std::vector<int64_t> byCount(given.size());
    for (int64_t c = 0; c < sets; ++c)
      for (int64_t k = 0; k < count; ++k)
        byCount[k * sets + c] =
            std::clamp(given[c * count + k], from.getLo(), top);
    auto [rows, channels] = rowsAndChannels(in.shape(), sets);
    Storage out = Storage::of(intType(op.getOutput()));
    Value init = filled({rows, channels}, out.width, int64_t(op.getBase()));
    if (count == 0)
      return finish(op, {init, out});
    AffineExpr k = dim(1), c = dim(2);
    Value limits = sets == 1 ? tensor({count}, byCount, width)
                             : tensor({count, sets}, byCount, width);
    Value result = generic(
        {reshape(in.value, {rows, channels}), limits},
        {map(3, {dim(0), c}), sets == 1 ? map(3, {k}) : map(3, {k, c})}, init,
        map(3, {dim(0), c}), [&](OpBuilder &at, ValueRange args) -> Value {
          Value v = resize(at, args[0], in.storage, width);
          Value reached = arith::CmpIOp::create(
              at, loc, arith::CmpIPredicate::sge, v, args[1]);
          Value step = arith::SelectOp::create(
              at, loc, reached, scalar(at, int64_t(op.getStep()), out.width),
              scalar(at, 0, out.width));
          return arith::AddIOp::create(at, loc, args[2], step);
        });
    return finish(op, {result, out});
  }

  LogicalResult table(osa::TableOp op) {
    Stored in = load(op.getInput());
    auto shape = op.getValues().getShapedType().getShape();
    int64_t sets = shape[0], lo = intType(op.getInput()).getLo();
    Storage out = Storage::of(intType(op.getOutput()));
    Value entries = tensor(shape, osa::intValues(op.getValues()), out.width);
    auto [rows, channels] = rowsAndChannels(in.shape(), sets);
    Value result = generic(
        {reshape(in.value, {rows, channels})}, {identity(2)},
        empty({rows, channels}, out.width), identity(2),
        [&](OpBuilder &at, ValueRange args) -> Value {
          Value v = resize(at, args[0], in.storage, 64);
          v = arith::SubIOp::create(at, loc, v, scalar(at, lo, 64));
          Value entry =
              arith::IndexCastOp::create(at, loc, at.getIndexType(), v);
          Value set =
              sets == 1 ? arith::ConstantIndexOp::create(at, loc, 0).getResult()
                        : linalg::IndexOp::create(at, loc, 1).getResult();
          return tensor::ExtractOp::create(at, loc, entries,
                                           ValueRange{set, entry});
        });
    return finish(op, {result, out});
  }

  LogicalResult scaledAdd(osa::ScaledAddOp op) {
    Stored lhs = load(op.getLhs()), rhs = load(op.getRhs());
    Storage acc = accumulator(op.getOutput());
    unsigned rank = lhs.shape().size();
    unsigned out = Storage::of(intType(op.getOutput())).width;
    Value sum = generic(
        {lhs.value, rhs.value}, {identity(rank), identity(rank)},
        empty(lhs.shape(), out), identity(rank),
        [&](OpBuilder &at, ValueRange args) -> Value {
          auto scaled = [&](Value v, Storage from, int64_t factor) -> Value {
            v = resize(at, v, from, acc.width);
            return arith::MulIOp::create(at, loc, v,
                                         scalar(at, factor, acc.width));
          };
          Value l = scaled(args[0], lhs.storage, op.getLhsMultiplier());
          Value r = scaled(args[1], rhs.storage, op.getRhsMultiplier());
          return resize(at, arith::AddIOp::create(at, loc, l, r), acc, out);
        });
    return finish(op, {sum, Storage::of(intType(op.getOutput()))});
  }

  /// An elementwise result of two operands, each brought to `width` bits first.
  LogicalResult
  pairwise(Operation *op, unsigned width,
           function_ref<Value(OpBuilder &, Value lhs, Value rhs)> body) {
    Stored lhs = load(op->getOperand(0)), rhs = load(op->getOperand(1));
    unsigned rank = lhs.shape().size();
    Storage out = Storage::of(intType(op->getResult(0)));
    Value result =
        generic({lhs.value, rhs.value}, {identity(rank), identity(rank)},
                empty(lhs.shape(), out.width), identity(rank),
                [&](OpBuilder &at, ValueRange args) -> Value {
                  Value l = resize(at, args[0], lhs.storage, width);
                  Value r = resize(at, args[1], rhs.storage, width);
                  return resize(at, body(at, l, r), {width, true}, out.width);
                });
    return finish(op, {result, out});
  }

  LogicalResult scaledMax(osa::ScaledMaxOp op) {
    auto scaled = [&](OpBuilder &at, Value v, int64_t factor) -> Value {
      return arith::MulIOp::create(at, loc, v, scalar(at, factor, 64));
    };
    return pairwise(op, 64, [&](OpBuilder &at, Value l, Value r) -> Value {
      l = scaled(at, l, op.getLhsMultiplier());
      r = scaled(at, r, op.getRhsMultiplier());
      r = arith::AddIOp::create(at, loc, r, scalar(at, op.getRhsOffset(), 64));
      return arith::MaxSIOp::create(at, loc, l, r);
    });
  }

  LogicalResult product(osa::ProductOp op) {
    return pairwise(op, 64, [&](OpBuilder &at, Value l, Value r) -> Value {
      l = arith::SubIOp::create(at, loc, l, scalar(at, op.getLhsZero(), 64));
      r = arith::SubIOp::create(at, loc, r, scalar(at, op.getRhsZero(), 64));
      return arith::MulIOp::create(at, loc, l, r);
    });
  }

  LogicalResult gather(osa::GatherOp op) {
    Stored in = load(op.getInput());
    unsigned rank = in.shape().size(), axis = op.getAxis();
    auto indices = op.getIndices();
    int64_t count = int64_t(indices.size());
    if (count == 0)
      return finish(
          op, {empty(shapeOf(op.getOutput()), in.storage.width), in.storage});
    int64_t start = indices[0];
    SmallVector<AffineExpr> from;
    for (unsigned d = 0; d < rank; ++d)
      from.push_back(dim(d));
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
        strides(rank, b.getIndexAttr(1));
    for (int64_t size : shapeOf(op.getOutput()))
      sizes.push_back(b.getIndexAttr(size));
    // In equal steps, repeated or not; else one index after another.
    int64_t repeats = 1;
    while (repeats < count && indices[repeats] == start)
      ++repeats;
    int64_t step = repeats < count ? indices[repeats] - start : 0;
    bool regular = true;
    for (int64_t i = 0; i < count; ++i)
      regular &= indices[i] == start + i / repeats * step;
    if (regular && repeats == 1 && step > 0) {
      offsets[axis] = b.getIndexAttr(start);
      strides[axis] = b.getIndexAttr(step);
      Value out = tensor::ExtractSliceOp::create(b, loc, in.value, offsets,
                                                 sizes, strides);
      return finish(op, {out, in.storage});
    }
    if (regular) {
      from[axis] = dim(axis).floorDiv(repeats) * step + start;
      Value out = generic({in.value}, {map(rank, from)},
                          empty(shapeOf(op.getOutput()), in.storage.width),
                          identity(rank),
                          [](OpBuilder &, ValueRange args) { return args[0]; });
      return finish(op, {out, in.storage});
    }
    Value whole = empty(shapeOf(op.getOutput()), in.storage.width);
    sizes[axis] = b.getIndexAttr(1);
    SmallVector<int64_t> to(rank, 0);
    for (int64_t index : indices) {
      offsets[axis] = b.getIndexAttr(index);
      Value part = tensor::ExtractSliceOp::create(b, loc, in.value, offsets,
                                                  sizes, strides);
      whole = insert(part, whole, to);
      ++to[axis];
    }
    return finish(op, {whole, in.storage});
  }

  LogicalResult concat(osa::ConcatOp op) {
    Storage out = Storage::of(intType(op.getOutput()));
    Value whole = empty(shapeOf(op.getOutput()), out.width);
    SmallVector<int64_t> offsets(shapeOf(op.getOutput()).size(), 0);
    for (Value input : op.getInputs()) {
      whole = insert(store(load(input), out.width), whole, offsets);
      offsets[op.getAxis()] += shapeOf(input)[op.getAxis()];
    }
    return finish(op, {whole, out});
  }

  LogicalResult pad(osa::PadOp op) {
    return finish(op, padded(load(op.getInput()), intType(op.getInput()),
                             op.getLow(), op.getHigh(),
                             int64_t(op.getValue().convertToDouble())));
  }

  LogicalResult transpose(osa::TransposeOp op) {
    Stored in = load(op.getInput());
    unsigned rank = in.shape().size();
    SmallVector<AffineExpr> from(rank);
    for (auto [i, axis] : llvm::enumerate(op.getPermutation()))
      from[axis] = dim(i);
    Value out = generic({in.value}, {map(rank, from)},
                        empty(shapeOf(op.getOutput()), in.storage.width),
                        identity(rank),
                        [](OpBuilder &, ValueRange args) { return args[0]; });
    return finish(op, {out, in.storage});
  }

  OpBuilder &b;
  Location loc;
  llvm::DenseMap<Value, Value> values;
};

/// Every tensor of the function is one of `!num.int`, and it computes itself.
bool isInteger(func::FuncOp func) {
  auto ok = [](Type type) { return bool(num::elementInt(type)); };
  bool all = llvm::all_of(func.getArgumentTypes(), ok) &&
             llvm::all_of(func.getResultTypes(), ok);
  func.walk([&](Operation *op) {
    if (op != func)
      all &= !isa<func::CallOp>(op) &&
             llvm::all_of(op->getOperandTypes(), ok) &&
             llvm::all_of(op->getResultTypes(), ok);
  });
  return all;
}

LogicalResult convertFunction(func::FuncOp func) {
  auto stored = [](Type type) -> Type {
    return storedType(cast<RankedTensorType>(type));
  };
  Block &old = func.getBody().front();
  auto *fresh = new Block();
  func.getBody().push_back(fresh);
  OpBuilder builder = OpBuilder::atBlockBegin(fresh);
  Lowering lowering(builder, func.getLoc());
  for (BlockArgument arg : old.getArguments())
    lowering.bind(arg, fresh->addArgument(stored(arg.getType()), arg.getLoc()));
  for (Operation &op : old) {
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      SmallVector<Value> results;
      for (Value v : ret.getOperands())
        results.push_back(lowering.converted(v));
      func::ReturnOp::create(builder, ret.getLoc(), results);
    } else if (failed(lowering.convert(&op))) {
      return failure();
    }
  }
  old.erase();
  // Weights were repacked; what they were read from has no users left.
  for (auto constant :
       llvm::make_early_inc_range(fresh->getOps<arith::ConstantOp>()))
    if (constant->use_empty())
      constant->erase();
  func.setType(FunctionType::get(
      func.getContext(), llvm::map_to_vector(func.getArgumentTypes(), stored),
      llvm::map_to_vector(func.getResultTypes(), stored)));
  return success();
}

/// What both conversions take: one block that ends with a return, on tensors of
/// known size.
LogicalResult checkForm(func::FuncOp func) {
  auto ok = [](Type type) {
    return osa::isTensorOf(type, [](Type element) {
      return isa<num::IntType>(element) || element.isIntOrIndexOrFloat();
    });
  };
  for (TypeRange types :
       {TypeRange(func.getArgumentTypes()), TypeRange(func.getResultTypes())})
    for (Type type : types)
      if (!ok(type))
        return func.emitOpError() << "takes or gives " << type
                                  << ", which is no tensor of known size";
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has several blocks");
  Operation *end = func.getBody().front().getTerminator();
  if (!isa<func::ReturnOp>(end))
    return end->emitOpError("ends a function, where a return is expected");
  return success();
}

struct ConvertOsaToLinalg
    : rhizome::impl::ConvertOsaToLinalgBase<ConvertOsaToLinalg> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() &&
          (failed(checkForm(func)) ||
           failed(isInteger(func) ? convertFunction(func)
                                  : convertRealFunction(func))))
        return signalPassFailure();
  }
};
} // namespace
