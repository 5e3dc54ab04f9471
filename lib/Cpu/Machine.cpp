// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops on buffers to an object file for one processor, and objects into this
// process.
#include "Machine.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Numeric/Runtime.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <cstdlib>
#include <new>

using namespace mlir;
using namespace rhizome::cpu;

static llvm::Error cannot(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

//===----------------------------------------------------------------------===//
// The processor
//===----------------------------------------------------------------------===//

/// What the processor's features say about vectors.
static VectorUnit unitOf(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo *info = machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86())
    return {128, 128, 32, true};
  // Integers of 8 and 16 bits got the wide registers later than floats.
  if (info->checkFeatures("+avx512bw"))
    return {512, 512, 32, true, info->checkFeatures("+avx512vnni,+avx512vl")};
  if (info->checkFeatures("+avx512f"))
    return {512, 256, 32, true};
  if (info->checkFeatures("+avx2"))
    return {256, 256, 16, info->checkFeatures("+fma"),
            info->checkFeatures("+avxvnni")};
  return {info->checkFeatures("+avx") ? 256u : 128u, 128, 16, false};
}

Machine::Machine(std::unique_ptr<llvm::TargetMachine> machine)
    : machine(std::move(machine)), unit(unitOf(*this->machine)) {}
Machine::Machine(Machine &&) = default;
Machine::~Machine() = default;

llvm::Expected<Machine> Machine::forCpu(llvm::StringRef name, Effort effort) {
  static const bool ready = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)ready;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error, cpu = name.str();
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return cannot(error);
  llvm::SubtargetFeatures features;
  if (cpu == "native") {
    cpu = llvm::sys::getHostCPUName().str();
    for (auto &[feature, on] : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature, on);
  }
  // A machine for an unknown processor complains on the terminal.
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      found->createMCSubtargetInfo(triple, "", ""));
  if (!known || !known->isCPUStringValid(cpu))
    return cannot("LLVM knows no processor '" + cpu + "' of " + triple.str());
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, cpu, features.getString(), llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt,
      effort == Effort::Quick ? llvm::CodeGenOptLevel::Less
                              : llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return cannot("LLVM makes no code for " + triple.str());
  return Machine(std::move(machine));
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

static void addLowering(OpPassManager &pm) {
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
  ConvertFuncToLLVMPassOptions options;
  options.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(options));
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void rhizome::loadCpuDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry
      .insert<affine::AffineDialect, arith::ArithDialect,
              cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  OpPassManager passes(ModuleOp::getOperationName());
  passes.addPass(createConvertOsaToLinalg());
  addLowering(passes);
  passes.getDependentDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

LogicalResult rhizome::cpu::lower(ModuleOp module) {
  PassManager pm(module.getContext());
  addLowering(pm);
  return pm.run(module);
}

/// The function that programs call.
static void addEntry(llvm::Module &ir, const Entry &entry) {
  llvm::IRBuilder<> b(ir.getContext());
  llvm::Function *body = ir.getFunction(entry.function);
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
      llvm::GlobalValue::ExternalLinkage, entry.name, ir);
  b.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "", function));
  llvm::SmallVector<llvm::Value *> arguments;
  llvm::Value *scratch = nullptr;
  unsigned count = unsigned(body->arg_size());
  for (unsigned i = 0; i < count; ++i) {
    if (!entry.owns || i < entry.borders) {
      llvm::Value *at =
          b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(0), i);
      arguments.push_back(b.CreateLoad(b.getPtrTy(), at));
      continue;
    }
    if (i + 1 == count) {
      auto malloc = ir.getOrInsertFunction("aligned_alloc", b.getPtrTy(),
                                           b.getInt64Ty(), b.getInt64Ty());
      scratch = b.CreateCall(
          malloc,
          {b.getInt64(64), b.getInt64(llvm::alignTo(entry.scratchBytes, 64))});
      arguments.push_back(scratch);
      continue;
    }
    const std::vector<char> &bytes = entry.constants[i - entry.borders];
    auto *values = llvm::ConstantDataArray::get(
        ir.getContext(),
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                       bytes.size()));
    auto *global = new llvm::GlobalVariable(
        ir, values->getType(), /*isConstant=*/true,
        llvm::GlobalValue::InternalLinkage, values, entry.name + ".constant");
    global->setAlignment(llvm::Align(64));
    arguments.push_back(global);
  }
  b.CreateCall(body, arguments);
  if (scratch)
    b.CreateCall(ir.getOrInsertFunction("free", b.getVoidTy(), b.getPtrTy()),
                 scratch);
  b.CreateRetVoid();
}

