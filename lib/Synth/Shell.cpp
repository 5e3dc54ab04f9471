// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text around a design on a board. The shell itself is rtl/shell.
#include "rhizome/Synth/Shell.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;

namespace {
/// Cells of rtl/src that the shell uses and a package may lack.
constexpr const char *kShellCells[] = {"rhz_counter", "rhz_delay", "rhz_outbuf",
                                       "rhz_valid",   "rhz_fork",  "rhz_fifo"};
constexpr const char *kShell[] = {"rhz_uart_rx",       "rhz_uart_tx",
                                  "rhz_uart_line",     "rhz_bytes_to_axis",
                                  "rhz_axis_to_bytes", "rhz_uart_shell",
                                  "rhz_uart_regions"};

int64_t bytesOf(const BorderPort &port) {
  return port.beats() * (port.dataWidth / 8);
}

/// The connections of a stream to wires that begin with `wires`.
std::string streamPorts(StringRef port, StringRef wires) {
  std::string text;
  for (const char *signal : {"tvalid", "tready", "tdata", "tlast"})
    text += formatv(",\n    .{0}_{1}({2}_{1})", port, signal, wires);
  return text;
}

std::string wires(StringRef name, unsigned width) {
  return formatv("  logic {0}_tvalid, {0}_tready, {0}_tlast;\n"
                 "  logic [{1}:0] {0}_tdata;\n",
                 name, width - 1);
}
} // namespace

Error synth::checkShell(const Plan &plan, const PlannedNode &node,
                        const Board &board) {
  if (board.host() != Board::Host::Serial)
    return createStringError(
        "the board '%s' has no serial line to the design; 'rhizome synth "
        "--tool %s' builds for it",
        board.name.c_str(),
        board.host() == Board::Host::Dma ? "vivado" : "vitis");
  if (!node.memoryPorts.empty())
    return createStringError("the design reads a memory outside the chip, "
                             "'%s', to which a board's shell has no port",
                             node.memoryPorts[0].memory.c_str());
  // A region's frame is one tensor, its answer another.
  size_t regions = 0;
  for (const PlannedTask &task : plan.tasks.tasks)
    if (task.onFpga) {
      if (task.takes.size() != 1 || task.gives.size() != 1)
        return createStringError("a board's serial line carries one input and "
                                 "one output of a region; '%s' has %zu and %zu",
                                 task.name.c_str(), task.takes.size(),
                                 task.gives.size());
      ++regions;
    }
  if (node.inputs.size() == std::max<size_t>(regions, 1) &&
      node.outputs.size() == node.inputs.size() && regions <= 256)
    return Error::success();
  return createStringError("a board's serial line carries one input and one "
                           "output of at most 256 regions; the design has %zu "
                           "and %zu",
                           node.inputs.size(), node.outputs.size());
}

