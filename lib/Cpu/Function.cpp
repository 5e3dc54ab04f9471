// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions on tensors to machine code. Constants and results become memref
// arguments, so no weight reaches LLVM IR unless it is to be in the object;
// tensors become buffers, linalg becomes vector code (VectorLoops.cpp) or
// loops.
#include "rhizome/Cpu/Function.h"
#include "VectorLoops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include <mutex>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

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
  size_t bytes() const { return elements() * storage.width / 8; }
  /// False if a value is outside, true if none can be. Sums and differences
  /// alone, which vectors of every processor know: what is below `lo` or above
  /// `hi` sets the sign of one of the two.
  bool isWithin(ArrayRef<int64_t> values) const {
    uint64_t span = uint64_t(hi) - uint64_t(lo), signs = 0;
    if (int64_t(span) < 0) // of half of all 64-bit numbers or more
      return !isFloat && lo == INT64_MIN && hi == INT64_MAX;
    for (int64_t v : values)
      signs |= (uint64_t(v) - uint64_t(lo)) | (uint64_t(hi) - uint64_t(v));
    return int64_t(signs) >= 0;
  }
  /// Whether a Tensor holds its values as the function takes them.
  bool isDirect() const { return isFloat || storage.width == 64; }
};

/// Memory on a cache line's border.
class Block64 {
public:
  explicit Block64(size_t bytes) : words(llvm::divideCeil(bytes, 64)) {}
  char *data() { return reinterpret_cast<char *>(words.data()); }

private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> words;
};
} // namespace

struct CompiledFunction::State {
  std::vector<Border> inputs, outputs;
  std::vector<Block64> constants;
  std::optional<LoadedObject> object;
  void (*code)(void **) = nullptr;
  /// Bytes that a call needs: what Tensors hold otherwise, and temporaries.
  size_t frameBytes = 0;
  std::vector<host::Check> checks;
  std::mutex mutex;
  std::vector<Block64> idle;
};

CompiledFunction::CompiledFunction() : state(std::make_unique<State>()) {}
CompiledFunction::~CompiledFunction() = default;

/// Puts what it calls into a function's place of the calls.
static void inlineCalls(func::FuncOp func, ModuleOp module) {
  for (auto call : llvm::make_early_inc_range(func.getOps<func::CallOp>())) {
    Block &body =
        module.lookupSymbol<func::FuncOp>(call.getCallee()).getBody().front();
    OpBuilder b(call);
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [to, from] : llvm::zip_equal(call.getResults(),
                                           body.getTerminator()->getOperands()))
      to.replaceAllUsesWith(mapping.lookup(from));
    call.erase();
  }
  for (auto other : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (other != func)
      other.erase();
}

/// Adds a function, as @name on buffers, to a module.
static FailureOr<Entry> addFunction(ModuleOp module, func::FuncOp original,
                                    llvm::StringRef name,
                                    const VectorUnit &unit) {
  for (Type type : llvm::concat<const Type>(original.getArgumentTypes(),
                                            original.getResultTypes()))
    if (Type element = cast<RankedTensorType>(type).getElementType();
        !isa<num::IntType>(element) && !element.isF32() &&
        !element.isInteger(64))
      return original.emitError() << "the CPU path takes integers, indices and "
                                     "float32, but @"
                                  << original.getSymName() << " has a " << type;
  OwningOpRef<ModuleOp> own = ModuleOp::create(original.getLoc());
  auto add = [&](func::FuncOp from) {
    func::FuncOp function = from.clone();
    function.setPublic();
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
    function->removeAttr(flow::kPlace); // it is no task any more
    own->push_back(function);
    return function;
  };
  func::FuncOp func = add(original);
  func.setSymName(name);
  auto around = original->getParentOfType<ModuleOp>();
  for (auto call : func.getOps<func::CallOp>()) {
    if (own->lookupSymbol(call.getCallee()))
      continue;
    auto called = around.lookupSymbol<func::FuncOp>(call.getCallee());
    if (called.isExternal())
      return call.emitError()
             << "calls @" << call.getCallee() << ", which has no body";
    add(called);
  }
  PassManager convert(module.getContext());
  convert.addPass(createConvertOsaToLinalg());
  if (failed(convert.run(*own)))
    return failure();
  func = *own->getOps<func::FuncOp>().begin();
  inlineCalls(func, *own);

  fuseElementwise(func);
  Entry entry;
  entry.function = name.str();
  entry.borders = func.getNumArguments() + func.getNumResults();
  if (failed(bufferize(func, Memory::dense(func), entry.constants)) ||
      failed(guardAccesses(func, /*mayCheck=*/true)))
    return failure();
  vectorizeLoops(func, {unit, entry.borders, /*contracts=*/true},
                 entry.constants);
  entry.checks = recordChecks(func, entry.borders);
  entry.borders += entry.checks.empty() ? 0 : 1;
  for (std::vector<char> &constant : entry.constants)
    constant.resize(constant.size() + kReadableBytes);
  cutIntoParts(func);
  entry.scratchBytes = shareScratch(func, kReadableBytes);
  for (func::FuncOp part :
       llvm::make_early_inc_range(own->getOps<func::FuncOp>())) {
    part->remove();
    module.push_back(part);
  }
  return entry;
}

