// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The top of a node: channels as seen by a node, and an emitted rhz_node that
// every tool reads without a warning.
#include "rhizome/PlanBuild/Node.h"
#include "../TestFolder.h"
#include "mlir/IR/MLIRContext.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Target/Device.h"
#include "rhizome/Unit/Unit.h"
#include "rhizome/Vendor/Vendor.h"
#include "gtest/gtest.h"

using namespace rhizome;
using namespace rhizome::planbuild;
using rhizome::test::TestFolder;

namespace {
BorderPort port(const std::string &name, int64_t elements, unsigned width,
                unsigned streamBits) {
  BorderPort p;
  p.port = name;
  p.name = name;
  p.shape = {1, elements};
  p.element = {false, width, 0, (int64_t(1) << width) - 1};
  p.dataWidth = streamBits;
  return p;
}

Channel channel(uint16_t id, ChannelEnd from, ChannelEnd to, int64_t elements,
                unsigned width, int64_t first, int64_t every) {
  Channel c;
  c.id = id;
  c.tensor = "t" + std::to_string(id);
  c.element = {false, width, 0, (int64_t(1) << width) - 1};
  c.elements = elements;
  c.from = std::move(from);
  c.to = std::move(to);
  c.first = first;
  c.every = every;
  c.link = "net";
  return c;
}

/// Two replicas feed node "c", which has another input from the host and sends
/// one output to both replicas' successor and the host, and one in turn.
Plan planOf(unsigned bits, Medium::Kind kind) {
  Plan plan;
  plan.predicted.throughputPerS = 1e5;
  plan.links = {{{kind, 1e9, 1000, 1472, 66}, "net"}};
  for (int64_t r = 0; r < 2; ++r) {
    PlannedNode node;
    node.name = r ? "b" : "a";
    node.address = uint16_t(1 + r);
    node.replica = {1, r, 2};
    node.clockMhz = 100;
    node.streamBits = bits;
    node.inputs = {port("s_axis_0", 100, 8, bits)};
    node.outputs = {port("m_axis_0", 13, 5, bits)};
    plan.nodes.push_back(node);
  }
  PlannedNode node;
  node.name = "c";
  node.address = 7;
  node.clockMhz = 100;
  node.streamBits = bits;
  node.inputs = {port("s_axis_0", 13, 5, bits), port("s_axis_1", 3, 64, bits)};
  node.outputs = {port("m_axis_0", 9, 1, bits), port("m_axis_1", 300, 8, bits)};
  plan.nodes.push_back(node);
  for (int64_t r = 0; r < 2; ++r) {
    std::string name = r ? "b" : "a";
    auto id = uint16_t(10 + 10 * r);
    plan.channels.push_back(
        channel(id, {kHost, "input0"}, {name, "s_axis_0"}, 100, 8, r, 2));
    plan.channels.push_back(channel(uint16_t(id + 1), {name, "m_axis_0"},
                                    {"c", "s_axis_0"}, 13, 5, r, 2));
  }
  plan.channels.push_back(
      channel(30, {kHost, "input1"}, {"c", "s_axis_1"}, 3, 64, 0, 1));
  for (uint16_t k = 0; k < 2; ++k)
    plan.channels.push_back(channel(uint16_t(40 + k), {"c", "m_axis_0"},
                                    {kHost, "output" + std::to_string(k)}, 9, 1,
                                    0, 1));
  for (int64_t k = 0; k < 3; ++k)
    plan.channels.push_back(channel(uint16_t(50 + k), {"c", "m_axis_1"},
                                    {kHost, "output" + std::to_string(2 + k)},
                                    300, 8, k, 3));
  return plan;
}

/// A design that passes on its inputs, in whole frames, and never asks its
/// memories.
std::string topText(const PlannedNode &node) {
  std::string d = "[" + std::to_string(node.streamBits - 1) + ":0] ";
  std::string text = "module rhz_top (\n  input logic clk_i,\n"
                     "  input logic rst_ni";
  std::string body = "  logic unused;\n  assign unused = ^{clk_i, rst_ni};\n";
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    std::string s = "s_axis_" + std::to_string(k),
                m = "m_axis_" + std::to_string(k);
    text += ",\n  input logic " + d + s + "_tdata,\n  input logic " + s +
            "_tvalid,\n  input logic " + s + "_tlast,\n  output logic " + s +
            "_tready,\n  output logic [15:0] " + s + "_err_o,\n  input logic " +
            m + "_tready,\n  output logic " + d + m +
            "_tdata,\n  output logic " + m + "_tvalid,\n  output logic " + m +
            "_tlast";
    for (const char *signal : {"_tdata", "_tvalid", "_tlast"})
      body += "  assign " + m + signal + " = " + s + signal + ";\n";
    body += "  assign " + s + "_tready = " + m + "_tready;\n";
    body += "  assign " + s + "_err_o = 16'd0;\n";
  }
  for (const MemoryPort &memory : node.memoryPorts) {
    std::string inputs;
    for (const unit::Signal &signal : unit::signalsOf(
             memory.writes() ? unit::Protocol::Axi4 : unit::Protocol::Axi4Read,
             /*isInput=*/false)) {
      const std::string name = memory.port + signal.suffix;
      const int64_t width = signal.width ? signal.width : memory.dataWidth;
      text += std::string(",\n  ") + (signal.isInput ? "input" : "output") +
              " logic [" + std::to_string(width - 1) + ":0] " + name;
      if (signal.isInput)
        inputs += (inputs.empty() ? "" : ", ") + name;
      else
        body += "  assign " + name + " = '0;\n";
    }
    body += "  logic unused_" + memory.port + ";\n  assign unused_" +
            memory.port + " = ^{" + inputs + "};\n";
  }
  return "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n" + text +
         "\n);\n" + body + "endmodule\n";
}

