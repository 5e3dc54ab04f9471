// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model as an object file: a function per task in model/cpu.o, their
// declarations in model/cpu.h, and the tables of host/cpu.cpp, by which the
// runtime calls them.
#include "HostFiles.h"
#include "rhizome/Conversion/Storage.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Deploy/Deploy.h"
#include "rhizome/Support/LinalgLoops.h"
#include "rhizome/Support/Texts.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;
using namespace rhizome::model;

static const char kObject[] = "model/cpu.o", kHeader[] = "model/cpu.h",
                  kTables[] = "host/cpu.cpp";

namespace {
/// A tensor's type, and its name where the model has one for it.
struct CpuTensor {
  mlir::Type type;
  std::string name;
};

std::string functionOf(size_t task) {
  return "rhizome_task" + std::to_string(task);
}

std::vector<CpuTensor> tensorsOf(const HostModel &model) {
  std::vector<CpuTensor> tensors(model.tensorCount());
  for (const HostModel::Task &task : model.tasks()) {
    mlir::func::FuncOp function = task.function;
    for (auto [number, type] :
         zip_equal(task.takes, function.getArgumentTypes()))
      tensors[number].type = type;
    for (auto [number, type] : zip_equal(task.gives, function.getResultTypes()))
      tensors[number].type = type;
  }
  for (auto [number, value] : zip_equal(model.inputTensors(), model.inputs()))
    tensors[number].name = value.name;
  for (auto [number, value] : zip_equal(model.outputTensors(), model.outputs()))
    tensors[number].name = value.name;
  for (const HostModel::State &state : model.states())
    tensors[state.tensor].name = state.name;
  for (auto [number, tensor] : enumerate(tensors))
    if (tensor.name.empty())
      tensor.name = "tensor " + std::to_string(number);
  return tensors;
}

/// What C calls the elements.
std::string elementText(mlir::Type type) {
  num::IntType integer = num::elementInt(type);
  if (!integer)
    return cast<mlir::ShapedType>(type).getElementType().isF32() ? "float"
                                                                 : "int64_t";
  Storage storage = Storage::of(integer);
  return (storage.isSigned ? "int" : "uint") + std::to_string(storage.width) +
         "_t";
}

std::string shapeText(mlir::Type type) {
  std::string text = elementText(type) + "[";
  raw_string_ostream os(text);
  interleave(cast<mlir::ShapedType>(type).getShape(), os, ",");
  return text + "]";
}

std::string headerText(const HostModel &model,
                       const std::vector<CpuTensor> &tensors,
                       const std::string &cpu) {
  std::string text;
  raw_string_ostream os(text);
  os << "/* Written by rhizome " << version()
     << ": the functions of cpu.o, for " << cpu
     << ".\n * Each takes pointers to dense arrays: what it takes, then what "
        "it "
        "gives, then,\n * if host/cpu.cpp lists checks for it, int64_t[3] (see "
        "rhizome/runtime/cpu.h).\n * They may be called from several threads; "
        "they need libm. "
        "*/\n"
        "#ifndef RHIZOME_MODEL_CPU_H\n#define RHIZOME_MODEL_CPU_H\n"
        "#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (auto [k, task] : enumerate(model.tasks())) {
    os << "/* " << task.name << (task.onFpga ? ", the device's" : "") << "\n";
    for (bool gives : {false, true})
      for (unsigned number : gives ? task.gives : task.takes)
        os << " *   " << (gives ? "gives " : "takes ")
           << shapeText(tensors[number].type) << " number " << number << "\n";
    os << " */\nvoid " << functionOf(k) << "(void **buffers);\n";
  }
  os << "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

void printNumbers(raw_ostream &os, const std::string &name,
                  ArrayRef<unsigned> numbers) {
  os << "const unsigned " << name << "[] = {";
  interleaveComma(numbers, os);
  os << (numbers.empty() ? "0};\n" : "};\n");
}

std::string tablesText(const HostModel &model,
                       const std::vector<CpuTensor> &tensors,
                       const std::vector<std::vector<host::Check>> &checks) {
  std::string text;
  raw_string_ostream os(text);
  os << "// Written by rhizome " << version()
     << ": tensors and tasks of the model as machine code.\n"
        "#include \"rhizome/runtime/cpu.h\"\n"
        "#include \"../model/cpu.h\"\n\n"
        "namespace {\n"
        "const rhz_cpu_tensor tensors[] = {\n";
  for (const CpuTensor &tensor : tensors) {
    auto shaped = cast<mlir::ShapedType>(tensor.type);
    os << "    {" << cString(tensor.name) << ", " << shaped.getNumElements()
       << ", ";
    if (num::IntType integer = num::elementInt(tensor.type)) {
      Storage storage = Storage::of(integer);
      os << "0, " << storage.width << ", " << int(storage.isSigned) << ", "
         << integer.getWidth() << ", " << digitsOf(integer.getLo()) << ", "
         << digitsOf(integer.getHi());
    } else if (shaped.getElementType().isF32()) {
      os << "1, 32, 1, 32, 0, 0";
    } else {
      os << "0, 64, 1, 64, INT64_MIN, INT64_MAX";
    }
    os << "},\n";
  }
  os << "};\n";
  for (auto [k, task] : enumerate(model.tasks())) {
    printNumbers(os, "takes" + std::to_string(k), task.takes);
    printNumbers(os, "gives" + std::to_string(k), task.gives);
  }
  for (auto [k, all] : enumerate(checks)) {
    if (all.empty())
      continue;
    os << "const rhz_cpu_check checks" << k << "[] = {\n";
    for (const host::Check &check : all)
      os << "    {" << cString(check.node) << ", " << cString(check.what)
         << ", " << digitsOf(check.lo) << ", " << digitsOf(check.hi) << "},\n";
    os << "};\n";
  }
  os << "const rhz_cpu_task tasks[] = {\n";
  for (auto [k, task] : enumerate(model.tasks()))
    os << "    {" << functionOf(k) << ", " << int(task.onFpga) << ", "
       << task.takes.size() << ", " << task.gives.size() << ", takes" << k
       << ", gives" << k << ", "
       << (task.onFpga ? task.gives.size() - task.outputPorts : 0) << ", "
       << checks[k].size() << ", "
       << (checks[k].empty() ? "nullptr" : "checks" + std::to_string(k))
       << "},\n";
  os << "};\n";
  std::vector<unsigned> inputs = model.inputTensors(),
                        outputs = model.outputTensors();
  // Those of the device at the end.
  size_t kept = 0;
  std::string list;
  for (bool onFpga : {false, true})
    for (const HostModel::State &state : model.states()) {
      if (state.onFpga != onFpga)
        continue;
      inputs.push_back(state.tensor);
      outputs.push_back(state.next);
      if (!onFpga)
        continue;
      std::string name = "initial" + std::to_string(kept++);
      os << "const int64_t " << name << "[] = {";
      interleaveComma(state.initial.ints, os);
      os << "};\n";
      list += "    {" + std::to_string(state.tensor) + ", " +
              std::to_string(state.next) + ", " + name + "},\n";
    }
  if (kept)
    os << "const rhz_cpu_kept kept[] = {\n" << list << "};\n";
  printNumbers(os, "inputs", inputs);
  printNumbers(os, "outputs", outputs);
  os << "const rhz_cpu_model model = {" << tensors.size() << ", "
     << model.tasks().size() << ", " << inputs.size() << ", " << outputs.size()
     << ", tensors, tasks, inputs, outputs, " << kept << ", "
     << (kept ? "kept" : "nullptr")
     << "};\n"
        "} // namespace\n\n"
        "namespace rhizome {\n"
        "const rhz_cpu_model *compiledCpuModel() { return &model; }\n"
        "} // namespace rhizome\n";
  return text;
}

Error writeEmptyTables(PackageWriter &writer) {
  return writer.writeFile(
      kTables, "// Written by rhizome " + std::string(version()) +
                   ": the package has no machine code of the model.\n"
                   "#include \"rhizome/runtime/cpu.h\"\n\n"
                   "namespace rhizome {\n"
                   "const rhz_cpu_model *compiledCpuModel() { return nullptr; "
                   "}\n} // namespace rhizome\n");
}
} // namespace

