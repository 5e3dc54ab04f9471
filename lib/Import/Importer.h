// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The importer's state: what is known of every ONNX tensor, and one member
// function per ONNX operation. A tensor lives in two layouts, ONNX's and
// channels-last; each is made when somebody first asks for it, so that chains
// of channels-last operations need no transposes between them.
#pragma once

#include "Constant.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Host/Loops.h"
#include "rhizome/Import/OnnxImport.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace rhizome::importer {
/// One quantiser or dequantiser behind a constant. `axis` is −1 if scale and
/// zero point hold one value.
struct QuantStep {
  bool quantise = false; ///< else dequantise
  std::vector<double> scale;
  std::vector<int64_t> zeroPoint;
  int64_t axis = -1;
  num::IntType type; ///< the integer side
  osa::Rounding rounding = osa::Rounding::HalfEven;
};

/// What is known of one ONNX tensor.
struct GraphTensor {
  Shape shape;        ///< as ONNX sees it
  mlir::Type element; ///< f32, !num.int or i64; null for other constants
  HostRef constant;   ///< a constant, before `steps`
  std::vector<QuantStep> steps;
  mlir::Value plain;    ///< in ONNX's layout, once asked for
  mlir::Value last;     ///< channels-last, once asked for
  bool unknown = false; ///< behind a refused node, shape not known
  mlir::Value host;     ///< as f32 or i64 for the host, once asked for
  int onnx = 0; ///< the file's element type, where `element` does not tell it
  /// The file gives the tensor an integer type; its whole numbers are carried
  /// as reals (element f32), between these bounds.
  std::optional<std::pair<int64_t, int64_t>> whole;

  bool isConstant() const { return constant != nullptr; }
  bool isPlainConstant() const { return constant && steps.empty(); }
  size_t rank() const { return shape.size(); }
  bool hasChannelsLast() const { return rank() == 3 || rank() == 4; }
};
using TensorRef = std::shared_ptr<GraphTensor>;

/// The bounds of integers of 64 bits, as far as they matter: wider than any
/// accumulator, narrow enough to compute with.
constexpr std::pair<int64_t, int64_t> kWideIntegers{-(int64_t(1) << 47),
                                                    (int64_t(1) << 47) - 1};

/// QONNX's rounding modes; nullopt for unknown ones.
std::optional<osa::Rounding> qonnxRounding(llvm::StringRef mode);

/// Along each of two spatial axes (one-dimensional windows have H = 1).
struct WindowSpec {
  std::array<int64_t, 2> kernel, strides, dilations, low, high, out;
  /// Ceil mode needs this much more than the explicit padding.
  std::array<int64_t, 2> extra{0, 0};
  llvm::SmallVector<int64_t, 4> pads() const {
    return {low[0], low[1], high[0] + extra[0], high[1] + extra[1]};
  }
};

/// Along each spatial axis, for the host.
struct HostWindow {
  Shape kernel, strides, dilations, low, high, out;
};

/// Query, key and value of an Attention, [batch, heads, length, size] each, the
/// past's keys and values before the present ones.
struct Heads {
  mlir::Value query, key, value;
  int64_t past = 0;    ///< keys before the present ones
  bool isFlat = false; ///< the file's tensors have the heads in one axis
};

/// The bounds of an integer type; nullopt for others and for uint64.
std::optional<std::pair<int64_t, int64_t>> wholeRange(int onnxType);
/// True for bool and the integers that the host computes with.
bool isWholeType(int onnxType);

/// What refusing gives: a failure that callers may also ignore.
struct Refused {
  operator llvm::LogicalResult() const { return llvm::failure(); }
};

