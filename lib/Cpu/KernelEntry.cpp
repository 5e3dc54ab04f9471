// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the kernel on dense buffers to functions that a program calls. An array
// that has the declared strides is used where it lies, any other is packed into
// a dense buffer before and, if it is an output, copied back.
#include "KernelParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "rhizome/Support/Texts.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;

/// Temporaries and packed arrays up to here lie on the stack.
static constexpr int64_t kMostStack = 1 << 20;
static constexpr int64_t kArrayBytes = sizeof(KernelArray);
static constexpr int64_t kElementStrideAt = 8, kStridesAt = 16;
static_assert(kArrayBytes == 80);

namespace {
class RangeBuilder {
public:
  RangeBuilder(ModuleOp module, const Signature &signature,
               const cpu::Constants &constants)
      : module(module), signature(signature), constants(constants),
        b(module.getContext()), loc(module.getLoc()),
        body(module.lookupSymbol<func::FuncOp>("body")) {
    b.setInsertionPointToEnd(module.getBody());
    pointer = LLVM::LLVMPointerType::get(b.getContext());
  }
  void run(int64_t scratchBytes);

private:
  ModuleOp module;
  const Signature &signature;
  const cpu::Constants &constants;
  OpBuilder b;
  Location loc;
  func::FuncOp body;
  Type pointer;

  Value number(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }
  Value field(Value array, int64_t offset, Type type) {
    Value at = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), array,
                                   ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    return LLVM::LoadOp::create(b, loc, type, at);
  }
  Value memref(Value data, ArrayRef<int64_t> shape, ArrayRef<Value> strides,
               MemRefType type);
  Value buffer(MemRefType type, bool onStack);
  Value constant(size_t i);
};
} // namespace

/// A memref of `type` at `data`, by its descriptor.
Value RangeBuilder::memref(Value data, ArrayRef<int64_t> shape,
                           ArrayRef<Value> strides, MemRefType type) {
  SmallVector<Type> parts{pointer, pointer, b.getI64Type()};
  if (!shape.empty())
    parts.append(2, LLVM::LLVMArrayType::get(b.getI64Type(), shape.size()));
  auto structType = LLVM::LLVMStructType::getLiteral(b.getContext(), parts);
  Value out = LLVM::PoisonOp::create(b, loc, structType);
  auto set = [&](Value value, ArrayRef<int64_t> at) {
    out = LLVM::InsertValueOp::create(b, loc, out, value, at);
  };
  set(data, {0});
  set(data, {1});
  set(number(0), {2});
  for (auto [d, extent, stride] : llvm::enumerate(shape, strides)) {
    set(number(extent), {3, int64_t(d)});
    set(stride, {4, int64_t(d)});
  }
  return UnrealizedConversionCastOp::create(b, loc, TypeRange{type}, out)
      .getResult(0);
}

Value RangeBuilder::buffer(MemRefType type, bool onStack) {
  IntegerAttr alignment = b.getI64IntegerAttr(64);
  if (onStack)
    return memref::AllocaOp::create(b, loc, type, alignment);
  return memref::AllocOp::create(b, loc, type, alignment);
}

/// A constant of the kernel as a global of the module.
Value RangeBuilder::constant(size_t i) {
  const std::vector<char> &bytes = constants[i];
  auto type =
      cast<MemRefType>(body.getArgumentTypes()[signature.arguments.size() + i]);
  // More bytes than the array: some after its end may be read.
  auto stored = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  auto global = LLVM::GlobalOp::create(
      b, loc, stored, /*isConstant=*/true, LLVM::Linkage::Internal,
      "constant" + std::to_string(i),
      b.getStringAttr(llvm::StringRef(bytes.data(), bytes.size())),
      /*alignment=*/64);
  global->moveBefore(&module.getBody()->front());
  Value data = LLVM::AddressOfOp::create(b, loc, global);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    llvm_unreachable("constants are dense");
  SmallVector<Value> steps;
  for (int64_t stride : strides)
    steps.push_back(number(stride));
  return memref(data, type.getShape(), steps, type);
}

