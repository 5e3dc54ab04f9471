// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a converted function to machine code: constants and results become
// memref arguments (so no weight ever reaches LLVM IR), tensors become buffers,
// linalg becomes vector code (VectorLoops.cpp) or loops, and LLVM compiles
// these for this host. Every argument is noalias, which lets LLVM keep sums in
// registers and vectorise.
#include "rhizome/Conversion/Jit.h"
#include "Buffers.h"
#include "VectorLoops.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace rhizome;

static constexpr llvm::StringLiteral kKernel = "rhizome_kernel";

namespace {
/// What stands at the function's border.
struct Border {
  std::vector<int64_t> shape;
  int64_t lo = INT64_MIN, hi = INT64_MAX;
  Storage storage;
  bool isFloat = false;

  explicit Border(Type type) {
    shape = cast<RankedTensorType>(type).getShape().vec();
    if (num::IntType i = num::elementInt(type)) {
      lo = i.getLo(), hi = i.getHi();
      storage = Storage::of(i);
    } else if (cast<RankedTensorType>(type).getElementType().isF32()) {
      isFloat = true;
      storage = {32, true};
    }
  }
  size_t elements() const { return ShapedType::getNumElements(shape); }
};
using Bytes = std::vector<char>;
} // namespace

struct CompiledFunction::State {
  std::vector<Border> inputs, outputs;
  std::vector<Bytes> constants;
  std::unique_ptr<ExecutionEngine> engine;
  void (*kernel)(void **) = nullptr;
};

CompiledFunction::CompiledFunction() : state(std::make_unique<State>()) {}
CompiledFunction::~CompiledFunction() = default;

/// Every buffer gets readable bytes behind its end and is freed at the
/// function's end.
static void ownBuffers(func::FuncOp func) {
  Operation *ret = func.getBody().front().getTerminator();
  SmallVector<memref::AllocOp> allocs;
  func.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  for (memref::AllocOp alloc : allocs) {
    if (alloc->use_empty()) {
      alloc.erase();
      continue;
    }
    MemRefType type = alloc.getType();
    int64_t bytes = type.getNumElements() *
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    OpBuilder b(alloc);
    if (Operation *top = func.getBody().front().findAncestorOpInBlock(*alloc))
      b.setInsertionPoint(top);
    auto raw = memref::AllocOp::create(
        b, alloc.getLoc(),
        MemRefType::get({bytes + kReadableBytes}, b.getI8Type()));
    Value zero = arith::ConstantIndexOp::create(b, alloc.getLoc(), 0);
    Value view = memref::ViewOp::create(b, alloc.getLoc(), type, raw, zero,
                                        ValueRange());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
    b.setInsertionPoint(ret);
    memref::DeallocOp::create(b, ret->getLoc(), raw);
  }
}

/// Whether code for a value can stand anywhere, as often as needed.
static bool isCheap(Operation *op) {
  return op && isa<ViewLikeOpInterface, arith::ConstantOp>(op) &&
         !isa<memref::ViewOp>(op);
}

/// Cuts a long function into several, which lowering and LLVM take in linear
/// time. Buffers stay where they are, and no other value crosses a cut.
static void cut(func::FuncOp func) {
  constexpr size_t kOps = 64;
  Block &whole = func.getBody().front();
  SmallVector<Operation *> work;
  llvm::DenseMap<Operation *, size_t> position;
  for (Operation &op : whole.without_terminator())
    if (!isCheap(&op) &&
        !isa<memref::AllocOp, memref::ViewOp, memref::DeallocOp>(op)) {
      position[&op] = work.size();
      work.push_back(&op);
    }
  if (work.size() <= 2 * kOps)
    return;
  SmallVector<size_t> ends;
  size_t lastUse = 0;
  for (auto [i, op] : llvm::enumerate(work)) {
    for (Operation *user : op->getUsers())
      lastUse = std::max(lastUse,
                         position.lookup(whole.findAncestorOpInBlock(*user)));
    size_t first = ends.empty() ? 0 : ends.back();
    if (i + 1 == work.size() || (lastUse <= i && i + 1 - first >= kOps))
      ends.push_back(i + 1);
  }
  size_t first = 0;
  for (size_t last : ends) {
    ArrayRef<Operation *> part = ArrayRef(work).slice(first, last - first);
    first = last;
    OpBuilder b(func);
    auto inner = func::FuncOp::create(b, func.getLoc(),
                                      (kKernel + "_" + llvm::Twine(last)).str(),
                                      b.getFunctionType({}, {}));
    Block *body = inner.addEntryBlock();
    b.setInsertionPointToEnd(body);
    IRMapping mapping;
    SmallVector<Value> outer;
    std::function<void(Value)> need = [&](Value v) {
      if (mapping.contains(v))
        return;
      if (Operation *op = v.getDefiningOp(); isCheap(op)) {
        for (Value operand : op->getOperands())
          need(operand);
        b.clone(*op, mapping);
        return;
      }
      outer.push_back(v);
      mapping.map(v, body->addArgument(v.getType(), v.getLoc()));
    };
    for (Operation *op : part) {
      llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
      for (Value v : used)
        need(v);
      b.clone(*op, mapping);
    }
    func::ReturnOp::create(b, func.getLoc());
    inner.setType(b.getFunctionType(body->getArgumentTypes(), {}));
    for (unsigned i = 0; i < inner.getNumArguments(); ++i)
      inner.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                       b.getUnitAttr());
    b.setInsertionPoint(part.back());
    func::CallOp::create(b, func.getLoc(), inner, outer);
    for (Operation *op : llvm::reverse(part))
      op->erase();
  }
}

