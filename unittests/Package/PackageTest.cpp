// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A package appears completely or not at all, the same plan gives the same
// bytes, and other folders are refused with the reason.
#include "rhizome/Package/Package.h"
#include "../TestFolder.h"
#include <csignal>
#include <cstring>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
Plan toyPlan() {
  Plan plan;
  plan.model = "toy";
  plan.device = "xcku060-role";
  plan.clockMhz = 156.25;
  plan.goal = "throughput=5000/s";
  plan.predicted = {31250, 40000, 156.25, 5000, 100, 200, 3, 4};
  plan.utilization = {{"lut", 0.1}, {"dsp", 3.0 / 1077}};
  plan.bottleneck = "conv1";
  PlannedNode node;
  node.name = "node0";
  node.device = "xcku060-role";
  node.family = "ultrascale";
  node.budget = {{"lut", 96801}, {"dsp", 1077}};
  node.clockMhz = 156.25;
  node.rtl = {"cell.sv", "rhz_top.sv"};
  node.modules["rhz_matvec"] = {"cell.sv"};
  PlannedActor actor;
  actor.name = "conv1";
  actor.kind = "matvec";
  actor.module = "rhz_matvec";
  actor.parameters = {"pe"};
  actor.nodes = {"conv1"};
  actor.intervalCycles = 31250;
  actor.resources = {{"lut", 100}, {"bram", 1.5}};
  actor.config = llvm::json::Object{{"pe", 4}, {"style", "dsp"}};
  node.actors.push_back(std::move(actor));
  node.inputs = {{"s_axis_0", "x", {1, 2, 3, 3}, {true, 5, -16, 15}, 64}};
  node.outputs = {{"m_axis_0", "y", {1, 10}, {false, 8, 0, 255}, 64}};
  plan.nodes.push_back(std::move(node));
  return plan;
}

/// Two replicas of the toy after a broadcast-free scatter, on one link.
Plan toyCluster() {
  Plan plan = toyPlan();
  plan.cluster = "toys";
  plan.alternatives = {{"1 × xcku060-role", 1, 5000, "half the rate"}};
  plan.links = {{{Medium::Kind::Udp, 10e9, 500, 1472, 66}, "lan"}};
  plan.hostLink = plan.nodes[0].link = "lan";
  PlannedNode &first = plan.nodes[0];
  first.nodeTop = "rhz_node";
  first.replica = {1, 0, 2};
  first.operations = {{"conv1", "conv2d", 1, "stream",
                       "stream/matvec?pe=4&simd=9", "PE 4 × SIMD 9", 31250}};
  plan.splits = {{"fc.1", "dense", 0, 3}};
  plan.tasks = {"x86-64",
                "pcie3-x16",
                {{"host0", false, {"x"}, {"host0.0"}, 1, 0.5},
                 {"network", true, {"host0.0"}, {"y"}, 2, 0}},
                {{"network", true, {"host0.0"}, 12, 1.25},
                 {"network", false, {"y"}, 10, 1.5}}};
  PlannedNode second;
  second = plan.nodes[0];
  second.name = "node1";
  second.address = 2;
  second.replica.index = 1;
  second.rtlOf = "node0";
  plan.nodes.push_back(std::move(second));
  uint16_t id = 0;
  for (int64_t k : {0, 1}) {
    std::string name = plan.nodes[k].name;
    plan.channels.push_back({id++,
                             "x",
                             {true, 5, -16, 15},
                             18,
                             {"host", "input0"},
                             {name, "s_axis_0"},
                             k,
                             2,
                             "lan"});
    plan.channels.push_back({id++,
                             "y",
                             {false, 8, 0, 255},
                             10,
                             {name, "m_axis_0"},
                             {"host", "output0"},
                             k,
                             2,
                             "lan"});
  }
  return plan;
}

