// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text around a design on a board. The shell itself is rtl/shell.
#include "Shell.h"
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
constexpr const char *kShell[] = {"rhz_uart_rx", "rhz_uart_tx",
                                  "rhz_bytes_to_axis", "rhz_axis_to_bytes",
                                  "rhz_uart_shell"};

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

Error synth::checkShell(const PlannedNode &node) {
  if (!node.memoryPorts.empty())
    return createStringError("the design reads a memory outside the chip, "
                             "'%s', to which a board's shell has no port",
                             node.memoryPorts[0].memory.c_str());
  if (node.inputs.size() == 1 && node.outputs.size() == 1)
    return Error::success();
  return createStringError("a board's serial line carries one input and one "
                           "output; the design has %zu and %zu",
                           node.inputs.size(), node.outputs.size());
}

std::string synth::boardText(const PlannedNode &node, const Board &board) {
  const BorderPort &in = node.inputs.front(), &out = node.outputs.front();
  std::string high;
  for (size_t i = 0; i < board.highPins.size(); ++i)
    high += formatv(",\n  output logic high_{0}_o", i);
  std::string text = formatv("// The design on the board {0}.\n"
                             "module {1} (\n"
                             "  input  logic clk_i,\n"
                             "  input  logic uart_rx_i,\n"
                             "  output logic uart_tx_o{2}\n);\n",
                             board.name, kBoardTop, high);
  text += "  logic rst_n;\n" + wires("in", in.dataWidth) +
          wires("out", out.dataWidth);
  for (size_t i = 0; i < board.highPins.size(); ++i)
    text += formatv("  assign high_{0}_o = 1'b1;\n", i);
  text += formatv("  rhz_uart_shell #(\n"
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
  text += "\n  );\n  logic unused;\n  assign unused = &{1'b0, out_tlast};\n";
  text +=
      formatv("  {0} u_design (\n    .clk_i(clk_i), .rst_ni(rst_n)", node.top);
  text += streamPorts(in.port, "in") + streamPorts(out.port, "out");
  return text + "\n  );\nendmodule\n";
}

std::string synth::benchText(const PlannedNode &node, const Board &board) {
  const BorderPort &in = node.inputs.front(), &out = node.outputs.front();
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
  text += ports(in, true) + ports(out, false) +
          "\n);\n  logic to_board, from_board, unused;\n";
  text += formatv("  assign unused = {0}_tlast;\n", in.port);
  text += formatv("  rhz_tb_uart #(\n    .Divisor({0}), .InWidth({1}), "
                  ".InBeats({2}), .OutWidth({3}), .OutBeats({4})\n"
                  "  ) u_line (\n    .clk_i(clk_i), .rst_ni(rst_ni), "
                  ".line_o(to_board), .line_i(from_board)",
                  board.divisor(), in.dataWidth, in.beats(), out.dataWidth,
                  out.beats());
  for (const char *signal : {"tvalid", "tready", "tdata"})
    text += formatv(",\n    .s_axis_{0}({1}_{0})", signal, in.port);
  text += streamPorts("m_axis", out.port) + "\n  );\n";
  text += formatv("  {0} u_board (\n    .clk_i(clk_i), "
                  ".uart_rx_i(to_board), .uart_tx_o(from_board)",
                  kBoardTop);
  for (size_t i = 0; i < board.highPins.size(); ++i)
    text += formatv(",\n    .high_{0}_o()", i);
  return text + "\n  );\nendmodule\n";
}

Expected<std::vector<std::string>> synth::rtlFiles(const Package &package,
                                                   const PlannedNode &node,
                                                   bool withShell) {
  SmallString<256> folder(package.rtlPath(node));
  if (std::error_code error = sys::fs::make_absolute(folder))
    return errorCodeToError(error);
  std::vector<std::string> files;
  for (const std::string &file : node.rtl)
    files.push_back((folder + "/" + file).str());
  if (!withShell)
    return files;
  Expected<std::string> library = rtlDir();
  if (!library)
    return library.takeError();
  for (std::string cell : kShellCells)
    if (!is_contained(node.rtl, cell + ".sv"))
      files.push_back(*library + "/src/" + cell + ".sv");
  for (std::string part : kShell)
    files.push_back(*library + "/shell/" + part + ".sv");
  return files;
}

std::string synth::constraintsText(const Board &board, const Router &router) {
  std::vector<std::pair<std::string, std::string>> pins = {
      {"clk_i", board.clockPin},
      {"uart_rx_i", board.rxPin},
      {"uart_tx_o", board.txPin}};
  for (auto [i, pin] : enumerate(board.highPins))
    pins.push_back({formatv("high_{0}_o", i).str(), pin});
  std::string text;
  if (router.program == "nextpnr-ice40") {
    for (const auto &[port, pin] : pins)
      text += "set_io " + port + " " + pin + "\n";
    return text;
  }
  for (const auto &[port, pin] : pins)
    text += formatv("LOCATE COMP \"{0}\" SITE \"{1}\";\n"
                    "IOBUF PORT \"{0}\" IO_TYPE=LVCMOS33;\n",
                    port, pin);
  return text +
         formatv("FREQUENCY PORT \"clk_i\" {0} MHZ;\n", board.clockMhz).str();
}

int64_t synth::lineCycles(const PlannedNode &node, const Board &board) {
  return 10 * board.divisor() *
         (bytesOf(node.inputs.front()) + bytesOf(node.outputs.front()));
}