/// exp and tanh as polynomials, which vectors compute as a whole; the C library
/// has these functions for one number at a time.
static void approximate(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::ExpOp::getOperationName() ||
           name == math::TanhOp::getOperationName();
  });
  walkAndApplyPatterns(module, std::move(patterns));
}

static LogicalResult lower(ModuleOp module, const VectorUnit &unit,
                           std::vector<Bytes> &constants) {
  MLIRContext *context = module.getContext();
  PassManager convert(context);
  convert.addPass(createConvertOsaToLinalg());
  if (failed(convert.run(module)))
    return failure();
  auto func = *module.getOps<func::FuncOp>().begin();
  unsigned inputs = func.getNumArguments();
  if (failed(toBuffers(func, constants)))
    return failure();
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                    UnitAttr::get(context));
  vectoriseLoops(func, unit, inputs, constants);
  func.setType(FunctionType::get(
      context, func.getBody().front().getArgumentTypes(), {}));
  ownBuffers(func);
  cut(func);
  approximate(module);

  PassManager pm(context);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  // Takes vectors apart, hence before these become LLVM's.
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions funcOptions;
  funcOptions.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(funcOptions));
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

static void registerDialects(MLIRContext *context) {
  DialectRegistry registry;
  registry
      .insert<affine::AffineDialect, arith::ArithDialect,
              cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> hostMachine() {
  static const bool ready = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)ready;
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder->createTargetMachine();
}

/// What the processor's features say about vectors.
static VectorUnit unitOf(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo *info = machine.getMCSubtargetInfo();
  if (machine.getTargetTriple().isX86()) {
    if (info->checkFeatures("+avx512bw"))
      return {512, 32};
    return {info->checkFeatures("+avx2") ? 256u : 128u, 16};
  }
  return {128, 32};
}

FailureOr<std::unique_ptr<CompiledFunction>>
CompiledFunction::compile(func::FuncOp func) {
  for (Type type :
       llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes()))
    if (Type element = cast<RankedTensorType>(type).getElementType();
        !isa<num::IntType>(element) && !element.isF32() &&
        !element.isInteger(64))
      return func.emitError() << "the CPU path takes integers, indices and "
                                 "float32, but @"
                              << func.getSymName() << " has a " << type;
  registerDialects(func.getContext());
  std::unique_ptr<CompiledFunction> compiled(new CompiledFunction());
  State &state = *compiled->state;
  for (Type type : func.getArgumentTypes())
    state.inputs.emplace_back(type);
  for (Type type : func.getResultTypes())
    state.outputs.emplace_back(type);

  OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
  auto clone = cast<func::FuncOp>(func->clone());
  clone.setSymName(kKernel);
  clone.setPublic();
  clone.removeArgAttrsAttr();
  clone.removeResAttrsAttr();
  clone->removeAttr(flow::kPlace); // it is no task any more
  module->push_back(clone);
  auto machine = hostMachine();
  if (!machine)
    return func.emitError() << "this host's CPU is not supported: "
                            << llvm::toString(machine.takeError());
  if (failed(lower(*module, unitOf(**machine), state.constants)))
    return failure();
  for (Bytes &constant : state.constants)
    constant.resize(constant.size() + kReadableBytes);

  ExecutionEngineOptions options;
  auto optimise = makeOptimizingTransformer(3, 0, machine->get());
  options.transformer = optimise;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto host = hostMachine();
  if (!host)
    return func.emitError() << llvm::toString(host.takeError());
  auto engine = ExecutionEngine::create(*module, options, std::move(*host));
  if (!engine)
    return func.emitError() << "LLVM cannot compile @" << func.getSymName()
                            << ": " << llvm::toString(engine.takeError());
  state.engine = std::move(*engine);
  auto kernel = state.engine->lookupPacked(kKernel);
  if (!kernel)
    return func.emitError() << "LLVM cannot link @" << func.getSymName() << ": "
                            << llvm::toString(kernel.takeError());
  state.kernel = *kernel;
  return compiled;
}