void RangeBuilder::run(int64_t scratchBytes) {
  auto range = func::FuncOp::create(
      b, loc, signature.name + "_range",
      b.getFunctionType({pointer, b.getI64Type(), b.getI64Type()}, {}));
  Block *entry = range.addEntryBlock();
  b.setInsertionPointToStart(entry);
  int64_t total = scratchBytes;
  for (const Argument &one : signature.arguments)
    total += one.size() * one.bits / 8;
  bool onStack = total <= kMostStack;
  SmallVector<Value> owned;
  Value scratch =
      buffer(MemRefType::get({scratchBytes}, b.getI8Type()), onStack);
  owned.push_back(scratch);

  struct Array {
    Value data, elementStride, isDense, packed;
    SmallVector<Value> strides, declared;
    MemRefType dense, any;
  };
  SmallVector<Array> arrays;
  for (auto [i, one] : llvm::enumerate(signature.arguments)) {
    Array array;
    Value at = LLVM::GEPOp::create(
        b, loc, pointer, b.getI8Type(), entry->getArgument(0),
        ArrayRef<LLVM::GEPArg>{int32_t(i * kArrayBytes)});
    array.data = field(at, 0, pointer);
    array.elementStride = field(at, kElementStrideAt, b.getI64Type());
    array.isDense = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    for (auto [d, stride] : llvm::enumerate(one.strides)) {
      array.declared.push_back(number(stride));
      array.strides.push_back(field(at, kStridesAt + 8 * d, b.getI64Type()));
      if (one.shape[d] == 1)
        continue;
      Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         array.strides[d], array.declared[d]);
      array.isDense = arith::AndIOp::create(b, loc, array.isDense, same);
    }
    array.dense = cast<MemRefType>(body.getArgumentTypes()[i]);
    array.any = MemRefType::get(
        one.shape, array.dense.getElementType(),
        StridedLayoutAttr::get(
            b.getContext(), 0,
            SmallVector<int64_t>(one.shape.size(), ShapedType::kDynamic)));
    Value store = buffer(
        MemRefType::get({one.size()}, array.dense.getElementType()), onStack);
    owned.push_back(store);
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, store);
    address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
    array.packed = LLVM::IntToPtrOp::create(b, loc, pointer, address);
    arrays.push_back(array);
  }

  Value first = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                           entry->getArgument(1));
  Value last = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                          entry->getArgument(2));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, first, last, one);
  b.setInsertionPointToStart(loop.getBody());
  Value element = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                             loop.getInductionVar());
  SmallVector<Value> operands, strided;
  for (auto [border, array] : llvm::zip(signature.arguments, arrays)) {
    Value offset = LLVM::MulOp::create(b, loc, element, array.elementStride);
    Value at =
        LLVM::GEPOp::create(b, loc, pointer, array.dense.getElementType(),
                            array.data, ArrayRef<LLVM::GEPArg>{offset});
    Value data =
        arith::SelectOp::create(b, loc, array.isDense, at, array.packed);
    strided.push_back(memref(at, border.shape, array.strides, array.any));
    operands.push_back(memref(data, border.shape, array.declared, array.dense));
  }
  auto copyUnlessDense = [&](const Array &array, Value from, Value to) {
    Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    Value packed = arith::XOrIOp::create(b, loc, array.isDense, no);
    auto branch = scf::IfOp::create(b, loc, packed);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    linalg::CopyOp::create(b, loc, from, to);
  };
  for (auto [i, border] : llvm::enumerate(signature.arguments))
    if (border.isInput && !border.shape.empty())
      copyUnlessDense(arrays[i], strided[i], operands[i]);
  SmallVector<Value> call = operands;
  for (size_t i = 0; i < constants.size(); ++i)
    call.push_back(constant(i));
  call.push_back(scratch);
  func::CallOp::create(b, loc, body, call);
  for (auto [i, border] : llvm::enumerate(signature.arguments))
    if (border.isOutput && !border.shape.empty())
      copyUnlessDense(arrays[i], operands[i], strided[i]);
  b.setInsertionPointAfter(loop);
  if (!onStack)
    for (Value buffer : owned)
      memref::DeallocOp::create(b, loc, buffer);
  func::ReturnOp::create(b, loc);
}

void rhizome::kernel::addRange(ModuleOp module, const Signature &signature,
                               const cpu::Constants &constants,
                               int64_t scratchBytes) {
  RangeBuilder(module, signature, constants).run(scratchBytes);
}

/// NAME_run: the elements in equal parts, one thread each; what no thread could
/// be started for runs here.
static const char *const kRun = R"(
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @NAME_range(ptr, i64, i64)

