// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Malicious packages are refused with the field's path or the file's line,
// whatever their checksums.
#include "../TestFolder.h"
#include "rhizome/Package/Package.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
Plan plainPlan() {
  Plan plan;
  plan.model = "any name: $(x)\n";
  plan.device = "xczu3eg";
  PlannedNode node;
  node.name = "node0";
  node.device = "xczu3eg";
  node.rtl = {"cell.sv"};
  node.modules["rhz_cell"] = {"cell.sv"};
  PlannedActor actor;
  actor.name = "conv1";
  actor.kind = "matvec";
  actor.module = "rhz_cell";
  actor.nodes = {"layer/conv 1"};
  actor.parameters = {"WeightFile"};
  actor.config = llvm::json::Object{{"WeightFile", "conv1.hex"}};
  node.actors.push_back(std::move(actor));
  node.inputs = {{"s_axis_0", "x", {1, 4}, {true, 8, -128, 127}, 64}};
  node.outputs = {{"m_axis_0", "y", {1, 4}, {true, 8, -128, 127}, 64}};
  node.link = "lan";
  plan.nodes.push_back(std::move(node));
  plan.links = {{{Medium::Kind::Udp, 10e9, 500, 1472, 66}, "lan"}};
  plan.hostLink = "lan";
  plan.channels = {{1,
                    "x",
                    {true, 8, -128, 127},
                    4,
                    {"host", "input0"},
                    {"node0", "s_axis_0"},
                    0,
                    1,
                    "lan"},
                   {2,
                    "y",
                    {true, 8, -128, 127},
                    4,
                    {"node0", "m_axis_0"},
                    {"host", "output0"},
                    0,
                    1,
                    "lan"}};
  return plan;
}

std::string messageOf(const std::function<void(Plan &)> &change) {
  Plan plan = plainPlan();
  change(plan);
  auto read = parsePlan(printPlan(plan));
  return read ? "accepted" : llvm::toString(read.takeError());
}

TEST(HostilePlan, ThePlainOneIsRead) {
  EXPECT_EQ(messageOf([](Plan &) {}), "accepted");
}