void writeToy(const std::string &target, const std::string &cell = "cell") {
  auto writer = PackageWriter::create(target);
  ASSERT_TRUE(bool(writer)) << llvm::toString(writer.takeError());
  ASSERT_FALSE((*writer)->writeFile("nodes/node0/rtl/cell.sv", cell));
  ASSERT_FALSE((*writer)->writeFile("nodes/node0/rtl/rhz_top.sv", "top"));
  ASSERT_FALSE((*writer)->writePlan(toyPlan()));
  ASSERT_FALSE((*writer)->commit());
}

int entries(const TestFolder &folder) {
  std::error_code error;
  int n = 0;
  for (llvm::sys::fs::directory_iterator it(folder.path(), error), end;
       it != end; it.increment(error))
    ++n;
  return n;
}

std::string openMessage(const std::string &dir,
                        Changes changes = Changes::Refuse) {
  auto package = Package::open(dir, changes);
  return package ? "opened" : llvm::toString(package.takeError());
}

TEST(Plan, ReadsBackWhatItWrote) {
  std::string text = printPlan(toyPlan());
  EXPECT_EQ(text, printPlan(toyPlan()));
  EXPECT_EQ(text.find("{\n  \"schema\": 8,\n  \"rhizome\": "), 0u) << text;
  EXPECT_NE(text.find("\"clock_mhz\": 156.25,"), std::string::npos);
  EXPECT_NE(text.find("\"lut\": 0.1\n"), std::string::npos) << text;
  auto plan = parsePlan(text);
  ASSERT_TRUE(bool(plan)) << llvm::toString(plan.takeError());
  EXPECT_EQ(printPlan(*plan), text);
  EXPECT_EQ(plan->predicted, toyPlan().predicted);
  EXPECT_EQ(plan->nodes[0].inputs, toyPlan().nodes[0].inputs);
  EXPECT_EQ(plan->nodes[0].inputs[0].beats(), 2);
  EXPECT_EQ(plan->nodes[0].family, "ultrascale");
  EXPECT_EQ(plan->nodes[0].budget, toyPlan().nodes[0].budget);
  EXPECT_EQ(plan->nodes[0].actors[0].resources.at("bram"), 1.5);
  EXPECT_EQ(plan->nodes[0].actors[0].config,
            toyPlan().nodes[0].actors[0].config);
  EXPECT_EQ(plan->nodes[0].actors[0].module, "rhz_matvec");
  EXPECT_EQ(plan->nodes[0].actors[0].parameters,
            std::vector<std::string>{"pe"});
  EXPECT_EQ(plan->nodes[0].modules, toyPlan().nodes[0].modules);
}

TEST(Plan, RefusesWhatItIsNot) {
  auto message = [](const std::string &from, const std::string &to) {
    std::string text = printPlan(toyPlan());
    auto plan = parsePlan(text.replace(text.find(from), from.size(), to));
    return plan ? "accepted" : llvm::toString(plan.takeError());
  };
  EXPECT_NE(message("\"schema\": 8", "\"schema\": 9").find("its schema is 9"),
            std::string::npos);
  EXPECT_EQ(message("\"schema\": 8", "\"scheme\": 1"),
            "it has no 'schema' number");
  EXPECT_EQ(message("\"model\": \"toy\"", "\"model\": 3"),
            "expected string at plan.model");
  EXPECT_EQ(message("\"data_width\": 64", "\"data_width\": 63"),
            "expected whole bytes, at most 4096 bits at "
            "plan.nodes[0].ports.stream[0].data_width");
  EXPECT_EQ(message("\"width\": 5", "\"width\": 65"),
            "expected 1..64 at plan.nodes[0].ports.stream[0].element.width");
  EXPECT_EQ(message("\"top\"", "\"topp\""),
            "missing value at plan.nodes[0].top");
  Plan bare = toyPlan();
  bare.nodes.clear();
  auto none = parsePlan(printPlan(bare));
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(llvm::toString(none.takeError()), "it names no node");
  auto plan = parsePlan("{\"schema\": 8, ");
  ASSERT_FALSE(bool(plan));
  llvm::consumeError(plan.takeError());
}

