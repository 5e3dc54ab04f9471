// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors to buffers: arguments in the layouts that the caller declared,
// results written where the caller wants them, temporaries in one scratch
// buffer in which lifetimes that do not overlap share their place.
#include "Lowering.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "rhizome/Import/Kernel/Ir.h"

using namespace mlir;
using namespace rhizome::kernel;

void rhizome::kernel::loadLoweringDialects(MLIRContext &context) {
  loadDialects(context);
  DialectRegistry registry;
  registry
      .insert<affine::AffineDialect, bufferization::BufferizationDialect,
              cf::ControlFlowDialect, LLVM::LLVMDialect, memref::MemRefDialect,
              scf::SCFDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

static MemRefType memrefOf(const Argument &argument, Type element) {
  if (!argument.columnMajor || argument.shape.size() < 2)
    return MemRefType::get(argument.shape, element);
  return MemRefType::get(
      argument.shape, element,
      StridedLayoutAttr::get(element.getContext(), 0, argument.strides));
}

/// Tensor arguments become buffers, results buffer arguments.
static void makeArguments(func::FuncOp func, const Signature &signature) {
  Block &body = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  unsigned inputs = body.getNumArguments();
  for (auto [argument, border] :
       llvm::zip(body.getArguments(), signature.arguments)) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor)
      continue;
    argument.setType(memrefOf(border, tensor.getElementType()));
    Value read = bufferization::ToTensorOp::create(b, func.getLoc(), tensor,
                                                   argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(read, read.getDefiningOp());
  }
  auto ret = cast<func::ReturnOp>(body.getTerminator());
  b.setInsertionPoint(ret);
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    // The argument of the same name, or the next output.
    StringRef name;
    if (auto attr = func.getResultAttrOfType<StringAttr>(i, kNameAttr))
      name = attr.getValue();
    Value into;
    for (unsigned a = 0; a < inputs; ++a)
      if (!name.empty() && signature.arguments[a].name == name)
        into = body.getArgument(a);
    if (!into) {
      const Argument &border = signature.arguments[body.getNumArguments()];
      into = body.addArgument(
          memrefOf(border, getElementTypeOrSelf(value.getType())),
          ret.getLoc());
    }
    auto write = bufferization::MaterializeInDestinationOp::create(
        b, ret.getLoc(), Type(), value, into);
    write.setRestrict(true);
    write.setWritable(true);
  }
  ret.getOperandsMutable().clear();
  func.removeArgAttrsAttr();
  func.removeResAttrsAttr();
  func.setType(b.getFunctionType(body.getArgumentTypes(), {}));
}

/// Gives every sum a fill and every operation an empty tensor of its own; a
/// shared one would be copied.
static void unshareInits(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    for (OpOperand &init : op.getDpsInitsMutable()) {
      OpBuilder b(op);
      if (auto fill = init.get().getDefiningOp<linalg::FillOp>();
          fill && !fill->hasOneUse())
        init.set(b.clone(*fill)->getResult(0));
      OpOperand *start = &init;
      if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
        start = fill.getDpsInitOperand(0);
      if (auto empty = start->get().getDefiningOp<tensor::EmptyOp>();
          empty && !empty->hasOneUse()) {
        b.setInsertionPoint(start->getOwner());
        start->set(b.clone(*empty)->getResult(0));
      }
    }
}

FailureOr<OwningOpRef<ModuleOp>>
rhizome::kernel::bufferise(func::FuncOp kernel, const Signature &signature) {
  loadLoweringDialects(*kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  auto func = cast<func::FuncOp>(kernel->clone());
  module->push_back(func);
  // What it calls.
  for (auto other : kernel->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (other.isExternal())
      module->push_back(other.clone());
  makeArguments(func, signature);
  func.setSymName("body");
  func.setPublic();
  func->removeAttr(kKernelAttr);
  func->removeAttr(kElementsAttr);

  unshareInits(func);
  IRRewriter rewriter(kernel.getContext());
  if (failed(bufferization::eliminateEmptyTensors(rewriter, func)))
    return failure();
  bufferization::OneShotBufferizationOptions options;
  options.memCpyFn = [](OpBuilder &b, Location loc, Value from, Value to) {
    linalg::makeMemRefCopyOp(b, loc, from, to);
    return success();
  };
  options.bufferAlignment = 64;
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(*module, options, state)))
    return failure();
  PassManager pm(kernel.getContext());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  if (failed(pm.run(*module)))
    return failure();
  return module;
}

/// Positions in the entry block at which a buffer, under any of its views, is
/// used.
static std::pair<int64_t, int64_t>
lifetime(Value buffer, const DenseMap<Operation *, int64_t> &positions,
         Block *entry) {
  int64_t first = INT64_MAX, last = -1;
  SmallVector<Value> names{buffer};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        names.append(user->result_begin(), user->result_end());
        continue;
      }
      int64_t at = positions.lookup(entry->findAncestorOpInBlock(*user));
      first = std::min(first, at), last = std::max(last, at);
    }
  }
  return {first, last};
}

int64_t rhizome::kernel::shareScratch(func::FuncOp body) {
  Block *entry = &body.getBody().front();
  DenseMap<Operation *, int64_t> positions;
  int64_t next = 0;
  for (Operation &op : *entry)
    positions[&op] = next++;
  struct Buffer {
    memref::AllocOp alloc;
    int64_t first, last, bytes, offset = 0;
  };
  std::vector<Buffer> buffers;
  body.walk([&](memref::AllocOp alloc) {
    auto [first, last] = lifetime(alloc, positions, entry);
    MemRefType type = alloc.getType();
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    buffers.push_back({alloc, first, last, (bytes + 63) / 64 * 64});
  });
  llvm::stable_sort(buffers, [](const Buffer &a, const Buffer &b) {
    return a.first < b.first;
  });
  int64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    // The lowest place that is free while this one lives.
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < i; ++j)
      if (buffers[j].last >= buffers[i].first)
        taken.emplace_back(buffers[j].offset,
                           buffers[j].offset + buffers[j].bytes);
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [from, to] : taken) {
      if (from >= offset + buffers[i].bytes)
        break;
      offset = std::max(offset, to);
    }
    buffers[i].offset = offset;
    total = std::max(total, offset + buffers[i].bytes);
  }
  OpBuilder b = OpBuilder::atBlockBegin(entry);
  total = std::max<int64_t>(total, 64);
  Value scratch = entry->addArgument(MemRefType::get({total}, b.getI8Type()),
                                     body.getLoc());
  for (Buffer &buffer : buffers) {
    b.setInsertionPoint(buffer.alloc);
    Value offset =
        arith::ConstantIndexOp::create(b, buffer.alloc.getLoc(), buffer.offset);
    Value view =
        memref::ViewOp::create(b, buffer.alloc.getLoc(), buffer.alloc.getType(),
                               scratch, offset, ValueRange{});
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
  body.setType(b.getFunctionType(entry->getArgumentTypes(), {}));
  return total;
}
