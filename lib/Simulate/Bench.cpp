// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small top connects the design to sources, sinks and memories of data/sim.
#include "rhizome/Simulate/Bench.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;

/// Bytes of a bank up to the end of its last segment, in whole beats.
static int64_t bankBytes(const PlannedNode &node, const MemoryPort &port) {
  int64_t bytes = port.dataWidth / 8;
  for (const PlannedSegment &s : node.segments)
    if (s.memory == port.memory && s.bank == port.bank)
      bytes = std::max(bytes, s.address + s.bytes);
  return bytes;
}

std::vector<std::string> sim::benchFiles(const PlannedNode &node) {
  std::vector<std::string> files{"rhz_tb_source.sv", "rhz_tb_sink.sv"};
  if (!node.memoryPorts.empty())
    files.push_back("rhz_tb_memory.sv");
  return files;
}

std::string sim::benchText(const PlannedNode &node,
                           const BenchOptions &options) {
  std::string text, ports, done, wrong;
  raw_string_ostream os(text), dut(ports);
  const std::string prefix = options.checks ? "rhz_tb_" : "";
  uint64_t seed = options.seed % 1000000;
  os << "`timescale 1ns/1ps\nmodule rhz_tb;\n"
        "  logic clk = 1'b0, rst_n = 1'b0;\n"
        "  always #5 clk = ~clk;\n"
        "  initial begin repeat (8) @(posedge clk); #1 rst_n = 1'b1; end\n";
  auto port = [&](const BorderPort &p, bool isInput, size_t k) {
    os << "  logic " << p.port << "_tvalid, " << p.port << "_tready, " << p.port
       << "_tlast;\n  logic [" << p.dataWidth - 1 << ":0] " << p.port
       << "_tdata;\n";
    for (const char *signal : {"tvalid", "tready", "tdata", "tlast"})
      dut << ",\n    ." << p.port << "_" << signal << "(" << p.port << "_"
          << signal << ")";
    if (!isInput)
      os << "  logic done_" << k << ";\n  int wrong_" << k << ", begin_" << k
         << ", end_" << k << ", final_" << k << ";\n";
    os << "  rhz_tb_" << (isInput ? "source" : "sink") << " #(.Width("
       << p.dataWidth << "), .Beats(" << p.beats() << "), .Frames("
       << options.frames << "), .Stalls("
       << (isInput ? options.stallsIn : options.stallsOut) << "), .Seed("
       << seed * 16 + k + (isInput ? 1 : 9) << "), ";
    if (!isInput)
      os << ".Hang(" << options.hang << "), ";
    os << (isInput || !options.checks ? ".File(\"" : ".Want(\"") << prefix
       << (isInput ? "in" : "out") << k << ".hex\"))\n    u_" << p.port
       << " (.clk_i(clk), .rst_ni(rst_n)";
    const char *valid = isInput ? "o" : "i", *ready = isInput ? "i" : "o";
    os << ", .tvalid_" << valid << "(" << p.port << "_tvalid), .tready_"
       << ready << "(" << p.port << "_tready), .tdata_" << valid << "("
       << p.port << "_tdata), .tlast_" << valid << "(" << p.port << "_tlast)";
    if (!isInput)
      os << ", .done_o(done_" << k << "), .wrong_o(wrong_" << k
         << "), .begin_o(begin_" << k << "), .end_o(end_" << k
         << "), .final_o(final_" << k << ")";
    os << ");\n";
  };
  for (auto [k, p] : llvm::enumerate(node.inputs))
    port(p, true, k);
  for (auto [k, p] : llvm::enumerate(node.outputs)) {
    port(p, false, k);
    done += (k ? " && done_" : "done_") + std::to_string(k);
    wrong += (k ? " + wrong_" : "wrong_") + std::to_string(k);
  }
  for (auto [k, m] : llvm::enumerate(node.memoryPorts)) {
    os << "  logic " << m.port << "_arvalid, " << m.port << "_arready, "
       << m.port << "_rvalid, " << m.port << "_rready, " << m.port
       << "_rlast;\n  logic [63:0] " << m.port << "_araddr;\n  logic [7:0] "
       << m.port << "_arlen;\n  logic [" << m.dataWidth - 1 << ":0] " << m.port
       << "_rdata;\n  rhz_tb_memory #(.Width(" << m.dataWidth << "), .Beats("
       << bankBytes(node, m) / (m.dataWidth / 8) << "), .Latency(20), .Stalls("
       << options.stallsIn << "), .Seed(" << seed * 16 + k + 5 << "), .File(\""
       << prefix << "memory" << k << ".hex\"))\n    u_" << m.port
       << " (.clk_i(clk), .rst_ni(rst_n)";
    for (auto [signal, side] : {std::pair("arvalid", "i"),
                                {"arready", "o"},
                                {"araddr", "i"},
                                {"arlen", "i"},
                                {"rvalid", "o"},
                                {"rready", "i"},
                                {"rdata", "o"},
                                {"rlast", "o"}}) {
      os << ", ." << signal << "_" << side << "(" << m.port << "_" << signal
         << ")";
      dut << ",\n    ." << m.port << "_" << signal << "(" << m.port << "_"
          << signal << ")";
    }
    os << ");\n";
  }
  os << "  " << options.top << " u_dut (\n    .clk_i(clk),\n    .rst_ni(rst_n)"
     << ports << "\n  );\n";
  if (!options.checks) {
    os << "  always @(posedge clk) if (rst_n && " << done
       << ") begin $display(\"RHZ_DONE %0d\", $time / 10); $finish; end\n"
       << "endmodule\n";
    return text;
  }
  // Cycles count from the first beat accepted.
  os << "  int now = 0, start = -1;\n"
        "  always @(posedge clk) if (rst_n) begin\n"
        "    now <= now + 1;\n"
        "    if (start < 0 && "
     << node.inputs.front().port << "_tvalid && " << node.inputs.front().port
     << "_tready) start <= now;\n    if (" << done << ") begin\n      if ("
     << wrong << " == 0)\n        $display(\"PASS: " << options.frames
     << (options.frames == 1 ? " frame" : " frames")
     << ", latency %0d cycles, interval %0d cycles\", end_0 - start,\n"
        "                 "
     << (options.frames > 1
             ? "(final_0 - begin_0) / " + std::to_string(options.frames - 1)
             : std::string("0"))
     << ");\n      else\n        $display(\"FAIL: %0d beats differ\", " << wrong
     << ");\n      $finish;\n    end\n  end\nendmodule\n";
  return text;
}