TEST(Plan, ReadsAClusterBack) {
  Plan plan = toyCluster();
  auto read = parsePlan(printPlan(plan));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(printPlan(*read), printPlan(plan));
  EXPECT_EQ(read->channels, plan.channels);
  EXPECT_EQ(read->links, plan.links);
  EXPECT_EQ(read->hostLink, plan.hostLink);
  EXPECT_EQ(read->nodes[0].link, plan.nodes[0].link);
  EXPECT_EQ(read->alternatives, plan.alternatives);
  EXPECT_EQ(read->nodes[1].replica, plan.nodes[1].replica);
  EXPECT_EQ(read->nodes[0].operations, plan.nodes[0].operations);
  EXPECT_EQ(read->splits, plan.splits);
  EXPECT_EQ(&read->owner(read->nodes[1]), &read->nodes[0]);
  EXPECT_EQ(read->node("node2"), nullptr);
  EXPECT_EQ(read->link("lan")->mtuBytes, 1472);
  EXPECT_EQ(read->channels[0].frameBytes(), 12);
}

TEST(Plan, RefusesClustersThatDoNotFitTogether) {
  auto message = [](auto change) {
    Plan plan = toyCluster();
    change(plan);
    auto read = parsePlan(printPlan(plan));
    return read ? "accepted" : llvm::toString(read.takeError());
  };
  EXPECT_EQ(message([](Plan &p) { p.nodes[1].name = "node0"; }),
            "two nodes are named 'node0', or one as the host");
  EXPECT_EQ(message([](Plan &p) { p.nodes[1].address = 0; }),
            "node 'node1' has the address 0, which another node or the host "
            "has");
  EXPECT_EQ(
      message([](Plan &p) { p.nodes[1].rtlOf = "node1"; }),
      "node 'node1' shares the files of 'node1', which is not a node with "
      "files of its own");
  EXPECT_EQ(message([](Plan &p) { p.nodes[1].replica.index = 2; }),
            "expected less than count, and not negative at "
            "plan.nodes[1].replica.index");
  EXPECT_EQ(message([](Plan &p) { p.links.push_back(p.links[0]); }),
            "two links are named 'lan'");
  std::string text = printPlan(toyCluster());
  auto odd = parsePlan(text.replace(text.find("\"udp\""), 5, "\"tcp\""));
  EXPECT_EQ(llvm::toString(odd.takeError()),
            "expected 'udp' or 'wire' at plan.links[0].kind");
  EXPECT_EQ(message([](Plan &p) { p.links[0].bitsPerS = 0; }),
            "expected a positive number at plan.links[0].bits_per_s");
  EXPECT_EQ(message([](Plan &p) { p.links[0].mtuBytes = 0; }),
            "plan.links[0].mtu_bytes: 0 is not in 1..65536");
  EXPECT_EQ(message([](Plan &p) { p.channels[1].id = 0; }),
            "two channels have the number 0");
  EXPECT_EQ(message([](Plan &p) { p.channels[1].every = 0; }),
            "expected less than every, and not negative at "
            "plan.channels[1].first");
  EXPECT_EQ(message([](Plan &p) { p.channels[2].link = "wan"; }),
            "channel 2 names the link 'wan', which is not in the plan");
  EXPECT_EQ(message([](Plan &p) { p.hostLink = "wan"; }),
            "'host' hangs at the link 'wan', which is not in the plan");
  EXPECT_EQ(message([](Plan &p) { p.nodes[0].link = "wan"; }),
            "'node0' hangs at the link 'wan', which is not in the plan");
  EXPECT_EQ(message([](Plan &p) { p.channels[0].from.port = "output0"; }),
            "channel 0: the host has no port 'output0'; its sources are "
            "input0, input1, …");
  EXPECT_EQ(message([](Plan &p) { p.channels[0].to.node = "node7"; }),
            "channel 0 names the node 'node7', which is not in the plan");
  EXPECT_EQ(message([](Plan &p) { p.channels[0].to.port = "m_axis_0"; }),
            "channel 0: node 'node0' has no input 'm_axis_0'");
  EXPECT_EQ(message([](Plan &p) { p.channels[0].elements = 17; }),
            "channel 0 carries 17 elements of 5 bits, but port 's_axis_0' of "
            "node 'node0' has 18 of 5 bits (or another range)");
}

