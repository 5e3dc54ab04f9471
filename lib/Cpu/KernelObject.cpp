// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel to an object file for one processor, and objects into this process.
#include "KernelParts.h"
#include "VectorLoops.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Ir.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;

static llvm::Error cannot(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

static MemRefType memrefOf(const Argument &argument, Type element) {
  if (!argument.columnMajor || argument.shape.size() < 2)
    return MemRefType::get(argument.shape, element);
  return MemRefType::get(
      argument.shape, element,
      StridedLayoutAttr::get(element.getContext(), 0, argument.strides));
}

/// The caller's arrays: a result of an argument's name lies in its array.
static cpu::Memory memoryOf(func::FuncOp kernel, const Signature &signature) {
  cpu::Memory memory;
  for (auto [type, border] :
       llvm::zip(kernel.getArgumentTypes(), signature.arguments))
    memory.inputs.push_back(isa<MemRefType>(type)
                                ? cast<MemRefType>(type)
                                : memrefOf(border, getElementTypeOrSelf(type)));
  size_t next = memory.inputs.size();
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes())) {
    int takes = -1;
    if (auto name = kernel.getResultAttrOfType<StringAttr>(i, marks::kName))
      for (size_t a = 0; a < memory.inputs.size(); ++a)
        if (signature.arguments[a].name == name.getValue())
          takes = int(a);
    size_t border = takes >= 0 ? size_t(takes) : next++;
    memory.results.push_back(
        memrefOf(signature.arguments[border], getElementTypeOrSelf(type)));
    memory.takes.push_back(takes);
  }
  return memory;
}

FailureOr<BufferedKernel>
rhizome::kernel::bufferizeKernel(func::FuncOp kernel,
                                 const Signature &signature) {
  loadCpuDialects(*kernel.getContext());
  BufferedKernel out;
  out.module = ModuleOp::create(kernel.getLoc());
  out.body = cast<func::FuncOp>(kernel->clone());
  out.module->push_back(out.body);
  // What it calls.
  for (auto other : kernel->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (other.isExternal())
      out.module->push_back(other.clone());
  cpu::Memory memory = memoryOf(kernel, signature);
  out.body.removeArgAttrsAttr();
  out.body.removeResAttrsAttr();
  // There is nobody to whom a kernel would report a check.
  if (failed(cpu::bufferize(out.body, memory, out.constants)) ||
      failed(cpu::guardAccesses(out.body, /*mayCheck=*/false)))
    return failure();
  out.body.setSymName("body");
  out.body.setPublic();
  out.body->removeAttr(marks::kKernel);
  out.body->removeAttr(marks::kElements);
  PassManager pm(kernel.getContext());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  if (failed(pm.run(*out.module)))
    return failure();
  return out;
}

llvm::Expected<std::string>
rhizome::kernel::compileObject(func::FuncOp kernel, const Signature &signature,
                               const CpuTarget &target) {
  auto machine = cpu::Machine::forCpu(target.cpu);
  if (!machine)
    return machine.takeError();
  auto buffered = bufferizeKernel(kernel, signature);
  if (failed(buffered))
    return cannot("the kernel's tensors cannot become buffers");
  unsigned arrays = unsigned(signature.arguments.size());
  cpu::vectorizeLoops(buffered->body,
                      {machine->vectors(), arrays, /*contracts=*/false},
                      buffered->constants);
  for (std::vector<char> &constant : buffered->constants)
    constant.resize(constant.size() + cpu::kReadableBytes);
  int64_t scratch = cpu::shareScratch(buffered->body, cpu::kReadableBytes);
  addRange(*buffered->module, signature, buffered->constants, scratch);
  return cpu::compileModule(*buffered->module, *machine, {},
                            entryPoints(signature));
}

llvm::Expected<std::string>
rhizome::kernel::compileWords(func::FuncOp kernel, llvm::StringRef name,
                              ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                              const CpuTarget &target) {
  loadCpuDialects(*kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  for (auto other : kernel->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (other.isExternal())
      module->push_back(other.clone());
  func::FuncOp part = extractPart(*module, kernel, name, inputs, outputs);
  Signature signature;
  signature.name = name.str();
  for (bool isOutput : {false, true})
    for (Value v : isOutput ? outputs : inputs) {
      auto type = cast<RankedTensorType>(v.getType());
      Argument &one = signature.arguments.emplace_back();
      one.shape = type.getShape().vec();
      one.strides.resize(one.shape.size());
      int64_t stride = 1;
      for (size_t d = one.shape.size(); d-- > 0; stride *= one.shape[d])
        one.strides[d] = stride;
      one.bits = type.getElementTypeBitWidth();
      (isOutput ? one.isOutput : one.isInput) = true;
    }
  return compileObject(part, signature, target);
}

struct LoadedKernel::State {
  cpu::LoadedObject object;
  void (*run)(int64_t, int32_t, const KernelArray *) = nullptr;
};

LoadedKernel::LoadedKernel(std::unique_ptr<State> state)
    : state(std::move(state)) {}
LoadedKernel::LoadedKernel(LoadedKernel &&) = default;
LoadedKernel::~LoadedKernel() = default;

llvm::Expected<LoadedKernel> LoadedKernel::load(llvm::StringRef object,
                                                const Signature &signature) {
  auto loaded = cpu::LoadedObject::load(object);
  if (!loaded)
    return loaded.takeError();
  auto symbol = loaded->find(signature.name + "_run");
  if (!symbol)
    return symbol.takeError();
  auto state = std::make_unique<State>(State{std::move(*loaded), nullptr});
  state->run =
      reinterpret_cast<void (*)(int64_t, int32_t, const KernelArray *)>(
          *symbol);
  return LoadedKernel(std::move(state));
}

void LoadedKernel::run(int64_t elements, int threads,
                       const KernelArray *arrays) const {
  state->run(elements, threads, arrays);
}