class Importer {
public:
  Importer(mlir::MLIRContext *context, const Graph &graph,
           llvm::StringRef directory, const ImportOptions &options,
           Refusals &refusals);
  /// Refusals may have been entered, also before; then the module is of no use.
  mlir::OwningOpRef<mlir::ModuleOp> run();
  /// Of a file whose opset we don't read: the operations that we lack anyway.
  void judgeOperations();

private:
  using Result = llvm::LogicalResult;
  using Handler = Result (Importer::*)();
  struct OpInfo {
    Handler handler;
    std::vector<llvm::StringRef> attributes; ///< those that we understand
  };
  /// Operations that may become part of the network, and those that the host
  /// has beside or in place of them.
  static const llvm::StringMap<OpInfo> &operations();
  static const llvm::StringMap<OpInfo> &hostOperations();
  /// Those that HostExact.cpp computes as a whole.
  static const llvm::StringMap<OpInfo> &exactOperations();

  // Importer.cpp: the walk over the graph.
  void declareInputs();
  void importNode(const Node &n, bool networkOnly = false);
  bool loadInputs();
  bool foldConstant();
  void failOutputs();
  void finish();
  void enter(llvm::StringRef name, llvm::StringRef op);
  void verify(mlir::ModuleOp module);
  /// Refuses at the current place.
  Refused refuse(std::string reason, std::string remedy = "");

  // Judge.cpp: what is judged before a node is read.
  const OpInfo *findOperation(const Node &n,
                              const llvm::StringMap<OpInfo> &table) const;
  bool checkAttributes(const Node &n, const OpInfo &info);
  /// Refuses the current node's attributes that neither table has.
  void judgeAttributes(const OpInfo *info, const OpInfo *host);
  bool isSupported(const Node &n, const OpInfo *info, const OpInfo *host);

  // Importer.cpp: reading the current node.
  TensorRef lookup(llvm::StringRef name);
  TensorRef input(size_t i) const;
  bool outputUsed(size_t i) const;
  Result requireReal(size_t i);
  /// Constant input `i` as integers or reals; nullopt (refused) if it is not.
  std::optional<std::vector<int64_t>> constantInts(size_t i,
                                                   llvm::StringRef what);
  std::optional<std::vector<double>> constantReals(size_t i,
                                                   llvm::StringRef what);
  std::optional<int64_t> axisAttribute(int64_t fallback, size_t rank);
  /// What the current node makes of integer tensors carried as reals.
  void setWhole(std::pair<int64_t, int64_t> bounds);
  Result checkWhole();
  void propagateWhole();
  /// Makes integer constants beside a tensor of whole numbers real, exactly.
  Result liftIntegers();