define internal ptr @NAME_part(ptr %task) {
  %first.at = getelementptr i64, ptr %task, i64 1
  %last.at = getelementptr i64, ptr %task, i64 2
  %arrays = load ptr, ptr %task
  %first = load i64, ptr %first.at
  %last = load i64, ptr %last.at
  call void @NAME_range(ptr %arrays, i64 %first, i64 %last)
  ret ptr null
}

define void @NAME_run(i64 %elements, i32 %wanted, ptr %arrays) {
entry:
  %tasks = alloca [256 x [3 x i64]]
  %threads = alloca [256 x i64]
  %started = alloca [256 x i1]
  %wide = sext i32 %wanted to i64
  %few = icmp slt i64 %elements, %wide
  %enough = select i1 %few, i64 %elements, i64 %wide
  %many = icmp sgt i64 %enough, 256
  %parts = select i1 %many, i64 256, i64 %enough
  %single = icmp sle i64 %parts, 1
  br i1 %single, label %alone, label %start

alone:
  call void @NAME_range(ptr %arrays, i64 0, i64 %elements)
  ret void

start:
  %part = phi i64 [ 0, %entry ], [ %part.next, %started.one ]
  %part.next = add i64 %part, 1
  %share = udiv i64 %elements, %parts
  %rest = urem i64 %elements, %parts
  %first.a = mul i64 %share, %part
  %first.few = icmp ult i64 %part, %rest
  %first.b = select i1 %first.few, i64 %part, i64 %rest
  %first = add i64 %first.a, %first.b
  %more = zext i1 %first.few to i64
  %size = add i64 %share, %more
  %last = add i64 %first, %size
  %task = getelementptr [3 x i64], ptr %tasks, i64 %part
  %task.first = getelementptr i64, ptr %task, i64 1
  %task.last = getelementptr i64, ptr %task, i64 2
  store ptr %arrays, ptr %task
  store i64 %first, ptr %task.first
  store i64 %last, ptr %task.last
  %flag = getelementptr i1, ptr %started, i64 %part
  store i1 false, ptr %flag
  %is.last = icmp eq i64 %part.next, %parts
  br i1 %is.last, label %here, label %thread

thread:
  %thread.at = getelementptr i64, ptr %threads, i64 %part
  %status = call i32 @pthread_create(ptr %thread.at, ptr null, ptr @NAME_part, ptr %task)
  %good = icmp eq i32 %status, 0
  store i1 %good, ptr %flag
  br i1 %good, label %started.one, label %here

here:
  %ignored = call ptr @NAME_part(ptr %task)
  br label %started.one

started.one:
  %done = icmp eq i64 %part.next, %parts
  br i1 %done, label %join, label %start

join:
  %other = phi i64 [ 0, %started.one ], [ %other.next, %joined ]
  %other.next = add i64 %other, 1
  %other.flag = getelementptr i1, ptr %started, i64 %other
  %was = load i1, ptr %other.flag
  br i1 %was, label %wait, label %joined

wait:
  %other.at = getelementptr i64, ptr %threads, i64 %other
  %id = load i64, ptr %other.at
  %joined.status = call i32 @pthread_join(i64 %id, ptr null)
  br label %joined

joined:
  %all = icmp eq i64 %other.next, %parts
  br i1 %all, label %end, label %join

end:
  ret void
}
)";

