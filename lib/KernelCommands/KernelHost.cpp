// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host/ of a kernel's package: what its numbers are in memory, as a table for
// the sources that all kernels share (data/kernel/host), functions in C on
// plain arrays, and the kernel's machine code for a device's place.
#include "HardwareParts.h"
#include "rhizome/Cpu/Kernel.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Package/SystemRegisters.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Texts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernelcommands;
using numeric::Arithmetic;
using numeric::Format;

/// The processors for which the machine code is.
static constexpr const char *kCpu = "x86-64-v3";

namespace {
/// A tensor of the unit and the caller's array that holds the same.
struct Border {
  size_t argument = 0; ///< of the signature
  std::string rounding, overflow;
};

/// The unit's tensors in the caller's arrays.
struct Borders {
  std::vector<Border> inputs, outputs; ///< as the unit's
  std::string obstacle;                ///< why there is no host; "": none
};

/// Finds whence a kernel's inputs come and whither its outputs go.
class BorderFinder {
public:
  BorderFinder(const NumberedKernel &kernel,
               const gen::loops::KernelParts &parts)
      : kernel(kernel), parts(parts), formats(matchingFormats(kernel)) {}
  Borders find();

private:
  const NumberedKernel &kernel;
  const gen::loops::KernelParts &parts;
  llvm::DenseMap<Operation *, Operation *> formats;

  /// How a value is converted, at its border.
  Border conversionOf(Operation *made) const;
  std::optional<size_t> argumentOfResult(unsigned result) const;
};
} // namespace

Border BorderFinder::conversionOf(Operation *made) const {
  Border border{0, name(numeric::Rounding::NearestEven),
                name(numeric::Overflow::Infinity)};
  if (made)
    formats.at(made)->walk([&](num::CastOp cast) {
      const Arithmetic arithmetic = num::arithmeticOf(cast);
      border.rounding = name(arithmetic.rounding());
      border.overflow = name(arithmetic.overflow());
    });
  return border;
}

std::optional<size_t> BorderFinder::argumentOfResult(unsigned result) const {
  func::FuncOp func = kernel.integers;
  auto attribute = func.getResultAttrOfType<StringAttr>(result, marks::kName);
  const std::string name =
      attribute ? attribute.str() : "y" + std::to_string(result);
  for (auto [a, argument] : llvm::enumerate(kernel.signature.arguments))
    if (argument.isOutput && argument.name == name)
      return a;
  return std::nullopt;
}

Borders BorderFinder::find() {
  Borders out;
  for (auto [v, tensor] :
       llvm::zip_equal(parts.inputs, tensorsOf(kernel, parts.inputs))) {
    Operation *made = v.getDefiningOp();
    Value from = made && made->getNumOperands() > 0 ? made->getOperand(0) : v;
    auto argument = dyn_cast<BlockArgument>(from);
    auto shaped = dyn_cast<ShapedType>(from.getType());
    if (!argument || !shaped || shaped.getShape() != ArrayRef(tensor.shape)) {
      out.obstacle = "'" + tensor.name + "' is none of the kernel's arguments";
      return out;
    }
    Border border = conversionOf(made);
    border.argument = argument.getArgNumber();
    out.inputs.push_back(std::move(border));
  }
  std::vector<bool> isWritten(kernel.signature.arguments.size());
  out.outputs.resize(parts.outputs.size());
  std::vector<bool> isResult(parts.outputs.size());
  func::FuncOp func = kernel.integers;
  for (auto [r, result] :
       llvm::enumerate(func.getBody().front().getTerminator()->getOperands())) {
    Operation *made = nullptr;
    auto at = llvm::find(parts.outputs, result);
    if (at == parts.outputs.end() && (made = result.getDefiningOp()))
      for (Value operand : made->getOperands())
        if (at == parts.outputs.end())
          at = llvm::find(parts.outputs, operand);
    auto argument = argumentOfResult(unsigned(r));
    const auto t = size_t(at - parts.outputs.begin());
    if (at == parts.outputs.end() || !argument || isResult[t]) {
      out.obstacle =
          "result " + std::to_string(r) + " is not a tensor of its own";
      return out;
    }
    out.outputs[t] = conversionOf(made);
    out.outputs[t].argument = *argument;
    isResult[t] = isWritten[*argument] = true;
  }
  for (auto [a, argument] : llvm::enumerate(kernel.signature.arguments))
    if (argument.isOutput && !isWritten[a])
      out.obstacle = "'" + argument.name + "' is a buffer";
  if (llvm::is_contained(isResult, false))
    out.obstacle = "a tensor that the unit writes is no result";
  return out;
}

