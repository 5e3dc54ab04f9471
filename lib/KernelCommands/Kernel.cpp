// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels from file to folder, to results, and extracted from host files.
#include "rhizome/KernelCommands/Kernel.h"
#include "KernelFile.h"
#include "Load.h"
#include "Steps.h"
#include "rhizome/Cpu/Kernel.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Embed.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Transforms/Algebra.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cmath>

using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static llvm::Error textError(Failure::Kind kind, const llvm::Twine &text) {
  return ofKind(kind, textError(text));
}

/// The kernel's machine code; says where an operation is that has none.
static llvm::Expected<std::string> objectOf(const Loaded &loaded,
                                            const KernelOptions &options) {
  PlacedDiagnostics diagnostics(*loaded.context);
  auto object = compileObject(loaded.func, loaded.signature, {options.cpu});
  if (object || diagnostics.text().empty())
    return object;
  llvm::consumeError(object.takeError());
  return diagnostics.error(
      "write it with linalg.generic, slices and reshapes of tensors of fixed "
      "extents");
}

static llvm::Error writeTo(const std::string &folder, const std::string &name,
                           llvm::StringRef bytes,
                           std::vector<std::string> &files) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  files.push_back(name);
  return writeAtomically(path, bytes);
}

/// Writes the files of one optimized kernel into `folder`.
static llvm::Error writeKernel(Loaded &loaded, const KernelOptions &options,
                               const std::string &folder,
                               KernelResult &result) {
  const Signature &signature = loaded.signature;
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return textError(Failure::Kind::Environment,
                     folder + " cannot be made: " + code.message());
  auto object = objectOf(loaded, options);
  if (!object)
    return ofKind(Failure::Kind::Unsupported, object.takeError());
  auto data = dataDir();
  if (!data)
    return data.takeError();
  auto shared = readFile(*data + "/kernel/rhizome_kernel.h");
  if (!shared)
    return shared.takeError();
  std::string module;
  llvm::raw_string_ostream(module) << *loaded.module;
  std::pair<std::string, std::string> files[] = {
      {signature.name + ".o", *object},
      {signature.name + ".h", printHeader(signature)},
      {"rhizome_kernel.h", *shared},
      {signature.name + "_kernel.f90", printFortranModule(signature)},
      {signature.name + ".mlir", module}};
  for (auto &[name, bytes] : files)
    if (llvm::Error error = writeTo(folder, name, bytes, result.files))
      return error;
  if (auto c99 = printC99(loaded.func, signature)) {
    if (llvm::Error error =
            writeTo(folder, signature.name + ".c", *c99, result.files))
      return error;
  } else {
    result.notes.push_back(llvm::toString(c99.takeError()));
  }
  return llvm::Error::success();
}

/// The kernel as a shared library, and as a Python module that loads it.
static llvm::Error writeLibrary(const Signature &signature,
                                const std::string &folder,
                                KernelResult &result) {
  auto object = readFile(folder + "/" + signature.name + ".o");
  if (!object)
    return object.takeError();
  if (llvm::StringRef(*object).contains("rhizome_num_")) {
    result.notes.push_back("its floats in custom formats are computed by "
                           "rhizome itself: the kernel has no shared library "
                           "and no Python module");
    return llvm::Error::success();
  }
  auto cc = findTool("cc");
  if (!cc) {
    llvm::consumeError(cc.takeError());
    result.notes.push_back("there is no C compiler 'cc' that links a shared "
                           "library: Python has no module of this kernel");
    return llvm::Error::success();
  }
  std::string library = "lib" + signature.name + ".so";
  llvm::SmallString<128> log(folder);
  llvm::sys::path::append(log, ".log");
  llvm::sys::fs::make_absolute(log);
  llvm::Error linked =
      runTool(*cc,
              {"-shared", "-o", library, "-Wl,-soname," + library,
               signature.name + ".o", "-lm", "-lpthread"},
              folder, log);
  llvm::sys::fs::remove(log);
  if (linked)
    return ofKind(Failure::Kind::Environment, std::move(linked));
  result.files.push_back(library);
  auto data = dataDir();
  if (!data)
    return data.takeError();
  auto shared = readFile(*data + "/kernel/kernel_module.py");
  if (!shared)
    return shared.takeError();
  std::string name = pythonName(signature);
  if (llvm::Error error =
          writeTo(folder, name + ".py", printPythonModule(signature, *shared),
                  result.files))
    return error;
  return writeTo(folder, name + ".pyi", printPythonStub(signature),
                 result.files);
}

