// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// README.md of a kernel's package: its tensors and ports, and how to run it.
#include "HardwareParts.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::kernelcommands;

/// Text of a file without what means something to Markdown or Python.
static std::string plain(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    out += llvm::isPrint(c) && !llvm::StringRef("`|\"\\").contains(c) ? c : '_';
  return out;
}

static std::string code(llvm::StringRef text) {
  return "`" + plain(text) + "`";
}

static std::string shapeOf(const PlannedTensor &tensor) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(tensor.shape, os);
  return text + "]";
}

static void listTensors(llvm::raw_ostream &os, const Plan &plan) {
  const PlannedKernel &kernel = *plan.kernel;
  os << "\n## Tensors\n\nArrays of float32 or float64, row-major, elements one "
        "after the other:\n\n"
        "| | name | shape | in the unit | port |\n|---|---|---|---|---|\n";
  auto list = [&](const char *kind, const std::vector<PlannedTensor> &tensors) {
    for (const PlannedTensor &tensor : tensors) {
      os << "| " << kind << " | " << code(tensor.name) << " | "
         << shapeOf(tensor) << " | " << code(tensor.format.str()) << " | ";
      for (const PlannedStream &stream : kernel.streams)
        if (llvm::is_contained(stream.tensors, tensor.name))
          os << code(stream.port)
             << (stream.isOnce ? ", read once after reset" : "");
      os << " |\n";
    }
  };
  list("input", kernel.inputs);
  list("output", kernel.outputs);
}

static void listPorts(llvm::raw_ostream &os, const Plan &plan) {
  const PlannedNode &node = plan.nodes.front();
  os << "\n## Ports\n\nAXI4-Streams of the unit: `PORT_tdata`, `_tvalid`, "
        "`_tready`, `_tlast`.\n\n"
        "| port | tensors, one after the other | bits of a word | bits of a "
        "beat | beats |\n|---|---|---|---|---|\n";
  for (const auto *ports : {&node.inputs, &node.outputs})
    for (const BorderPort &port : *ports) {
      os << "| " << code(port.port) << " | ";
      for (const PlannedStream &stream : plan.kernel->streams)
        if (stream.port == port.port)
          for (auto [i, name] : llvm::enumerate(stream.tensors))
            os << (i ? ", " : "") << code(name);
      os << " | " << port.element.width() << " | " << port.dataWidth << " | "
         << port.elements() * int64_t(port.element.width()) /
                int64_t(port.dataWidth)
         << " |\n";
    }
}

std::string kernelcommands::packagePage(const Plan &plan, bool hasHost) {
  const PlannedKernel &kernel = *plan.kernel;
  const Prediction &p = plan.predicted;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "# " << kernel.name << "\n\nA tensor kernel, compiled by rhizome "
     << version() << " for " << plan.device << " at "
     << llvm::formatv("{0:f1}", plan.clockMhz) << " MHz";
  if (!plan.goal.empty())
    os << ", goal `" << plan.goal << "`";
  os << ".\nPredicted: " << rateText(p.throughputPerS)
     << " elements per second, a latency of "
     << durationText(p.latencyUs * 1e-6) << ", " << p.lut
     << " LUTs. `report.html` shows the details.\n";
  listTensors(os, plan);
  listPorts(os, plan);
  os << "\n## Running it\n\n"
        "    rhizome simulate DIR -n 4                   # its RTL against the "
        "evaluator\n"
        "    rhizome run DIR --input x.npz --output y.npy   # this CPU, with "
        "the same bits\n"
        "    rhizome run DIR --driver simulation -n 4    # its RTL\n\n"
        "In Python:\n\n"
        "    import rhizome\n"
        "    package = rhizome.Package(\"DIR\")\n"
        "    package.infer({";
  for (auto [i, tensor] : llvm::enumerate(kernel.inputs))
    os << (i ? ", " : "") << "\"" << plain(tensor.name) << "\": …";
  os << "})\n";
  if (hasHost)
    os << "\n`host/README.md`: a program in C++ that runs it on an FPGA "
          "through OpenCL.\n";
  os << "\n## Contents\n\n| | |\n|---|---|\n"
        "| `plan.json` | the plan: nests, memories, ports, predictions |\n"
        "| `nodes` | SystemVerilog, projects for vendor tools |\n";
  if (hasHost)
    os << "| `host` | the host's program with its sources |\n";
  os << "| `model` | the kernel as it was written, and its options |\n"
        "| `results` | what was measured later |\n";
  return text;
}