template <typename T>
static void pack(const std::vector<int64_t> &values, char *to) {
  auto *out = reinterpret_cast<T *>(to);
  for (size_t i = 0; i < values.size(); ++i)
    out[i] = T(values[i]);
}
template <typename T>
static void unpack(const char *from, std::vector<int64_t> &values) {
  auto *in = reinterpret_cast<const T *>(from);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(in[i]);
}
/// Calls fn with a value of the C++ type that `storage` means.
template <typename Fn> static void withType(Storage storage, Fn fn) {
  switch (storage.width) {
  case 8:
    return storage.isSigned ? fn(int8_t()) : fn(uint8_t());
  case 16:
    return storage.isSigned ? fn(int16_t()) : fn(uint16_t());
  case 32:
    return storage.isSigned ? fn(int32_t()) : fn(uint32_t());
  default:
    return fn(int64_t());
  }
}

llvm::Expected<std::vector<Tensor>>
CompiledFunction::run(ArrayRef<Tensor> inputs) const {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  if (inputs.size() != state->inputs.size())
    return fail("the function takes " + llvm::Twine(state->inputs.size()) +
                " inputs, not " + llvm::Twine(inputs.size()));
  // Whole words, so that every element type is aligned.
  auto words = [](const Border &border) {
    return std::vector<int64_t>(
        (border.elements() * border.storage.width / 8 + 7 + kReadableBytes) /
        8);
  };
  std::vector<std::vector<int64_t>> buffers;
  for (auto [i, border] : llvm::enumerate(state->inputs)) {
    const Tensor &tensor = inputs[i];
    if (tensor.isFloat != border.isFloat || tensor.shape != border.shape ||
        (border.isFloat ? tensor.floats.size() : tensor.ints.size()) !=
            border.elements())
      return fail("input " + llvm::Twine(i) +
                  " has another shape or kind than the function's");
    for (int64_t v : tensor.ints)
      if (v < border.lo || v > border.hi)
        return fail("input " + llvm::Twine(i) + " holds " + llvm::Twine(v) +
                    ", outside " + llvm::Twine(border.lo) + ":" +
                    llvm::Twine(border.hi));
    buffers.push_back(words(border));
    if (border.isFloat) {
      llvm::copy(tensor.floats,
                 reinterpret_cast<float *>(buffers.back().data()));
      continue;
    }
    withType(border.storage, [&](auto t) {
      pack<decltype(t)>(tensor.ints,
                        reinterpret_cast<char *>(buffers.back().data()));
    });
  }
  for (const Border &border : state->outputs)
    buffers.push_back(words(border));

  std::vector<void *> pointers;
  for (size_t i = 0; i < inputs.size(); ++i)
    pointers.push_back(buffers[i].data());
  for (const Bytes &constant : state->constants)
    pointers.push_back(const_cast<char *>(constant.data()));
  for (size_t i = inputs.size(); i < buffers.size(); ++i)
    pointers.push_back(buffers[i].data());
  std::vector<void *> packed;
  for (void *&pointer : pointers)
    packed.push_back(&pointer);
  state->kernel(packed.data());

  std::vector<Tensor> results;
  for (auto [i, border] : llvm::enumerate(state->outputs)) {
    auto *from =
        reinterpret_cast<const char *>(buffers[inputs.size() + i].data());
    Tensor tensor{border.shape, border.isFloat, {}, {}};
    if (border.isFloat) {
      auto *reals = reinterpret_cast<const float *>(from);
      tensor.floats.assign(reals, reals + border.elements());
    } else {
      tensor.ints.resize(border.elements());
      withType(border.storage,
               [&](auto t) { unpack<decltype(t)>(from, tensor.ints); });
    }
    results.push_back(std::move(tensor));
  }
  return results;
}