namespace {
/// The generated texts.
class HostWriter {
public:
  HostWriter(const NumberedKernel &kernel, const Borders &borders,
             const Plan &plan)
      : arguments(kernel.signature.arguments), borders(borders), plan(plan),
        planned(*plan.kernel), name(planned.name) {
    NameScope scope(Language::C);
    for (llvm::StringRef taken :
         {"host", "options", "elements", "error", "size", "arrays", "kernel"})
      scope.reserve(taken);
    for (const Argument &argument : arguments)
      names.push_back(scope.unique(argument.name));
    isOnce.resize(arguments.size());
    for (const PlannedStream &stream : planned.streams)
      if (stream.isOnce)
        for (size_t t : tensorsOfPort(planned, planned.inputs, stream.port))
          isOnce[borders.inputs[t].argument] = true;
  }
  std::string header() const;
  std::string source() const;
  std::string page() const;
  /// True if a resident argument is also part of what changes.
  bool isMixed() const;

private:
  ArrayRef<Argument> arguments;
  const Borders &borders;
  const Plan &plan;
  const PlannedKernel &planned;
  const std::string &name;
  std::vector<std::string> names; ///< of the arguments, in C
  std::vector<bool> isOnce;

  enum class Kind { Once, Each, All };
  bool isOf(Kind kind, size_t a) const {
    return kind == Kind::All || isOnce[a] == (kind == Kind::Once);
  }
  std::string parameters(Kind kind) const;
  std::string array(Kind kind) const;
  std::string openOf() const;
  std::string computeOf() const;
  std::string runOf() const;
};
} // namespace

/// The system around the unit, as plan.json has it; empty without one.
static llvm::json::Object systemOf(const PlannedKernel &kernel) {
  llvm::json::Value value = toJSON(kernel);
  llvm::json::Object *system = value.getAsObject()->getObject("system");
  return system ? std::move(*system) : llvm::json::Object();
}

/// From a group of elements to the next in a port's buffer: as its mover has
/// it, otherwise without a gap.
static int64_t groupBytesOf(const llvm::json::Object &system,
                            const BorderPort &port) {
  if (const llvm::json::Array *movers = system.getArray("ports"))
    for (const llvm::json::Value &mover : *movers)
      if (mover.getAsObject()->getString("stream") == port.port)
        return mover.getAsObject()->getInteger("group_bytes").value_or(0);
  return port.elements() * int64_t(llvm::divideCeil(port.element.width(), 8));
}

