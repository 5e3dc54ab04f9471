// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::calibrate;

/// Products of all frames from which on machine code pays: the interpreter
/// takes a second for as many, LLVM about as long for a small network.
constexpr int64_t kMostInterpreted = 400'000'000;

namespace {
class Interpreted : public Runner {
public:
  Interpreted(func::FuncOp function, ArrayRef<Value> values)
      : interpreter(function) {
    for (auto [i, v] : llvm::enumerate(values))
      if (Operation *op = v.getDefiningOp())
        which[op].push_back(i);
  }
  bool isCompiled() const override { return false; }
  FailureOr<std::vector<Tensor>> run(ArrayRef<Tensor> frame,
                                     const Look &look) const override {
    return interpreter.run(frame, [&](Operation *op, const Tensor &t) {
      if (auto it = which.find(op); it != which.end())
        for (size_t i : it->second)
          look(i, t);
    });
  }

private:
  Interpreter interpreter;
  DenseMap<Operation *, SmallVector<size_t, 1>> which;
};

/// The function with further results, compiled.
class Compiled : public Runner {
public:
  /// Null if the CPU path does not take the function.
  static std::unique_ptr<Compiled> make(func::FuncOp function,
                                        ArrayRef<Value> values);
  bool isCompiled() const override { return true; }
  FailureOr<std::vector<Tensor>> run(ArrayRef<Tensor> frame,
                                     const Look &look) const override {
    llvm::Expected<std::vector<Tensor>> all = code->run(frame);
    if (!all) {
      llvm::consumeError(all.takeError());
      return failure();
    }
    for (auto [value, result] : shown)
      look(value, (*all)[result]);
    all->resize(results);
    return std::move(*all);
  }

private:
  MLIRContext context;
  std::unique_ptr<CompiledFunction> code;
  size_t results = 0;                           ///< of the function itself
  std::vector<std::pair<size_t, size_t>> shown; ///< value and its result
};
} // namespace

std::unique_ptr<Compiled> Compiled::make(func::FuncOp function,
                                         ArrayRef<Value> values) {
  std::unique_ptr<Compiled> made(new Compiled());
  // A module and context of its own: whoever calls may be inside a pass.
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  IRMapping map;
  auto copy = cast<func::FuncOp>(function->clone(map));
  module->push_back(copy);
  copy.removeArgAttrsAttr();
  copy.removeResAttrsAttr();
  copy->setDiscardableAttrs(DictionaryAttr::get(function.getContext()));
  Operation *end = copy.getBody().front().getTerminator();
  SmallVector<Value> given(end->getOperands());
  made->results = given.size();
  DenseMap<Value, size_t> known;
  for (auto [i, v] : llvm::enumerate(given))
    known.try_emplace(v, i);
  for (auto [i, v] : llvm::enumerate(values)) {
    if (!v.getDefiningOp())
      continue;
    Value there = map.lookup(v);
    auto [it, fresh] = known.try_emplace(there, given.size());
    if (fresh)
      given.push_back(there);
    made->shown.push_back({i, it->second});
  }
  end->setOperands(given);
  copy.setFunctionType(FunctionType::get(function.getContext(),
                                         copy.getArgumentTypes(),
                                         ValueRange(given).getTypes()));
  std::string bytes;
  llvm::raw_string_ostream text(bytes);
  if (failed(writeBytecodeToFile(*module, text)))
    return nullptr;
  module = {};
  loadCpuDialects(made->context);
  made->context.loadDialect<osa::OsaDialect>();
  ScopedDiagnosticHandler quiet(&made->context,
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> own =
      parseSourceString<ModuleOp>(bytes, ParserConfig(&made->context));
  if (!own)
    return nullptr;
  bytes = {};
  auto code = CompiledFunction::compile(*own->getOps<func::FuncOp>().begin(),
                                        Effort::Quick);
  if (failed(code))
    return nullptr;
  made->code = std::move(*code);
  return made;
}

std::unique_ptr<Runner> calibrate::makeRunner(func::FuncOp function,
                                              ArrayRef<Value> values,
                                              size_t frames) {
  int64_t products = 0;
  for (Operation &op : function.getBody().front())
    if (isa<osa::OsaDialect>(op.getDialect()))
      products += osa::computeWork(&op).macs;
  if (products * int64_t(frames) > kMostInterpreted)
    if (auto compiled = Compiled::make(function, values))
      return compiled;
  return std::make_unique<Interpreted>(function, values);
}
