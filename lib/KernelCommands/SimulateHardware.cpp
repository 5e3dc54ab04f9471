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
/// The words of all tensors, element by element and tensor by tensor.
using Words = std::vector<std::vector<std::vector<int64_t>>>;

/// The evaluator's words at the border of a unit.
struct Evaluated {
  Words inputs, outputs;
};
} // namespace

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// A pattern in a word, sign- or zero-extended. Those of floats are unsigned
/// numbers of 8, 16, 32 or 64 bits.
static int64_t wordOf(Bits pattern, const numeric::Format &format) {
  unsigned width = unsigned(format.width());
  if (format.isFloat())
    width = std::max(8u, unsigned(llvm::PowerOf2Ceil(width)));
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

/// A word as a port of so many bits has it: as a signed number.
static int64_t inPort(int64_t word, unsigned bits) {
  return llvm::SignExtend64(uint64_t(word), bits);
}

/// The words of these values, by tensor.
static std::vector<std::vector<int64_t>>
wordsOf(llvm::ArrayRef<Value> values,
        const llvm::DenseMap<Value, std::vector<Bits>> &patterns,
        const std::vector<PlannedTensor> &tensors) {
  std::vector<std::vector<int64_t>> words;
  for (auto [v, tensor] : llvm::zip_equal(values, tensors)) {
    words.emplace_back();
    for (Bits pattern : patterns.at(v))
      words.back().push_back(wordOf(pattern, tensor.format));
  }
  return words;
}

/// What stays has one value, which all elements share.
static llvm::Error keepResidents(const PlannedKernel &kernel,
                                 InputValues &values, bool areGiven) {
  for (const PlannedStream &stream : kernel.streams)
    for (const std::string &name : stream.tensors) {
      if (!stream.isOnce || !values.count(name) || values[name].shared)
        continue;
      Values &one = values[name];
      one.shared = true;
      auto tensor = llvm::find_if(kernel.inputs, [&](const PlannedTensor &t) {
        return t.name == name;
      });
      const auto size = size_t(tensor->words());
      for (size_t i = size; areGiven && i < one.data.size(); ++i)
        if (one.data[i] != one.data[i % size])
          return ofKind(
              Failure::Kind::Usage,
              textError("'" + name +
                        "' stays in the unit, but its values change from "
                        "element to element; remedy: one array for all, or "
                        "compile without --resident " +
                        name));
    }
  return llvm::Error::success();
}

static llvm::Expected<Evaluated> evaluate(const NumberedKernel &kernel,
                                          const gen::loops::KernelParts &parts,
                                          const PlannedKernel &planned,
                                          const InputValues &values,
                                          int64_t frames) {
  Evaluated out;
  llvm::DenseMap<Operation *, Operation *> onIntegers;
  for (auto [on, in] : matchingFormats(kernel))
    onIntegers[in] = on;
  std::string problem;
  ScopedDiagnosticHandler handler(kernel.formats.inContext(),
                                  [&](mlir::Diagnostic &diagnostic) {
                                    problem += "\n" + diagnostic.str();
                                    return success();
                                  });
  Interpreter interpreter(kernel.formats.func);
  for (int64_t f = 0; f < frames; ++f) {
    const std::vector<Tensor> arguments =
        argumentsOf(kernel.signature, values, f);
    llvm::DenseMap<Value, std::vector<Bits>> patterns;
    func::FuncOp integers = kernel.integers;
    for (auto [v, argument] :
         llvm::zip_equal(integers.getArguments(), arguments))
      patterns[v] = patternsOf(argument);
    auto ran =
        interpreter.run(arguments, [&](Operation *op, const Tensor &result) {
          Operation *on = onIntegers.lookup(op);
          if (on && on->getNumResults() == 1)
            patterns[on->getResult(0)] = patternsOf(result);
        });
    if (failed(ran))
      return textError("the evaluator cannot run this kernel:" + problem);
    out.inputs.push_back(wordsOf(parts.inputs, patterns, planned.inputs));
    out.outputs.push_back(wordsOf(parts.outputs, patterns, planned.outputs));
  }
  return out;
}

/// True for a NaN: processors have several, of which hardware makes one.
static bool isNaN(int64_t word, const numeric::Format &format) {
  if (!format.isFloat() || format.finite)
    return false;
  const Bits infinity = format.greatest() + 1;
  return (patternOf(word, format) & (format.mask() >> 1)) > infinity;
}

/// Counts words that differ, and names the first.
static void compare(const PlannedKernel &kernel, const Words &want,
                    const Words &got, HardwareRunResult &result) {
  for (size_t f = 0; f < want.size(); ++f)
    for (auto [t, tensor] : llvm::enumerate(kernel.outputs))
      for (size_t k = 0; k < want[f][t].size(); ++k) {
        const int64_t is = got[f][t][k], should = want[f][t][k];
        if (is == should ||
            (isNaN(is, tensor.format) && isNaN(should, tensor.format)) ||
            ++result.mismatches != 1)
          continue;
        result.firstMismatch = llvm::formatv(
            "element {0} of '{1}' of frame {2} has the bits {3:x}, the "
            "evaluator {4:x}",
            k, tensor.name, f, uint64_t(is), uint64_t(should));
      }
}

/// The outputs in the caller's order, which need not be that of the streams.
static std::vector<size_t> orderOf(const Signature &signature,
                                   const PlannedKernel &kernel) {
  std::vector<size_t> order;
  for (const std::string &name : outputNames(signature))
    for (auto [t, tensor] : llvm::enumerate(kernel.outputs))
      if (tensor.name == name && !llvm::is_contained(order, t))
        order.push_back(t);
  for (size_t t = 0; t < kernel.outputs.size(); ++t)
    if (!llvm::is_contained(order, t))
      order.push_back(t);
  return order;
}

static llvm::Error writeOutputs(const HardwareRunRequest &request,
                                const PlannedKernel &kernel,
                                llvm::ArrayRef<size_t> order,
                                const Words &got) {
  if (request.outputs.size() > kernel.outputs.size())
    return ofKind(
        Failure::Kind::Usage,
        textError("the kernel has " + llvm::Twine(kernel.outputs.size()) +
                  " outputs, not " + llvm::Twine(request.outputs.size())));
  for (auto [t, path] : llvm::zip(order, request.outputs)) {
    const PlannedTensor &tensor = kernel.outputs[t];
    std::vector<Bits> patterns;
    for (const auto &frame : got)
      for (int64_t word : frame[t])
        patterns.push_back(patternOf(word, tensor.format));
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
      {"predicted", toJSON(result.plan.predicted)},
      {"measured",
       llvm::json::Object{
           {"interval_cycles", result.intervalCycles},
           {"latency_cycles", result.latencyCycles},
           {"throughput_per_s", double(result.plan.kernel->elementsAtOnce()) *
                                    result.plan.predicted.clockMhz * 1e6 /
                                    result.intervalCycles}}},
      {"parties", llvm::json::Array()}};
  return package.writeResult(
      "simulate.json",
      llvm::formatv("{0:2}\n", llvm::json::Value(std::move(kept))).str());
}

/// Which port of a system has a memory that answers with an error.
static llvm::Error chooseFault(llvm::StringRef text,
                               const PlannedKernel &kernel, SimOptions &how) {
  if (text.empty())
    return llvm::Error::success();
  auto usage = [&](const llvm::Twine &why) {
    return ofKind(Failure::Kind::Usage, textError("--memory-error: " + why));
  };
  constexpr unsigned kSlverr = 2, kDecerr = 3;
  const auto [tensor, response] = text.split('=');
  how.fault = response == "decerr" ? kDecerr : kSlverr;
  if (!response.empty() && response != "decerr" && response != "slverr")
    return usage("'" + response +
                 "' is no answer of AXI4; remedy: NAME, "
                 "NAME=slverr or NAME=decerr");
  if (!kernel.system)
    return usage("the package has no memory; remedy: compile with --system");
  std::string all;
  for (const PlannedMover &port : kernel.system->ports)
    for (const PlannedStream &stream : kernel.streams)
      for (const std::string &name : stream.tensors) {
        if (stream.port != port.stream)
          continue;
        all += (all.empty() ? "" : ", ") + name;
        if (name == tensor)
          how.faultyPort = port.port;
      }
  if (how.faultyPort.empty())
    return usage("no buffer holds '" + tensor + "'; remedy: one of " + all);
  return llvm::Error::success();
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
  options->sums = sumsOf(planned.choice);
  std::string source = package.path("model/kernel.cfd");
  if (!llvm::sys::fs::exists(source))
    source = package.path("model/kernel.mlir");
  auto kernel = readNumbered(source, *options);
  if (!kernel)
    return input(kernel.takeError());
  gen::loops::KernelParts parts = gen::loops::partsOf(kernel->integers);
  // Files may have been changed, and be accepted as they are.
  if (!parts.obstacles.empty() ||
      tensorsOf(*kernel, parts.inputs) != planned.inputs ||
      tensorsOf(*kernel, parts.outputs) != planned.outputs)
    return input(textError("'" + source +
                           "' is not the kernel that the package's plan "
                           "describes; remedy: compile it again"));
  auto values = inputsOf(request, kernel->signature,
                         formatsOfInputs(kernel->formats.func), result.frames);
  if (!values)
    return input(values.takeError());
  result.isSingle = areSingle(request, *values);
  const std::vector<size_t> order = orderOf(kernel->signature, planned);
  for (size_t t : order)
    result.outputs.push_back(planned.outputs[t].name);
  if (llvm::Error error =
          keepResidents(planned, *values, !request.inputs.empty()))
    return error;
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
  how.onWait = request.onWait;
  how.isSerial = !planned.isDataflow;
  if (llvm::Error error = chooseFault(request.memoryError, planned, how))
    return error;
  const PlannedNode &node = result.plan.nodes.front();
  // A frame has an element for each lane; the last one is repeated.
  std::vector<std::vector<Tensor>> frames;
  const auto elements = want->inputs.size(), lanes = size_t(planned.lanes);
  for (size_t first = 0; first < elements; first += lanes) {
    frames.emplace_back();
    for (const BorderPort &port : node.inputs) {
      const PortLayout layout = layoutOf(planned, planned.inputs, port.port);
      std::vector<int64_t> words(size_t(port.elements()));
      for (int64_t lane = 0; lane < layout.lanes; ++lane) {
        const auto &tensors =
            want->inputs[std::min(first + size_t(lane), elements - 1)];
        for (auto [at, t] : llvm::enumerate(layout.tensors))
          for (auto [k, word] : llvm::enumerate(tensors[t]))
            words[layout.wordAt(at, lane, int64_t(k))] =
                inPort(word, port.element.width());
      }
      const auto count = int64_t(words.size());
      frames.back().push_back(Tensor::ofInts({count}, std::move(words)));
    }
  }
  how.missing = int64_t(frames.size() * lanes - elements);
  auto run = simulateRtl(package, frames, how);
  if (!run)
    return run.takeError();
  result.measured = run->measured;
  result.intervalCycles = run->intervalCycles;
  result.latencyCycles = run->latencyCycles;
  result.simCyclesPerS = run->simCyclesPerS;
  result.buildSeconds = run->buildSeconds;
  result.simulator = run->simulator;
  Words got(elements,
            std::vector<std::vector<int64_t>>(planned.outputs.size()));
  for (size_t e = 0; e < elements; ++e) {
    const std::vector<Tensor> &frame = run->outputs[e / lanes];
    for (auto [port, words] : llvm::zip_equal(node.outputs, frame)) {
      const PortLayout layout = layoutOf(planned, planned.outputs, port.port);
      for (auto [at, t] : llvm::enumerate(layout.tensors))
        for (int64_t k = 0; k < planned.outputs[t].words(); ++k)
          got[e][t].push_back(
              words.ints[layout.wordAt(at, int64_t(e % lanes), k)]);
      for (size_t t : layout.tensors)
        for (int64_t &word : want->outputs[e][t])
          word = inPort(word, port.element.width());
    }
  }
  compare(planned, want->outputs, got, result);
  if (llvm::Error error = package.checkUnchanged())
    return input(std::move(error));
  if (result.measured)
    if (llvm::Error error = keepMeasurement(package, result))
      return error;
  return writeOutputs(request, planned, order, got);
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

rhizome::Result<KernelRunResult>
kernelcommands::runPackageOnCpu(const HardwareRunRequest &request) {
  auto package = Package::open(
      request.path, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return failureOf(package.takeError(), Failure::Kind::Input);
  KernelRunRequest onCpu = request;
  onCpu.path = package->path("model");
  if (const auto &kernel = package->plan().kernel)
    onCpu.options.sums = sumsOf(kernel->choice);
  auto result = runKernel(onCpu);
  if (result)
    result->notes = package->notes();
  else
    result.failure().notes = package->notes();
  return result;
}
