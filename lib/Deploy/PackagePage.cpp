// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package's README.md: what it holds, its tensors and ports with their
// conversions, and how to run it.
#include "HostFiles.h"
#include "rhizome/Support/Texts.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Support/Version.h"
#include "rhizome/Target/Board.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::deploy;

namespace {
/// A number in fixed notation, without zeros at its end.
std::string decimal(double value, int digits) {
  std::string text;
  raw_string_ostream(text) << format("%.*f", digits, value);
  return digits ? StringRef(text).rtrim('0').rtrim('.').str() : text;
}

std::string shapeOf(const HostTensor &tensor) {
  std::string text = "[";
  raw_string_ostream os(text);
  interleave(tensor.shape, os, ", ");
  return text + "]";
}

/// "2, 3, 1": the axes of a row-major tensor that a border's digits step
/// through, outermost first; nothing if a digit is not a whole axis.
std::string axesOf(const HostBorder &border, const HostTensor &tensor) {
  std::vector<int64_t> strides(tensor.shape.size(), 1);
  for (size_t d = tensor.shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * tensor.shape[d];
  std::string text;
  raw_string_ostream os(text);
  ListSeparator comma;
  for (const OrderDigit &digit : border.order) {
    if (digit.size == 1)
      continue;
    size_t axis = 0;
    while (axis < strides.size() &&
           (strides[axis] != digit.stride || tensor.shape[axis] != digit.size))
      ++axis;
    if (axis == strides.size())
      return "";
    os << comma << axis;
  }
  return text;
}

/// The order in which a frame has the tensor's elements.
std::string orderOf(const HostBorder &border, const HostTensor &tensor) {
  int64_t stride = border.elements();
  if (all_of(border.order, [&](const OrderDigit &digit) {
        stride /= digit.size;
        return digit.size == 1 || digit.stride == stride;
      }))
    return "row-major";
  std::string axes = axesOf(border, tensor);
  if (!axes.empty())
    return "axes " + axes;
  std::string text;
  raw_string_ostream os(text);
  ListSeparator comma(" × ");
  for (const OrderDigit &digit : border.order)
    os << comma << digit.size << " (stride " << digit.stride << ")";
  return text;
}

/// The only value, or where to find them.
template <typename T> std::string constant(const std::vector<T> &values) {
  if (values.empty())
    return "–";
  std::string text;
  raw_string_ostream os(text);
  if (!all_equal(values))
    return "per channel";
  if constexpr (std::is_same_v<T, float>)
    os << format("%.9g", double(values[0]));
  else
    os << values[0];
  return text;
}

class Page {
public:
  Page(const Plan &plan, const std::string &testBench)
      : plan(plan), testBench(testBench), os(text) {
    if (plan.board.empty())
      return;
    if (Expected<Board> loaded = loadBoard(plan.board))
      board = std::move(*loaded);
    else
      consumeError(loaded.takeError());
  }
  std::string run() {
    summary();
    tensors();
    ports();
    conversions();
    running();
    contents();
    return std::move(text);
  }

private:
  bool isOne() const { return plan.nodes.size() == 1 && plan.channels.empty(); }

  void summary() {
    const Prediction &p = plan.predicted;
    os << "# " << markdownText(plan.model) << "\n\nCompiled by rhizome "
       << version() << " for ";
    if (!plan.board.empty())
      os << "the board " << plan.board << " (" << plan.device << ")";
    else if (!plan.cluster.empty())
      os << plan.nodes.size() << " nodes of the cluster " << plan.cluster;
    else
      os << plan.device;
    if (isOne())
      os << " at " << decimal(plan.clockMhz, 2) << " MHz";
    os << ", goal " << markdownCode(plan.goal) << ".\n"
       << "Predicted: " << rateText(p.throughputPerS)
       << " frames per second, a latency of "
       << durationText(p.latencyUs * 1e-6) << ", " << p.lut
       << " LUTs. `report.html` shows the details.\n";
  }

  void list(const char *kind, const std::vector<HostTensor> &all) {
    for (const HostTensor &tensor : all)
      os << "| " << kind << " | " << markdownCode(tensor.name) << " | "
         << (tensor.isFloat ? "float32" : "int64") << " | " << shapeOf(tensor)
         << " | " << (tensor.ofModel ? "yes" : "no") << " |\n";
  }
  void tensors() {
    os << "\n## Tensors\n\nWhat the host passes in and gets back, "
          "row-major:\n\n"
          "| | name | type | shape | in the model |\n|---|---|---|---|---|\n";
    list("input", plan.host.inputs);
    list("output", plan.host.outputs);
    if (!plan.host.complete)
      os << "\nTensors that are not in the model are those at the border of "
            "the "
            "device. The host\ncomputes what comes before and after them: "
            "`rhizome run` does so, and\n`model/network.mlir` has the "
            "operations.\n";
  }

  void list(const std::vector<HostBorder> &borders,
            const std::vector<HostTensor> &all) {
    for (const HostBorder &border : borders) {
      const StreamElement &element = border.element;
      const HostTensor &tensor = all[size_t(border.tensor)];
      const int64_t bits = border.elements() * int64_t(element.width());
      const int64_t beats =
          (bits + border.dataWidth - 1) / int64_t(border.dataWidth);
      os << "| `" << border.port << "` | " << markdownCode(tensor.name) << " | "
         << border.elements() << " | "
         << (element.isSigned() ? "signed " : "unsigned ") << element.width()
         << " | " << element.lo << " … " << element.hi << " | "
         << constant(border.scale) << " | " << constant(border.zeroPoint)
         << " | " << orderOf(border, tensor) << " | " << border.dataWidth
         << " | " << beats << " |\n";
    }
  }
  void ports() {
    os << "\n## Ports\n\n"
       << (isOne() ? "AXI4-Streams of the module `" + plan.nodes.front().top +
                         "`: `PORT_tdata`, `_tvalid`, `_tready`, `_tlast`."
                   : std::string("Those of the client; its link protocol "
                                 "carries the frames."))
       << "\n\n| port | tensor | elements | bits | values | scale | zero point "
          "| order | bits per beat | beats per frame |\n"
          "|---|---|---|---|---|---|---|---|---|---|\n";
    list(plan.host.toDevice, plan.host.inputs);
    list(plan.host.fromDevice, plan.host.outputs);
    for (const PlannedNode &node : plan.nodes) {
      for (const RegisterPort &port : node.registerPorts)
        os << "\n`" << port.port << "` of " << node.name << ": " << port.width
           << " bits, constant, " << markdownText(port.name) << ".\n";
      for (const MemoryPort &port : node.memoryPorts)
        os << "\n`" << port.port << "` of " << node.name
           << (port.writes() ? " reads and writes bank " : " reads bank ")
           << port.bank << " of " << port.memory << " (AXI4, " << port.dataWidth
           << " bits).\n";
      for (const MemoryPort &port : node.memoryPorts)
        if (port.writes())
          os << "\nThe " << port.spaceBytes << " bytes at " << port.spaceAddress
             << " of bank " << port.bank << " of " << port.memory
             << " are the design's own; they need no contents.\n";
      for (const PlannedSegment &segment : node.segments)
        os << "\nBefore the first frame, `" << segment.file << "` must lie at "
           << segment.address << " of bank " << segment.bank << " of "
           << segment.memory << ".\n";
    }
  }

  void conversions() {
    auto all =
        concat<const HostBorder>(plan.host.toDevice, plan.host.fromDevice);
    os << "\nElements are packed without gaps, little-endian. An order of axes "
          "names those of the\nrow-major tensor, outermost first. The last "
          "beat "
          "is padded with zeros and carries `tlast`.\n";
    if (any_of(all, [](const HostBorder &b) { return !b.scale.empty(); }))
      os << "Integers stand for real numbers. In float32, the device takes\n"
            "`clamp(round(x / scale) + zero_point, lo, hi)` and gives "
            "`(q − zero_point) · scale`"
         << (any_of(plan.host.fromDevice,
                    [](const HostBorder &b) { return !b.offset.empty(); })
                 ? " plus\nan offset"
                 : "")
         << ".\nAll values are in `host` of `plan.json`; the drivers apply "
            "them.\n";
  }

  void running() {
    os << "\n## Run it\n\nCompare the hardware with the model in simulation, "
          "or "
          "measure it:\n\n    rhizome simulate .\n    rhizome synth .\n";
    if (!testBench.empty()) {
      const std::string make = "    make -C " + testBench;
      os << "\nA test bench for any simulator, which compares the golden "
            "vectors and says PASS:\n\n"
         << make
         << " icarus     # or verilator; STALLS_IN=30 STALLS_OUT=50 pauses\n"
         << make
         << " cocotb SIM=icarus\n\n"
            "In another simulator: `rhz_tb` is the top of the files of "
            "`sources.mk`, next to `rhz_tb*.sv`,\n"
            "where the `.hex` files of `tb` and `rtl` lie in the folder of the "
            "run.\n";
    } else if (plan.nodes.size() > 1) {
      os << "\nThere is no test bench: what passes between the nodes is no "
            "tensor of the model.\n`rhizome simulate . --level cluster` runs "
            "all of them and their links.\n";
    }
    if (board)
      os << "\nMake the "
         << (board->host() == Board::Host::Serial ? "bitstream"
             : board->host() == Board::Host::Dma  ? "overlay"
                                                  : "program")
         << " for the board and load it:\n\n    rhizome synth . --tool "
         << builder() << "\n\n"
         << (board->host() == Board::Host::Serial
                 ? "The command that loads it is printed at the end.\n"
             : board->host() == Board::Host::Dma
                 ? "Copy this folder to the board, with `rhizome.bit` and "
                   "`rhizome.hwh` in `host/`.\n"
                 : "`host/README.md` says how to run it (`xrt`, `opencl`).\n");
    if (isOne() && count_if(plan.tasks.tasks, [](const PlannedTask &task) {
                     return task.onFpga;
                   }) <= 1)
      python();
    else if (!isOne())
      os << "\nStart the nodes as processes (`./deploy.sh start`), or edit "
            "`deploy.yaml` for boards, and\n\n"
            "    rhizome run . --input x.npy --output y.npy\n";
    for (const PlannedNode &node : plan.nodes)
      if (node.program)
        os << "\n**OpenCL**, any device:\n\n    rhizome run . --driver opencl "
              "--program "
           << node.program->file << "\n";
    os << "\n**C and C++**: `host/README.md`, with drivers for serial lines, "
          "networks, XRT and OpenCL.\n"
          "`rhizome run . --driver …` takes the same drivers.\n";
  }

  /// The tool that builds for the board.
  std::string builder() const {
    if (board->host() == Board::Host::Platform)
      return "vitis";
    const std::string &family = plan.nodes.front().family;
    return family == "ice40" || family == "ecp5" ? "nextpnr" : "vivado";
  }

  void python() {
    const bool isDma = board && board->host() == Board::Host::Dma;
    const bool hasLine = !isDma && plan.host.toDevice.size() == 1 &&
                         plan.host.fromDevice.size() == 1 &&
                         plan.nodes.front().segments.empty();
    std::string files;
    for (size_t k = 0; k < plan.host.inputs.size(); ++k)
      files += " --input x" + std::to_string(k) + ".npy";
    for (size_t k = 0; k < plan.host.outputs.size(); ++k)
      files += " --output y" + std::to_string(k) + ".npy";
    os << "\n**Python** with numpy, "
       << (hasLine ? "on a board at a serial "
                     "line or "
           : isDma ? "on the board's processors (with PYNQ, as root) or "
                   : "")
       << "in simulation:\n\n";
    if (isDma)
      os << "    python3 host/rhizome_client.py pynq" << files << "\n";
    if (hasLine)
      os << "    python3 host/rhizome_client.py uart /dev/ttyUSB1" << files
         << "\n";
    os << "    python3 host/rhizome_client.py simulation" << files
       << "\n\nor from a program that has `host` in its module path:\n\n"
          "    from rhizome_client import Client\n"
          "    with Client("
       << (hasLine ? "\"uart\", \"/dev/ttyUSB1\""
           : isDma ? "\"pynq\""
                   : "\"simulation\"")
       << ") as device:\n        results = device.infer(inputs)\n";
  }

  void contents() {
    os << "\n## Contents\n\n| | |\n|---|---|\n"
          "| `plan.json` | the plan: options, actors, ports, predictions |\n"
          "| `nodes` | SystemVerilog, memory images, projects for vendor tools "
          "|\n";
    if (any_of(plan.nodes,
               [](const PlannedNode &n) { return !n.segments.empty(); }))
      os << "| `segments` | contents of the device's memories |\n";
    os << "| `host` | drivers in C, C++ and Python |\n"
          "| `model` | the integer model, golden vectors, how it was quantized "
          "|\n"
          "| `results` | what was measured later |\n";
  }

  const Plan &plan;
  std::optional<Board> board;
  const std::string &testBench; ///< its folder, "" for none
  std::string text;
  raw_string_ostream os;
};
} // namespace

std::string deploy::packagePage(const Plan &plan,
                                const std::string &testBench) {
  return Page(plan, testBench).run();
}
