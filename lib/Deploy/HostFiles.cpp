// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostFiles.h"
#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Texts.h"
#include "rhizome/Support/Version.h"
#include "rhizome/runtime/border.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;

//===----------------------------------------------------------------------===//
// The design
//===----------------------------------------------------------------------===//

static Expected<runtime::File> fileOf(StringRef folder,
                                      const std::string &path) {
  Expected<std::string> bytes = readFile((folder + "/" + path).str());
  if (!bytes)
    return bytes.takeError();
  auto data = reinterpret_cast<const uint8_t *>(bytes->data());
  return runtime::File{path, bytes->size(), rhz_checksum(data, bytes->size())};
}

/// How many tensors the device itself keeps from frame to frame.
static size_t keptCount(const Plan &plan) {
  return size_t(count_if(plan.tasks.states, [](const PlannedState &state) {
    return state.onFpga;
  }));
}

Expected<runtime::Design> deploy::designOf(const Plan &plan, StringRef folder) {
  runtime::Design design;
  design.name = plan.model;
  design.folder = folder.str();
  auto portOf = [](const HostBorder &border) {
    return runtime::Port{border.port,
                         uint64_t(border.elements()) * border.element.width(),
                         border.dataWidth};
  };
  for (const HostBorder &border : plan.host.toDevice)
    design.inputs.push_back(portOf(border));
  for (const HostBorder &border : plan.host.fromDevice)
    design.outputs.push_back(portOf(border));
  design.regions = clustersim::regionsOf(plan);
  design.keepsState = keptCount(plan) > 0;
  // The nodes of a cluster have theirs.
  if (!plan.channels.empty() || plan.nodes.size() != 1)
    return design;
  const PlannedNode &node = plan.nodes.front();
  std::string rtl = "nodes/" + node.name + "/rtl";
  std::vector<std::string> images;
  std::error_code error;
  for (sys::fs::directory_iterator it((folder + "/" + rtl).str(), error), end;
       it != end && !error; it.increment(error))
    if (StringRef(it->path()).ends_with(".hex"))
      images.push_back(rtl + "/" + sys::path::filename(it->path()).str());
  if (error)
    return createStringError(error, "cannot read the folder '%s/%s': %s",
                             folder.str().c_str(), rtl.c_str(),
                             error.message().c_str());
  llvm::sort(images);
  for (const std::string &image : images) {
    Expected<runtime::File> file = fileOf(folder, image);
    if (!file)
      return file.takeError();
    design.images.push_back(std::move(*file));
  }
  if (node.program)
    design.program = {node.program->file, node.program->kernel,
                      uint64_t(node.program->spaceBytes)};
  for (const PlannedSegment &segment : node.segments) {
    Expected<runtime::File> file = fileOf(folder, segment.file);
    if (!file)
      return file.takeError();
    auto port = find_if(node.memoryPorts, [&](const MemoryPort &p) {
      return p.memory == segment.memory && p.bank == segment.bank;
    });
    design.segments.push_back({std::move(*file), segment.memory, segment.bank,
                               segment.address,
                               size_t(port - node.memoryPorts.begin())});
  }
  return design;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// INT64_MIN is no literal of C.
std::string deploy::digitsOf(int64_t value) {
  if (isInt<32>(value) && value != INT32_MIN)
    return std::to_string(value);
  if (value == INT64_MIN)
    return "INT64_MIN";
  return "INT64_C(" + std::to_string(value) + ")";
}

namespace {
using deploy::digitsOf;
std::string shapeText(const HostTensor &tensor) {
  std::string text = tensor.isFloat ? "float32[" : "int64[";
  raw_string_ostream os(text);
  interleave(tensor.shape, os, ",");
  return text + "]";
}

/// A float's digits that read back as the same one.
std::string digitsOf(float value) {
  char text[48];
  std::snprintf(text, sizeof text, "%a", double(value));
  return std::string(text) + "f";
}

class HeaderWriter {
public:
  HeaderWriter(const Plan &plan, const runtime::Design &design)
      : plan(plan), design(design), os(text) {}

  std::string run() {
    const HostSection &host = plan.host;
    os << "/* Written by rhizome " << version()
       << ": tensors, conversions and files of the model. */\n"
          "#ifndef RHIZOME_MODEL_H\n"
          "#define RHIZOME_MODEL_H\n"
          "#include \"rhizome/runtime/border.h\"\n\n";
    tensors("input", host.inputs);
    tensors("output", host.outputs);
    borders("to", host.toDevice);
    borders("from", host.fromDevice);
    files();
    regions();
    states();
    program();
    os << "static const rhz_model rhizome_model = {\n    "
       << cString(plan.model) << ", " << (host.complete ? 1 : 0) << ",\n    "
       << host.inputs.size() << ", " << host.outputs.size()
       << ", rhizome_inputs, rhizome_outputs,\n    " << host.toDevice.size()
       << ", " << host.fromDevice.size() << ", rhizome_to, rhizome_from,\n    "
       << design.images.size() << ", " << design.segments.size() << ", "
       << (design.images.empty() ? "NULL" : "rhizome_images") << ", "
       << (design.segments.empty() ? "NULL" : "rhizome_segments") << ",\n    "
       << design.regions.size() << ", "
       << (design.regions.empty() ? "NULL" : "rhizome_regions") << ", "
       << host.states.size() << ", "
       << (host.states.empty() ? "NULL" : "rhizome_states") << ", "
       << keptCount(plan) << ", "
       << (design.program ? "&rhizome_program" : "NULL") << "};\n#endif\n";
    return std::move(text);
  }

private:
  template <typename T>
  void array(const char *type, const std::string &name,
             const std::vector<T> &values) {
    os << "static const " << type << " " << name << "[] = {";
    for (auto [i, value] : enumerate(values))
      os << (i == 0 ? "" : i % 6 ? ", " : ",\n    ") << digitsOf(value);
    os << "};\n";
  }

  void tensors(const std::string &kind, const std::vector<HostTensor> &all) {
    for (auto [k, tensor] : enumerate(all)) {
      os << "/* " << kind << " " << k << ": " << shapeText(tensor)
         << (tensor.ofModel ? ", the model's"
                            : ", the host computes between "
                              "it and the model's")
         << " */\n";
      array("int64_t", "rhizome_" + kind + std::to_string(k) + "_shape",
            tensor.shape.empty() ? std::vector<int64_t>{1} : tensor.shape);
    }
    os << "static const rhz_tensor rhizome_" << kind << "s[] = {\n";
    for (auto [k, tensor] : enumerate(all)) {
      int64_t elements = 1;
      for (int64_t size : tensor.shape)
        elements *= size;
      os << "    {" << cString(tensor.name) << ", "
         << (tensor.isFloat ? "RHZ_FLOAT32" : "RHZ_INT64") << ", "
         << (tensor.ofModel ? 1 : 0) << ", " << tensor.shape.size()
         << ", rhizome_" << kind << k << "_shape, " << digitsOf(elements)
         << "},\n";
    }
    os << "};\n\n";
  }

  void borders(const std::string &kind, const std::vector<HostBorder> &all) {
    for (auto [k, border] : enumerate(all)) {
      std::string name = "rhizome_" + kind + std::to_string(k);
      std::vector<int64_t> sizes, strides;
      for (const OrderDigit &digit : border.order) {
        sizes.push_back(digit.size);
        strides.push_back(digit.stride);
      }
      array("int64_t", name + "_sizes", sizes);
      array("int64_t", name + "_strides", strides);
      if (border.scale.empty())
        continue;
      array("float", name + "_scale", border.scale);
      array("int64_t", name + "_zero", border.zeroPoint);
      if (!border.offset.empty())
        array("float", name + "_offset", border.offset);
    }
    os << "static const rhz_border rhizome_" << kind << "[] = {\n";
    for (auto [k, border] : enumerate(all)) {
      std::string name = "rhizome_" + kind + std::to_string(k);
      const StreamElement &element = border.element;
      bool isReal = !border.scale.empty();
      os << "    {" << cString(border.port) << ", " << border.tensor << ", "
         << digitsOf(border.elements()) << ", " << element.width() << ", "
         << (element.isSigned() ? 1 : 0) << ", " << digitsOf(element.lo) << ", "
         << digitsOf(element.hi) << ", " << border.dataWidth << ",\n     "
         << border.order.size() << ", " << name << "_sizes, " << name
         << "_strides,\n     RHZ_" << StringRef(border.rounding).upper() << ", "
         << digitsOf(border.channels) << ", " << digitsOf(border.inner) << ", "
         << (isReal ? name + "_scale" : "NULL") << ", "
         << (isReal ? name + "_zero" : "NULL") << ", "
         << (border.offset.empty() ? "NULL" : name + "_offset") << "},\n";
    }
    os << "};\n\n";
  }

  void states() {
    const HostSection &host = plan.host;
    for (auto [k, state] : enumerate(host.states)) {
      if (state.initial.empty())
        continue;
      std::string name = "rhizome_state" + std::to_string(k);
      if (host.inputs[size_t(state.input)].isFloat)
        array("float", name, state.initial);
      else
        array("int64_t", name,
              std::vector<int64_t>(state.initial.begin(), state.initial.end()));
    }
    if (host.states.empty())
      return;
    os << "static const rhz_state rhizome_states[] = {\n";
    for (auto [k, state] : enumerate(host.states))
      os << "    {" << state.input << ", " << state.output << ", "
         << (state.initial.empty() ? "NULL"
                                   : "rhizome_state" + std::to_string(k))
         << "},\n";
    os << "};\n";
  }

  void file(const runtime::File &file) {
    os << "{" << cString(file.path) << ", " << digitsOf(int64_t(file.bytes))
       << ", UINT64_C(" << file.checksum << ")}";
  }
  void files() {
    if (!design.images.empty()) {
      os << "static const rhz_file rhizome_images[] = {\n";
      for (const runtime::File &image : design.images) {
        os << "    ";
        file(image);
        os << ",\n";
      }
      os << "};\n";
    }
    if (!design.segments.empty()) {
      os << "static const rhz_segment rhizome_segments[] = {\n";
      for (const runtime::Segment &segment : design.segments) {
        os << "    {";
        file(segment);
        os << ", " << cString(segment.memory) << ", " << digitsOf(segment.bank)
           << ", " << digitsOf(segment.address) << ", " << segment.port
           << "},\n";
      }
      os << "};\n";
    }
  }
  void regions() {
    if (design.regions.empty())
      return;
    os << "static const rhz_region rhizome_regions[] = {";
    for (auto [r, region] : enumerate(design.regions))
      os << (r ? ", " : "") << "{" << region.inputs << ", " << region.outputs
         << "}";
    os << "};\n";
  }

  void program() {
    if (const auto &program = design.program)
      os << "static const rhz_program rhizome_program = {\n    "
         << cString(program->file) << ", " << cString(program->kernel) << ", "
         << digitsOf(int64_t(program->spaceBytes)) << "};\n";
  }

  const Plan &plan;
  const runtime::Design &design;
  std::string text;
  raw_string_ostream os;
};
} // namespace

std::string deploy::modelHeader(const Plan &plan,
                                const runtime::Design &design) {
  return HeaderWriter(plan, design).run();
}

std::string deploy::hostPage(const Plan &plan) {
  std::string text;
  raw_string_ostream os(text);
  const HostSection &host = plan.host;
  os << "# The host's side of " << markdownText(plan.model) << "\n\n"
     << "`rhz_infer` of `rhizome_client.h` takes and gives, row-major:\n\n";
  auto list = [&](const char *kind, const std::vector<HostTensor> &tensors) {
    for (auto [k, tensor] : enumerate(tensors))
      os << "- " << kind << " " << k << ": " << markdownCode(tensor.name)
         << ", " << shapeText(tensor)
         << (tensor.ofModel ? "" : " (not the model's own: see below)") << "\n";
  };
  list("input", host.inputs);
  list("output", host.outputs);
  for (const HostState &state : host.states)
    os << "\nInput " << state.input
       << " is a state: the client keeps it, and it "
       << "holds what output " << state.output
       << "\nwas in the frame before. Pass NULL for it. `rhz_reset` brings it "
          "back to how it begins.\n";
  for (const PlannedState &state : plan.tasks.states)
    if (state.onFpga)
      os << "\nThe device keeps " << markdownCode(state.name)
         << " from frame to frame. `rhz_reset` brings it back to how it\n"
            "begins: the device is reset before the next frame, as `rhz_open` "
            "does.\n";
  os << "\nScales, zero points, orders and packing stand in "
        "`rhizome_model.h`;\n`runtime/lib/border.c` applies them, bit for bit "
        "as the compiler does.\n";
  if (!host.complete)
    os << "\nOf this model the host computes more than conversions: what is "
          "marked above\nis what enters and leaves the device, in reals or in "
          "its integers. The rest is\nin `model/network.mlir`, the host's "
          "tasks; `rhizome run` computes it.\n";
  os << "\n## Build\n\n"
        "It needs a C and a C++20 compiler and nothing of rhizome:\n\n"
        "    cmake -S host -B build && cmake --build build\n\n"
        "or by hand, in this folder:\n\n"
        "    cc -c -O2 -Iruntime/include runtime/lib/border.c example.c\n"
        "    c++ -std=c++20 -O2 -Iruntime/include -o example *.cpp \\\n"
        "        runtime/lib/*.cpp border.o example.o -lpthread -lm -ldl\n\n"
        "## Run\n\n"
        "    ./example PACKAGE DRIVER [WHERE…] < frames.txt\n\n"
        "| driver | where |\n|---|---|\n"
        "| `null` | nothing: zeros come back |\n"
        "| `cpu` | nothing: the machine code in `model/cpu.o`, if the package "
        "was compiled with `--cpu-object` |\n"
        "| `simulation` | of one device: the simulator that `rhizome simulate "
        "--json` names |\n"
        "| `uart` | the serial line, and its baud rate unless it is 1000000 "
        "|\n"
        "| `udp` | `NODE=ADDRESS:PORT` of every node |\n"
        "| `xrt` | an Alveo: the `.xclbin`, and the card's number unless it is "
        "0; built in where XRT is (`XILINX_XRT`) |\n"
        "| `opencl` | a program (`.xclbin`, `.cl`) and a part of its "
        "platform's name; without them the machine code in a device's place, "
        "or the package's own program if it has one |\n"
        "\nWith `model/cpu.o` the function `rhz_compute` runs the whole model "
        "on this CPU;\nby hand, add `../model/cpu.o` to the last command.\n";
  return text;
}
