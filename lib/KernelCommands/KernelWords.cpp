// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelWords.h"
#include "rhizome/Cpu/Kernel.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;
using numeric::Bits;

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

/// True for a NaN: processors have several, of which hardware makes one.
static bool isNaN(int64_t word, const numeric::Format &format) {
  if (!format.isFloat() || format.finite)
    return false;
  const Bits infinity = format.greatest() + 1;
  return (patternOf(word, format) & (format.mask() >> 1)) > infinity;
}

/// Counts words that differ, and names the first.
static void compare(const PlannedKernel &kernel, const Words &want,
                    const Words &got, int64_t first,
                    HardwareRunResult &result) {
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
            k, tensor.name, first + int64_t(f), uint64_t(is), uint64_t(should));
      }
}

llvm::Expected<std::unique_ptr<KernelWords>>
KernelWords::open(const Package &package, const KernelOptions &options) {
  auto out = std::make_unique<KernelWords>();
  out->plan = package.plan();
  out->folder = package.dir();
  if (!out->plan.kernel)
    return textError("'" + package.dir() + "' holds a network, not a kernel");
  auto read = readKernelOptions(package.path("model"), options);
  if (!read)
    return read.takeError();
  read->sums = sumsOf(out->planned().choice);
  std::string source = package.path("model/kernel.cfd");
  if (!llvm::sys::fs::exists(source))
    source = package.path("model/kernel.mlir");
  auto kernel = readNumbered(source, *read);
  if (!kernel)
    return kernel.takeError();
  out->kernel = std::move(*kernel);
  out->parts = gen::loops::partsOf(out->kernel.integers);
  // Files may have been changed, and be accepted as they are.
  if (!out->parts.obstacles.empty() ||
      tensorsOf(out->kernel, out->parts.inputs) != out->planned().inputs ||
      tensorsOf(out->kernel, out->parts.outputs) != out->planned().outputs)
    return textError("'" + source +
                     "' is not the kernel that the package's plan "
                     "describes; remedy: compile it again");
  return out;
}

/// Elements whose random inputs are drawn at once.
static constexpr int64_t kDrawn = 1024;

llvm::Error KernelWords::begin(const KernelRunRequest &asked, bool check,
                               HardwareRunResult &result) {
  request = asked;
  isChecked = check;
  count = request.frames ? request.frames : 1;
  if (llvm::Error error = draw())
    return error;
  if (!request.inputs.empty())
    count = valueCount;
  result.frames = count;
  result.isSingle = areSingle(request, values);
  for (size_t t : outputOrder())
    result.outputs.push_back(planned().outputs[t].name);
  if (request.outputs.size() > planned().outputs.size())
    return ofKind(
        Failure::Kind::Usage,
        textError("the kernel has " + llvm::Twine(planned().outputs.size()) +
                  " outputs, not " + llvm::Twine(request.outputs.size())));
  return llvm::Error::success();
}

/// The values of all elements from files, or the next random ones, of a seed of
/// their own: nobody has to draw what comes before.
llvm::Error KernelWords::draw() {
  KernelRunRequest some = request;
  if (request.inputs.empty()) {
    firstValue = following;
    some.frames = std::min(kDrawn, count - following);
    some.seed += uint64_t(following / kDrawn) * 0x9e3779b97f4a7c15;
  }
  auto read = inputsOf(some, kernel.signature,
                       formatsOfInputs(kernel.formats.func), valueCount);
  if (!read)
    return ofKind(Failure::Kind::Input, read.takeError());
  if (llvm::Error error =
          keepResidents(planned(), *read, !request.inputs.empty()))
    return error;
  // What stays in the unit came with the first elements.
  for (auto &[name, one] : values)
    if (one.shared)
      (*read)[name] = std::move(one);
  values = std::move(*read);
  return llvm::Error::success();
}

int64_t KernelWords::someElements() const {
  constexpr int64_t kWords = 20'000;
  int64_t words = 1;
  for (auto *tensors : {&planned().inputs, &planned().outputs})
    for (const PlannedTensor &tensor : *tensors)
      words += tensor.words();
  const int64_t lanes = planned().lanes;
  const int64_t some = std::clamp<int64_t>(kWords / words, 1, kDrawn);
  return std::max<int64_t>(1, some / lanes) * lanes;
}

