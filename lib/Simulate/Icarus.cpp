// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the package in Icarus Verilog, where an unknown value is an X: a small
// generated top connects the design to the sources and sinks of data/sim.
#include "Run.h"
#include "rhizome/Simulate/Packing.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

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

/// The test bench's top module.
static std::string benchText(const Plan &plan, const sim::Prepared &prepared,
                             const SimOptions &options) {
  const PlannedNode &node = plan.nodes.front();
  std::string text, ports, done;
  raw_string_ostream os(text), dut(ports);
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
      os << "  logic done_" << k << ";\n";
    os << "  rhz_tb_" << (isInput ? "source" : "sink") << " #(.Width("
       << p.dataWidth << "), .Beats(" << p.beats() << "), .Frames("
       << prepared.frames << "), .Stalls("
       << (isInput ? options.stallsIn : options.stallsOut) << "), .Seed("
       << seed * 16 + k + (isInput ? 1 : 9) << "), ";
    if (!isInput)
      os << ".Hang(" << sim::hangLimit(plan, options) << "), ";
    os << ".File(\"" << (isInput ? "in" : "out") << k << ".hex\"))\n    u_"
       << p.port << " (.clk_i(clk), .rst_ni(rst_n)";
    const char *valid = isInput ? "o" : "i", *ready = isInput ? "i" : "o";
    os << ", .tvalid_" << valid << "(" << p.port << "_tvalid), .tready_"
       << ready << "(" << p.port << "_tready), .tdata_" << valid << "("
       << p.port << "_tdata), .tlast_" << valid << "(" << p.port << "_tlast)";
    if (!isInput)
      os << ", .done_o(done_" << k << ")";
    os << ");\n";
  };
  for (auto [k, p] : llvm::enumerate(node.inputs))
    port(p, true, k);
  for (auto [k, p] : llvm::enumerate(node.outputs)) {
    port(p, false, k);
    done += (k ? " && done_" : "done_") + std::to_string(k);
  }
  for (auto [k, m] : llvm::enumerate(node.memoryPorts)) {
    os << "  logic " << m.port << "_arvalid, " << m.port << "_arready, "
       << m.port << "_rvalid, " << m.port << "_rready, " << m.port
       << "_rlast;\n  logic [63:0] " << m.port << "_araddr;\n  logic [7:0] "
       << m.port << "_arlen;\n  logic [" << m.dataWidth - 1 << ":0] " << m.port
       << "_rdata;\n  rhz_tb_memory #(.Width(" << m.dataWidth << "), .Beats("
       << bankBytes(node, m) / (m.dataWidth / 8) << "), .Latency(20), .Stalls("
       << options.stallsIn << "), .Seed(" << seed * 16 + k + 5
       << "), .File(\"memory" << k << ".hex\"))\n    u_" << m.port
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
  os << "  " << sim::topOf(node, options)
     << " u_dut (\n    .clk_i(clk),\n    .rst_ni(rst_n)" << ports << "\n  );\n"
     << "  always @(posedge clk) if (rst_n && " << done
     << ") begin $display(\"RHZ_DONE %0d\", $time / 10); $finish; end\n"
     << "endmodule\n";
  return text;
}

/// Beats' bytes as lines of hex digits, most significant first.
static std::string hexLines(const std::vector<uint8_t> &bytes,
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

static Expected<std::vector<uint8_t>> parseHexLines(StringRef text,
                                                    unsigned beatBytes) {
  std::vector<uint8_t> bytes;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    if (line.size() != 2 * beatBytes)
      return createStringError("Icarus wrote the beat '%s', not %u bytes",
                               line.str().c_str(), beatBytes);
    for (unsigned i = beatBytes; i-- > 0;) {
      uint8_t byte;
      if (line.substr(2 * i, 2).getAsInteger(16, byte))
        return createStringError("Icarus wrote the beat '%s', which is not a "
                                 "number",
                                 line.str().c_str());
      bytes.push_back(byte);
    }
  }
  return bytes;
}

/// Writes the segments of a port's bank in $readmemh format.
static Error writeBank(const Package &package, const PlannedNode &node,
                       const MemoryPort &port, const std::string &path) {
  unsigned beatBytes = port.dataWidth / 8;
  std::string text;
  for (const PlannedSegment &s : node.segments)
    if (s.memory == port.memory && s.bank == port.bank) {
      Expected<std::string> bytes = readFile(package.path(s.file));
      if (!bytes)
        return bytes.takeError();
      text += "@" + utohexstr(uint64_t(s.address) / beatBytes) + "\n" +
              hexLines({bytes->begin(), bytes->end()}, beatBytes);
    }
  return writeBytes(path, text);
}