  // Values.cpp: tensors, layouts and constants.
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape,
                              mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  static Shape lastShape(llvm::ArrayRef<int64_t> shape);
  static int64_t lastAxis(int64_t axis, size_t rank);
  /// The tensor's value in one of the layouts; null if refused.
  mlir::Value plain(const TensorRef &t);
  mlir::Value channelsLast(const TensorRef &t);
  /// A constant operand beside a channels-last tensor of `rank`: permuted, with
  /// its leading unit axes dropped.
  mlir::Value constantBesideLast(const TensorRef &t, size_t rank);
  mlir::Value materialise(const GraphTensor &t);
  mlir::Value transpose(mlir::Value v, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reshape(mlir::Value v, llvm::ArrayRef<int64_t> shape);
  mlir::Value quantStep(mlir::Value v, const QuantStep &step, int64_t axis);
  TensorRef transposed(const TensorRef &constant,
                       llvm::ArrayRef<int64_t> permutation);
  /// Null if a quantiser's channel axis does not survive.
  TensorRef reshaped(const TensorRef &constant, Shape shape);
  TensorRef hostTensor(HostRef host);
  mlir::DenseElementsAttr floats(llvm::ArrayRef<double> values);

  // Results of the current node.
  Result setResult(size_t i, TensorRef t);
  Result setPlain(mlir::Value v);
  /// A channels-last value whose ONNX shape is `shape`.
  Result setLast(mlir::Value v, Shape shape);
  /// Applies `make` in the layout that the tensor already has.
  Result
  elementwise(const TensorRef &x, mlir::Type element,
              llvm::function_ref<mlir::Value(mlir::Value,
                                             mlir::RankedTensorType, bool last)>
                  make);
  Result passThrough(const TensorRef &x);

  // Windows.cpp
  Result conv();
  Result maxPool();
  Result averagePool();
  Result globalPool();
  Result batchNormalization();
  std::optional<WindowSpec> window(llvm::ArrayRef<int64_t> spatial,
                                   llvm::ArrayRef<int64_t> kernel);
  Result checkImage(const TensorRef &x);
  Result emitAveragePool(const TensorRef &x, WindowSpec w, bool countPad);

  // Linear.cpp
  Result gemm();
  Result matMul();
  Result binary();
  Result sum();
  Result pow();
  Result relu();
  Result leakyRelu();
  Result clip();
  Result unary();
  Result softmax();
  Result argMax();
  Result topK();
  Result addTensors(const TensorRef &a, const TensorRef &b, TensorRef &out);
  mlir::Value emitBinary(llvm::StringRef op, mlir::Value a, mlir::Value b,
                         mlir::Type result);
  TensorRef emitBinaryTensors(llvm::StringRef op, const TensorRef &a,
                              const TensorRef &b);
  mlir::Value emitDense(mlir::Value x, const TensorRef &weights,
                        const TensorRef &bias);
  Result emitSoftmax(const TensorRef &x, int64_t axis);
  Result emitArgMax(const TensorRef &x, int64_t axis, bool keep, bool lastOne,
                    size_t output);

  // Shapes.cpp
  Result reshapeOp();
  Result flatten();
  Result squeeze();
  Result unsqueeze();
  Result transposeOp();
  Result concat();
  Result pad();
  bool endsLast() const;
  Result identity();
  Result dropout();
  Result castOp();
  Result castReal(const TensorRef &x, int to);
  Result shapeOf();
  Result foldedOnly();
  Result setShape(Shape shape);
  std::optional<std::vector<int64_t>> axesArgument(bool &given);

  // Moves.cpp, Resize.cpp, Upsample.cpp, Reduce.cpp
  Result gather();
  Result slice();
  Result split();
  Result depthToSpace();
  Result spaceToDepth();
  Result resize();
  Result convTranspose();
  Result reduce();
  Result extremum();
  /// Elements `indices` of `x` along `axis`, in the layout that `x` has.
  TensorRef taken(const TensorRef &x, int64_t axis,
                  llvm::ArrayRef<int64_t> indices);
  mlir::Value take(mlir::Value v, int64_t axis,
                   llvm::ArrayRef<int64_t> indices);
  /// Refuses (and says true) more positions than a list of them should hold.
  bool isTooLong(int64_t positions);
  mlir::Value scalar(double value);
  /// [1,H,W,C·h·w] to [1,H·h,W·w,C], the channel outermost (as DepthToSpace's
  /// CRD) or innermost.
  mlir::Value spread(mlir::Value v, int64_t h, int64_t w,
                     bool channelOutermost);
  mlir::Value conv2d(mlir::Value x, mlir::Value weights, mlir::Value bias,
                     Shape pads, int64_t groups);
  TensorRef interpolated(const TensorRef &x, llvm::ArrayRef<int64_t> factors,
                         bool halfPixel);

  // Products.cpp
  Result matMulOfTwo();
  Result einsum();
  mlir::Value product(mlir::Value a, mlir::Value b);
  /// True if the tensor holds integers behind a dequantiser, perhaps moved.
  bool isQuantised(const TensorRef &t) const;

  // Thresholds.cpp
  Result multiThreshold();
  Result trunc();

  // Quantisers.cpp
  Result quantizeLinear();
  Result dequantizeLinear();
  Result quant();
  Result shiftedQuant(QuantStep step);
  Result bipolarQuant();
  Result roundToWhole();
  Result clipIntegers(int64_t lo, int64_t hi);
  /// Rounds the reals of `x` to whole numbers within `bounds`.
  TensorRef rounded(const TensorRef &x, osa::Rounding rounding,
                    std::pair<int64_t, int64_t> bounds);
  num::IntType integerType(int onnxType) const;
  /// The integers of QONNX's Quant.
  num::IntType qonnxType(bool isSigned, bool narrow, unsigned width) const;
  std::optional<std::vector<double>> scaleValues(size_t i);
  Result linearStep(QuantStep &step, int64_t rank);
  bool isBlocked() const;
  TensorRef blockwise(size_t i, llvm::StringRef what);
  Result blockedQuantise(num::IntType type);
  Result blockedDequantise(num::IntType type);
  Result applySteps(const TensorRef &x, llvm::ArrayRef<QuantStep> steps);
  /// The parameters of QONNX's quantisers, which some exporters write as
  /// integers, as the floats that they stand for.
  void liftParameters();

  // HalfFloats.cpp: tensors of float16 and bfloat16.
  mlir::FloatType halfType(int onnxType); ///< null for other types
  int realTypeOf(size_t i) const;
  /// Gives the current node's real results the file's element type; what is
  /// float16 or bfloat16 is rounded.
  void settleTypes();
  void roundTo(GraphTensor &t, mlir::FloatType half);
  bool isBetweenQuantisers(llvm::StringRef tensor);

  // Host.cpp: operations of the host; tensors in ONNX's layout, f32 or i64.
  int typeOf(const TensorRef &t) const; ///< the ONNX element type
  /// The factors of a product, inputs 0 and 1, and what is added, input 2 or
  /// null. Refuses element types for which ONNX does not define the product:
  /// integers, or, if `takesWide`, integers of less than 32 bits.
  struct Factors {
    mlir::Value x, y, addend;
  };
  std::optional<Factors> hostFactors(bool takesWide);
  /// Refuses a bias that has not one value for each of `channels`.
  mlir::LogicalResult onePerChannel(mlir::Value bias, int64_t channels);
  /// A tensor with scale and zero point (or null), each brought beside it.
  struct Levels {
    mlir::Value x, scale, zero;
  };
  std::optional<Levels> hostLevels();
  static bool isUnsigned(int onnxType);
  host::Loops loops();
  /// Input `i` for the host; null (refused) if it is missing.
  mlir::Value hostValue(size_t i);
  /// All inputs are reals, except `others`.
  Result requireReals(llvm::ArrayRef<size_t> others = {});
  Result give(size_t i, mlir::Value v, int onnxType);
  mlir::Value wholeConstant(llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> values);
  mlir::Value realConstant(llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<float> values);
  mlir::Value scalarConstant(double value, int onnxType);
  /// Integers wrapped to their width.
  mlir::Value wrapped(mlir::Value v, int onnxType);
  /// Elementwise with broadcasting; integers wrap to the type's width.
  mlir::Value eachOf(
      llvm::ArrayRef<mlir::Value> in, int onnxType,
      llvm::function_ref<mlir::Value(host::Scalars &, mlir::ValueRange)> body);
  mlir::Value convertTo(mlir::Value v, int from, int to);
  mlir::Value computeBinary(llvm::StringRef op, mlir::Value x, mlir::Value y,
                            int onnxType);
  mlir::Value times(mlir::Value x, mlir::Value y);
  mlir::Value plus(mlir::Value x, mlir::Value y);
  mlir::Value hostProduct(mlir::Value x, mlir::Value y);
  /// Makes the current node's results constants if its inputs are.
  void foldResults();

  // HostExact.cpp: QLinear operations of the host, with exact sums.
  mlir::Value centred(mlir::Value x, llvm::ArrayRef<int64_t> zeros,
                      int64_t axis);
  mlir::Value requantised(mlir::Value acc, llvm::ArrayRef<llvm::APInt> over,
                          llvm::ArrayRef<llvm::APInt> under, int64_t zero,
                          int onnxType, int64_t axis);
  Result giveInteger(mlir::Value v, int onnxType);
  mlir::Value exactProduct(
      mlir::Value x, mlir::Value w, int64_t xAxis, int64_t wAxis, int64_t each,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> product);
  mlir::Value exactConvolution(mlir::Value x, mlir::Value w);
  mlir::Value exactMatrixProduct(mlir::Value x, mlir::Value w);
  Result giveProduct(mlir::Value acc, size_t aScale, size_t bScale,
                     size_t yScale, int64_t axis);
  Result exactConv();
  Result exactMatMul();
  Result exactBinary();
  Result exactMean();
  Result exactIntegerProduct();
  bool isWideProduct(const Node &n);
  Result importExactly(const Node &n);
  /// Imports the node `first` of the graph, with those of the same expansion:
  /// as part of the network if all can be, else the operation as the file has
  /// it on the host. The number of the next node.
  size_t importExpansion(size_t first);

  // Host*.cpp
  Result hostUnary();
  Result hostActivation();
  Result hostBinary();
  Result hostTest();
  Result hostWhere();
  Result hostClip();
  Result hostCast();
  std::optional<llvm::SmallVector<bool>>
  reducedAxes(size_t rank, size_t axesInput, bool &none);
  Result hostReduce();
  Result hostArg();
  Result hostCumulate();
  Result hostTopK();
  Result hostSoftmax();
  mlir::Value standardise(mlir::Value x, llvm::ArrayRef<bool> axes,
                          double epsilon, mlir::Value *mean = nullptr,
                          mlir::Value *inverse = nullptr);
  Result hostNormalise();
  Result hostGather();
  Result hostScatter();
  Result hostSlice();
  Result hostSplit();
  Result hostConcat();
  Result hostExpand();
  Result hostPad();
  Result hostBlocks();
  Result hostTrilu();
  Result hostOneHot();
  Result hostReverse();
  Result hostCompress();
  Result hostMake();
  Result hostMatMul();
  Result hostGemm();
  Result hostEinsum();
  std::optional<HostWindow> hostWindow(llvm::ArrayRef<int64_t> spatial,
                                       llvm::ArrayRef<int64_t> kernel);
  Result hostConv();
  mlir::Value convolved(mlir::Value x, mlir::Value w);
  Result hostConvTranspose();
  Result hostPool();
  Result hostResize();
  Result hostGridSample();
  Result hostRecurrent();
  Result hostAttention();
  std::optional<Heads> attentionHeads();
  std::optional<mlir::Value> attentionBias(const Heads &heads);
  mlir::Value besideAxis(mlir::Value v, llvm::ArrayRef<int64_t> shape,
                         int64_t axis);
  Result checkScale();
  Result hostQuantize();
  Result hostDequantize();
  Result hostDynamicQuantize();
  Result hostFloatQuant();

  mlir::MLIRContext *context;
  const Graph &graph;
  std::string directory;
  const ImportOptions &options;
  Refusals &refusals;
  mlir::OpBuilder builder;
  mlir::Type f32;
  llvm::StringMap<TensorRef> tensors;
  mlir::func::FuncOp function;
  /// A graph input as an argument: whether it holds whole numbers as reals, and
  /// the range of its integers.
  struct Argument {
    std::string name;
    bool isWhole = false;
    std::optional<std::pair<int64_t, int64_t>> range = std::nullopt;
  };
  std::vector<Argument> arguments;
  int64_t foldedElements = 0; ///< of all constants computed so far
  /// Tensors that stand between two quantisers, once asked for.
  std::optional<llvm::StringSet<>> betweenQuantisers;

  const Node *node = nullptr;     ///< the current one
  std::string placeName, placeOp; ///< whom a refusal concerns
  mlir::Location loc;
  std::vector<TensorRef> inputs;
};
} // namespace rhizome::importer