llvm::Expected<Elements>
KernelWords::next(int64_t most, const std::function<bool()> &isCancelled) {
  Elements elements;
  elements.first = following;
  const int64_t end = std::min(count, following + most);
  if (llvm::Error error = isChecked ? evaluate(elements, end, isCancelled)
                                    : convert(elements, end, isCancelled))
    return std::move(error);
  return elements;
}

//===----------------------------------------------------------------------===//
// The evaluator
//===----------------------------------------------------------------------===//

std::vector<Tensor> KernelWords::argumentsAt(int64_t element) const {
  return argumentsOf(kernel.signature, values, element - firstValue);
}

llvm::Error KernelWords::evaluate(Elements &elements, int64_t end,
                                  const std::function<bool()> &isCancelled) {
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
  for (; following < end && !(isCancelled && isCancelled()); ++following) {
    if (following - firstValue == valueCount)
      if (llvm::Error error = draw())
        return error;
    const std::vector<Tensor> arguments = argumentsAt(following);
    llvm::DenseMap<Value, std::vector<Bits>> patterns;
    for (auto [v, argument] :
         llvm::zip_equal(kernel.integers.getArguments(), arguments))
      patterns[v] = patternsOf(argument);
    auto ran =
        interpreter.run(arguments, [&](Operation *op, const Tensor &result) {
          Operation *on = onIntegers.lookup(op);
          if (on && on->getNumResults() == 1)
            patterns[on->getResult(0)] = patternsOf(result);
        });
    if (failed(ran))
      return textError("the evaluator cannot run this kernel:" + problem);
    elements.inputs.push_back(
        wordsOf(parts.inputs, patterns, planned().inputs));
    elements.outputs.push_back(
        wordsOf(parts.outputs, patterns, planned().outputs));
  }
  return llvm::Error::success();
}

func::FuncOp KernelWords::cutOff() {
  if (converter)
    return *converter->getOps<func::FuncOp>().begin();
  IRMapping mapping;
  converter = ModuleOp::create(kernel.integers.getLoc());
  auto cut = cast<func::FuncOp>(kernel.formats.func->clone(mapping));
  converter->push_back(cut);
  auto matching = matchingFormats(kernel);
  SmallVector<Value> border;
  for (Value v : parts.inputs)
    if (auto argument = dyn_cast<BlockArgument>(v))
      border.push_back(cut.getArgument(argument.getArgNumber()));
    else
      border.push_back(
          mapping.lookup(matching.at(v.getDefiningOp())
                             ->getResult(cast<OpResult>(v).getResultNumber())));
  Block &block = cut.getBody().front();
  block.getTerminator()->setOperands(border);
  cut.setType(FunctionType::get(cut.getContext(), cut.getArgumentTypes(),
                                TypeRange(ValueRange(border))));
  cut.removeResAttrsAttr();
  SmallVector<Operation *> all;
  for (Operation &op : block.without_terminator())
    all.push_back(&op);
  for (Operation *op : llvm::reverse(all))
    if (op->use_empty())
      op->erase();
  return cut;
}

