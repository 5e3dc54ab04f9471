// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a network for a core and runs its program on the faces, each byte of
// the outputs against the interpreter's:
//
//   engine-run MODULE CORE [--frames N] [--faces checked,native,opencl]
//              [--case DIR] [--text FILE] [--streams]
//
// MODULE is what `rhizome compile --compile-to integerize` wrote. Prints what
// is refused, or a line for each layer and one of JSON. --case writes the first
// frame for the bench of the RTL (rtl/test/engine.py), --text the program.
#include "../Engine/CaseFiles.h"
#include "../Engine/OpenClFace.h"
#include "NetworkRun.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "llvm/Support/CommandLine.h"
#include <chrono>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;
using namespace rhizome::engine::test;

static cl::opt<std::string> modulePath(cl::Positional, cl::Required,
                                       cl::desc("MODULE"));
static cl::opt<std::string> coreName(cl::Positional, cl::Required,
                                     cl::desc("CORE"));
static cl::opt<unsigned> frames("frames", cl::init(2),
                                cl::desc("random inputs"));
static cl::list<std::string> faces("faces", cl::CommaSeparated,
                                   cl::desc("checked, native, opencl"));
static cl::opt<std::string> caseFolder("case", cl::desc("for the RTL's bench"));
static cl::opt<std::string> textPath("text", cl::desc("the program as text"));
static cl::opt<bool> streams("streams", cl::desc("inputs and outputs in them"));
static cl::opt<bool> noInside("no-inside", cl::desc("tensors lie in memory"));

static int fail(const Twine &text) {
  errs() << text << "\n";
  return 1;
}

/// Runs a face; returns what is wrong with the outputs, or "".
static std::string runFace(StringRef face, const CompiledNetwork &compiled,
                           const Core &core, State state,
                           ArrayRef<Tensor> expected) {
  static OpenClFace opencl;
  if (face == "native") {
    runNative(compiled.program, core, state);
  } else if (face == "checked") {
    if (Error error = runChecked(compiled.program, core, state))
      return toString(std::move(error));
  } else if (!opencl.missing().empty()) {
    outs() << "SKIPPED: " << opencl.missing() << "\n";
    return "";
  } else if (auto why =
                 opencl.run(compiled.program, core, compiled.sent, state);
             !why.empty()) {
    return why;
  }
  return difference(compiled, core, state, expected);
}

static void printLayers(const CompiledNetwork &compiled) {
  const std::vector<LayerUse> uses = compiled.listing.account(
      compiled.predicted.spans, compiled.predicted.cycles);
  for (auto [i, layer] : enumerate(compiled.listing.layers))
    outs() << format("%3zu %-8s %9lld products, %8lld cycles, tiles of %lld x "
                     "%lld%s%s, ",
                     size_t(i), layer.kind.c_str(), (long long)layer.products,
                     (long long)uses[i].cycles, (long long)layer.rows,
                     (long long)layer.columns,
                     layer.isInputInside ? ", in" : "",
                     layer.isOutputInside ? ", out" : "")
           << layer.name << "\n";
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  mlir::MLIRContext context;
  context.loadDialect<osa::OsaDialect, flow::FlowDialect, num::NumDialect,
                      mlir::func::FuncDialect, mlir::arith::ArithDialect,
                      mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect>();
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(modulePath.getValue(), &context);
  if (!module)
    return 1;
  auto tasks = flow::tasksOf(*module, flow::Place::Fpga);
  if (tasks.size() != 1)
    return fail("the model has " + Twine(tasks.size()) + " tasks for hardware");
  auto network = cast<mlir::func::FuncOp>(tasks.front().getOperation());
  auto core = loadCore(coreName);
  if (!core)
    return fail(toString(core.takeError()));

  std::vector<EngineRefusal> refusals;
  CompileOptions options;
  options.keepsInside = !noInside;
  options.streams = streams;
  const auto begin = std::chrono::steady_clock::now();
  auto compiled = compileForCore(network, *core, refusals, options);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  for (const EngineRefusal &refusal : refusals)
    outs() << "refused: '" << osa::nodeName(refusal.op) << "' ("
           << refusal.op->getName().getStringRef() << "): " << refusal.reason
           << "\n";
  if (!compiled)
    return 3;
  for (const Problem &problem :
       verify(compiled->program, *core, compiled->surroundings()))
    return fail("instruction " + Twine(problem.instruction) + ": " +
                problem.text);
  printLayers(*compiled);
  if (!textPath.empty()) {
    const std::string text = print(compiled->program);
    writeFile(textPath.getValue(), text.data(), text.size());
  }

  std::mt19937_64 random(1);
  size_t differing = 0;
  for (unsigned frame = 0; frame < frames; ++frame) {
    const auto inputs = randomFrame(network, random);
    auto expected = interpret(network, inputs);
    if (failed(expected))
      return 1;
    const State before = stateOf(*compiled, *core, inputs);
    for (const std::string &face : faces)
      if (auto why = runFace(face, *compiled, *core, before, *expected);
          !why.empty()) {
        outs() << "frame " << frame << ", " << face << ": " << why << "\n";
        ++differing;
      }
    if (frame == 0 && !caseFolder.empty()) {
      State after = before;
      runNative(compiled->program, *core, after);
      writeCase(caseFolder.getValue(), *core, compiled->program, before, after);
    }
  }
  int64_t words = 0;
  for (int64_t memory : compiled->memoryWords)
    words += memory;
  outs() << format("{\"instructions\": %zu, \"products\": %lld, "
                   "\"predicted_cycles\": %lld, \"array_use\": %.4f, "
                   "\"memory_bytes\": %lld, \"compile_s\": %.2f, \"frames\": "
                   "%u, \"differing\": %zu}\n",
                   compiled->program.instructions.size(),
                   (long long)compiled->products,
                   (long long)compiled->predicted.cycles,
                   compiled->arrayUse(*core), (long long)(words * core->in),
                   took.count(), frames.getValue(), differing);
  return differing != 0;
}