Expected<SimResult> sim::runIcarus(const Package &package,
                                   const Prepared &prepared,
                                   const SimOptions &options) {
  const Plan &plan = package.plan();
  const PlannedNode &node = plan.nodes.front();
  Expected<Sources> sources = readSources(package, node, options);
  if (!sources)
    return sources.takeError();
  Expected<std::string> data = dataDir();
  if (!data)
    return data.takeError();
  Expected<std::string> folder = makeRunFolder(package, "icarus");
  if (!folder)
    return folder.takeError();
  std::string run = *folder;

  // Images are opened relative to where vvp runs, so they are linked there, and
  // the sources too, because iverilog's own driver cannot quote every path.
  std::error_code error;
  for (sys::fs::directory_iterator it(package.rtlPath(node), error), end;
       it != end && !error; it.increment(error)) {
    StringRef name = sys::path::filename(it->path());
    SmallString<256> from(it->path());
    sys::fs::make_absolute(from);
    if (!name.ends_with(".sv") && !name.ends_with(".f"))
      sys::fs::create_link(from, run + "/" + name);
  }
  for (auto [k, bytes] : llvm::enumerate(prepared.inputs))
    if (Error failure =
            writeBytes(run + "/in" + std::to_string(k) + ".hex",
                       hexLines(bytes, node.inputs[k].dataWidth / 8)))
      return failure;
  for (auto [k, port] : llvm::enumerate(node.memoryPorts))
    if (Error failure = writeBank(package, node, port,
                                  run + "/memory" + std::to_string(k) + ".hex"))
      return failure;
  if (Error failure =
          writeBytes(run + "/rhz_tb.sv", benchText(plan, prepared, options)))
    return failure;
  std::vector<std::string> args = {"-g2012", "-o",     "sim.vvp",
                                   "-s",     "rhz_tb", "rhz_tb.sv"};
  std::vector<std::string> files = {*data + "/sim/rhz_tb_source.sv",
                                    *data + "/sim/rhz_tb_sink.sv"};
  if (!node.memoryPorts.empty())
    files.push_back(*data + "/sim/rhz_tb_memory.sv");
  files.insert(files.end(), sources->paths.begin(), sources->paths.end());
  for (const std::string &path : files) {
    std::string name = sys::path::filename(path).str();
    if (std::error_code failure = sys::fs::create_link(path, run + "/" + name))
      return createStringError(failure, "cannot link '%s': %s", path.c_str(),
                               failure.message().c_str());
    args.push_back(std::move(name));
  }
  if (Error failure = runTool("iverilog", args, run, run + "/build.log"))
    return failure;
  if (Error failure = runTool("vvp", {"-n", "sim.vvp"}, run, run + "/log.txt"))
    return failure;
  Expected<std::string> log = readFile(run + "/log.txt");
  if (!log)
    return log.takeError();
  SimResult result;
  bool done = false;
  SmallVector<StringRef> lines;
  StringRef(*log).split(lines, '\n', -1, false);
  for (StringRef line : lines) {
    if (line.consume_front("RHZ_ERROR "))
      return createStringError("the RTL of '%s' misbehaves in four-state "
                               "simulation: %s",
                               package.dir().c_str(), line.str().c_str());
    if (line.consume_front("RHZ_DONE "))
      done = !line.getAsInteger(10, result.cycles);
  }
  if (!done)
    return createStringError("Icarus ended early; its log is '%s/log.txt'",
                             run.c_str());
  result.outputs.resize(prepared.frames);
  for (auto [k, port] : llvm::enumerate(node.outputs)) {
    Expected<std::string> text =
        readFile(run + "/out" + std::to_string(k) + ".hex");
    if (!text)
      return text.takeError();
    unsigned beatBytes = port.dataWidth / 8;
    Expected<std::vector<uint8_t>> bytes = parseHexLines(*text, beatBytes);
    if (!bytes)
      return bytes.takeError();
    size_t frameBytes = port.beats() * beatBytes;
    if (bytes->size() != frameBytes * prepared.frames)
      return createStringError("Icarus wrote %zu bytes of output %zu instead "
                               "of %zu",
                               bytes->size(), k,
                               frameBytes * size_t(prepared.frames));
    for (int64_t f = 0; f < prepared.frames; ++f)
      result.outputs[f].push_back(
          unpackFrame(bytes->data() + f * frameBytes, port));
  }
  sys::fs::remove_directories(run);
  return result;
}