std::string sim::axiText(const PlannedNode &node) {
  std::string text, pins;
  raw_string_ostream os(text), dut(pins);
  auto passed = [&](const std::string &port, StringRef direction,
                    StringRef signal, unsigned width) {
    os << ",\n  " << direction << " logic ";
    if (width > 1)
      os << "[" << width - 1 << ":0] ";
    os << port << "_" << signal;
    dut << ",\n    ." << port << "_" << signal << "(" << port << "_" << signal
        << ")";
  };
  os << "module rhz_axi (\n  input logic clk_i,\n  input logic rst_ni";
  auto stream = [&](const BorderPort &p, StringRef with, StringRef against) {
    passed(p.port, with, "tvalid", 1);
    passed(p.port, against, "tready", 1);
    passed(p.port, with, "tdata", p.dataWidth);
    passed(p.port, with, "tlast", 1);
  };
  for (const BorderPort &p : node.inputs)
    stream(p, "input", "output");
  for (const BorderPort &p : node.outputs)
    stream(p, "output", "input");
  for (const MemoryPort &m : node.memoryPorts) {
    passed(m.port, "output", "arvalid", 1);
    passed(m.port, "input", "arready", 1);
    passed(m.port, "output", "araddr", 64);
    passed(m.port, "output", "arlen", 8);
    passed(m.port, "input", "rvalid", 1);
    passed(m.port, "output", "rready", 1);
    passed(m.port, "input", "rdata", m.dataWidth);
    passed(m.port, "input", "rlast", 1);
    os << ",\n  output logic " << m.port << "_arid,\n  output logic [2:0] "
       << m.port << "_arsize,\n  output logic [1:0] " << m.port
       << "_arburst,\n  input logic " << m.port << "_rid,\n  input logic [1:0] "
       << m.port << "_rresp";
  }
  os << "\n);\n";
  // Whole beats at rising addresses, in order.
  for (const MemoryPort &m : node.memoryPorts)
    os << "  assign " << m.port << "_arid = 1'b0;\n  assign " << m.port
       << "_arsize = 3'd" << Log2_32(m.dataWidth / 8) << ";\n  assign "
       << m.port << "_arburst = 2'b01;\n";
  os << "  " << node.top << " u_dut (\n    .clk_i(clk_i),\n    .rst_ni(rst_ni)"
     << pins << "\n  );\nendmodule\n";
  return text;
}

std::string sim::hexLines(const std::vector<uint8_t> &bytes,
                          unsigned beatBytes) {
  std::string text;
  for (size_t beat = 0; beat < bytes.size(); beat += beatBytes) {
    for (unsigned i = beatBytes; i-- > 0;) {
      text += hexdigit(bytes[beat + i] >> 4, true);
      text += hexdigit(bytes[beat + i] & 15, true);
    }
    text += '\n';
  }
  return text;
}

Expected<std::string> sim::bankText(StringRef folder, const PlannedNode &node,
                                    const MemoryPort &port) {
  unsigned beatBytes = port.dataWidth / 8;
  std::string text;
  for (const PlannedSegment &s : node.segments)
    if (s.memory == port.memory && s.bank == port.bank) {
      Expected<std::string> bytes = readFile((folder + "/" + s.file).str());
      if (!bytes)
        return bytes.takeError();
      text += "@" + utohexstr(uint64_t(s.address) / beatBytes) + "\n" +
              hexLines({bytes->begin(), bytes->end()}, beatBytes);
    }
  return text;
}