/// The command succeeds in `dir` and warns of nothing.
void expectRuns(const std::string &command, const std::string &dir) {
  TestFolder folder;
  EXPECT_EQ(folder.run("cd '" + dir + "' && " + command), 0)
      << folder.read("log.txt");
  EXPECT_EQ(folder.read("log.txt").find("arning"), std::string::npos)
      << folder.read("log.txt");
}
} // namespace

TEST(NodeChannels, AsEveryNodeSeesThem) {
  Plan plan = planOf(64, Medium::Kind::Udp);
  auto c = nodeChannels(plan, plan.nodes[2]);
  ASSERT_EQ(c.size(), 8u);
  EXPECT_EQ(c[0].channel->id, 11);
  EXPECT_EQ(c[1].channel->id, 21);
  EXPECT_EQ(c[1].first, 1);
  EXPECT_EQ(c[1].every, 2);
  EXPECT_EQ(c[1].peer, 2);
  EXPECT_EQ(c[2].port, 1u);
  EXPECT_FALSE(c[2].transmit);
  EXPECT_TRUE(c[3].transmit);
  EXPECT_EQ(c[4].first, 0);
  EXPECT_EQ(c[7].first, 2);
  EXPECT_EQ(c[7].every, 3);
  // A replica handles only its own frames.
  for (int k : {0, 1}) {
    auto r = nodeChannels(plan, plan.nodes[k]);
    ASSERT_EQ(r.size(), 2u);
    EXPECT_EQ(r[0].first, 0);
    EXPECT_EQ(r[0].every, 1);
    EXPECT_EQ(r[1].first, 0);
    EXPECT_EQ(r[1].every, 1);
    EXPECT_EQ(r[1].peer, 7);
  }
  auto words = nodeConfiguration(plan, plan.nodes[1]);
  EXPECT_EQ(words, (std::vector<uint16_t>{20, 0, 0, 21, 7, 0}));
}

TEST(NodeChannels, ReplicasToReplicas) {
  // Three replicas before, two after: frame f goes from f mod 3 to f mod 2.
  Plan plan = planOf(64, Medium::Kind::Udp);
  PlannedNode &node = plan.nodes[0];
  node.replica = {1, 2, 3};
  plan.channels.clear();
  for (int64_t k = 0; k < 2; ++k) {
    int64_t first = 2;
    while (first % 2 != k)
      first += 3;
    plan.channels.push_back(channel(uint16_t(k), {"a", "m_axis_0"},
                                    {"c", "s_axis_0"}, 13, 5, first, 6));
  }
  auto c = nodeChannels(plan, node);
  ASSERT_EQ(c.size(), 2u);
  // Its frames are 2, 5, 8, …: alternately to both.
  EXPECT_EQ(c[0].channel->first, 2);
  EXPECT_EQ(c[0].first, 0);
  EXPECT_EQ(c[1].channel->first, 5);
  EXPECT_EQ(c[1].first, 1);
  EXPECT_EQ(c[1].every, 2);
}

TEST(NodeTop, EveryToolReadsIt) {
  for (auto [bits, kind] :
       {std::pair(8u, Medium::Kind::Wire), std::pair(64u, Medium::Kind::Udp)}) {
    TestFolder folder;
    Plan plan = planOf(bits, kind);
    mlir::MLIRContext context;
    context.loadDialect<rtl::RtlDialect>();
    auto writer = PackageWriter::create(folder.path("p.rhz"));
    ASSERT_TRUE(bool(writer));
    PlannedNode &node = plan.nodes[2];
    node.rtl = {"rhz_top.sv"};
    // As a network's, it counts the faulty frames of each input.
    PlannedActor border;
    border.name = "s_axis_0";
    node.actors = {border};
    if (kind == Medium::Kind::Udp)
      node.memoryPorts = {{"m_axi_ddr4_0", "ddr4", 0, 512, 4096},
                          {"m_axi_ddr4_1", "ddr4", 1, 512, 4096},
                          {"m_axi_ddr4_2", "ddr4", 2, 128, 4096, 0, 4096}};
    auto written =
        (*writer)->writeFile("nodes/c/rtl/rhz_top.sv", topText(node));
    ASSERT_FALSE(bool(written));
    auto error = writeNodeTop(**writer, plan, node, context);
    ASSERT_EQ(error ? llvm::toString(std::move(error)) : "", "");
    EXPECT_EQ(node.nodeTop, "rhz_node");
    EXPECT_EQ(node.rtl.back(), "rhz_node.sv");
    auto dir = (*writer)->makeFolder("nodes/c/rtl");
    ASSERT_TRUE(bool(dir));
    std::string files;
    for (const std::string &file : node.rtl)
      files += " " + file;
    expectRuns("verilator --lint-only -Wall --top-module rhz_node" + files,
               *dir);
    expectRuns("iverilog -g2012 -s rhz_node -o out.vvp" + files, *dir);
    expectRuns("yosys -q -p 'read_verilog -sv -defer" + files +
                   "; hierarchy -check -top rhz_node; proc; check -assert'",
               *dir);
  }
}