namespace {
/// The streams of a design between others' names for them: "in" and "out" of a
/// design with one region, otherwise "in_0", "out_0", "in_1" …
std::string numbered(StringRef name, size_t number, size_t count) {
  return count == 1 ? name.str() : (name + "_" + Twine(number)).str();
}

/// 32 bits each, the first one lowest, as a constant of SystemVerilog.
std::string lengths(ArrayRef<BorderPort> ports) {
  std::string text;
  for (const BorderPort &port : reverse(ports))
    text += formatv("{0}32'd{1}", text.empty() ? "" : ", ", bytesOf(port));
  return "{" + text + "}";
}

int64_t mostBytes(ArrayRef<BorderPort> ports) {
  int64_t most = 0;
  for (const BorderPort &port : ports)
    most = std::max(most, bytesOf(port));
  return most;
}

/// Streams of a design's ports as bytes, those of region k at the places of `k`
/// in wires of the given names: from bytes to a stream, or from it to bytes.
std::string fromBytes(const BorderPort &port, size_t k, StringRef bytes,
                      StringRef stream, StringRef data) {
  return formatv("  rhz_bytes_to_axis #(.DataWidth({0}), .FrameBeats({1})) "
                 "u_{3}_{2} (\n    .clk_i(clk_i), .rst_ni(rst_n), "
                 ".in_valid_i({4}_valid[{2}]), .in_ready_o({4}_ready[{2}]),\n"
                 "    .in_data_i({5}){6}\n  );\n",
                 port.dataWidth, port.beats(), k, bytes, bytes, data,
                 streamPorts("m_axis", stream))
      .str();
}
std::string toBytes(const BorderPort &port, size_t k, StringRef bytes,
                    StringRef stream) {
  std::string text =
      formatv("  rhz_axis_to_bytes #(.DataWidth({0})) u_{2}_{1} (\n"
              "    .clk_i(clk_i), .rst_ni(rst_n), .out_valid_o({2}_valid[{1}]),"
              " .out_ready_i({2}_ready[{1}]),\n"
              "    .out_data_o({2}_data[{3} +: 8])",
              port.dataWidth, k, bytes, 8 * k);
  for (const char *signal : {"tvalid", "tready", "tdata"})
    text += formatv(",\n    .s_axis_{0}({1}_{0})", signal, stream);
  return text + "\n  );\n";
}

/// The shell of a design with one region.
std::string oneShell(const PlannedNode &node, const Board &board) {
  const BorderPort &in = node.inputs.front(), &out = node.outputs.front();
  std::string text = formatv("  rhz_uart_shell #(\n"
                             "    .Divisor({0}), .Buffer({1}), .InWidth({2}), "
                             ".InBeats({3}), .OutWidth({4})\n"
                             "  ) u_shell (\n"
                             "    .clk_i(clk_i), .uart_rx_i(uart_rx_i), "
                             ".uart_tx_o(uart_tx_o), .rst_no(rst_n)",
                             board.divisor(), std::max<int64_t>(bytesOf(in), 2),
                             in.dataWidth, in.beats(), out.dataWidth);
  text += streamPorts("m_axis", "in");
  for (const char *signal : {"tvalid", "tready", "tdata"})
    text += formatv(",\n    .s_axis_{0}(out_{0})", signal);
  return text + "\n  );\n";
}

/// That of a design with several: they share the line.
std::string regionShell(const PlannedNode &node, const Board &board) {
  const size_t count = node.inputs.size();
  const int64_t most = mostBytes(node.inputs);
  std::string text = formatv(
      "  logic line_in_valid, line_in_ready, line_out_valid, line_out_ready;\n"
      "  logic [7:0] line_in_data, line_out_data, frame_data;\n"
      "  logic [{0}:0] frame_valid, frame_ready, answer_valid, answer_ready;\n"
      "  logic [{1}:0] answer_data;\n"
      "  rhz_uart_line #(.Divisor({2}), .Buffer({3})) u_line (\n"
      "    .clk_i(clk_i), .uart_rx_i(uart_rx_i), .uart_tx_o(uart_tx_o), "
      ".rst_no(rst_n),\n"
      "    .in_valid_o(line_in_valid), .in_ready_i(line_in_ready), "
      ".in_data_o(line_in_data),\n"
      "    .out_valid_i(line_out_valid), .out_ready_o(line_out_ready), "
      ".out_data_i(line_out_data)\n  );\n"
      "  rhz_uart_regions #(\n    .Regions({4}), .Most({5}), .InBytes({6})\n"
      "  ) u_regions (\n    .clk_i(clk_i), .rst_ni(rst_n),\n"
      "    .in_valid_i(line_in_valid), .in_ready_o(line_in_ready), "
      ".in_data_i(line_in_data),\n"
      "    .out_valid_o(line_out_valid), .out_ready_i(line_out_ready), "
      ".out_data_o(line_out_data),\n"
      "    .frame_valid_o(frame_valid), .frame_ready_i(frame_ready), "
      ".frame_data_o(frame_data),\n"
      "    .answer_valid_i(answer_valid), .answer_ready_o(answer_ready), "
      ".answer_data_i(answer_data)\n  );\n",
      count - 1, 8 * count - 1, board.divisor(), most + 1, count, most,
      lengths(node.inputs));
  for (size_t k = 0; k < count; ++k)
    text += fromBytes(node.inputs[k], k, "frame", numbered("in", k, count),
                      "frame_data") +
            toBytes(node.outputs[k], k, "answer", numbered("out", k, count));
  return text;
}
} // namespace