static std::string sizesOf(ArrayRef<int64_t> shape) {
  return "{" +
         llvm::join(llvm::map_range(
                        shape, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "}";
}

bool HostWriter::isMixed() const {
  for (const PlannedStream &stream : planned.streams)
    if (!stream.isOnce)
      for (size_t t : tensorsOfPort(planned, planned.inputs, stream.port))
        if (isOnce[borders.inputs[t].argument])
          return true;
  return false;
}

/// ", const double *u, double *v"
std::string HostWriter::parameters(Kind kind) const {
  std::string out;
  for (auto [a, argument] : llvm::enumerate(arguments))
    if (isOf(kind, a))
      out += std::string(", ") + (argument.isOutput ? "" : "const ") +
             (argument.bits == 32 ? "float" : "double") + " *" + names[a];
  return out;
}

/// The same as elements of an array of all arguments.
std::string HostWriter::array(Kind kind) const {
  std::string out;
  for (auto [a, argument] : llvm::enumerate(arguments))
    out += std::string(a ? ", " : "") +
           (!isOf(kind, a)        ? "nullptr"
            : argument.isOutput   ? names[a]
            : argument.bits == 32 ? "const_cast<float *>(" + names[a] + ")"
                                  : "const_cast<double *>(" + names[a] + ")");
  return out;
}

std::string HostWriter::openOf() const {
  return "rhz_host *" + name + "_open(const rhz_host_options *options" +
         parameters(Kind::Once) + ", char *error, size_t size)";
}
std::string HostWriter::computeOf() const {
  return "int " + name + "_compute(rhz_host *host, int64_t elements" +
         parameters(Kind::Each) + ")";
}
std::string HostWriter::runOf() const {
  return "int " + name +
         "_on_device(const rhz_host_options *options, int64_t elements" +
         parameters(Kind::All) + ", char *error, size_t size)";
}

std::string HostWriter::header() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const std::string guard =
      "RHIZOME_" + llvm::StringRef(name).upper() + "_HOST_H";
  os << "/* The kernel '" << name
     << "' on an FPGA through OpenCL, written by rhizome compile.\n"
        " * Arrays are row-major, elements one after the other:\n";
  for (auto [a, argument] : llvm::enumerate(arguments)) {
    os << " *   " << names[a] << ": "
       << (argument.bits == 32 ? "float" : "double");
    for (int64_t size : argument.shape)
      os << "[" << size << "]";
    os << (argument.isInput ? ", in" : "") << (argument.isOutput ? ", out" : "")
       << (isOnce[a] ? ", one for all elements" : "") << "\n";
  }
  os << " */\n#ifndef " << guard << "\n#define " << guard
     << "\n#include \"rhizome_host.h\"\n\n#ifdef __cplusplus\nextern \"C\" "
        "{\n#endif\n\n"
        "/* Opens a device"
     << (llvm::is_contained(isOnce, true) ? ", and sends what stays there" : "")
     << ". `options` may be NULL. NULL if it\n * fails, with the reason in "
        "`error`, which has room for `size` bytes. */\n"
     << openOf()
     << ";\n\n/* Computes `elements` elements. 0, or -1 if it fails: "
        "rhz_host_error says why. */\n"
     << computeOf()
     << ";\n\n/* Opens a device, computes, and closes it. 0, or -1 with the "
        "reason in `error`. */\n"
     << runOf() << ";\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

std::string HostWriter::source() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const llvm::json::Object system = systemOf(planned);
  os << "// The kernel '" << name
     << "': its arrays, streams and formats, written by rhizome compile.\n"
        "#include \""
     << name
     << "_host.h\"\n#include \"kernel_device.h\"\n\n"
        "#ifdef RHIZOME_KERNEL_OBJECT\nextern \"C\" void "
     << name
     << "_words_run(int64_t elements, int32_t threads,\n"
        "    const rhz_array *arrays);\nstatic constexpr auto compute = "
     << name
     << "_words_run;\n#else\nstatic constexpr auto compute = nullptr;\n"
        "#endif\n\nconst rhizome::host::Kernel &rhizome_kernel() {\n"
        "  static const rhizome::host::Kernel kernel = {\n      "
     << cString(name) << ", " << planned.lanes << ", "
     << system.getInteger("units").value_or(1) << ", "
     << (planned.system ? errorsOffset(planned.system->elements) : 0)
     << ",\n      {";
  llvm::StringRef flags[] = {"false", "true"};
  for (auto [a, argument] : llvm::enumerate(arguments))
    os << (a ? ",\n       {" : "{") << cString(argument.name) << ", "
       << argument.bits << ", " << flags[argument.isInput] << ", "
       << flags[argument.isOutput] << ", " << flags[isOnce[a]] << ", "
       << sizesOf(argument.shape) << "}";
  os << "},\n      {";
  const PlannedNode &node = plan.nodes.front();
  for (auto [s, stream] : llvm::enumerate(planned.streams)) {
    auto port = llvm::find_if(node.inputs, [&](const BorderPort &p) {
      return p.port == stream.port;
    });
    const bool isInput = port != node.inputs.end();
    if (!isInput)
      port = llvm::find_if(node.outputs, [&](const BorderPort &p) {
        return p.port == stream.port;
      });
    const int64_t bytes = llvm::divideCeil(port->element.width(), 8);
    os << (s ? ",\n       {" : "{") << cString(stream.port) << ", "
       << flags[isInput] << ", " << flags[stream.isOnce] << ", " << bytes
       << ", " << groupBytesOf(system, *port) << ", " << stream.words
       << ",\n        {";
    const auto &tensors = isInput ? planned.inputs : planned.outputs;
    for (auto [i, t] :
         llvm::enumerate(tensorsOfPort(planned, tensors, stream.port))) {
      const Border &border = isInput ? borders.inputs[t] : borders.outputs[t];
      os << (i ? ",\n         {" : "{") << cString(tensors[t].name) << ", "
         << border.argument << ", " << (isInput ? t : planned.inputs.size() + t)
         << ", " << sizesOf(tensors[t].shape) << ", "
         << cString(tensors[t].format.str()) << ", " << cString(border.rounding)
         << ", " << cString(border.overflow) << "}";
    }
    os << "}}";
  }
  os << "},\n      compute};\n  return kernel;\n}\n\n"
     << openOf() << " {\n  const void *const arrays[] = {" << array(Kind::Once)
     << "};\n  return rhizome::host::open(rhizome_kernel(), options, arrays, "
        "error, size);\n}\n\n"
     << computeOf() << " {\n  void *const arrays[] = {" << array(Kind::Each)
     << "};\n  return rhizome::host::compute(host, elements, arrays);\n}\n\n"
     << runOf() << " {\n  void *const arrays[] = {" << array(Kind::All)
     << "};\n  return rhizome::host::run(rhizome_kernel(), options, elements, "
        "arrays,\n                            error, size);\n}\n";
  return text;
}

std::string HostWriter::page() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "# The host of the kernel " << name
     << "\n\nBuild it where OpenCL's headers and loader are (Debian: "
        "`ocl-icd-opencl-dev`):\n\n"
        "    cmake -S host -B build && cmake --build build\n"
        "    ./build/run_"
     << name
     << " --program rhizome.xclbin --input x.npy --output y.npy\n\n"
        "Without `--program` this machine computes in the FPGA's place, on an "
        "OpenCL device\nthat calls functions of the host (`pocl-opencl-icd`), "
        "from the same buffers.\n`--help` lists the options. Programs include "
        "`"
     << name << "_host.h`, in C or C++, and link\n`lib" << name
     << "_host.a`.\n\n"
        "## The buffers\n\n"
        "The FPGA's kernel `rhz_kernel` takes a buffer for each stream, then "
        "the number of\nelements as 32 bits. A buffer has a place for each "
        "group of "
     << planned.lanes
     << " elements: the\nbeats of the stream, one after the other, of "
     << planned.streams.front().words
     << " words of each lane; every tensor begins\nwith a beat. A stream that "
        "is read once has one place with one element.\n\n"
        "| argument | stream | holds | bits of a word |\n|---|---|---|---|\n";
  const PlannedNode &node = plan.nodes.front();
  for (auto [s, stream] : llvm::enumerate(planned.streams)) {
    unsigned bits = 0;
    for (const auto *ports : {&node.inputs, &node.outputs})
      for (const BorderPort &port : *ports)
        if (port.port == stream.port)
          bits = port.element.width();
    os << "| " << s << " | `" << stream.port << "` | ";
    for (auto [i, tensor] : llvm::enumerate(stream.tensors)) {
      os << (i ? ", " : "") << "`" << tensor << "`";
      for (const auto *tensors : {&planned.inputs, &planned.outputs})
        for (const PlannedTensor &one : *tensors)
          if (one.name == tensor) {
            os << " " << one.format.str();
            break;
          }
    }
    os << (stream.isOnce ? ", once" : "") << " | " << bits << " |\n";
  }
  if (planned.system) {
    os << "\n## The registers\n\nThe port `" << planned.system->control
       << "` (AXI4-Lite) of each unit has:\n\n"
          "| offset | |\n|---|---|\n"
          "| 0x000 | bit 0 start, 1 done, 2 idle, 3 ready, 7 start again "
          "(`ap_ctrl_hs`) |\n"
          "| 0x004, 0x008, 0x00c | interrupts: all, which, which happened |\n";
    std::string bits;
    std::vector<std::string> words;
    auto offsetOf = [](int64_t at) {
      return "0x" + llvm::utohexstr(uint64_t(at), /*LowerCase=*/true, 3);
    };
    for (auto [k, port] : llvm::enumerate(planned.system->ports)) {
      std::string names;
      for (const PlannedStream &stream : planned.streams)
        for (const std::string &tensor : stream.tensors)
          if (stream.port == port.stream)
            names += (names.empty() ? "`" : ", `") + tensor + "`";
      os << llvm::formatv("| {0} | 64 bits: the address of the buffer of {1}, "
                          "a multiple of 4 KiB |\n",
                          offsetOf(port.offset), names);
      bits += llvm::formatv("{0}{1} {2}", k ? ", " : "", k % 32, names);
      if (k % 32 == 31 || k + 1 == planned.system->ports.size()) {
        words.push_back(std::move(bits));
        bits.clear();
      }
    }
    os << "| " << offsetOf(planned.system->elements)
       << " | the number of elements |\n";
    for (auto [w, text] : llvm::enumerate(words))
      os << "| "
         << offsetOf(errorsOffset(planned.system->elements) + int64_t(4 * w))
         << " | what the memory answered with an error (SLVERR, DECERR) since "
            "it was read last, bit by bit: "
         << text << " |\n";
    os << "\nOpenCL has no function that reads registers. A program of XRT has "
          "one: give it as\n`read_register` of `rhz_host_options`, or "
          "`--registers` a library with it, and a call\nfails that an error "
          "of the memory has spoilt.\n";
  }
  os << "\nEach unit has two sets of buffers: while it computes on one, the "
        "other is filled or\nread. `rhizome_host.h` has the options: units, "
        "and elements in a buffer.\n";
  return text;
}