/// NAME_fortran reads the descriptors of assumed-rank arguments: base address
/// at 0, rank at 20, then lower bound, extent and byte stride of each dimension
/// from 24 on (gfortran and flang agree on these). A rank one higher than the
/// kernel's has the elements as its last dimension. It returns 0, or the number
/// of the first argument whose extents are wrong.
static std::string fortranEntry(const Signature &signature) {
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t count = signature.arguments.size();
  os << "define i32 @" << signature.name << "_fortran(i32 %threads";
  for (size_t i = 0; i < count; ++i)
    os << ", ptr %a" << i;
  os << ") {\n  %arrays = alloca [" << count * kArrayBytes
     << " x i8], align 8\n  br label %arg0\n";
  for (auto [i, one] : llvm::enumerate(signature.arguments)) {
    size_t rank = one.shape.size();
    std::string p = "%v" + std::to_string(i) + ".";
    auto at = [&](const std::string &name, int64_t offset) {
      os << "  " << p << name << " = getelementptr i8, ptr %a" << i << ", i64 "
         << offset << "\n";
    };
    auto put = [&](const std::string &name, int64_t offset,
                   const std::string &value, const char *type) {
      os << "  " << p << name << " = getelementptr i8, ptr %arrays, i64 "
         << i * kArrayBytes + offset << "\n  store " << type << " " << value
         << ", ptr " << p << name << "\n";
    };
    std::string n = std::to_string(i), before = std::to_string(i - 1);
    os << "arg" << n << ":\n";
    os << "  %count" << n << " = phi i64 [ "
       << (i ? "%next" + before + ", %good" + before : "-1, %0") << " ]\n";
    os << "  " << p << "data = load ptr, ptr %a" << i << "\n";
    put("to", 0, p + "data", "ptr");
    at("rank.at", 20);
    os << "  " << p << "rank = load i8, ptr " << p << "rank.at\n"
       << "  " << p << "is.batch = icmp eq i8 " << p << "rank, " << rank + 1
       << "\n  " << p << "is.one = icmp eq i8 " << p << "rank, " << rank
       << "\n  " << p << "ok = or i1 " << p << "is.batch, " << p << "is.one\n";
    std::string ok = p + "ok";
    for (size_t d = 0; d < rank; ++d) {
      std::string s = std::to_string(d);
      at("extent.at" + s, 24 + 24 * d + 8);
      at("bytes.at" + s, 24 + 24 * d + 16);
      os << "  " << p << "extent" << s << " = load i64, ptr " << p
         << "extent.at" << s << "\n  " << p << "fits" << s << " = icmp eq i64 "
         << p << "extent" << s << ", " << one.shape[d] << "\n  " << p << "ok"
         << s << " = and i1 " << ok << ", " << p << "fits" << s << "\n  " << p
         << "bytes" << s << " = load i64, ptr " << p << "bytes.at" << s
         << "\n  " << p << "stride" << s << " = sdiv i64 " << p << "bytes" << s
         << ", " << one.bits / 8 << "\n";
      ok = p + "ok" + s;
      put("stride.to" + s, kStridesAt + 8 * d, p + "stride" + s, "i64");
    }
    // The element dimension: read only if it is there.
    os << "  br i1 " << p << "is.batch, label %batch" << n << ", label %check"
       << n << "\nbatch" << n << ":\n";
    at("elements.at", 24 + 24 * rank + 8);
    at("element.bytes.at", 24 + 24 * rank + 16);
    os << "  " << p << "elements = load i64, ptr " << p << "elements.at\n  "
       << p << "element.bytes = load i64, ptr " << p << "element.bytes.at\n  "
       << p << "step = sdiv i64 " << p << "element.bytes, " << one.bits / 8
       << "\n  br label %check" << n << "\ncheck" << n << ":\n  " << p
       << "element.stride = phi i64 [ 0, %arg" << n << " ], [ " << p
       << "step, %batch" << n << " ]\n  " << p << "own = phi i64 [ %count" << n
       << ", %arg" << n << " ], [ " << p << "elements, %batch" << n << " ]\n";
    put("element.to", kElementStrideAt, p + "element.stride", "i64");
    os << "  " << p << "none = icmp eq i64 %count" << n << ", -1\n  " << p
       << "same = icmp eq i64 %count" << n << ", " << p << "own\n  " << p
       << "agree = or i1 " << p << "none, " << p << "same\n  " << p
       << "all = and i1 " << ok << ", " << p << "agree\n  %next" << n
       << " = add i64 " << p << "own, 0\n  br i1 " << p << "all, label %good"
       << n << ", label %bad" << n << "\nbad" << n << ":\n  ret i32 " << i + 1
       << "\ngood" << n << ":\n  br label %"
       << (i + 1 < count ? "arg" + std::to_string(i + 1) : "call") << "\n";
  }
  std::string lastOne = std::to_string(count - 1);
  os << "call:\n  %one = icmp eq i64 %next" << lastOne
     << ", -1\n  %elements = select i1 %one, i64 1, i64 %next" << lastOne
     << "\n  call void @" << signature.name
     << "_run(i64 %elements, i32 %threads, ptr %arrays)\n  ret i32 0\n}\n";
  return text;
}

std::string rhizome::kernel::entryPoints(const Signature &signature) {
  return fillIn(kRun, "NAME", signature.name) + fortranEntry(signature);
}
