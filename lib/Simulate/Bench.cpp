// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small top connects the design to sources, sinks and memories of data/sim.
#include "rhizome/Simulate/Bench.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;

/// Bytes of a bank up to the end of its last segment or space, in whole beats.
static int64_t bankBytes(const PlannedNode &node, const MemoryPort &port) {
  int64_t bytes = port.dataWidth / 8;
  for (const PlannedSegment &s : node.segments)
    if (s.memory == port.memory && s.bank == port.bank)
      bytes = std::max(bytes, s.address + s.bytes);
  return std::max(bytes, port.spaceAddress + port.spaceBytes);
}

namespace {
/// A signal of a memory port of the design.
struct MemorySignal {
  const char *name;
  bool isInput;  ///< of the design
  unsigned bits; ///< 0: those of its data
};
} // namespace

/// Those of the channels that read, and of those that write.
static std::vector<MemorySignal> memorySignals(const MemoryPort &port) {
  std::vector<MemorySignal> signals = {
      {"arvalid", false, 1}, {"arready", true, 1}, {"araddr", false, 64},
      {"arlen", false, 8},   {"rvalid", true, 1},  {"rready", false, 1},
      {"rdata", true, 0},    {"rlast", true, 1}};
  if (port.writes())
    signals.insert(signals.end(), {{"awvalid", false, 1},
                                   {"awready", true, 1},
                                   {"awaddr", false, 64},
                                   {"awlen", false, 8},
                                   {"wvalid", false, 1},
                                   {"wready", true, 1},
                                   {"wdata", false, 0},
                                   {"wlast", false, 1},
                                   {"bvalid", true, 1},
                                   {"bready", false, 1}});
  return signals;
}

bool sim::isEngine(const PlannedActor &actor) {
  return actor.module == "rhz_engine_unit";
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
  const std::string prefix = options.checks ? "rhz_tb_" : "",
                    ending = options.checks ? ".hex" : kBeats;
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
       << (isInput ? "in" : "out") << k << ending << "\"))\n    u_" << p.port
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
    for (const MemorySignal &signal : memorySignals(m)) {
      os << "  logic ";
      if (unsigned bits = signal.bits ? signal.bits : m.dataWidth; bits > 1)
        os << "[" << bits - 1 << ":0] ";
      os << m.port << "_" << signal.name << ";\n";
    }
    os << "  rhz_tb_memory #(.Width(" << m.dataWidth << "), .Beats("
       << bankBytes(node, m) / (m.dataWidth / 8) << "), .Latency(20), .Stalls("
       << options.stallsIn << "), .Seed(" << seed * 16 + k + 5 << "), .Writes("
       << m.writes() << "), .File(\"" << prefix << "memory" << k << ending
       << "\"))\n    u_" << m.port << " (.clk_i(clk), .rst_ni(rst_n)";
    for (const MemorySignal &signal : memorySignals(m)) {
      os << ", ." << signal.name << "_" << (signal.isInput ? "o" : "i") << "("
         << m.port << "_" << signal.name << ")";
      dut << ",\n    ." << m.port << "_" << signal.name << "(" << m.port << "_"
          << signal.name << ")";
    }
    os << ");\n";
  }
  os << "  " << options.top << " u_dut (\n    .clk_i(clk),\n    .rst_ni(rst_n)"
     << ports << "\n  );\n";
  if (!options.checks) {
    os << "  always @(posedge clk) if (rst_n && " << done
       << ") begin $display(\"RHZ_DONE %0d\", $time / 10); $finish; end\n";
    for (const PlannedActor &actor : node.actors)
      if (isEngine(actor) && options.top == node.top)
        os << "  always @(posedge clk) if (rst_n && u_dut.u_" << actor.name
           << ".u_engine.error_o != 0) begin\n    $display(\"RHZ_ENGINE u_"
           << actor.name << " %0d\", u_dut.u_" << actor.name
           << ".u_engine.error_o); $finish;\n  end\n";
    os << "endmodule\n";
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
    for (const MemorySignal &signal : memorySignals(m))
      passed(m.port, signal.isInput ? "input" : "output", signal.name,
             signal.bits ? signal.bits : m.dataWidth);
    os << ",\n  output logic " << m.port << "_arid,\n  output logic [2:0] "
       << m.port << "_arsize,\n  output logic [1:0] " << m.port
       << "_arburst,\n  input logic " << m.port << "_rid,\n  input logic [1:0] "
       << m.port << "_rresp";
    if (m.writes())
      os << ",\n  output logic " << m.port << "_awid,\n  output logic [2:0] "
         << m.port << "_awsize,\n  output logic [1:0] " << m.port
         << "_awburst,\n  output logic [" << m.dataWidth / 8 - 1 << ":0] "
         << m.port << "_wstrb,\n  input logic " << m.port
         << "_bid,\n  input logic [1:0] " << m.port << "_bresp";
  }
  os << "\n);\n";
  // Whole beats at rising addresses, in order.
  for (const MemoryPort &m : node.memoryPorts)
    os << "  assign " << m.port << "_arid = 1'b0;\n  assign " << m.port
       << "_arsize = 3'd" << Log2_32(m.dataWidth / 8) << ";\n  assign "
       << m.port << "_arburst = 2'b01;\n";
  for (const MemoryPort &m : node.memoryPorts)
    if (m.writes())
      os << "  assign " << m.port << "_awid = 1'b0;\n  assign " << m.port
         << "_awsize = 3'd" << Log2_32(m.dataWidth / 8) << ";\n  assign "
         << m.port << "_awburst = 2'b01;\n  assign " << m.port
         << "_wstrb = '1;\n";
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
    if (s.memory == port.memory && s.bank == port.bank && s.bytes > 0) {
      Expected<std::string> bytes = readFile((folder + "/" + s.file).str());
      if (!bytes)
        return bytes.takeError();
      text += "@" + utohexstr(uint64_t(s.address) / beatBytes) + "\n" +
              hexLines({bytes->begin(), bytes->end()}, beatBytes);
    }
  return text;
}
