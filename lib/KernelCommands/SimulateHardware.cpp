// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simulate of a kernel's package: elements through its RTL, word by word
// against the evaluator.
#include "HardwareParts.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/KernelCommands/Hardware.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Simulate/Simulate.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Tools.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;
using numeric::Bits;

namespace {
/// Words of one stream, element by element.
using Words = std::vector<std::vector<int64_t>>;

/// The evaluator's words at the border of a unit.
struct Evaluated {
  Words inputs, outputs;
};
} // namespace

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// A pattern in a word, sign- or zero-extended.
static int64_t wordOf(Bits pattern, const numeric::Format &format) {
  const unsigned width = unsigned(format.width());
  auto word = uint64_t(pattern);
  if (width < 64 && format.isSigned && (word >> (width - 1)) & 1)
    word |= ~uint64_t(0) << width;
  return int64_t(word);
}

static Bits patternOf(int64_t word, const numeric::Format &format) {
  const unsigned width = unsigned(format.width());
  return width < 64 ? Bits(uint64_t(word) & ((uint64_t(1) << width) - 1))
                    : Bits(uint64_t(word));
}

/// The words of these values, one tensor after the other.
static std::vector<int64_t>
wordsOf(llvm::ArrayRef<Value> values,
        const llvm::DenseMap<Value, std::vector<Bits>> &patterns,
        const std::vector<PlannedTensor> &tensors) {
  std::vector<int64_t> words;
  for (auto [v, tensor] : llvm::zip_equal(values, tensors))
    for (Bits pattern : patterns.at(v))
      words.push_back(wordOf(pattern, tensor.format));
  return words;
}

static llvm::Expected<Evaluated> evaluate(const NumberedKernel &kernel,
                                          const gen::hls::KernelParts &parts,
                                          const PlannedKernel &planned,
                                          const InputValues &values,
                                          int64_t frames) {
  Evaluated out;
  llvm::DenseMap<Operation *, Operation *> onIntegers;
  for (auto [on, in] : matchingFormats(kernel))
    onIntegers[in] = on;
  std::string problem;
  ScopedDiagnosticHandler handler(kernel.formats.context.get(),
                                  [&](mlir::Diagnostic &diagnostic) {
                                    problem += "\n" + diagnostic.str();
                                    return success();
                                  });
  Interpreter interpreter(kernel.formats.func);
  for (int64_t f = 0; f < frames; ++f) {
    std::vector<Tensor> arguments;
    for (const Argument &argument : kernel.signature.arguments) {
      if (!argument.isInput)
        continue;
      const Values &one = values.at(argument.name);
      const int64_t size = argument.size();
      llvm::ArrayRef<double> data(one.data);
      arguments.push_back(numbersOf(
          argument.shape, data.slice(one.shared ? 0 : size_t(f * size), size),
          argument.bits == 32 ? numeric::Format::binary32()
                              : numeric::Format::binary64()));
    }
    llvm::DenseMap<Value, std::vector<Bits>> patterns;
    auto ran =
        interpreter.run(arguments, [&](Operation *op, const Tensor &result) {
          Operation *on = onIntegers.lookup(op);
          if (on && on->getNumResults() == 1 && !result.patterns.empty())
            patterns[on->getResult(0)] = result.patterns;
        });
    if (failed(ran))
      return textError("the evaluator cannot run this kernel:" + problem);
    out.inputs.push_back(wordsOf(parts.inputs, patterns, planned.inputs));
    out.outputs.push_back(wordsOf(parts.outputs, patterns, planned.outputs));
  }
  return out;
}

/// Counts words that differ, and names the first.
static void compare(const PlannedKernel &kernel, const Words &want,
                    const std::vector<std::vector<Tensor>> &got,
                    HardwareRunResult &result) {
  for (size_t f = 0; f < want.size(); ++f) {
    size_t word = 0;
    for (const PlannedTensor &tensor : kernel.outputs)
      for (int64_t k = 0; k < tensor.words(); ++k, ++word) {
        const int64_t is = got[f][0].ints[word], should = want[f][word];
        if (is == should || ++result.mismatches != 1)
          continue;
        result.firstMismatch = llvm::formatv(
            "element {0} of '{1}' of frame {2} has the bits {3:x}, the "
            "evaluator {4:x}",
            k, tensor.name, f, uint64_t(is), uint64_t(should));
      }
  }
}