FailureOr<std::unique_ptr<CompiledFunction>>
CompiledFunction::compile(func::FuncOp func, Effort effort) {
  loadCpuDialects(*func.getContext());
  auto machine = Machine::forCpu("native", effort);
  if (!machine)
    return func.emitError() << "this host's CPU is not supported: "
                            << llvm::toString(machine.takeError());
  std::unique_ptr<CompiledFunction> compiled(new CompiledFunction());
  State &state = *compiled->state;
  OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
  FailureOr<Entry> entry =
      addFunction(*module, func, "rhizome_body", machine->vectors());
  if (failed(entry))
    return failure();
  entry->name = "rhizome_function";
  for (Type type : func.getArgumentTypes())
    state.inputs.emplace_back(type);
  for (Type type : func.getResultTypes())
    state.outputs.emplace_back(type);
  for (const std::vector<char> &constant : entry->constants) {
    Block64 &block = state.constants.emplace_back(constant.size());
    llvm::copy(constant, block.data());
  }
  state.frameBytes = size_t(entry->scratchBytes);
  state.checks = entry->checks;
  for (const auto *borders : {&state.inputs, &state.outputs})
    for (const Border &border : *borders)
      if (!border.isDirect())
        state.frameBytes += llvm::alignTo(border.bytes(), 64);

  auto object = compileModule(*module, *machine, *entry);
  if (!object)
    return func.emitError() << "LLVM cannot compile @" << func.getSymName()
                            << ": " << llvm::toString(object.takeError());
  auto loaded = LoadedObject::load(*object);
  if (!loaded)
    return func.emitError() << "LLVM cannot link @" << func.getSymName() << ": "
                            << llvm::toString(loaded.takeError());
  state.object.emplace(std::move(*loaded));
  auto code = state.object->find(entry->name);
  if (!code)
    return func.emitError() << "LLVM cannot link @" << func.getSymName() << ": "
                            << llvm::toString(code.takeError());
  state.code = reinterpret_cast<void (*)(void **)>(*code);
  return compiled;
}

FailureOr<std::string>
rhizome::compileFunctions(llvm::ArrayRef<func::FuncOp> functions,
                          llvm::StringRef cpu,
                          std::vector<std::vector<host::Check>> *checks) {
  assert(!functions.empty() && "an object holds at least one function");
  func::FuncOp first = functions.front();
  loadCpuDialects(*first.getContext());
  auto machine = Machine::forCpu(cpu);
  if (!machine)
    return first.emitError() << llvm::toString(machine.takeError());
  OwningOpRef<ModuleOp> module = ModuleOp::create(first.getLoc());
  std::vector<Entry> entries;
  for (func::FuncOp func : functions) {
    std::string name = func.getSymName().str();
    FailureOr<Entry> entry =
        addFunction(*module, func, name + ".body", machine->vectors());
    if (failed(entry))
      return failure();
    entry->name = name;
    entry->owns = true;
    if (checks)
      checks->push_back(entry->checks);
    entries.push_back(std::move(*entry));
  }
  auto object = compileModule(*module, *machine, entries);
  if (!object)
    return first.emitError() << "LLVM cannot compile @" << first.getSymName()
                             << ": " << llvm::toString(object.takeError());
  return std::move(*object);
}