TEST(HostilePlan, NamesThatLeaveTheirPlaceAreRefusedByPath) {
  auto refused = [](const char *path,
                    const std::function<void(Plan &)> &change) {
    std::string message = messageOf(change);
    EXPECT_EQ(message.rfind(std::string(path) + ": ", 0), 0u)
        << path << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  refused("plan.nodes[0].name", [](Plan &p) {
    p.nodes[0].name = "../elsewhere";
    p.channels.clear();
  });
  refused("plan.nodes[0].rtl[0]",
          [](Plan &p) { p.nodes[0].rtl[0] = "cell.sv\n!touch harm"; });
  refused("plan.nodes[0].rtl[0]",
          [](Plan &p) { p.nodes[0].rtl[0] = "/etc/hostname"; });
  refused("plan.nodes[0].simulation_models[0]",
          [](Plan &p) { p.nodes[0].simulationModels = {"../../x.sv"}; });
  refused("plan.nodes[0].modules.rhz_cell",
          [](Plan &p) { p.nodes[0].modules["rhz_cell"] = {"a;b.sv"}; });
  refused("plan.nodes[0].modules",
          [](Plan &p) { p.nodes[0].modules["m; endmodule"] = {"cell.sv"}; });
  refused("plan.nodes[0].top", [](Plan &p) { p.nodes[0].top = "a b"; });
  refused("plan.nodes[0].device",
          [](Plan &p) { p.nodes[0].device = "x\n    load: harm"; });
  refused("plan.nodes[0].actors[0].parameters[0]", [](Plan &p) {
    p.nodes[0].actors[0].parameters = {"../../harm"};
    p.nodes[0].actors[0].config["../../harm"] = "conv1.hex";
  });
  refused("plan.nodes[0].actors[0].config.WeightFile", [](Plan &p) {
    p.nodes[0].actors[0].config["WeightFile"] = "../../../etc/hostname";
  });
  refused("plan.nodes[0].actors[0].module",
          [](Plan &p) { p.nodes[0].actors[0].module = "m #("; });
  refused("plan.links[0].name", [](Plan &p) {
    p.links[0].name = "\x1b[31m";
    p.channels.clear();
    p.hostLink = p.nodes[0].link = "";
  });
  refused("plan.cluster", [](Plan &p) { p.cluster = "`id`"; });
}

TEST(HostilePlan, EndingsThatMakeToolsRunAFileAreRefused) {
  auto refused = [](const std::string &field,
                    const std::function<void(Plan &)> &change) {
    std::string message = messageOf(change);
    EXPECT_EQ(message.rfind("plan.nodes[0]." + field + ": ", 0), 0u) << message;
    EXPECT_NE(message.find("must end in one of"), std::string::npos) << message;
  };
  for (const char *name :
       {"zz.cpp", "zz.cc", "zz.c", "zz.o", "zz.a", "zz.so", "zz.vlt", "zz.f",
        "zz", "zz.sv.cpp", "zz.SV", "module.ys", "a/Makefile", "zz.hex"}) {
    refused("rtl[0]", [&](Plan &p) { p.nodes[0].rtl[0] = name; });
    refused("simulation_models[0]",
            [&](Plan &p) { p.nodes[0].simulationModels = {name}; });
    refused("modules.rhz_cell",
            [&](Plan &p) { p.nodes[0].modules["rhz_cell"] = {name}; });
  }
  for (const char *name : {"a.sv", "a.txt", "a.cpp", "sub/a", "a.hex.so"})
    refused("actors[0].config.WeightFile",
            [&](Plan &p) { p.nodes[0].actors[0].config["WeightFile"] = name; });
  for (const char *name : {"a.v", "a.svh", "sub/a.sv"})
    EXPECT_EQ(messageOf([&](Plan &p) { p.nodes[0].rtl[0] = name; }),
              "accepted");
  for (const char *name : {"sub/a.mem", "012"})
    EXPECT_EQ(messageOf([&](Plan &p) {
                p.nodes[0].actors[0].config["WeightFile"] = name;
              }),
              "accepted");
}

TEST(HostilePlan, StatesThatNothingKeepsAreRefused) {
  auto withState = [](PlannedState state) {
    return messageOf([&](Plan &plan) { plan.tasks.states = {state}; });
  };
  EXPECT_EQ(withState({"h", "g", 8, false, "because"}), "accepted");
  EXPECT_NE(withState({"h", "g", -1, false, ""})
                .find("plan.tasks.states[0].bytes: -1 is not in"),
            std::string::npos);
  EXPECT_NE(withState({"h", "g", 8, true, ""})
                .find("plan.tasks.states[0].home: a node on a link"),
            std::string::npos);
}

TEST(HostilePlan, NumbersThatNothingHoldsAreRefused) {
  auto refused = [](const char *path,
                    const std::function<void(Plan &)> &change) {
    std::string message = messageOf(change);
    EXPECT_NE(message.find(path), std::string::npos) << path << ": " << message;
  };
  // The turn tables that these require would take all memory.
  refused("plan.channels[0].every",
          [](Plan &p) { p.channels[0].every = int64_t(4e18); });
  refused("plan.channels[2].every", [](Plan &p) {
    // Four channels into one port, with coprime periods.
    for (int64_t every : {4096, 4095, 4093, 4091}) {
      p.channels.push_back(p.channels[1]);
      p.channels.back().id = uint16_t(every);
      p.channels.back().every = every;
    }
    p.channels.erase(p.channels.begin() + 1);
  });
  refused("plan.channels[0].from.port",
          [](Plan &p) { p.channels[0].from.port = "input4000000000"; });
  refused("plan.nodes[0].ports.stream.in[0].port", [](Plan &p) {
    p.nodes[0].inputs[0].port = p.channels[0].to.port = "s_axis";
  });
  refused("plan.nodes[0].ports.stream.in[0].element.lo", [](Plan &p) {
    p.nodes[0].inputs[0].element = p.channels[0].element = {true, 8, 5, -5};
  });
  refused("plan.nodes[0].predicted.interval_cycles",
          [](Plan &p) { p.nodes[0].predicted.intervalCycles = -1; });
  refused("plan.nodes[0].clock_mhz",
          [](Plan &p) { p.nodes[0].clockMhz = 1e9; });
  refused("plan.nodes[0].stream_bits",
          [](Plan &p) { p.nodes[0].streamBits = 0; });
  refused("plan.nodes[0].actors[0].config.Depth", [](Plan &p) {
    p.nodes[0].actors[0].parameters.push_back("Depth");
    p.nodes[0].actors[0].config["Depth"] = int64_t(1) << 40;
  });
  // A replica whose frames are not its channels'.
  auto replicas = [](int64_t index, int64_t first, int64_t every) {
    return [=](Plan &p) {
      p.nodes[0].replica = {0, index, 3};
      for (Channel &channel : p.channels) {
        channel.first = first;
        channel.every = every;
      }
    };
  };
  EXPECT_EQ(messageOf(replicas(1, 1, 3)), "accepted");
  EXPECT_EQ(messageOf(replicas(1, 4, 6)), "accepted");
  EXPECT_EQ(messageOf(replicas(1, 0, 1)), "accepted");
  refused("plan.channels[0].first", replicas(1, 0, 3));
  refused("plan.channels[0].first", replicas(2, 4, 6));
  refused("plan.channels[0].first", replicas(0, -1, 3));
  refused("plan.channels[0].first", replicas(0, 3, 3));
  refused("plan.nodes[0].replica.index", replicas(3, 0, 3));
  refused("plan.nodes[0].replica.index", replicas(-1, 2, 3));
  refused("plan.links[0].latency_ns",
          [](Plan &p) { p.links[0].latencyNs = INT64_MAX; });
  // Times and places of memories, with which simulations compute.
  auto withMemory = [&](auto change) {
    return [change](Plan &p) {
      PlannedNode &node = p.nodes[0];
      node.memories = {{"ddr4", 1, 19'200'000'000, 40, 8, 7800, 350}};
      node.memoryPorts = {{"m_axi_ddr4_0", "ddr4", 0, 512, 4096}};
      node.segments = {{"segments/w.bin", "ddr4", 0, 0, 64}};
      change(node);
    };
  };
  EXPECT_EQ(messageOf(withMemory([](PlannedNode &) {})), "accepted");
  refused(
      "plan.nodes[0].memories[0].bytes_per_s",
      withMemory([](PlannedNode &n) { n.memories[0].bytesPerS = INT64_MAX; }));
  refused(
      "plan.nodes[0].memories[0].latency_ns",
      withMemory([](PlannedNode &n) { n.memories[0].latencyNs = INT64_MAX; }));
  refused("plan.nodes[0].memories[0].refresh_every_ns",
          withMemory([](PlannedNode &n) {
            n.memories[0].refreshEveryNs = INT64_MAX;
          }));
  refused("plan.nodes[0].segments[0].address", withMemory([](PlannedNode &n) {
            n.segments[0].address = INT64_MAX;
          }));
  refused("plan.nodes[0].segments[0].bytes",
          withMemory([](PlannedNode &n) { n.segments[0].bytes = INT64_MAX; }));
}

/// The package with this as its only RTL, written and checksummed like compile
/// does, opened.
std::string opened(const std::string &rtl, Changes changes = Changes::Refuse) {
  TestFolder folder;
  std::string target = folder.path() + "/m.rhz";
  auto writer = PackageWriter::create(target);
  EXPECT_TRUE(bool(writer));
  EXPECT_FALSE((*writer)->writeFile("nodes/node0/rtl/cell.sv", rtl));
  EXPECT_FALSE((*writer)->writePlan(plainPlan()));
  EXPECT_FALSE((*writer)->commit());
  auto package = Package::open(target, changes);
  return package ? "opened" : llvm::toString(package.takeError());
}

TEST(HostileRtl, IsRefusedByLineUnlessItIsTrusted) {
  EXPECT_EQ(opened("// $system(\"id\") in a comment \xc3\x97\n"
                   "/* `include \"x\" */ module \\a$b ;\n"
                   "initial $display(\"$fopen\");\n"
                   "localparam int W = $clog2(8);\n"
                   "`ifdef X\n`define HELD 3\n`endif\n"
                   "wire [`HELD:0] a = $signed(1);\nendmodule\n"),
            "opened");
  for (auto [rtl, what] :
       {std::pair("module m;\ninitial $system(\"id\");\nendmodule\n",
                  "'cell.sv', line 2: '$system'"),
        {"initial\n\n$c(\"system(0);\");", "line 3: '$c'"},
        {"initial $fdisplay(1, 2);", "line 1: '$fdisplay'"},
        {"initial $fopen(\"/x\");", "'$fopen'"},
        {"import \"DPI-C\" function void harm();", "'import'"},
        {"`include \"/etc/passwd\"", "'`include'"},
        {"`systemc_header\n#include <x>", "'`systemc_header'"},
        {"`verilator_config", "'`verilator_config'"},
        {"`define A(x) $sys``x\n", "a macro that pastes tokens"},
        {"`undefined_elsewhere", "'`undefined_elsewhere'"},
        {"initial `W/**/memh(\"f\", m);", "'`W'"},
        {"`define W $write\ninitial `W/**/memh(\"f\", m);",
         "line 2: a macro that pastes tokens"},
        // What tools split otherwise than this scan.
        {"wire \\x\f=1;initial\f$system(1);", "line 1: the byte 0x0c"},
        {"wire \\x\v=1;", "the byte 0x0b"},
        {"// c\r initial $system(1);", "the byte 0x0d"},
        {"module m;\r\nendmodule", "the byte 0x0d"},
        {"wire \xc2\xa0x;", "the byte 0xc2"},
        {"initial $display(\"\xff\");", "the byte 0xff"},
        {"wire \\x\x85 ;", "the byte 0x85"},
        {"`ifdef NO\n\"\n`endif\n$system(1);",
         "line 2: a string that does not end in its line"},
        {"`ifdef NO\n/* `endif\n$system(1); */\n`endif",
         "a '`' in a comment in a region"},
        {"`ifdef NO\n// `endif\n", "a '`' in a comment in a region"},
        {"`ifdef NO\n\"`endif\"\n", "a '`' in a string in a region"},
        {"`ifdef NO\n", "a region without '`endif'"},
        {"`endif", "'`endif' without a region"},
        {"/* open", "a comment without an end"},
        {"wire \\a\"b ; // \"", "the name '\\a\"b'"},
        {"wire \\a// ;", "the name '\\a//'"},
        {"$", "'$'"}}) {
    std::string message = opened(rtl);
    EXPECT_NE(message.find(what), std::string::npos) << rtl << ": " << message;
    EXPECT_NE(message.find("--trust"), std::string::npos) << message;
    EXPECT_EQ(opened(rtl, Changes::Trust), "opened") << rtl;
  }
}
/// A package on disk, which a test changes before it is opened.
class HostileFolder : public ::testing::Test {
protected:
  HostileFolder() {
    auto writer = llvm::cantFail(PackageWriter::create(target()));
    llvm::cantFail(writer->writeFile("nodes/node0/rtl/cell.sv",
                                     "module rhz_cell;\nendmodule\n"));
    llvm::cantFail(writer->writePlan(plainPlan()));
    llvm::cantFail(writer->commit());
    std::filesystem::create_directories(folder.path("home"));
    folder.write("home/precious", "precious");
  }
  std::string target() { return folder.path("m.rhz"); }
  std::string message(Changes changes = Changes::Accept) {
    auto package = Package::open(target(), changes);
    return package ? "opened" : llvm::toString(package.takeError());
  }
  TestFolder folder;
};

TEST_F(HostileFolder, LinksAreRefused) {
  EXPECT_EQ(message(), "opened");
  namespace fs = std::filesystem;
  for (const char *name :
       {"results", "results/sim", "results/vivado", "results/synth.json",
        "results/nextpnr/netlist.v", "nodes/node0/rtl/log.txt",
        "nodes/node0/rtl/in0.hex", "nodes/node0/vivado", "model", "host",
        "report.html", "segments", "host/runtime"}) {
    fs::path path = folder.path(std::string("m.rhz/") + name);
    fs::create_directories(path.parent_path());
    fs::create_symlink(folder.path("home"), path);
    for (Changes changes :
         {Changes::Refuse, Changes::Accept, Changes::Trust, Changes::Ignore}) {
      std::string said = message(changes);
      EXPECT_NE(said.find(std::string(name) + "' is a symbolic link"),
                std::string::npos)
          << name << ": " << said;
    }
    fs::remove(path);
  }
  for (const char *name : {"results/vivado/node0/out/x", "host/build/x",
                           "nodes/node0/vivado/out/x"}) {
    fs::path path = folder.path(std::string("m.rhz/") + name);
    fs::create_directories(path.parent_path());
    fs::create_symlink(folder.path("home"), path);
  }
  EXPECT_EQ(message(), "opened");
  EXPECT_EQ(folder.read("home/precious"), "precious");
}

TEST_F(HostileFolder, FilesWithoutAChecksumAreRefused) {
  folder.write("m.rhz/nodes/node0/rtl/more.sv", "module m; endmodule\n");
  Plan plan = plainPlan();
  plan.nodes[0].rtl.push_back("more.sv");
  folder.write("m.rhz/plan.json", printPlan(plan));
  std::string said = message(Changes::Refuse);
  EXPECT_NE(said.find("does not list 'nodes/node0/rtl/more.sv'"),
            std::string::npos)
      << said;
  EXPECT_EQ(message(Changes::Accept), "opened");
}

TEST_F(HostileFolder, ResultsAreWrittenAndRemovedWithoutLinks) {
  Package package = llvm::cantFail(Package::open(target()));
  // As if somebody put it there meanwhile.
  std::filesystem::create_symlink(folder.path("home"),
                                  folder.path("m.rhz/results"));
  auto text = [](llvm::Error error) {
    return error ? llvm::toString(std::move(error)) : "good";
  };
  for (std::string said :
       {text(package.makeResults()), text(package.makeResults("sim")),
        text(package.writeResult("x.json", "x")),
        text(package.removeResult("precious")),
        text(package.emptyResults("precious")),
        text(package.readResult("precious").takeError())})
    EXPECT_NE(said.find("is a symbolic link"), std::string::npos) << said;
  EXPECT_EQ(folder.read("home/precious"), "precious");
  std::filesystem::remove(folder.path("m.rhz/results"));
  EXPECT_EQ(text(package.writeResult("a/x.json", "x")), "good");
  EXPECT_EQ(llvm::cantFail(package.readResult("a/x.json")), "x");
  EXPECT_EQ(text(package.emptyResults("a")), "good");
  EXPECT_NE(
      text(package.readResult("a/x.json").takeError()).find("cannot read"),
      std::string::npos);
}

TEST_F(HostileFolder, OnlyPackagesAreReplaced) {
  auto said = [](const std::string &where) {
    llvm::Error error = PackageWriter::check(where);
    return error ? llvm::toString(std::move(error)) : "good";
  };
  EXPECT_EQ(said(target()), "good");
  EXPECT_EQ(said(folder.path("new/package")), "good");
  const std::string plan = folder.read("m.rhz/plan.json"),
                    sums = folder.read("m.rhz/checksums.json");
  for (const auto &[plans, checksums] :
       std::vector<std::pair<std::string, std::string>>{
           {"{}", ""},
           {plan, ""},
           {"{}", sums},
           {"{\"schema\": 8}", sums},
           {plan, "{}"},
           {plan, "{\"checksum\": \"XXH3-128\", \"files\": []}"}}) {
    folder.write("home/plan.json", plans);
    std::filesystem::remove(folder.path("home/checksums.json"));
    if (!checksums.empty())
      folder.write("home/checksums.json", checksums);
    EXPECT_NE(said(folder.path("home")).find("is no rhizome package (its plan"),
              std::string::npos);
  }
  folder.write("home/plan.json", plan);
  folder.write("home/checksums.json", sums);
  EXPECT_EQ(said(folder.path("home")), "good");
  std::filesystem::create_symlink(target(), folder.path("link"));
  EXPECT_NE(said(folder.path("link")).find("is a symbolic link"),
            std::string::npos);
  EXPECT_NE(said(folder.path("link") + "/").find("is a symbolic link"),
            std::string::npos);
}
} // namespace