static llvm::Error writeOutputs(const HardwareRunRequest &request,
                                const PlannedKernel &kernel,
                                const std::vector<std::vector<Tensor>> &got) {
  if (request.outputs.size() > kernel.outputs.size())
    return ofKind(
        Failure::Kind::Usage,
        textError("the kernel has " + llvm::Twine(kernel.outputs.size()) +
                  " outputs, not " + llvm::Twine(request.outputs.size())));
  int64_t first = 0;
  for (auto [tensor, path] : llvm::zip(kernel.outputs, request.outputs)) {
    std::vector<Bits> patterns;
    for (const std::vector<Tensor> &frame : got)
      for (int64_t k = 0; k < tensor.words(); ++k)
        patterns.push_back(
            patternOf(frame[0].ints[size_t(first + k)], tensor.format));
    first += tensor.words();
    std::vector<int64_t> shape = tensor.shape;
    shape.insert(shape.begin(), int64_t(got.size()));
    if (llvm::Error error = writeNpy(
            path, shape, doublesOf(ofPatterns(shape, patterns, tensor.format))))
      return error;
  }
  return llvm::Error::success();
}

/// results/simulate.json, as for a network.
static llvm::Error keepMeasurement(const Package &package,
                                   const HardwareRunResult &result) {
  llvm::json::Object kept{
      {"frames", result.frames},
      {"mismatches", result.mismatches},
      {"predicted", toJson(result.plan.predicted)},
      {"measured",
       llvm::json::Object{
           {"interval_cycles", result.intervalCycles},
           {"latency_cycles", result.latencyCycles},
           {"throughput_per_s",
            result.plan.predicted.clockMhz * 1e6 / result.intervalCycles}}},
      {"parties", llvm::json::Array()}};
  if (llvm::Error error = package.makeResults())
    return error;
  return writeAtomically(
      package.results("simulate.json"),
      llvm::formatv("{0:2}\n", llvm::json::Value(std::move(kept))).str());
}

static llvm::Error simulateOpened(const HardwareRunRequest &request,
                                  const Package &package,
                                  HardwareRunResult &result) {
  auto input = [](llvm::Error error) {
    return ofKind(Failure::Kind::Input, std::move(error));
  };
  result.plan = package.plan();
  if (!result.plan.kernel)
    return input(
        textError("'" + package.dir() + "' holds a network, not a kernel"));
  const PlannedKernel &planned = *result.plan.kernel;
  auto options = readKernelOptions(package.path("model"), request.options);
  if (!options)
    return input(options.takeError());
  std::string source = package.path("model/kernel.cfd");
  if (!llvm::sys::fs::exists(source))
    source = package.path("model/kernel.mlir");
  auto kernel = readNumbered(source, *options);
  if (!kernel)
    return input(kernel.takeError());
  gen::hls::KernelParts parts = gen::hls::partsOf(kernel->integers);
  // Files may have been changed, and be accepted as they are.
  if (!parts.obstacles.empty() ||
      tensorsOf(*kernel, parts.inputs) != planned.inputs ||
      tensorsOf(*kernel, parts.outputs) != planned.outputs)
    return input(textError("'" + source +
                           "' is not the kernel that the package's plan "
                           "describes; remedy: compile it again"));
  auto values = inputsOf(request, kernel->signature, result.frames);
  if (!values)
    return input(values.takeError());
  auto want = evaluate(*kernel, parts, planned, *values, result.frames);
  if (!want)
    return want.takeError();

  SimOptions how;
  how.stallsIn = request.stallsIn;
  how.stallsOut = request.stallsOut;
  how.seed = request.seed;
  how.fourState = request.fourState;
  how.trace = request.trace;
  how.progress = request.showProgress;
  std::vector<std::vector<Tensor>> frames;
  for (std::vector<int64_t> &words : want->inputs)
    frames.push_back(
        {Tensor::ofInts({int64_t(words.size())}, std::move(words))});
  auto run = simulateRtl(package, frames, how);
  if (!run)
    return run.takeError();
  result.measured = run->measured;
  result.intervalCycles = run->intervalCycles;
  result.latencyCycles = run->latencyCycles;
  result.simCyclesPerS = run->simCyclesPerS;
  result.buildSeconds = run->buildSeconds;
  result.simulator = run->simulator;
  compare(planned, want->outputs, run->outputs, result);
  if (llvm::Error error = package.checkUnchanged())
    return input(std::move(error));
  if (result.measured)
    if (llvm::Error error = keepMeasurement(package, result))
      return error;
  return writeOutputs(request, planned, run->outputs);
}

rhizome::Result<HardwareRunResult>
kernelcommands::simulateHardware(const HardwareRunRequest &request) {
  HardwareRunResult result;
  auto package = Package::open(
      request.path, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return failureOf(package.takeError(), Failure::Kind::Input);
  result.notes = package->notes();
  if (llvm::Error error = simulateOpened(request, *package, result)) {
    Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
    failure.notes = std::move(result.notes);
    return failure;
  }
  return result;
}