llvm::Error KernelWords::convert(Elements &elements, int64_t end,
                                 const std::function<bool()> &isCancelled) {
  Interpreter interpreter(cutOff());
  for (; following < end && !(isCancelled && isCancelled()); ++following) {
    if (following - firstValue == valueCount)
      if (llvm::Error error = draw())
        return error;
    auto ran = interpreter.run(argumentsAt(following));
    if (failed(ran))
      return textError("the evaluator cannot convert this kernel's inputs");
    llvm::DenseMap<Value, std::vector<Bits>> patterns;
    for (auto [v, tensor] : llvm::zip_equal(parts.inputs, *ran))
      patterns[v] = patternsOf(tensor);
    elements.inputs.push_back(
        wordsOf(parts.inputs, patterns, planned().inputs));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Frames KernelWords::framesOf(const Elements &elements) const {
  Frames frames;
  const Words &inputs = elements.inputs;
  const auto count = inputs.size(), lanes = size_t(planned().lanes);
  for (size_t first = 0; first < count; first += lanes) {
    frames.emplace_back();
    for (const BorderPort &port : node().inputs) {
      const PortLayout layout =
          layoutOf(planned(), planned().inputs, port.port);
      std::vector<int64_t> words(size_t(port.elements()));
      for (int64_t lane = 0; lane < layout.lanes; ++lane) {
        const auto &tensors = inputs[std::min(first + size_t(lane), count - 1)];
        for (auto [at, t] : llvm::enumerate(layout.tensors))
          for (auto [k, word] : llvm::enumerate(tensors[t]))
            words[layout.wordAt(at, lane, int64_t(k))] =
                inPort(word, port.element.width());
      }
      const auto size = int64_t(words.size());
      frames.back().push_back(Tensor::ofInts({size}, std::move(words)));
    }
  }
  return frames;
}

int64_t KernelWords::repeatedIn(const Elements &elements) const {
  const auto lanes = size_t(planned().lanes), count = elements.inputs.size();
  return int64_t(llvm::divideCeil(count, lanes) * lanes - count);
}

int64_t KernelWords::judge(Elements elements, const Frames &frames,
                           HardwareRunResult &result) {
  const auto lanes = size_t(planned().lanes);
  const size_t count = std::min(elements.inputs.size(), frames.size() * lanes);
  Words got(count, std::vector<std::vector<int64_t>>(planned().outputs.size()));
  for (size_t e = 0; e < count; ++e)
    for (auto [port, words] :
         llvm::zip_equal(node().outputs, frames[e / lanes])) {
      const PortLayout layout =
          layoutOf(planned(), planned().outputs, port.port);
      for (auto [at, t] : llvm::enumerate(layout.tensors))
        for (int64_t k = 0; k < planned().outputs[t].words(); ++k)
          got[e][t].push_back(
              words.ints[layout.wordAt(at, int64_t(e % lanes), k)]);
      if (isChecked)
        for (size_t t : layout.tensors)
          for (int64_t &word : elements.outputs[e][t])
            word = inPort(word, port.element.width());
    }
  if (isChecked) {
    elements.outputs.resize(count);
    compare(planned(), elements.outputs, got, elements.first, result);
  }
  if (!request.outputs.empty())
    llvm::move(got, std::back_inserter(kept));
  return int64_t(count);
}

std::vector<size_t> KernelWords::outputOrder() const {
  std::vector<size_t> order;
  for (const std::string &name : outputNames(kernel.signature))
    for (auto [t, tensor] : llvm::enumerate(planned().outputs))
      if (tensor.name == name && !llvm::is_contained(order, t))
        order.push_back(t);
  for (size_t t = 0; t < planned().outputs.size(); ++t)
    if (!llvm::is_contained(order, t))
      order.push_back(t);
  return order;
}

llvm::Error KernelWords::write() const {
  for (auto [t, path] : llvm::zip(outputOrder(), request.outputs)) {
    const PlannedTensor &tensor = planned().outputs[t];
    std::vector<Bits> patterns;
    for (const auto &element : kept)
      for (int64_t word : element[t])
        patterns.push_back(patternOf(word, tensor.format));
    std::vector<int64_t> shape = tensor.shape;
    shape.insert(shape.begin(), int64_t(kept.size()));
    if (llvm::Error error = writeNpy(
            path, shape, doublesOf(ofPatterns(shape, patterns, tensor.format))))
      return error;
  }
  return llvm::Error::success();
}

std::vector<BorderPort> KernelWords::asBytes(std::vector<BorderPort> ports) {
  for (BorderPort &port : ports)
    port.dataWidth = 8;
  return ports;
}

//===----------------------------------------------------------------------===//
// Drivers
//===----------------------------------------------------------------------===//

runtime::Design KernelWords::design() const {
  runtime::Design design;
  design.name = plan.model;
  design.folder = folder;
  auto portOf = [](const BorderPort &port) {
    return runtime::Port{port.port,
                         uint64_t(port.elements()) * port.element.width(),
                         port.dataWidth};
  };
  for (const BorderPort &port : node().inputs)
    design.inputs.push_back(portOf(port));
  for (const BorderPort &port : node().outputs)
    design.outputs.push_back(portOf(port));
  return design;
}

namespace {
/// Tensors of words in memory, as the machine code has them.
class WordArrays {
public:
  /// Room for the tensors, of whole bytes.
  explicit WordArrays(ArrayRef<Value> values) {
    for (Value v : values) {
      auto type = cast<RankedTensorType>(v.getType());
      Array &one = arrays.emplace_back();
      one.bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      one.data.resize(one.bytes * size_t(type.getNumElements()));
      const auto shape = type.getShape();
      int64_t stride = 1;
      for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
        one.array.strides[d] = stride;
      one.array.elementStride = stride;
    }
  }
  void set(size_t tensor, size_t k, int64_t word) {
    Array &one = arrays[tensor];
    std::memcpy(&one.data[k * one.bytes], &word, one.bytes);
  }
  int64_t get(size_t tensor, size_t k) const {
    const Array &one = arrays[tensor];
    int64_t word = 0;
    std::memcpy(&word, &one.data[k * one.bytes], one.bytes);
    return word;
  }
  void addTo(std::vector<KernelArray> &all) {
    for (Array &one : arrays) {
      one.array.data = one.data.data();
      all.push_back(one.array);
    }
  }

private:
  struct Array {
    size_t bytes = 0;
    std::vector<uint8_t> data;
    KernelArray array;
  };
  std::vector<Array> arrays;
};

/// Elements of frames through machine code. Drivers may call it from several
/// threads at once.
class WordFunction {
public:
  WordFunction(const Plan &plan, const gen::loops::KernelParts &parts,
               LoadedKernel code)
      : plan(plan), emptyInputs(parts.inputs), emptyOutputs(parts.outputs),
        code(std::move(code)) {
    for (auto *ports :
         {&this->plan.nodes.front().inputs, &this->plan.nodes.front().outputs})
      for (BorderPort &port : *ports)
        port.dataWidth = 8;
  }
  llvm::Error run(const std::vector<runtime::Bytes> &in,
                  std::vector<runtime::Bytes> &out) const {
    WordArrays inputs = emptyInputs, outputs = emptyOutputs;
    const PlannedKernel &kernel = *plan.kernel;
    const PlannedNode &node = plan.nodes.front();
    std::vector<Tensor> given, results;
    for (auto [bytes, port] : llvm::zip_equal(in, node.inputs))
      given.push_back(unpackFrame(bytes.data(), port));
    for (const BorderPort &port : node.outputs)
      results.push_back(Tensor::ofInts(
          {port.elements()}, std::vector<int64_t>(size_t(port.elements()))));
    for (int64_t lane = 0; lane < kernel.lanes; ++lane) {
      for (auto [port, words] : llvm::zip_equal(node.inputs, given)) {
        const PortLayout layout = layoutOf(kernel, kernel.inputs, port.port);
        for (auto [at, t] : llvm::enumerate(layout.tensors))
          for (int64_t k = 0; k < kernel.inputs[t].words(); ++k)
            inputs.set(t, size_t(k),
                       words.ints[layout.wordAt(
                           at, std::min(lane, layout.lanes - 1), k)]);
      }
      std::vector<KernelArray> arrays;
      inputs.addTo(arrays);
      outputs.addTo(arrays);
      code.run(1, 1, arrays.data());
      for (auto [port, words] : llvm::zip_equal(node.outputs, results)) {
        const PortLayout layout = layoutOf(kernel, kernel.outputs, port.port);
        for (auto [at, t] : llvm::enumerate(layout.tensors))
          for (int64_t k = 0; k < kernel.outputs[t].words(); ++k)
            words.ints[layout.wordAt(at, lane, k)] =
                inPort(wordOf(patternOf(outputs.get(t, size_t(k)),
                                        kernel.outputs[t].format),
                              kernel.outputs[t].format),
                       port.element.width());
      }
    }
    out.clear();
    for (auto [port, words] : llvm::zip_equal(node.outputs, results)) {
      auto bytes = packFrame(words, port);
      if (!bytes)
        return bytes.takeError();
      out.push_back(std::move(*bytes));
    }
    return llvm::Error::success();
  }

private:
  Plan plan;
  const WordArrays emptyInputs, emptyOutputs;
  LoadedKernel code;
};
} // namespace

llvm::Expected<runtime::Compute> KernelWords::compute() const {
  Signature signature;
  signature.name = planned().name + "_words";
  auto object = compileWords(kernel.integers, signature.name, parts.inputs,
                             parts.outputs, {"native"});
  if (!object)
    return object.takeError();
  auto code = LoadedKernel::load(*object, signature);
  if (!code)
    return code.takeError();
  auto function = std::make_shared<WordFunction>(plan, parts, std::move(*code));
  return [function](size_t region, const std::vector<runtime::Bytes> &in,
                    std::vector<runtime::Bytes> &out, std::string &error) {
    if (region == runtime::kBegin)
      return true;
    if (llvm::Error problem = function->run(in, out)) {
      error = llvm::toString(std::move(problem));
      return false;
    }
    return true;
  };
}