rhizome::Result<KernelResult>
kernelcommands::compileKernel(const KernelRequest &request) {
  KernelResult result;
  Clock::time_point start = Clock::now();
  auto fail = [](llvm::Error error, Failure::Kind kind = Failure::Kind::Input) {
    return failureOf(std::move(error), kind);
  };
  auto loaded = load(request.path, request.options);
  if (!loaded)
    return fail(loaded.takeError());
  result.inputs = inputNames(loaded->signature);
  result.outputs = outputNames(loaded->signature);
  if (llvm::Error error =
          normalizeKernel(loaded->func, request.options, result))
    return fail(std::move(error));
  if (llvm::Error error = numbersToCpu(loaded->func, request.options))
    return fail(std::move(error));
  if (request.output != "-") {
    result.package = request.output.empty() ? loaded->signature.name + ".kernel"
                                            : request.output;
    if (llvm::Error error =
            writeKernel(*loaded, request.options, result.package, result))
      return fail(std::move(error), Failure::Kind::Environment);
    if (llvm::Error error =
            writeLibrary(loaded->signature, result.package, result))
      return fail(std::move(error), Failure::Kind::Environment);
    // As written, before the algebra: what run and simulate compare with.
    auto source = readText(request.path);
    if (!source)
      return fail(source.takeError());
    std::string name = importer::isMlir(*source) ? "kernel.mlir" : "kernel.cfd";
    for (auto &[file, bytes] : {std::pair(name, *source),
                                std::pair(std::string(kernelOptionsFile),
                                          kernelOptionsText(request.options))})
      if (llvm::Error error =
              writeTo(result.package, file, bytes, result.files))
        return fail(std::move(error), Failure::Kind::Environment);
  }
  result.seconds = since(start);
  return result;
}

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

/// A caller's buffer for one argument and all elements, in the argument's
/// layout.
static void toLayout(const Argument &argument, const double *from, char *to,
                     bool back, double *into) {
  int64_t count = argument.size();
  for (int64_t k = 0; k < count; ++k) {
    int64_t place = 0, rest = k;
    for (size_t d = argument.shape.size(); d-- > 0; rest /= argument.shape[d])
      place += rest % argument.shape[d] * argument.strides[d];
    if (argument.bits == 32) {
      float &at = reinterpret_cast<float *>(to)[place];
      back ? void(into[k] = at) : void(at = float(from[k]));
    } else {
      double &at = reinterpret_cast<double *>(to)[place];
      back ? void(into[k] = at) : void(at = from[k]);
    }
  }
}

/// The interpreter's results for one element's inputs, by name of the output.
static llvm::Expected<std::map<std::string, std::vector<double>>>
interpreted(mlir::func::FuncOp func, const Signature &signature,
            const std::map<std::string, std::vector<double>> &inputs) {
  std::vector<Tensor> arguments;
  for (const Argument &argument : signature.arguments)
    if (argument.isInput)
      arguments.push_back(numbersOf(argument.shape, inputs.at(argument.name),
                                    argument.bits == 32
                                        ? numeric::Format::binary32()
                                        : numeric::Format::binary64()));
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(func.getContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          problem += "\n" + diagnostic.str();
                                          return mlir::success();
                                        });
  auto results = interpret(func, arguments);
  if (failed(results))
    return textError("the interpreter cannot check this kernel:" + problem);
  std::map<std::string, std::vector<double>> out;
  size_t next = 0, buffer = func.getNumResults();
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    if (!argument.isOutput)
      continue;
    if (i < func.getNumArguments() &&
        mlir::isa<mlir::MemRefType>(func.getArgumentTypes()[i])) {
      out[argument.name] = doublesOf((*results)[buffer++]);
      continue;
    }
    // A result of the argument's name, or the next one.
    size_t place = next++;
    for (unsigned r = 0; r < func.getNumResults(); ++r)
      if (auto name =
              func.getResultAttrOfType<mlir::StringAttr>(r, marks::kName);
          name && name.getValue() == argument.name)
        place = r;
    out[argument.name] = doublesOf((*results)[place]);
  }
  return out;
}