namespace {
/// Code generation without the pass that gives AVX-512's instructions shorter
/// encodings. LLVM 22's merges a move of signs to a mask register with the
/// mask's move to a general one, although a shift still reads the mask (its
/// issue 198197) or the signs are in a register above 15 (191304): elements of
/// vectors lost their sign on Zen 4 and 5.
class CodeGeneration : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass *pass) override {
    if (pass->getPassName() == "Compressing EVEX instrs when possible")
      delete pass;
    else
      llvm::legacy::PassManager::add(pass);
  }
};
} // namespace

llvm::Expected<std::string>
rhizome::cpu::compileModule(ModuleOp module, const Machine &machine,
                            llvm::ArrayRef<Entry> entries,
                            const std::string &assembly) {
  if (failed(lower(module)))
    return cannot("the code cannot be lowered to LLVM IR");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir =
      translateModuleToLLVMIR(module, context, "rhizome");
  if (!ir)
    return cannot("the code cannot be translated to LLVM IR");
  llvm::TargetMachine &target = machine.target();
  ir->setTargetTriple(target.getTargetTriple());
  ir->setDataLayout(target.createDataLayout());
  for (llvm::Function &function : *ir)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (const Entry &entry : entries)
    addEntry(*ir, entry);
  if (!assembly.empty()) {
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> other =
        llvm::parseAssemblyString(assembly, diagnostic, context);
    if (!other)
      return cannot("the entry points are wrong: " + diagnostic.getMessage());
    other->setTargetTriple(ir->getTargetTriple());
    other->setDataLayout(ir->getDataLayout());
    // What the assembly calls is seen while they are linked only.
    llvm::SmallVector<std::string> called;
    for (llvm::Function &function : *other)
      if (llvm::Function *here = ir->getFunction(function.getName());
          here && function.isDeclaration() && !here->isDeclaration()) {
        here->setLinkage(llvm::GlobalValue::ExternalLinkage);
        called.push_back(function.getName().str());
      }
    if (llvm::Linker::linkModules(*ir, std::move(other)))
      return cannot("the entry points cannot be linked");
    for (const std::string &name : called)
      ir->getFunction(name)->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  for (llvm::Function &function : *ir) {
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("target-features", target.getTargetFeatureString());
    // Zen and later run 512 bits at full rate; the vectors are chosen already.
    function.addFnAttr("prefer-vector-width", "512");
  }
  const bool isQuick = target.getOptLevel() < llvm::CodeGenOptLevel::Aggressive;
  auto optimize = makeOptimizingTransformer(isQuick ? 0 : 3, 0, &target);
  if (llvm::Error error = optimize(ir.get()))
    return std::move(error);
  llvm::SmallVector<char> object;
  llvm::raw_svector_ostream os(object);
  CodeGeneration emit;
  if (target.addPassesToEmitFile(emit, os, nullptr,
                                 llvm::CodeGenFileType::ObjectFile))
    return cannot("LLVM writes no object files for this processor");
  emit.run(*ir);
  return std::string(object.begin(), object.end());
}

//===----------------------------------------------------------------------===//
// Objects in this process
//===----------------------------------------------------------------------===//

LoadedObject::LoadedObject(std::unique_ptr<llvm::orc::LLJIT> jit)
    : jit(std::move(jit)) {}
LoadedObject::LoadedObject(LoadedObject &&) = default;
LoadedObject::~LoadedObject() = default;

/// Code does not look at what it gets. Its frames have no place for an
/// exception, so the program ends, with a message (runProgram).
static void *allocate(size_t bytes) {
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
static void *allocateAligned(size_t alignment, size_t bytes) {
  if (void *memory = std::aligned_alloc(alignment, bytes))
    return memory;
  throw std::bad_alloc();
}

llvm::Expected<LoadedObject> LoadedObject::load(llvm::StringRef object) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // What functions in custom floats call.
  auto address = [&](auto *function) {
    return llvm::orc::ExecutorSymbolDef(
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported);
  };
  if (llvm::Error error =
          (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(
              {{(*jit)->mangleAndIntern("malloc"), address(&allocate)},
               {(*jit)->mangleAndIntern("aligned_alloc"),
                address(&allocateAligned)},
               {(*jit)->mangleAndIntern("rhizome_num_float"),
                address(&rhizome_num_float)},
               {(*jit)->mangleAndIntern("rhizome_num_fixed"),
                address(&rhizome_num_fixed)},
               {(*jit)->mangleAndIntern("rhizome_num_quotient"),
                address(&rhizome_num_quotient)},
               {(*jit)->mangleAndIntern("rhizome_num_convert"),
                address(&rhizome_num_convert)}})))
    return std::move(error);
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "rhizome")))
    return std::move(error);
  return LoadedObject(std::move(*jit));
}

llvm::Expected<void *> LoadedObject::find(llvm::StringRef symbol) const {
  auto found = jit->lookup(symbol);
  if (!found)
    return found.takeError();
  return found->toPtr<void *>();
}