/// Sources that all kernels share.
static llvm::Error copyShared(PackageWriter &writer, const std::string &name) {
  auto data = dataDir();
  if (!data)
    return data.takeError();
  for (const char *file :
       {"rhizome_host.h", "kernel_words.h", "kernel_words.cpp",
        "kernel_device.h", "kernel_device.cpp", "main.cpp"})
    if (auto error = writer.copyFile(std::string("host/") + file,
                                     *data + "/kernel/host/" + file))
      return error;
  if (auto error = writer.copyFile("host/rhizome_kernel.h",
                                   *data + "/kernel/rhizome_kernel.h"))
    return error;
  auto cmake = readFile(*data + "/kernel/host/CMakeLists.txt");
  if (!cmake)
    return cmake.takeError();
  if (auto error = writer.writeFile("host/CMakeLists.txt",
                                    fillIn(*cmake, "@NAME@", name)))
    return error;
  auto sources = numericDir();
  if (!sources)
    return sources.takeError();
  for (const char *file :
       {"Arithmetic.h", "Constants.h", "Format.h", "Runtime.h"})
    if (auto error = writer.copyFile(
            std::string("host/numeric/include/rhizome/Numeric/") + file,
            *sources + "/include/rhizome/Numeric/" + file))
      return error;
  for (const char *file : {"Arithmetic.cpp", "Elementary.cpp", "Elementary.h",
                           "Exact.h", "Format.cpp", "Runtime.cpp", "Wide.h"})
    if (auto error = writer.copyFile(std::string("host/numeric/lib/") + file,
                                     *sources + "/lib/Numeric/" + file))
      return error;
  return llvm::Error::success();
}

llvm::Error kernelcommands::writeKernelHost(PackageWriter &writer,
                                            const NumberedKernel &kernel,
                                            const Plan &plan,
                                            std::vector<std::string> &notes) {
  gen::loops::KernelParts parts = gen::loops::partsOf(kernel.integers);
  const Borders borders = BorderFinder(kernel, parts).find();
  auto without = [&](const std::string &why) {
    notes.push_back("the package has no host for OpenCL: " + why);
    return llvm::Error::success();
  };
  if (!borders.obstacle.empty())
    return without(borders.obstacle);
  const HostWriter texts(kernel, borders, plan);
  if (texts.isMixed())
    return without("what stays is also read for each element");
  const std::string &name = plan.kernel->name;
  auto object = compileWords(kernel.integers, name + "_words", parts.inputs,
                             parts.outputs, {kCpu});
  if (!object)
    return object.takeError();
  for (const auto &[file, text] :
       {std::pair("host/" + name + "_host.h", texts.header()),
        std::pair("host/" + name + "_host.cpp", texts.source()),
        std::pair("host/" + name + "_words.o", *object),
        std::pair(std::string("host/README.md"), texts.page())})
    if (auto error = writer.writeFile(file, text))
      return error;
  return copyShared(writer, name);
}