TEST(Plan, KernelsHaveTheirStreamsTensors) {
  Plan plan = toyPlan();
  plan.nodes[0].inputs[0] = {
      "s_axis_0", "inputs", {6}, {true, 16, -32768, 32767}, 16};
  plan.nodes[0].outputs[0] = {
      "m_axis_0", "outputs", {2}, {true, 16, -32768, 32767}, 16};
  PlannedKernel kernel;
  kernel.name = "toy";
  kernel.choice.stages = 3;
  kernel.choice.residents = {"b"};
  kernel.choice.words = 4;
  kernel.choice.borders = {4, 2, 1};
  kernel.choice.nests = {{"c", {1, 0}, {2, 1}, 7}};
  kernel.choice.sums = {{0, 1, 2}};
  kernel.readCycles = 6;
  kernel.computeCycles = 9;
  kernel.writeCycles = 3;
  kernel.nests = {{"c", "toy.cfd:3:1", {2, 2}, 4, 1, 5, 9}};
  kernel.inputs = {{"a", {2, 2}, numeric::Format::fixed(3, 10)},
                   {"b", {2}, numeric::Format::fixed(3, 5)}};
  kernel.outputs = {{"c", {2}, numeric::Format::fixed(3, 10)}};
  kernel.streams = {{"s_axis_0", {"a", "b"}, false},
                    {"m_axis_0", {"c"}, false}};
  kernel.stages = {
      {{"read a", "read b", "c", "write c"}, {4, 2, 9, 3}, 18, false}};
  kernel.memories = {
      {"m0", "block", 0, 4, 14, 1, 1, 1, {{"a", 0, 2}}},
      {"m1", "LUT", 0, 2, 14, 1, 1, 1, {{"b", 1, 2}, {"c", 3, 3}}}};
  plan.kernel = kernel;
  auto read = parsePlan(printPlan(plan));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->kernel, plan.kernel);
  auto refuse = [&](const char *reason) {
    auto other = parsePlan(printPlan(plan));
    ASSERT_FALSE(bool(other));
    std::string text = llvm::toString(other.takeError());
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    plan.kernel = kernel;
  };
  plan.kernel->inputs[1].shape = {3};
  refuse("not those of its streams");
  plan.kernel->outputs[0].format = numeric::Format::fixed(8, 24);
  refuse("not those of its streams");
  plan.kernel->streams[0].tensors = {"a", "a"};
  refuse("not those of its streams");
  plan.kernel->memories[1].stage = 1;
  refuse("the memory 'm1' is of no stage");
  plan.kernel->inputs[0].shape = {0};
  refuse("expected positive sizes");
  plan.kernel->choice.lanes = kMostLanes + 1;
  refuse("plan.kernel.choice.lanes: 65 is not in 1..64");
  plan.kernel->choice.borders = {3};
  refuse("plan.kernel.choice.borders[0]: 3 does not divide the 4 words");
  plan.kernel->choice.nests[0].copies[1] = 0;
  refuse("plan.kernel.choice.nests[0].copies: 0 is not in 1..");
  std::string text = printPlan(plan);
  auto odd = parsePlan(text.replace(text.find("fixed<3,5>"), 10, "fixed<5,x>"));
  ASSERT_FALSE(bool(odd));
  EXPECT_NE(llvm::toString(odd.takeError()).find("a number format"),
            std::string::npos);
}