std::string synth::boardText(const PlannedNode &node, const Board &board) {
  const size_t count = node.inputs.size();
  std::string high;
  for (size_t i = 0; i < board.highPins.size(); ++i)
    high += formatv(",\n  output logic high_{0}_o", i);
  std::string text = formatv("// The design on the board {0}.\n"
                             "module {1} (\n"
                             "  input  logic clk_i,\n"
                             "  input  logic uart_rx_i,\n"
                             "  output logic uart_tx_o{2}\n);\n",
                             board.name, kBoardTop, high);
  text += "  logic rst_n;\n";
  std::string unused, streams;
  for (size_t k = 0; k < count; ++k) {
    const std::string in = numbered("in", k, count),
                      out = numbered("out", k, count);
    text += wires(in, node.inputs[k].dataWidth) +
            wires(out, node.outputs[k].dataWidth);
    unused += ", " + out + "_tlast";
    streams += streamPorts(node.inputs[k].port, in) +
               streamPorts(node.outputs[k].port, out);
    if (!node.countsErrors())
      continue;
    const std::string errors = numbered("errors", k, count);
    text += "  logic [15:0] " + errors + ";\n";
    unused += ", " + errors;
    streams +=
        formatv(",\n    .{0}_err_o({1})", node.inputs[k].port, errors).str();
  }
  for (size_t i = 0; i < board.highPins.size(); ++i)
    text += formatv("  assign high_{0}_o = 1'b1;\n", i);
  text += count == 1 ? oneShell(node, board) : regionShell(node, board);
  text += formatv("  logic unused;\n  assign unused = &{{1'b0{0}};\n", unused);
  text +=
      formatv("  {0} u_design (\n    .clk_i(clk_i), .rst_ni(rst_n)", node.top);
  return text + streams + "\n  );\nendmodule\n";
}

namespace {
/// The far end of the line of a design with one region.
std::string oneBench(const PlannedNode &node, const Board &board) {
  const BorderPort &in = node.inputs.front(), &out = node.outputs.front();
  std::string text =
      formatv("  rhz_tb_uart #(\n    .Divisor({0}), .InWidth({1}), "
              ".OutWidth({2})\n"
              "  ) u_line (\n    .clk_i(clk_i), .rst_ni(rst_ni), "
              ".out_beats_i(32'd{3}), .line_o(to_board), .line_i(from_board)",
              board.divisor(), in.dataWidth, out.dataWidth, out.beats());
  return text + streamPorts("s_axis", in.port) +
         streamPorts("m_axis", out.port) + "\n  );\n";
}

std::string regionBench(const PlannedNode &node, const Board &board) {
  const size_t count = node.inputs.size();
  std::string text = formatv(
      "  logic rst_n;\n  assign rst_n = rst_ni;\n"
      "  logic [{0}:0] frame_valid, frame_ready, answer_valid, answer_ready;\n"
      "  logic [{1}:0] frame_data;\n  logic [7:0] answer_data;\n"
      "  rhz_tb_uart_regions #(\n    .Divisor({2}), .Regions({3}),\n"
      "    .InBytes({4}),\n    .OutBytes({5})\n  ) u_line (\n"
      "    .clk_i(clk_i), .rst_ni(rst_ni), .in_valid_i(frame_valid), "
      ".in_ready_o(frame_ready),\n    .in_data_i(frame_data), "
      ".out_valid_o(answer_valid), .out_ready_i(answer_ready),\n"
      "    .out_data_o(answer_data), .line_o(to_board), .line_i(from_board)\n"
      "  );\n",
      count - 1, 8 * count - 1, board.divisor(), count, lengths(node.inputs),
      lengths(node.outputs));
  std::string unused;
  for (size_t k = 0; k < count; ++k) {
    text += toBytes(node.inputs[k], k, "frame", node.inputs[k].port) +
            fromBytes(node.outputs[k], k, "answer", node.outputs[k].port,
                      "answer_data");
    unused += ", " + node.inputs[k].port + "_tlast";
  }
  return text +
         formatv("  logic unused;\n  assign unused = &{{1'b0{0}};\n", unused)
             .str();
}
} // namespace

