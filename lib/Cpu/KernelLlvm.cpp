// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as LLVM IR for other compilers and for synthesis: one function on
// dense arrays, in the order written, without vectors, without what older
// readers of LLVM's text do not know.
#include "KernelParts.h"
#include "Machine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "rhizome/Cpu/Function.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Verifier.h"

using namespace mlir;
using namespace rhizome;

static llvm::Error cannot(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

func::FuncOp rhizome::kernel::extractPart(ModuleOp module, func::FuncOp kernel,
                                          llvm::StringRef name,
                                          ArrayRef<Value> inputs,
                                          ArrayRef<Value> outputs) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto typesOf = [](ArrayRef<Value> list) {
    return llvm::map_to_vector(list, [](Value v) { return v.getType(); });
  };
  auto func = func::FuncOp::create(
      b, kernel.getLoc(), name,
      b.getFunctionType(typesOf(inputs), typesOf(outputs)));
  Block *body = func.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [v, argument] : llvm::zip_equal(inputs, body->getArguments()))
    mapping.map(v, argument);
  llvm::SetVector<Operation *> needed;
  auto need = [&](Value v) {
    if (v.getDefiningOp() && !mapping.contains(v))
      needed.insert(v.getDefiningOp());
  };
  llvm::for_each(outputs, need);
  // Of an operand that a nest does not read only the shape matters: it may be
  // outside of the part.
  auto isUnread = [](Operation *op, OpOperand &operand) {
    auto nest = dyn_cast<linalg::GenericOp>(op);
    return nest && nest.isDpsInput(&operand) &&
           isa<RankedTensorType>(operand.get().getType()) &&
           nest.getMatchingBlockArgument(&operand).use_empty();
  };
  for (size_t i = 0; i < needed.size(); ++i)
    needed[i]->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (!isUnread(inner, operand))
          need(operand.get());
    });
  for (Operation &op : kernel.getBody().front()) {
    if (!needed.contains(&op))
      continue;
    IRMapping with = mapping;
    for (OpOperand &operand : op.getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
          isUnread(&op, operand) && type.hasStaticShape() &&
          !mapping.contains(operand.get()))
        with.map(operand.get(),
                 tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                         type.getElementType())
                     .getResult());
    Operation *made = b.clone(op, with);
    for (auto [from, to] : llvm::zip_equal(op.getResults(), made->getResults()))
      mapping.map(from, to);
  }
  SmallVector<Value> results;
  for (Value v : outputs)
    results.push_back(mapping.lookup(v));
  func::ReturnOp::create(b, kernel.getLoc(), results);
  return func;
}

/// Takes away what is new in LLVM's text, and what lets others reorder sums.
static void simplify(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
      address->setNoWrapFlags(llvm::GEPNoWrapFlags::none());
    if (llvm::isa<llvm::FPMathOperator>(instruction))
      instruction.copyFastMathFlags(llvm::FastMathFlags());
  }
}

llvm::Expected<std::string>
rhizome::kernel::printLlvm(func::FuncOp kernel, llvm::StringRef name,
                           ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                           ArrayRef<std::string> names) {
  loadCpuDialects(*kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  func::FuncOp func = extractPart(*module, kernel, name, inputs, outputs);
  PassManager clean(kernel.getContext());
  clean.addPass(createCSEPass());
  clean.addPass(createCanonicalizerPass());
  if (failed(clean.run(*module)))
    return cannot("the kernel cannot be simplified");
  cpu::Constants constants;
  if (failed(cpu::bufferize(func, cpu::Memory::dense(func), constants)) ||
      failed(cpu::guardAccesses(func, /*mayCheck=*/false)))
    return cannot("the kernel's tensors cannot become buffers");
  if (!constants.empty())
    return cannot("a kernel with an array of constants is not written as LLVM "
                  "IR; remedy: pass it as an input");
  // On the stack, where synthesis finds memories.
  func.walk([](memref::AllocOp alloc) {
    OpBuilder b(alloc);
    b.setInsertionPointToStart(&alloc->getParentOfType<func::FuncOp>().front());
    alloc.replaceAllUsesWith(
        memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType())
            .getResult());
    alloc.erase();
  });
  if (failed(cpu::lower(*module)))
    return cannot("the kernel cannot be lowered to LLVM IR");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir =
      translateModuleToLLVMIR(*module, context, name);
  if (!ir)
    return cannot("the kernel cannot be translated to LLVM IR");
  llvm::Function *function = ir->getFunction(name);
  for (auto [argument, text] : llvm::zip_equal(function->args(), names)) {
    argument.setName(text);
    argument.addAttr(llvm::Attribute::NoAlias);
  }
  for (llvm::Function &each : *ir)
    simplify(each);
  std::string text, problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(*ir, &problems))
    return cannot("the LLVM IR is wrong: " + problem);
  llvm::raw_string_ostream os(text);
  ir->print(os, nullptr);
  return text;
}