Error deploy::writeCpuObject(PackageWriter &writer, const std::string &cpu) {
  if (cpu.empty())
    return writeEmptyTables(writer);
  Expected<std::unique_ptr<HostModel>> read =
      HostModel::read(writer.dir() + "/model/network.mlir");
  if (!read)
    return read.takeError();
  const HostModel &model = **read;
  mlir::MLIRContext *context =
      mlir::func::FuncOp(model.tasks().front().function).getContext();
  DiagnosticText diagnostics(context);
  std::vector<mlir::OwningOpRef<mlir::func::FuncOp>> functions;
  std::vector<mlir::func::FuncOp> all;
  for (auto [k, task] : enumerate(model.tasks())) {
    auto function =
        cast<mlir::func::FuncOp>(mlir::func::FuncOp(task.function)->clone());
    function.setSymName(functionOf(k));
    functions.emplace_back(function);
    all.push_back(function);
  }
  std::vector<std::vector<host::Check>> checks;
  mlir::FailureOr<std::string> object = compileFunctions(all, cpu, &checks);
  if (mlir::failed(object))
    return createStringError("the model cannot be compiled for '%s': %s",
                             cpu.c_str(), diagnostics.take().c_str());
  std::vector<CpuTensor> tensors = tensorsOf(model);
  if (Error error = writer.writeFile(kObject, *object))
    return error;
  if (Error error = writer.writeFile(kHeader, headerText(model, tensors, cpu)))
    return error;
  return writer.writeFile(kTables, tablesText(model, tensors, checks));
}