template <typename T>
static void pack(const std::vector<int64_t> &values, char *to) {
  auto *out = reinterpret_cast<T *>(to);
  for (size_t i = 0; i < values.size(); ++i)
    out[i] = T(values[i]);
}
template <typename T>
static void unpack(const char *from, size_t count,
                   std::vector<int64_t> &values) {
  auto *in = reinterpret_cast<const T *>(from);
  values.assign(in, in + count);
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
  for (auto [i, border, tensor] : llvm::enumerate(state->inputs, inputs)) {
    if (tensor.isFloat != border.isFloat || tensor.shape != border.shape ||
        (border.isFloat ? tensor.floats.size() : tensor.ints.size()) !=
            border.elements())
      return fail("input " + llvm::Twine(i) +
                  " has another shape or kind than the function's");
    for (int64_t v : border.isWithin(tensor.ints) ? ArrayRef<int64_t>()
                                                  : ArrayRef(tensor.ints))
      if (v < border.lo || v > border.hi)
        return fail("input " + llvm::Twine(i) + " holds " + llvm::Twine(v) +
                    ", outside " + llvm::Twine(border.lo) + ":" +
                    llvm::Twine(border.hi));
  }
  // Memory of an earlier call, whose pages are there already.
  std::optional<Block64> memory;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    if (!state->idle.empty()) {
      memory = std::move(state->idle.back());
      state->idle.pop_back();
    }
  }
  if (!memory)
    memory.emplace(state->frameBytes);
  char *next = memory->data();
  auto take = [&](const Border &border) {
    char *at = next;
    next += llvm::alignTo(border.bytes(), 64);
    return at;
  };
  llvm::SmallVector<void *> table;
  for (auto [border, tensor] : llvm::zip(state->inputs, inputs)) {
    if (border.isFloat) {
      table.push_back(const_cast<float *>(tensor.floats.data()));
    } else if (border.isDirect()) {
      table.push_back(const_cast<int64_t *>(tensor.ints.data()));
    } else {
      char *to = take(border);
      withType(border.storage,
               [&](auto t) { pack<decltype(t)>(tensor.ints, to); });
      table.push_back(to);
    }
  }
  std::vector<Tensor> results;
  for (const Border &border : state->outputs) {
    Tensor &tensor =
        results.emplace_back(Tensor{border.shape, border.isFloat, {}, {}});
    if (border.isFloat) {
      tensor.floats.resize(border.elements());
      table.push_back(tensor.floats.data());
      continue;
    }
    if (border.isDirect()) {
      tensor.ints.resize(border.elements());
      table.push_back(tensor.ints.data());
    } else {
      table.push_back(take(border));
    }
  }
  int64_t wrong[3] = {0, 0, 0};
  if (!state->checks.empty())
    table.push_back(wrong);
  for (Block64 &constant : state->constants)
    table.push_back(constant.data());
  table.push_back(next);
  state->code(table.data());

  for (auto [i, border] : llvm::enumerate(state->outputs))
    if (!border.isDirect())
      withType(border.storage, [&](auto t) {
        unpack<decltype(t)>(
            static_cast<const char *>(table[state->inputs.size() + i]),
            border.elements(), results[i].ints);
      });
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->idle.push_back(std::move(*memory));
  }
  if (wrong[0]) {
    const host::Check &check = state->checks[size_t(wrong[0]) - 1];
    return fail("'" + check.node + "': " + check.message(wrong[1], wrong[2]));
  }
  return results;
}
