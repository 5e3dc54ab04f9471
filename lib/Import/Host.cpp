// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that the host computes: which there are, and how their operands
// and results stand beside the network's. What depends on constants alone is
// computed at once, by the interpreter.
#include "Importer.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Host/Loops.h"
#include "rhizome/Interp/Interpreter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using llvm::formatv;
using onnx::TensorProto;

const llvm::StringMap<Importer::OpInfo> &Importer::hostOperations() {
  using I = Importer;
  static const llvm::StringMap<OpInfo> table = [] {
    llvm::StringMap<OpInfo> t;
    auto add = [&](std::initializer_list<StringRef> names, Handler handler,
                   std::vector<StringRef> attributes = {}) {
      for (StringRef name : names)
        t[name] = {handler, attributes};
    };
    add({"Abs",  "Neg",   "Sign",    "Relu",       "Floor",   "Ceil", "Round",
         "Sin",  "Cos",   "Tan",     "Asin",       "Acos",    "Atan", "Sinh",
         "Cosh", "Asinh", "Acosh",   "Atanh",      "Exp",     "Log",  "Sqrt",
         "Tanh", "Erf",   "Sigmoid", "Reciprocal", "Softplus"},
        &I::hostUnary);
    add({"Celu", "ThresholdedRelu", "Shrink", "Swish", "QuickGelu", "FastGelu",
         "Gelu", "BiasGelu"},
        &I::hostActivation, {"alpha", "lambd", "bias", "approximate"});
    add({"Add",        "Sub",     "Mul",     "Div",         "Max",
         "Min",        "Mod",     "Pow",     "Sum",         "Mean",
         "Equal",      "Less",    "Greater", "LessOrEqual", "GreaterOrEqual",
         "And",        "Or",      "Xor",     "BitwiseAnd",  "BitwiseOr",
         "BitwiseXor", "BitShift"},
        &I::hostBinary, {"direction", "fmod"});
    add({"Not", "BitwiseNot", "IsNaN", "IsInf"}, &I::hostTest,
        {"detect_positive", "detect_negative"});
    add({"Where"}, &I::hostWhere);
    add({"Clip"}, &I::hostClip, {"min", "max"});
    add({"Cast", "CastLike"}, &I::hostCast, {"to", "saturate", "round_mode"});
    add({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
         "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
         "ReduceSumSquare"},
        &I::hostReduce, {"axes", "keepdims", "noop_with_empty_axes"});
    add({"ArgMax", "ArgMin"}, &I::hostArg,
        {"axis", "keepdims", "select_last_index"});
    add({"CumSum", "CumProd"}, &I::hostCumulate, {"exclusive", "reverse"});
    add({"TopK"}, &I::hostTopK, {"axis", "k", "largest", "sorted"});
    add({"Softmax", "LogSoftmax", "Hardmax"}, &I::hostSoftmax, {"axis"});
    add({"LayerNormalization", "RMSNormalization", "InstanceNormalization",
         "GroupNormalization", "LpNormalization", "LRN",
         "MeanVarianceNormalization", "BatchNormalization",
         "SimplifiedLayerNormalization", "SkipLayerNormalization",
         "SkipSimplifiedLayerNormalization"},
        &I::hostNormalise,
        {"axis", "axes", "epsilon", "stash_type", "num_groups", "p", "size",
         "alpha", "beta", "bias", "momentum", "training_mode", "spatial"});
    add({"Gather", "GatherElements", "GatherND"}, &I::hostGather,
        {"axis", "batch_dims"});
    add({"Scatter", "ScatterElements", "ScatterND"}, &I::hostScatter,
        {"axis", "reduction"});
    add({"Slice"}, &I::hostSlice, {"starts", "ends", "axes"});
    add({"Split"}, &I::hostSplit, {"axis", "split", "num_outputs"});
    add({"Concat"}, &I::hostConcat, {"axis"});
    add({"Expand", "Tile"}, &I::hostExpand);
    add({"Pad"}, &I::hostPad, {"mode", "pads", "value"});
    add({"DepthToSpace", "SpaceToDepth"}, &I::hostBlocks,
        {"blocksize", "mode"});
    add({"Trilu"}, &I::hostTrilu, {"upper"});
    add({"OneHot"}, &I::hostOneHot, {"axis"});
    add({"ReverseSequence"}, &I::hostReverse, {"batch_axis", "time_axis"});
    add({"Compress"}, &I::hostCompress, {"axis"});
    add({"Size", "EyeLike", "Range"}, &I::hostMake, {"dtype", "k"});
    add({"MatMul"}, &I::hostMatMul);
    add({"Gemm"}, &I::hostGemm, {"alpha", "beta", "transA", "transB"});
    add({"Einsum"}, &I::hostEinsum, {"equation"});
    add({"Conv"}, &I::hostConv,
        {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
    add({"ConvTranspose"}, &I::hostConvTranspose,
        {"auto_pad", "dilations", "group", "kernel_shape", "output_padding",
         "output_shape", "pads", "strides"});
    add({"MaxPool", "AveragePool", "LpPool"}, &I::hostPool,
        {"auto_pad", "ceil_mode", "count_include_pad", "dilations",
         "kernel_shape", "p", "pads", "storage_order", "strides"});
    add({"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"}, &I::hostPool,
        {"p"});
    add({"Resize", "Upsample"}, &I::hostResize,
        {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
         "exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy",
         "mode", "nearest_mode", "scales"});
    add({"GridSample"}, &I::hostGridSample,
        {"align_corners", "mode", "padding_mode"});
    add({"LSTM", "GRU", "RNN"}, &I::hostRecurrent,
        {"activation_alpha", "activation_beta", "activations", "clip",
         "direction", "hidden_size", "input_forget", "layout",
         "linear_before_reset"});
    add({"Attention"}, &I::hostAttention,
        {"is_causal", "kv_num_heads", "left_window_size", "q_num_heads",
         "qk_matmul_output_mode", "right_window_size", "scale", "softcap",
         "softmax_precision"});
    add({"QuantizeLinear"}, &I::hostQuantize,
        {"axis", "saturate", "block_size", "output_dtype", "precision"});
    add({"DequantizeLinear"}, &I::hostDequantize,
        {"axis", "block_size", "output_dtype"});
    add({"DynamicQuantizeLinear"}, &I::hostDynamicQuantize);
    add({"FloatQuant"}, &I::hostFloatQuant,
        {"has_inf", "has_infinity", "has_nan", "has_subnormal", "rounding_mode",
         "saturation"});
    return t;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The bounds of an integer type; nullopt for others and for uint64.
std::optional<std::pair<int64_t, int64_t>> importer::wholeRange(int type) {
  switch (type) {
  case TensorProto::BOOL:
    return {{0, 1}};
  case kUint4:
    return {{0, 15}};
  case kInt4:
    return {{-8, 7}};
  case TensorProto::UINT8:
    return {{0, UINT8_MAX}};
  case TensorProto::INT8:
    return {{INT8_MIN, INT8_MAX}};
  case TensorProto::UINT16:
    return {{0, UINT16_MAX}};
  case TensorProto::INT16:
    return {{INT16_MIN, INT16_MAX}};
  case TensorProto::UINT32:
    return {{0, UINT32_MAX}};
  case TensorProto::INT32:
    return {{INT32_MIN, INT32_MAX}};
  case TensorProto::INT64:
    return {{INT64_MIN, INT64_MAX}};
  default:
    return std::nullopt;
  }
}

bool importer::isWholeType(int type) {
  return wholeRange(type) || type == TensorProto::UINT64;
}

int Importer::typeOf(const TensorRef &t) const {
  if (t->onnx)
    return t->onnx;
  if (t->isPlainConstant())
    return t->constant->type;
  if (num::IntType i = dyn_cast_or_null<num::IntType>(t->element)) {
    unsigned width = i.getWidth();
    if (i == num::IntType::getFull(context, i.getIsSigned(), 4))
      return i.getIsSigned() ? kInt4 : kUint4;
    if (i.getIsSigned())
      return width <= 8    ? TensorProto::INT8
             : width <= 16 ? TensorProto::INT16
                           : TensorProto::INT32;
    return width <= 8    ? TensorProto::UINT8
           : width <= 16 ? TensorProto::UINT16
                         : TensorProto::UINT32;
  }
  if (t->whole)
    return TensorProto::INT32;
  return t->element == f32 ? TensorProto::FLOAT : TensorProto::INT64;
}

bool Importer::isUnsigned(int type) {
  return type == TensorProto::UINT8 || type == TensorProto::UINT16 ||
         type == TensorProto::UINT32 || type == TensorProto::UINT64 ||
         type == TensorProto::BOOL;
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

Loops Importer::loops() { return Loops(builder, loc); }

Value Importer::wholeConstant(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> values) {
  auto ty = type(shape, builder.getI64Type());
  return osa::ConstantOp::create(builder, loc, ty,
                                 DenseElementsAttr::get(ty, values));
}
Value Importer::realConstant(ArrayRef<int64_t> shape, ArrayRef<float> values) {
  return osa::ConstantOp::create(
      builder, loc, type(shape, f32),
      osa::makeFloatAttr(context, node ? node->name : "constant", shape,
                         values));
}
Value Importer::scalarConstant(double value, int onnxType) {
  if (HostTensor::isRealType(onnxType)) {
    auto ty = type({}, f32);
    return osa::ConstantOp::create(builder, loc, ty,
                                   DenseElementsAttr::get(ty, float(value)));
  }
  return wholeConstant({}, {int64_t(value)});
}

Value Importer::hostValue(size_t i) {
  TensorRef t = input(i);
  if (!t) {
    refuse(formatv("its input {0} is missing", i));
    return {};
  }
  if (t->host)
    return t->host;
  if (t->isPlainConstant()) {
    const HostTensor &c = *t->constant;
    if (elementCount(c.shape) == 0) {
      refuse(formatv("its input {0} has no elements", i));
      return {};
    }
    if (!c.isReal() && !isWholeType(c.type)) {
      refuse(formatv("its input {0} has the element type {1}", i,
                     typeName(c.type)));
      return {};
    }
    if (c.isReal())
      return t->host = realConstant(
                 c.shape, std::vector<float>(c.reals.begin(), c.reals.end()));
    return t->host = wholeConstant(c.shape, c.ints);
  }
  Value v = plain(t);
  if (!v)
    return {};
  if (num::IntType integer = num::elementInt(v.getType())) {
    v = quantStep(v, {false, {1.0}, {0}, -1, integer}, -1);
    return t->host = convertTo(v, TensorProto::FLOAT, TensorProto::INT64);
  }
  if (t->whole)
    v = convertTo(v, TensorProto::FLOAT, TensorProto::INT64);
  return t->host = v;
}

LogicalResult Importer::requireReals(ArrayRef<size_t> others) {
  for (auto [i, t] : llvm::enumerate(inputs))
    if (t && !llvm::is_contained(others, i) &&
        !HostTensor::isRealType(typeOf(t)))
      return refuse(formatv("its input {0} has the element type {1}, for which "
                            "{2} is not defined",
                            i, typeName(typeOf(t)), node->op()));
  return success();
}

Value Importer::wrapped(Value v, int onnxType) {
  if (Loops::isReal(v) || HostTensor::isRealType(onnxType) ||
      onnxType == TensorProto::BOOL)
    return v;
  auto range = wholeRange(onnxType);
  if (!range || onnxType == TensorProto::INT64)
    return v;
  return loops().map(
      {v}, builder.getI64Type(), [&](host::Scalars &s, ValueRange a) {
        return s.wrap(a[0], num::bitsForRange(range->first, range->second),
                      range->first < 0);
      });
}

Value Importer::eachOf(ArrayRef<Value> in, int onnxType,
                       function_ref<Value(host::Scalars &, ValueRange)> body) {
  bool real = HostTensor::isRealType(onnxType);
  auto range = real ? std::nullopt : wholeRange(onnxType);
  bool wraps =
      range && onnxType != TensorProto::BOOL && onnxType != TensorProto::INT64;
  return loops().map(in, real ? f32 : Type(builder.getI64Type()),
                     [&](host::Scalars &s, ValueRange a) {
                       Value v = body(s, a);
                       if (!wraps)
                         return v;
                       return s.wrap(
                           v, num::bitsForRange(range->first, range->second),
                           range->first < 0);
                     });
}

LogicalResult Importer::give(size_t i, Value v, int onnxType) {
  if (!v)
    return failure();
  auto t = std::make_shared<GraphTensor>();
  auto ty = cast<RankedTensorType>(v.getType());
  t->shape.assign(ty.getShape().begin(), ty.getShape().end());
  t->element = ty.getElementType();
  t->plain = v;
  t->onnx =
      HostTensor::isRealType(onnxType) ? int(TensorProto::FLOAT) : onnxType;
  return setResult(i, t);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The most loop iterations that folding may take, roughly.
static constexpr int64_t kFoldingWork = int64_t(1) << 26;

void Importer::foldResults() {
  for (const TensorRef &t : inputs)
    if (t && !t->isPlainConstant())
      return;
  std::vector<TensorRef> results;
  for (const std::string &name : node->proto.output())
    if (auto it = tensors.find(name);
        it != tensors.end() && it->second->plain && !it->second->constant)
      results.push_back(it->second);
  // What the results need, as a function of nothing.
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> work;
  for (const TensorRef &t : results)
    work.push_back(t->plain);
  int64_t cost = 0;
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op)
      return;
    if (!seen.insert(op).second)
      continue;
    llvm::append_range(work, op->getOperands());
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (v.getDefiningOp() && v.getDefiningOp()->getParentOp() == function)
          work.push_back(v);
    });
    if (auto loop = dyn_cast<linalg::LinalgOp>(op))
      cost += ShapedType::getNumElements(loop.getStaticLoopRanges());
  }
  if (results.empty() || cost > kFoldingWork)
    return;
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  SmallVector<Type> types;
  for (const TensorRef &t : results)
    types.push_back(t->plain.getType());
  auto func =
      func::FuncOp::create(b, loc, "fold", b.getFunctionType({}, types));
  b.setInsertionPointToEnd(func.addEntryBlock());
  IRMapping map;
  for (Operation &op : function.getBody().front())
    if (seen.contains(&op))
      b.clone(op, map);
  SmallVector<Value> values;
  for (const TensorRef &t : results)
    values.push_back(map.lookup(t->plain));
  func::ReturnOp::create(b, loc, values);
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  auto out = interpret(func, {});
  if (failed(out))
    return; // it is computed while the network runs, and fails there
  for (auto [t, tensor] : llvm::zip_equal(results, *out)) {
    auto host = std::make_shared<HostTensor>();
    host->type = typeOf(t);
    host->shape = t->shape;
    host->reals.assign(tensor.floats.begin(), tensor.floats.end());
    host->ints = tensor.ints;
    *t = *hostTensor(host);
  }
}
