// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel to an object file for one processor, and objects into this process.
#include "Lowering.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "rhizome/Numeric/Runtime.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir;
using namespace rhizome::kernel;

static llvm::Error cannot(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
machineFor(const CpuTarget &target) {
  static const bool ready = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)ready;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error, cpu = target.cpu;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return cannot(error);
  llvm::SubtargetFeatures features;
  if (cpu == "native") {
    cpu = llvm::sys::getHostCPUName().str();
    for (auto &[name, on] : llvm::sys::getHostCPUFeatures())
      features.AddFeature(name, on);
  }
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, cpu, features.getString(), llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(cpu))
    return cannot("LLVM knows no processor '" + cpu + "' of " + triple.str());
  return machine;
}

/// What the processor's features say about vectors.
static VectorUnit unitOf(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo *info = machine.getMCSubtargetInfo();
  if (machine.getTargetTriple().isX86()) {
    if (info->checkFeatures("+avx512f"))
      return {512, 32};
    if (info->checkFeatures("+avx"))
      return {256, 16};
    return {128, 16};
  }
  return {128, 32};
}

static LogicalResult toLlvm(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

llvm::Expected<std::string>
rhizome::kernel::compileObject(func::FuncOp kernel, const Signature &signature,
                               const CpuTarget &target) {
  auto machine = machineFor(target);
  if (!machine)
    return machine.takeError();
  auto module = bufferise(kernel, signature);
  if (failed(module))
    return cannot("the kernel's tensors cannot become buffers");
  auto body = (*module)->lookupSymbol<func::FuncOp>("body");
  vectorise(body, unitOf(**machine));
  int64_t scratch = shareScratch(body);
  addRange(**module, signature, scratch);
  if (failed(toLlvm(**module)))
    return cannot("the kernel cannot be lowered to LLVM IR");

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir =
      translateModuleToLLVMIR(**module, context, signature.name);
  if (!ir)
    return cannot("the kernel cannot be translated to LLVM IR");
  ir->setTargetTriple((*machine)->getTargetTriple());
  ir->setDataLayout((*machine)->createDataLayout());
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> entries =
      llvm::parseAssemblyString(entryPoints(signature), diagnostic, context);
  assert(entries && "the entry points are well-formed");
  entries->setTargetTriple(ir->getTargetTriple());
  entries->setDataLayout(ir->getDataLayout());
  if (llvm::Linker::linkModules(*ir, std::move(entries)))
    return cannot("the kernel's entry points cannot be linked");
  for (llvm::Function &function : *ir) {
    llvm::StringRef name = function.getName();
    if (!function.isDeclaration() && name != signature.name + "_run" &&
        name != signature.name + "_fortran")
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    function.addFnAttr("target-features", (*machine)->getTargetFeatureString());
    // Zen and later run 512 bits at full rate; the vectors are chosen already.
    function.addFnAttr("prefer-vector-width", "512");
  }
  auto optimise = makeOptimizingTransformer(3, 0, machine->get());
  if (llvm::Error error = optimise(ir.get()))
    return std::move(error);
  llvm::SmallVector<char> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager emit;
  if ((*machine)->addPassesToEmitFile(emit, os, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return cannot("LLVM writes no object files for this processor");
  emit.run(*ir);
  return std::string(object.begin(), object.end());
}

struct LoadedKernel::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*run)(int64_t, int32_t, const KernelArray *) = nullptr;
};

LoadedKernel::LoadedKernel(std::unique_ptr<State> state)
    : state(std::move(state)) {}
LoadedKernel::LoadedKernel(LoadedKernel &&) = default;
LoadedKernel::~LoadedKernel() = default;

llvm::Expected<LoadedKernel> LoadedKernel::load(llvm::StringRef object,
                                                const Signature &signature) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // What kernels in custom floats call.
  auto address = [&](auto *function) {
    return llvm::orc::ExecutorSymbolDef(
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported);
  };
  if (llvm::Error error =
          (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(
              {{(*jit)->mangleAndIntern("rhizome_num_float"),
                address(&rhizome_num_float)},
               {(*jit)->mangleAndIntern("rhizome_num_fixed"),
                address(&rhizome_num_fixed)},
               {(*jit)->mangleAndIntern("rhizome_num_convert"),
                address(&rhizome_num_convert)}})))
    return std::move(error);
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, signature.name)))
    return std::move(error);
  auto symbol = (*jit)->lookup(signature.name + "_run");
  if (!symbol)
    return symbol.takeError();
  auto state = std::make_unique<State>();
  state->run = symbol->toPtr<void (*)(int64_t, int32_t, const KernelArray *)>();
  state->jit = std::move(*jit);
  return LoadedKernel(std::move(state));
}

void LoadedKernel::run(int64_t elements, int threads,
                       const KernelArray *arrays) const {
  state->run(elements, threads, arrays);
}