/// Compares one element's outputs with the interpreter's: bit by bit, or with
/// a tolerance for another order of sums.
static void compare(const Signature &signature,
                    const std::map<std::string, std::vector<double>> &reference,
                    const std::map<std::string, std::vector<double>> &outputs,
                    bool isExact, int64_t frame, KernelRunResult &result) {
  for (const Argument &argument : signature.arguments) {
    if (!argument.isOutput)
      continue;
    const std::vector<double> &want = reference.at(argument.name),
                              &got = outputs.at(argument.name);
    double largest = 0, limit = argument.bits == 32 ? 1e-5 : 1e-12;
    for (double value : want)
      largest = std::max(largest, std::fabs(value));
    for (size_t k = 0; k < want.size(); ++k) {
      if (want[k] == got[k] || (std::isnan(want[k]) && std::isnan(got[k])))
        continue;
      double error = std::fabs(want[k] - got[k]) / (largest > 0 ? largest : 1);
      if (!isExact && !(error <= result.largestError))
        result.largestError = error;
      if (!isExact && error <= limit)
        continue;
      if (++result.mismatches == 1)
        result.firstMismatch = llvm::formatv(
            "element {0} of '{1}' of frame {2} is {3}, the interpreter has {4}",
            k, argument.name, frame, got[k], want[k]);
    }
  }
}

rhizome::Result<KernelRunResult>
kernelcommands::runKernel(const KernelRunRequest &request) {
  KernelRunResult result;
  auto fail = [](llvm::Error error, Failure::Kind kind = Failure::Kind::Input) {
    return failureOf(std::move(error), kind);
  };
  std::string path = request.path;
  KernelOptions options = request.options;
  if (llvm::sys::fs::is_directory(path)) {
    if (options.numbers.format)
      return fail(textError(Failure::Kind::Usage,
                            "'" + path + "' is compiled, its numbers are " +
                                "chosen; remedy: run the kernel's file"));
    auto compiled = readKernelOptions(path, options);
    if (!compiled)
      return fail(compiled.takeError());
    options = *compiled;
    path = sourceOf(path);
  }
  auto loaded = load(path, options);
  if (!loaded)
    return fail(loaded.takeError());
  // As written, or with the numbers chosen: what a check compares with.
  mlir::OwningOpRef<mlir::ModuleOp> reference = loaded->module->clone();
  KernelResult ignored;
  if (llvm::Error error = normalizeKernel(loaded->func, options, ignored))
    return fail(std::move(error));
  auto chosen = chooseNumbers(loaded->func, options);
  if (!chosen)
    return fail(chosen.takeError());
  const Signature &signature = loaded->signature;
  int64_t frames = 0;
  auto drawn =
      inputsOf(request, signature, formatsOfInputs(loaded->func), frames);
  if (!drawn)
    return fail(drawn.takeError());
  if (*chosen) {
    reference = loaded->module->clone();
    if (llvm::Error error = lowerNumbers(*loaded->module))
      return fail(std::move(error));
  }
  auto object = objectOf(*loaded, options);
  if (!object)
    return fail(object.takeError(), Failure::Kind::Unsupported);
  auto kernel = LoadedKernel::load(*object, signature);
  if (!kernel)
    return fail(kernel.takeError(), Failure::Kind::Environment);

  InputValues &values = *drawn;
  result.outputs = outputNames(signature);
  result.isSingle = areSingle(request, values);
  std::vector<std::vector<double>> buffers;
  std::vector<KernelArray> arrays;
  for (const Argument &argument : signature.arguments) {
    Values &one = values[argument.name];
    // Whole doubles, so that every element type is aligned.
    bool each = !one.shared || argument.isOutput;
    int64_t size = argument.size(), count = each ? frames : 1;
    buffers.emplace_back((size * count * argument.bits / 8 + 7) / 8);
    KernelArray array;
    array.data = buffers.back().data();
    array.elementStride = each ? size : 0;
    std::copy(argument.strides.begin(), argument.strides.end(), array.strides);
    arrays.push_back(array);
    for (int64_t f = 0; f < count && argument.isInput; ++f)
      toLayout(argument, one.data.data() + (one.shared ? 0 : f * size),
               static_cast<char *>(array.data) + f * size * argument.bits / 8,
               false, nullptr);
  }
  Clock::time_point start = Clock::now();
  kernel->run(frames, request.threads, arrays.data());
  result.seconds = since(start);
  result.throughputPerS = result.seconds > 0 ? frames / result.seconds : 0;
  result.frames = frames;

  std::map<std::string, std::vector<double>> all;
  for (auto [argument, array] : llvm::zip(signature.arguments, arrays)) {
    if (!argument.isOutput)
      continue;
    std::vector<double> &out = all[argument.name];
    out.resize(argument.size() * frames);
    for (int64_t f = 0; f < frames; ++f)
      toLayout(argument, nullptr,
               static_cast<char *>(array.data) +
                   f * argument.size() * argument.bits / 8,
               true, out.data() + f * argument.size());
  }
  for (int64_t f = 0; f < frames && request.check; ++f) {
    std::map<std::string, std::vector<double>> inputs, outputs;
    for (const Argument &argument : signature.arguments) {
      int64_t size = argument.size();
      const Values &one = values[argument.name];
      if (argument.isInput) {
        auto from = one.data.begin() + (one.shared ? 0 : f * size);
        inputs[argument.name].assign(from, from + size);
      }
      if (argument.isOutput) {
        auto from = all[argument.name].begin() + f * size;
        outputs[argument.name].assign(from, from + size);
      }
    }
    auto func = findKernel(*reference);
    if (!func)
      return fail(func.takeError());
    auto want = interpreted(*func, signature, inputs);
    if (!want)
      return fail(want.takeError());
    compare(signature, *want, outputs, *chosen, f, result);
  }
  size_t next = 0;
  for (const Argument &argument : signature.arguments) {
    if (!argument.isOutput || next >= request.outputs.size())
      continue;
    std::vector<int64_t> shape = argument.shape;
    shape.insert(shape.begin(), frames);
    if (llvm::Error error =
            writeNpy(request.outputs[next++], shape, all[argument.name]))
      return fail(std::move(error), Failure::Kind::Environment);
  }
  if (next < request.outputs.size())
    return fail(textError(Failure::Kind::Usage,
                          "the kernel has " + llvm::Twine(next) +
                              " outputs, not " +
                              llvm::Twine(request.outputs.size())));
  return result;
}