TEST(Plan, SystemsOfKernelsHaveAPortForEachStream) {
  Plan plan = toyPlan();
  plan.nodes[0].inputs[0] = {
      "s_axis_0", "a", {12}, {true, 16, -32768, 32767}, 32};
  plan.nodes[0].outputs[0] = {
      "m_axis_0", "c", {4}, {true, 16, -32768, 32767}, 32};
  plan.nodes[0].memories = {{"ddr4", 2, 19'200'000'000, 60, 20, 7800, 350}};
  PlannedKernel kernel;
  kernel.name = "toy";
  kernel.choice.words = 1;
  kernel.lanes = 2;
  kernel.inputs = {{"a", {6}, numeric::Format::fixed(3, 10)}};
  kernel.outputs = {{"c", {2}, numeric::Format::fixed(3, 10)}};
  kernel.streams = {{"s_axis_0", {"a"}, false}, {"m_axis_0", {"c"}, false}};
  PlannedSystem system;
  system.memory = "ddr4";
  system.units = 2;
  system.elements = 0x28;
  system.dies = {"SLR0", "SLR1"};
  system.ports = {{"m_axi_0",
                   "s_axis_0",
                   false,
                   false,
                   64,
                   16,
                   2,
                   6,
                   32,
                   2,
                   8,
                   0x10,
                   {0, 1}},
                  {"m_axi_1",
                   "m_axis_0",
                   true,
                   false,
                   64,
                   16,
                   2,
                   2,
                   8,
                   1,
                   4,
                   0x1c,
                   {1, 0}}};
  kernel.system = system;
  plan.kernel = kernel;
  auto read = parsePlan(printPlan(plan));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->kernel, plan.kernel);
  auto refuse = [&](auto change, const char *reason) {
    plan.kernel->system = system;
    change(*plan.kernel->system);
    auto other = parsePlan(printPlan(plan));
    ASSERT_FALSE(bool(other)) << reason;
    std::string text = llvm::toString(other.takeError());
    EXPECT_NE(text.find(reason), std::string::npos) << text;
  };
  const char *ports = "not one for each stream";
  refuse([](PlannedSystem &s) { s.memory = "hbm2"; }, ports);
  refuse([](PlannedSystem &s) { s.ports[1].stream = "s_axis_0"; }, ports);
  refuse([](PlannedSystem &s) { s.ports[0].isWrite = true; }, ports);
  refuse([](PlannedSystem &s) { s.ports[0].words = 5; }, ports);
  refuse([](PlannedSystem &s) { s.ports[0].banks[0] = 2; }, ports);
  const char *whole = "expected the whole bursts";
  refuse([](PlannedSystem &s) { s.ports[0].groupBytes = 8; }, whole);
  refuse([](PlannedSystem &s) { s.ports[0].groupBytes = 64; }, whole);
  refuse([](PlannedSystem &s) { s.ports[0].burst = 3; }, whole);
  const char *large = "larger or smaller than anything";
  refuse([](PlannedSystem &s) { s.ports[0].burst = 0; }, large);
  refuse([](PlannedSystem &s) { s.ports[0].depth = 1; }, large);
  refuse([](PlannedSystem &s) { s.ports[0].dataWidth = 2048; }, large);
  refuse([](PlannedSystem &s) { s.units = 0; }, large);
  const char *order = "ports in the order of their registers";
  refuse([](PlannedSystem &s) { s.ports[0].offset = 0x14; }, order);
  refuse([](PlannedSystem &s) { s.ports[1].banks = {0}; }, order);
  refuse([](PlannedSystem &s) { s.ports[1].port = "m_axi_2"; }, order);
  refuse([](PlannedSystem &s) { s.elements = 0x30; },
         "elements' register after the addresses");
  auto otherWord = [&](const char *from, const char *to) {
    plan.kernel->system = system;
    std::string text = printPlan(plan);
    size_t at = text.find(from, text.find("\"kernel\": {"));
    EXPECT_NE(at, std::string::npos) << from;
    auto other = parsePlan(text.replace(at, std::strlen(from), to));
    return other ? "accepted" : llvm::toString(other.takeError());
  };
  EXPECT_EQ(otherWord("\"write\"", "\"writes\""),
            "expected 'read' or 'write' at "
            "plan.kernel.system.ports[1].direction");
  EXPECT_EQ(otherWord("\"errors\"", "\"error\""), "accepted"); // not read
  const char *names = "expected an identifier of Verilog";
  refuse([](PlannedSystem &s) { s.kernel = "a b"; }, names);
  refuse([](PlannedSystem &s) { s.ports[0].stream = "$x"; },
         "'$x' is not an identifier of Verilog");
}

TEST(Package, AppearsWholeAndIsDeterministic) {
  TestFolder folder;
  writeToy(folder.path("a.rhz"));
  writeToy(folder.path("b.rhz"));
  EXPECT_EQ(entries(folder), 2);
  EXPECT_EQ(folder.run("diff -r a.rhz b.rhz"), 0);
  EXPECT_EQ(folder.read("a.rhz/nodes/node0/rtl/files.f"),
            "cell.sv\nrhz_top.sv\n");
  auto package = Package::open(folder.path("a.rhz"));
  ASSERT_TRUE(bool(package)) << llvm::toString(package.takeError());
  EXPECT_EQ(package->plan().model, "toy");
  writeToy(folder.path("a.rhz"), "new cell"); // replaces
  EXPECT_EQ(folder.read("a.rhz/nodes/node0/rtl/cell.sv"), "new cell");
  EXPECT_EQ(folder.run("test $(ls -A | grep -v log.txt | wc -l) = 2"), 0);
}

TEST(Package, AbandonedOrInterruptedLeavesNothing) {
  TestFolder folder;
  {
    auto writer = PackageWriter::create(folder.path("m.rhz"));
    ASSERT_TRUE(bool(writer));
    ASSERT_FALSE((*writer)->writePlan(toyPlan()));
    EXPECT_EQ(entries(folder), 1);
  }
  EXPECT_EQ(entries(folder), 0);
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
      auto writer = PackageWriter::create(folder.path("m.rhz"));
      llvm::cantFail((*writer)->writePlan(toyPlan()));
      if (write(ready[1], "x", 1) == 1)
        pause();
      _exit(0);
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_FALSE(llvm::sys::fs::exists(folder.path("m.rhz")));
    // A kill leaves the temporary name, which the next writer removes.
    EXPECT_EQ(entries(folder), signal == SIGKILL ? 1 : 0);
  }
  writeToy(folder.path("m.rhz"));
  EXPECT_EQ(entries(folder), 1);
}

