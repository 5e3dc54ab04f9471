// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile of a kernel for Vitis HLS and Bambu: its text, a test bench with the
// evaluator's bits, and the tool's script.
#include "rhizome/KernelCommands/ForeignHls.h"
#include "HardwareParts.h"
#include "HlsCpp.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Cpu/Kernel.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Tools.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;
using numeric::Bits;

/// Elements of a test bench.
static constexpr int64_t kFrames = 2;

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// The bits of a word in the test bench: what holds a number.
static unsigned wordBits(Type type) {
  auto format = num::formatOf(type);
  unsigned bits =
      format ? unsigned(format->width()) : type.getIntOrFloatBitWidth();
  return unsigned(std::max<uint64_t>(8, llvm::PowerOf2Ceil(bits)));
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Inputs of some elements and the evaluator's results: a word a line, element
/// by element, in the order of the ports. `extends`: words hold the numbers
/// sign-extended.
static llvm::Expected<std::string> dataOf(const NumberedKernel &kernel,
                                          const std::vector<HlsPort> &ports,
                                          bool extends) {
  KernelRunRequest random;
  random.frames = kFrames;
  int64_t frames = 0;
  auto values = inputsOf(random, kernel.signature,
                         formatsOfInputs(kernel.formats.func), frames);
  if (!values)
    return values.takeError();
  std::string problem, text;
  llvm::raw_string_ostream os(text);
  ScopedDiagnosticHandler handler(kernel.formats.inContext(),
                                  [&](mlir::Diagnostic &diagnostic) {
                                    problem += "\n" + diagnostic.str();
                                    return success();
                                  });
  func::FuncOp func = kernel.formats.func;
  Interpreter interpreter(func);
  for (int64_t f = 0; f < frames; ++f) {
    std::vector<Tensor> arguments;
    llvm::DenseMap<Value, std::vector<Bits>> patterns;
    for (const Argument &argument : kernel.signature.arguments) {
      if (!argument.isInput)
        continue;
      llvm::ArrayRef<double> data(values->at(argument.name).data);
      const int64_t size = argument.size();
      Value v = func.getArgument(unsigned(arguments.size()));
      arguments.push_back(
          numbersOf(argument.shape, data.slice(size_t(f * size), size_t(size)),
                    argument.bits == 32 ? numeric::Format::binary32()
                                        : numeric::Format::binary64()));
      patterns[v] = patternsOf(arguments.back());
    }
    auto ran =
        interpreter.run(arguments, [&](Operation *op, const Tensor &result) {
          if (op->getNumResults() == 1 &&
              llvm::any_of(ports, [&](const HlsPort &port) {
                return port.value == op->getResult(0);
              }))
            patterns[op->getResult(0)] = patternsOf(result);
        });
    if (failed(ran))
      return textError("the evaluator cannot run this kernel:" + problem);
    for (const HlsPort &port : ports) {
      Type element = getElementTypeOrSelf(port.value.getType());
      auto format = num::formatOf(element);
      for (Bits bits : patterns.at(port.value)) {
        auto word = uint64_t(bits);
        unsigned width = format ? unsigned(format->width()) : 64;
        if (extends && format && format->isFixed() && format->isSigned &&
            width < wordBits(element) && (word >> (width - 1) & 1))
          word |= llvm::maskTrailingOnes<uint64_t>(wordBits(element)) &
                  ~llvm::maskTrailingOnes<uint64_t>(width);
        os << llvm::format_hex_no_prefix(word, 1) << "\n";
      }
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Test benches
//===----------------------------------------------------------------------===//

/// A C type of a port's words in LLVM IR.
static std::string cType(Type element) {
  if (element.isF32() || element.isF64())
    return element.isF32() ? "float" : "double";
  return "int" + std::to_string(wordBits(element)) + "_t";
}

/// The function main: reads, computes, compares. `type` gives a port's type,
/// `perElement` whether the kernel is called for each element.
static std::string
benchOf(const std::string &name, const std::vector<HlsPort> &ports,
        llvm::function_ref<std::string(const HlsPort &)> type,
        bool perElement) {
  std::string text, arguments;
  llvm::raw_string_ostream os(text);
  os << "int main(int argc, char **argv) {\n"
        "  const char *path = argc > 1 ? argv[1] : \""
     << name << "_data.txt\";\n  FILE *file = fopen(path, \"r\");\n"
     << "  if (!file) {\n    fprintf(stderr, \"cannot read %s\\n\", path);\n"
        "    return 1;\n  }\n";
  for (const HlsPort &port : ports)
    os << "  static " << type(port) << " " << port.name << "["
       << kFrames * port.words << "]"
       << (port.isOutput ? ", want_" + port.name + "[" +
                               std::to_string(kFrames * port.words) + "]"
                         : "")
       << ";\n";
  os << "  for (int e = 0; e < " << kFrames << "; ++e) {\n";
  for (const HlsPort &port : ports) {
    std::string target = (port.isOutput ? "want_" : "") + port.name;
    os << "    for (int i = 0; i < " << port.words << "; ++i)\n      set(&"
       << target << "[e * " << port.words << " + i], word(file));\n";
    arguments += port.name +
                 (perElement ? " + e * " + std::to_string(port.words) : "") +
                 ", ";
  }
  os << "  }\n  fclose(file);\n";
  if (perElement)
    os << "  for (int e = 0; e < " << kFrames << "; ++e)\n    " << name << "("
       << arguments.substr(0, arguments.size() - 2) << ");\n";
  else
    os << "  " << name << "(" << arguments << kFrames << ");\n";
  os << "  int wrong = 0;\n";
  for (const HlsPort &port : ports)
    if (port.isOutput)
      os << "  for (int i = 0; i < " << kFrames * port.words
         << "; ++i)\n    if (get(&" << port.name << "[i]) != get(&want_"
         << port.name << "[i]) && ++wrong == 1)\n      printf(\"element %d of '"
         << port.name << "' is %llx, the evaluator has %llx\\n\", i,\n"
         << "             get(&" << port.name << "[i]), get(&want_" << port.name
         << "[i]));\n";
  os << "  printf(\"%d mismatches with the evaluator's bits\\n\", wrong);\n"
        "  return wrong != 0;\n}\n";
  return text;
}

/// What reads a word of the data file.
static constexpr const char *kWord =
    "static unsigned long long word(FILE *file) {\n"
    "  unsigned long long value = 0;\n"
    "  if (fscanf(file, \"%llx\", &value) != 1)\n"
    "    fprintf(stderr, \"the data file is too short\\n\");\n"
    "  return value;\n}\n\n";

static std::string vitisBench(const std::string &name,
                              const std::vector<HlsPort> &ports) {
  std::string text =
      "// Compares the kernel '" + name +
      "' with the evaluator's bits; written by rhizome "
      "compile.\n#include \"" +
      name + ".h\"\n\n#include <cstdio>\n#include <cstring>\n\n" + kWord;
  auto has = [&](bool isReal) {
    return llvm::any_of(ports, [&](const HlsPort &port) {
      return (port.type == "float" || port.type == "double") == isReal;
    });
  };
  if (has(false))
    text +=
        "template <typename T> static void set(T *to, unsigned long long bits) "
        "{\n  to->range(T::width - 1, 0) = bits;\n}\n"
        "template <typename T> static unsigned long long get(const T *from) {\n"
        "  T value = *from;\n"
        "  return value.range(T::width - 1, 0).to_uint64();\n}\n";
  if (has(true))
    for (auto [type, integer] : {std::pair("float", "unsigned"),
                                 std::pair("double", "unsigned long long")})
      text += llvm::formatv(
          "inline void set({0} *to, unsigned long long bits) {{\n"
          "  {1} word = bits;\n  memcpy(to, &word, sizeof word);\n}\n"
          "inline unsigned long long get(const {0} *from) {{\n"
          "  {1} word;\n  memcpy(&word, from, sizeof word);\n"
          "  return word;\n}\n",
          type, integer);
  return text + "\n" +
         benchOf(
             name, ports, [](const HlsPort &port) { return port.type; },
             /*perElement=*/false);
}

static std::string bambuBench(const std::string &name,
                              const std::vector<HlsPort> &ports) {
  auto type = [](const HlsPort &port) {
    return cType(getElementTypeOrSelf(port.value.getType()));
  };
  std::string parameters;
  for (const HlsPort &port : ports)
    parameters +=
        (parameters.empty() ? "" : ", ") + type(port) + " *" + port.name;
  return "/* Compares the kernel '" + name +
         "' with the evaluator's bits; written by rhizome compile. */\n"
         "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n\n"
         "void " +
         name + "(" + parameters + ");\n\n" + kWord +
         "static void put(void *to, unsigned long long bits, size_t size) {\n"
         "  memcpy(to, &bits, size);\n}\n"
         "static unsigned long long fetch(const void *from, size_t size) {\n"
         "  unsigned long long bits = 0;\n  memcpy(&bits, from, size);\n"
         "  return bits;\n}\n"
         "#define set(to, bits) put(to, bits, sizeof *(to))\n"
         "#define get(from) fetch(from, sizeof *(from))\n\n" +
         benchOf(name, ports, type, /*perElement=*/true);
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

static std::string vitisTcl(const std::string &name, const Device &device,
                            double clockMhz) {
  return llvm::formatv(
      "# Vitis HLS: simulates, synthesizes and exports the kernel '{0}'; "
      "written by\n# rhizome compile.  vitis_hls -f {0}.tcl\n"
      "open_project -reset {0}_project\nset_top {0}\nadd_files {0}.cpp\n"
      "add_files -tb {0}_tb.cpp\nadd_files -tb {0}_data.txt\n"
      "open_solution -reset -flow_target vitis solution\n"
      "set_part {{{1}}\ncreate_clock -period {2:f3} -name default\n"
      "csim_design\ncsynth_design\ncosim_design\n"
      "export_design -format xo -output {0}.xo\nexit\n",
      name, device.part, 1e3 / clockMhz);
}

static std::string vitisConfig(const std::string &name, const Device &device,
                               double clockMhz) {
  return llvm::formatv(
      "# Vitis HLS since 2023.2: the kernel '{0}', written by rhizome "
      "compile.\n"
      "#   v++ -c --mode hls --config {0}.cfg --work_dir {0}_work\n"
      "part={1}\n\n[hls]\nflow_target=vitis\nclock={2:f3}ns\n"
      "syn.file={0}.cpp\nsyn.top={0}\ntb.file={0}_tb.cpp\n"
      "tb.file={0}_data.txt\npackage.output.format=xo\n"
      "package.output.file={0}.xo\n",
      name, device.part, 1e3 / clockMhz);
}

/// Bambu's name of a part: xcu280-2Lfsvh2892-VVD for xcu280-fsvh2892-2L-e,
/// xc7z020-1clg484-VVD for xc7z020clg484-1; "" for others.
static std::string bambuDevice(llvm::StringRef part) {
  llvm::SmallVector<llvm::StringRef> found;
  if (llvm::Regex("^(xc[a-z]+[0-9a-z]+)-([a-z]+[0-9]+)-([0-9]L?V?)")
          .match(part, &found) ||
      llvm::Regex("^(xc7[a-z]+[0-9]+t?)([a-z]+[0-9]+)-([0-9])")
          .match(part, &found))
    return (found[1] + "-" + found[3] + found[2] + "-VVD").str();
  return "";
}

static std::string bambuScript(const std::string &name, const Device &device,
                               double clockMhz) {
  return llvm::formatv(
      "#!/bin/sh\n# PandA-Bambu: synthesizes the kernel '{0}' and simulates "
      "it; "
      "written by\n# rhizome compile. Options are passed on.\n"
      "cd \"$(dirname \"$0\")\" || exit 1\nexec bambu {0}.ll --top-fname={0} "
      "\\\n"
      "  --generate-interface=INFER --compiler=I386_CLANG16 -m64 -O2 \\\n"
      "  -fno-vectorize -fno-slp-vectorize \\\n"
      "  --device-name={1} --clock-period={2:f3} \\\n"
      "  --memory-allocation-policy=ALL_BRAM --channels-type=MEM_ACC_NN \\\n"
      "  --channels-number=2 \\\n"
      "  --generate-tb={0}_tb.c --simulate --simulator=VERILATOR \"$@\"\n",
      name, bambuDevice(device.part), 1e3 / clockMhz);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Places whose numbers call functions of rhizome, on the way from `inputs` to
/// `outputs`.
static Refusals whyNoLlvm(func::FuncOp func, ArrayRef<Value> inputs,
                          ArrayRef<Value> outputs) {
  llvm::SetVector<Operation *> needed;
  auto need = [&](Value v) {
    if (v.getDefiningOp() && !llvm::is_contained(inputs, v))
      needed.insert(v.getDefiningOp());
  };
  llvm::for_each(outputs, need);
  for (size_t i = 0; i < needed.size(); ++i)
    needed[i]->walk(
        [&](Operation *inner) { llvm::for_each(inner->getOperands(), need); });
  Refusals refusals;
  for (Operation &op : func.getBody().front())
    if (needed.contains(&op))
      op.walk([&](func::CallOp) {
        refusals.push_back({placeOf(op.getLoc()),
                            op.getName().getStringRef().str(),
                            "its numbers are computed by rhizome itself",
                            "choose fixed point without sqrt, exp and log, or "
                            "declare @f32 or @f64"});
      });
  return refusals;
}

/// The kernel's text for the tool, with names of files.
static llvm::Expected<Refusals>
textsOf(const ForeignHlsRequest &request, const NumberedKernel &kernel,
        const planbuild::Targets &targets,
        std::vector<std::pair<std::string, std::string>> &files) {
  const Device &device = targets.devices[0];
  const double clockMhz = targets.places.places[0].context.clockMhz;
  const std::string &name = kernel.signature.name;
  std::vector<HlsPort> ports;
  const bool isVitis = request.tool == HlsTool::VitisHls;
  if (isVitis) {
    HlsCpp cpp;
    if (Refusals refusals =
            printHlsCpp(kernel, request.options.numbers, kFrames, ports, cpp);
        !refusals.empty())
      return refusals;
    files = {{name + ".h", cpp.header},
             {name + ".cpp", cpp.source},
             {name + "_tb.cpp", vitisBench(name, ports)},
             {name + ".tcl", vitisTcl(name, device, clockMhz)},
             {name + ".cfg", vitisConfig(name, device, clockMhz)}};
  } else {
    ports = portsOf(kernel);
    llvm::DenseMap<Value, Value> onIntegers;
    func::FuncOp in = kernel.formats.func, on = kernel.integers;
    for (auto [from, to] :
         llvm::zip_equal(in.getArguments(), on.getArguments()))
      onIntegers[from] = to;
    for (auto [to, from] : matchingFormats(kernel))
      for (auto [a, b] : llvm::zip_equal(from->getResults(), to->getResults()))
        onIntegers[a] = b;
    std::vector<Value> inputs, outputs;
    std::vector<std::string> names;
    for (const HlsPort &port : ports) {
      (port.isOutput ? outputs : inputs).push_back(onIntegers.at(port.value));
      names.push_back(port.name);
    }
    if (Refusals refusals = whyNoLlvm(on, inputs, outputs); !refusals.empty())
      return refusals;
    auto text = printLlvm(on, name, inputs, outputs, names);
    if (!text)
      return ofKind(Failure::Kind::Unsupported, text.takeError());
    files = {{name + ".ll", *text},
             {name + "_tb.c", bambuBench(name, ports)},
             {"bambu.sh", bambuScript(name, device, clockMhz)}};
  }
  auto data = dataOf(kernel, ports, /*extends=*/!isVitis);
  if (!data)
    return data.takeError();
  files.emplace_back(name + "_data.txt", std::move(*data));
  return Refusals();
}

rhizome::Result<ForeignHlsResult>
kernelcommands::writeForeignHls(const ForeignHlsRequest &request) {
  auto start = std::chrono::steady_clock::now();
  ForeignHlsResult result;
  const bool isVitis = request.tool == HlsTool::VitisHls;
  if (!request.target.cluster.empty())
    return Failure(Failure::Kind::Usage,
                   "another tool's input is for one device",
                   "name it with --device, or its board with --board");
  auto targets = planbuild::targetsOf(request.target);
  if (!targets)
    return failureOf(targets.takeError(), Failure::Kind::Input);
  result.notes = targets->notes;
  const Device &device = targets->devices[0];
  if (bambuDevice(device.part).empty())
    return Failure(Failure::Kind::Usage,
                   "'" + device.name + "' is none of AMD's devices",
                   "name one with --device, such as xcu280");
  auto kernel =
      readNumbered(request.path, request.options, /*isForUnits=*/false);
  if (!kernel)
    return failureOf(kernel.takeError(), Failure::Kind::Input);
  std::vector<std::pair<std::string, std::string>> files;
  auto refusals = textsOf(request, *kernel, *targets, files);
  if (!refusals)
    return failureOf(refusals.takeError(), Failure::Kind::Internal);
  if (!refusals->empty())
    return Failure::refused(std::move(*refusals));
  result.folder =
      request.output.empty()
          ? kernel->signature.name + (isVitis ? ".vitis-hls" : ".bambu")
          : request.output;
  if (std::error_code code = llvm::sys::fs::create_directories(result.folder))
    return Failure(Failure::Kind::Environment,
                   result.folder + " cannot be made: " + code.message(), "");
  for (const auto &[name, text] : files) {
    llvm::SmallString<128> path(result.folder);
    llvm::sys::path::append(path, name);
    if (llvm::Error error = writeAtomically(path, text))
      return failureOf(std::move(error), Failure::Kind::Environment);
    if (llvm::StringRef(name).ends_with(".sh"))
      llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_read |
                                              llvm::sys::fs::all_exe |
                                              llvm::sys::fs::owner_write);
    result.files.push_back(name);
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return result;
}