std::string synth::benchText(const PlannedNode &node, const Board &board) {
  auto ports = [](const BorderPort &p, bool isInput) {
    const char *with = isInput ? "input " : "output",
               *against = isInput ? "output" : "input ";
    return formatv(",\n  {1} logic {0}_tvalid,\n  {2} logic {0}_tready,\n"
                   "  {1} logic [{3}:0] {0}_tdata,\n  {1} logic {0}_tlast",
                   p.port, with, against, p.dataWidth - 1)
        .str();
  };
  std::string text =
      formatv("// The board {0} and the far end of its serial line.\n"
              "module {1} (\n  input  logic clk_i,\n  input  logic rst_ni",
              board.name, kBenchTop);
  for (const BorderPort &port : node.inputs)
    text += ports(port, true);
  for (const BorderPort &port : node.outputs)
    text += ports(port, false);
  text += "\n);\n  logic to_board, from_board;\n";
  text += node.inputs.size() == 1 ? oneBench(node, board)
                                  : regionBench(node, board);
  text += formatv("  {0} u_board (\n    .clk_i(clk_i), "
                  ".uart_rx_i(to_board), .uart_tx_o(from_board)",
                  kBoardTop);
  for (size_t i = 0; i < board.highPins.size(); ++i)
    text += formatv(",\n    .high_{0}_o()", i);
  return text + "\n  );\nendmodule\n";
}

/// The parts of the library that a shell needs in addition to a node's files.
static Expected<std::vector<std::string>> shellFiles(const PlannedNode &node) {
  Expected<std::string> library = rtlDir();
  if (!library)
    return library.takeError();
  std::vector<std::string> files;
  for (std::string cell : kShellCells)
    if (!is_contained(node.rtl, cell + ".sv"))
      files.push_back(*library + "/src/" + cell + ".sv");
  for (std::string part : kShell)
    files.push_back(*library + "/shell/" + part + ".sv");
  return files;
}

Expected<std::vector<std::pair<std::string, std::string>>>
synth::boardRtl(const PlannedNode &node, const Board &board) {
  std::vector<std::pair<std::string, std::string>> sources = {
      {std::string(kBoardTop) + ".sv", boardText(node, board)}};
  Expected<std::vector<std::string>> files = shellFiles(node);
  if (!files)
    return files.takeError();
  for (const std::string &file : *files) {
    Expected<std::string> text = readFile(file);
    if (!text)
      return text.takeError();
    sources.push_back({sys::path::filename(file).str(), std::move(*text)});
  }
  return sources;
}

Expected<std::vector<std::string>> synth::rtlFiles(const Package &package,
                                                   const PlannedNode &node) {
  SmallString<256> folder(package.rtlPath(node));
  if (std::error_code error = sys::fs::make_absolute(folder))
    return errorCodeToError(error);
  std::vector<std::string> files;
  for (const std::string &file : node.rtl)
    files.push_back((folder + "/" + file).str());
  Expected<std::vector<std::string>> more = shellFiles(node);
  if (!more)
    return more.takeError();
  files.insert(files.end(), more->begin(), more->end());
  return files;
}

std::string synth::constraintsText(const Board &board, const Router &router) {
  std::string text;
  if (router.program == "nextpnr-ice40") {
    for (const auto &[port, pin] : board.pins())
      text += "set_io " + port + " " + pin + "\n";
    return text;
  }
  for (const auto &[port, pin] : board.pins())
    text += formatv("LOCATE COMP \"{0}\" SITE \"{1}\";\n"
                    "IOBUF PORT \"{0}\" IO_TYPE={2};\n",
                    port, pin, board.ioStandard);
  return text +
         formatv("FREQUENCY PORT \"clk_i\" {0} MHZ;\n", board.clockMhz).str();
}

int64_t synth::lineCycles(const PlannedNode &node, const Board &board) {
  int64_t bytes = 0;
  for (const BorderPort &port : node.inputs)
    bytes += bytesOf(port) + (node.inputs.size() > 1);
  for (const BorderPort &port : node.outputs)
    bytes += bytesOf(port);
  return 10 * board.divisor() * bytes;
}