//===----------------------------------------------------------------------===//
// embed
//===----------------------------------------------------------------------===//

rhizome::Result<EmbedResult>
kernelcommands::embedKernels(const EmbedRequest &request) {
  EmbedResult result;
  auto fail = [](llvm::Error error, Failure::Kind kind = Failure::Kind::Input) {
    return failureOf(std::move(error), kind);
  };
  std::optional<Host> host = hostOf(request.path);
  if (!host)
    return fail(textError(request.path + " is neither Fortran (.f90) nor C++ "
                                         "(.cpp) by its name"));
  auto text = readText(request.path);
  if (!text)
    return fail(text.takeError());
  Source file{request.path, *text};
  Diagnostics diagnostics(file);
  std::vector<EmbeddedKernel> kernels = findEmbedded(*host, file, diagnostics);
  if (!diagnostics.empty())
    return fail(textError(diagnostics.render()));
  if (kernels.empty())
    return fail(textError(request.path + " holds no kernel between markers"));
  std::vector<Signature> signatures;
  std::string problems;
  Failure::Kind kind = Failure::Kind::Input;
  for (const EmbeddedKernel &one : kernels) {
    KernelResult kernel;
    auto loaded = loadText(one.source, one.name, request.options);
    llvm::Error error =
        loaded ? normalizeKernel(loaded->func, request.options, kernel)
               : loaded.takeError();
    if (!error)
      error = numbersToCpu(loaded->func, request.options);
    if (!error)
      error =
          ofKind(Failure::Kind::Environment,
                 writeKernel(*loaded, request.options, request.output, kernel));
    if (error) {
      Failure failure = failureOf(std::move(error), Failure::Kind::Input);
      kind = failure.kind;
      problems += failure.reason();
      continue;
    }
    signatures.push_back(loaded->signature);
    result.kernels.push_back(one.name);
    llvm::append_range(result.files, kernel.files);
  }
  if (!problems.empty())
    return fail(textError(problems), kind);
  std::string rewritten = replaceEmbedded(*host, file, kernels, signatures);
  if (llvm::Error error =
          writeTo(request.output, llvm::sys::path::filename(request.path).str(),
                  rewritten, result.files))
    return fail(std::move(error), Failure::Kind::Environment);
  return result;
}