TEST(Package, AnInterruptInAnotherThreadStopsTheWriter) {
  for (int signal : {SIGINT, SIGTERM}) {
    TestFolder folder;
    pid_t child = fork();
    if (child == 0) {
      auto writer = PackageWriter::create(folder.path("m.rhz"));
      std::thread other;
      for (int i = 0; i < 100000; ++i) {
        llvm::cantFail((*writer)->writeFile("f" + std::to_string(i), "x"));
        if (i == 20)
          other = std::thread([signal] { raise(signal); });
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_EQ(entries(folder), 0);
  }
}

TEST(Package, RefusesToReplaceOtherThings) {
  TestFolder folder;
  folder.write("notes.txt", "mine");
  auto writer = PackageWriter::create(folder.path());
  ASSERT_FALSE(bool(writer));
  EXPECT_NE(llvm::toString(writer.takeError()).find("is no rhizome package"),
            std::string::npos);
  EXPECT_EQ(folder.read("notes.txt"), "mine");
}

TEST(Package, FilesThatChangedAreRefusedByName) {
  TestFolder folder;
  std::string rtl = "m.rhz/nodes/node0/rtl/";
  auto write = [&] {
    auto writer = PackageWriter::create(folder.path("m.rhz"));
    ASSERT_TRUE(bool(writer)) << llvm::toString(writer.takeError());
    auto add = [&](const char *path, const char *text) {
      ASSERT_FALSE((*writer)->writeFile(path, text));
    };
    add("nodes/node0/rtl/cell.sv", "cell");
    add("nodes/node0/rtl/rhz_top.sv", "top");
    add("nodes/node0/rtl/conv1_weights.hex", "0a\n1b\n");
    add("nodes/node0/rtl/sim/DSP48E2.sv", "dsp");
    add("nodes/node0/vivado/build.tcl", "tcl");
    add("model/network.mlir", "mlir");
    add("deploy.yaml", "places");
    ASSERT_FALSE((*writer)->writePlan(toyPlan()));
    ASSERT_FALSE((*writer)->commit());
  };
  auto whole = [&](const std::string &what) {
    return "the package '" + folder.path("m.rhz") +
           "' is not as it was compiled: " + what +
           ". Compile the model again, or take the files as they are with "
           "--accept-changes";
  };
  write();
  EXPECT_EQ(openMessage(folder.path("m.rhz")), "opened");
  // A user's own files may change.
  folder.write("m.rhz/deploy.yaml", "mine");
  folder.write("m.rhz/nodes/node0/vivado/build.tcl", "mine");
  folder.write("m.rhz/nodes/node0/rtl/new.sv", "mine");
  folder.run("mkdir m.rhz/results; echo 1 > m.rhz/results/synth.json");
  EXPECT_EQ(openMessage(folder.path("m.rhz")), "opened");
  for (const char *file :
       {"nodes/node0/rtl/conv1_weights.hex", "nodes/node0/rtl/sim/DSP48E2.sv",
        "nodes/node0/rtl/files.f", "model/network.mlir"}) {
    std::string path = std::string("m.rhz/") + file;
    std::string text = folder.read(path), other = text;
    other[0] ^= 1;
    folder.write(path, other);
    EXPECT_EQ(openMessage(folder.path("m.rhz")),
              whole("'" + std::string(file) + "' was altered"));
    folder.write(path, text.substr(1));
    EXPECT_EQ(openMessage(folder.path("m.rhz")),
              whole("'" + std::string(file) + "' has " +
                    std::to_string(text.size() - 1) + " bytes, not " +
                    std::to_string(text.size())));
    ASSERT_FALSE(llvm::sys::fs::remove(folder.path(path)));
    EXPECT_EQ(openMessage(folder.path("m.rhz")),
              whole("'" + std::string(file) + "' is missing"));
    folder.write(path, text);
    EXPECT_EQ(openMessage(folder.path("m.rhz")), "opened");
  }
  // All at once, including the plan; and accepted changes are reported.
  std::string plan = folder.read("m.rhz/plan.json");
  folder.write("m.rhz/plan.json", plan + "\n");
  folder.write(rtl + "cell.sv", "sell");
  std::string both = "'nodes/node0/rtl/cell.sv' was altered; 'plan.json' has " +
                     std::to_string(plan.size() + 1) + " bytes, not " +
                     std::to_string(plan.size());
  EXPECT_EQ(openMessage(folder.path("m.rhz")), whole(both));
  auto accepted = Package::open(folder.path("m.rhz"), Changes::Accept);
  ASSERT_TRUE(bool(accepted)) << llvm::toString(accepted.takeError());
  ASSERT_EQ(accepted->notes().size(), 2u);
  EXPECT_EQ(accepted->notes()[0], "'nodes/node0/rtl/cell.sv' was altered; it "
                                  "is taken as it is");
  ASSERT_FALSE(llvm::sys::fs::remove(folder.path("m.rhz/checksums.json")));
  EXPECT_EQ(openMessage(folder.path("m.rhz")),
            whole("'checksums.json' is missing"));
  folder.write("m.rhz/checksums.json", "{}");
  EXPECT_EQ(
      openMessage(folder.path("m.rhz")),
      whole("'checksums.json' cannot be used (it is not a list of XXH3-128 "
            "checksums)"));
  folder.write("m.rhz/checksums.json",
               "{\"checksum\": \"XXH3-128\", \"files\": []}");
  EXPECT_EQ(openMessage(folder.path("m.rhz")),
            whole("'checksums.json' does not list 'plan.json'; "
                  "'checksums.json' does not list 'nodes/node0/rtl/cell.sv'; "
                  "'checksums.json' does not list "
                  "'nodes/node0/rtl/rhz_top.sv'"));
  folder.write("m.rhz/checksums.json",
               "{\"checksum\": \"XXH3-128\", \"files\": [{\"path\": "
               "\"model/../../x\", \"bytes\": 1, \"checksum\": \"0\"}]}");
  EXPECT_EQ(
      openMessage(folder.path("m.rhz")),
      whole("'checksums.json' cannot be used ('model/../../x' is not a file "
            "of a package)"));
  folder.write("m.rhz/checksums.json",
               "{\"checksum\": \"XXH3-128\", \"files\": [{\"bytes\": 1}]}");
  EXPECT_EQ(openMessage(folder.path("m.rhz")),
            whole("'checksums.json' cannot be used (an entry lacks path, bytes "
                  "or checksum)"));
}

/// The values of the reference implementation (xxhsum -H2).
TEST(Package, ChecksumsAreXxh3) {
  TestFolder folder;
  writeToy(folder.path("m.rhz"));
  EXPECT_NE(folder.read("m.rhz/checksums.json")
                .find("\"path\": \"nodes/node0/rtl/cell.sv\",\n      "
                      "\"bytes\": 4,\n      \"checksum\": "
                      "\"dbee08ad9efe7f4f6bfdfcd12b077239\""),
            std::string::npos)
      << folder.read("m.rhz/checksums.json");
}

TEST(Package, MeasurementsStayWithTheSamePackage) {
  TestFolder folder;
  writeToy(folder.path("m.rhz"));
  auto measure = [&] {
    folder.run("mkdir -p m.rhz/results; echo 1 > m.rhz/results/synth.json");
  };
  auto rewrite = [&](const char *cell) {
    auto writer = PackageWriter::create(folder.path("m.rhz"));
    EXPECT_FALSE((*writer)->writeFile("nodes/node0/rtl/cell.sv", cell));
    EXPECT_FALSE((*writer)->writeFile("nodes/node0/rtl/rhz_top.sv", "top"));
    EXPECT_FALSE((*writer)->writePlan(toyPlan()));
    EXPECT_FALSE((*writer)->commit());
    return (*writer)->removedResults();
  };
  measure();
  EXPECT_FALSE(rewrite("cell"));
  EXPECT_EQ(folder.read("m.rhz/results/synth.json"), "1\n");
  auto package = Package::open(folder.path("m.rhz"));
  ASSERT_TRUE(bool(package)) << llvm::toString(package.takeError());
  EXPECT_FALSE(bool(package->checkUnchanged()));
  EXPECT_TRUE(rewrite("other"));
  EXPECT_FALSE(llvm::sys::fs::exists(folder.path("m.rhz/results")));
  EXPECT_EQ(llvm::toString(package->checkUnchanged()),
            "the package '" + folder.path("m.rhz") +
                "' was compiled again while it was in use; repeat the command");
  EXPECT_FALSE(rewrite("third")); // nothing was measured
}

TEST(Package, TargetsAreCheckedBeforeTheWork) {
  TestFolder folder;
  folder.write("file", "x");
  folder.run("mkdir mine; echo x > mine/thesis.txt");
  auto message = [&](const char *path) {
    return llvm::toString(PackageWriter::check(folder.path(path)));
  };
  EXPECT_EQ(message("a/b/m.rhz"), "");
  EXPECT_FALSE(llvm::sys::fs::exists(folder.path("a")));
  EXPECT_NE(message("mine").find("is no rhizome package"), std::string::npos);
  EXPECT_NE(message("file/m.rhz").find("cannot make the folder"),
            std::string::npos);
  mode_t old = umask(022);
  writeToy(folder.path("a/b/m.rhz"));
  umask(old);
  llvm::sys::fs::file_status status;
  ASSERT_FALSE(llvm::sys::fs::status(folder.path("a"), status));
  EXPECT_EQ(status.permissions() & llvm::sys::fs::all_all, 0755);
}

TEST(Package, OpenSaysWhatIsWrong) {
  TestFolder folder;
  EXPECT_NE(openMessage(folder.path("none")).find("is not a folder"),
            std::string::npos);
  EXPECT_NE(openMessage(folder.path()).find("holds no plan.json"),
            std::string::npos);
  folder.write("plan.json", "not json");
  EXPECT_NE(openMessage(folder.path()).find("plan.json' cannot be used: "),
            std::string::npos);
  folder.write("plan.json", printPlan(toyPlan()));
  EXPECT_NE(openMessage(folder.path(), Changes::Accept)
                .find("'nodes/node0/rtl/cell.sv', which "
                      "is missing"),
            std::string::npos);
}
} // namespace
