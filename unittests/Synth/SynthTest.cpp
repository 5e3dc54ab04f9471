// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small hand-made packages in Yosys: which modules are distinct, what the
// cache keeps, refusals, and the files left by an interrupt.
#include "rhizome/Synth/Synth.h"
#include "../TestFolder.h"
#include "rhizome/Support/Resources.h"
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
// A register per bit, and a table of Words words after a register.
constexpr const char *kToy = R"sv(
module rhz_toy #(
  parameter int Width = 4,
  parameter int Step = 1,
  parameter     File = ""
) (
  input  logic             clk_i,
  input  logic [1:0]       addr_i,
  output logic [Width-1:0] sum_o
);
  logic [Width-1:0] mem [0:3];
  initial $readmemh(File, mem);
  rhz_toy_adder #(.Width(Width)) u_adder (
    .clk_i, .a_i(mem[addr_i]), .b_i(Width'(Step)), .sum_o
  );
endmodule
)sv";
constexpr const char *kAdder = R"sv(
module rhz_toy_adder #(parameter int Width = 4) (
  input  logic             clk_i,
  input  logic [Width-1:0] a_i, b_i,
  output logic [Width-1:0] sum_o
);
  always_ff @(posedge clk_i) sum_o <= a_i + b_i;
endmodule
)sv";

class SynthTest : public ::testing::Test {
protected:
  SynthTest() {
    options.cache = folder.path("cache");
    plan.model = "toy";
    plan.device = "some-ice";
    PlannedNode node;
    node.name = "node0";
    node.device = "some-ice";
    node.family = "ice40";
    node.budget = {{"lut", 1000}, {"dsp", 0}};
    node.rtl = {"rhz_toy_adder.sv", "rhz_toy.sv", "rhz_unused.sv"};
    node.modules["rhz_toy"] = {"rhz_toy_adder.sv", "rhz_toy.sv"};
    plan.nodes.push_back(std::move(node));
    add("first", 4, "a.hex");
    add("second", 4, "b.hex");
    add("third", 4, "c.hex");
  }

  void add(const std::string &name, int width, const std::string &image) {
    PlannedActor actor;
    actor.name = name;
    actor.kind = "toy";
    actor.module = "rhz_toy";
    actor.parameters = {"File", "Step", "Width"};
    actor.resources = {{"lut", 5}, {"ff", 4}};
    actor.config = llvm::json::Object{
        {"Width", width}, {"Step", -1}, {"File", image}, {"frameBeats", 9}};
    plan.nodes[0].actors.push_back(std::move(actor));
  }

  Package package(const std::string &toy = kToy) {
    auto writer = llvm::cantFail(PackageWriter::create(folder.path("m.rhz")));
    const std::string rtl = "nodes/node0/rtl/";
    llvm::cantFail(writer->writeFile(rtl + "rhz_toy.sv", toy));
    llvm::cantFail(writer->writeFile(rtl + "rhz_toy_adder.sv", kAdder));
    llvm::cantFail(writer->writeFile(rtl + "rhz_unused.sv", "no Verilog"));
    llvm::cantFail(writer->writeFile(rtl + "a.hex", "1\n2\n3\n4\n"));
    llvm::cantFail(writer->writeFile(rtl + "b.hex", "1\n2\n3\n4\n"));
    llvm::cantFail(writer->writeFile(rtl + "c.hex", "9\n9\n9\n9\n"));
    llvm::cantFail(writer->writePlan(plan));
    llvm::cantFail(writer->commit());
    return llvm::cantFail(Package::open(folder.path("m.rhz")));
  }

  std::string failure(const Package &p) {
    auto result = synthesize(p, options);
    return result ? "passed" : llvm::toString(result.takeError());
  }

  /// A program that reports to be Yosys and otherwise does `body`.
  std::string fakeTool(const std::string &body) {
    folder.write("fake", "#!/bin/sh\nif [ \"$1\" = -V ]; then echo 'Yosys 9 "
                         "(fake)'; exit; fi\n" +
                             body + "\n");
    EXPECT_EQ(folder.run("chmod +x fake"), 0);
    return folder.path("fake");
  }

  TestFolder folder;
  SynthOptions options;
  Plan plan;
};

/// True if the process is running and is not an unreaped zombie.
bool isRunning(const std::string &pid) {
  std::ifstream status("/proc/" + std::to_string(std::stol(pid)) + "/status");
  std::string line;
  while (std::getline(status, line))
    if (llvm::StringRef(line).starts_with("State:"))
      return !llvm::StringRef(line).contains('Z');
  return false;
}

#define NEEDS(tool)                                                            \
  if (!test::haveTool(tool))                                                   \
  GTEST_SKIP() << tool << " is not installed"

TEST_F(SynthTest, EqualActorsAreOneModule) {
  NEEDS("yosys");
  Package p = package();
  size_t told = 0, total = 0;
  options.progress = [&](const SynthProgress &progress) {
    told = progress.done;
    total = progress.total;
  };
  auto result = synthesize(p, options);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(told, 2u);
  EXPECT_EQ(total, 2u);
  ASSERT_EQ(result->modules.size(), 2u);
  const SynthModule &both = result->modules[0], &other = result->modules[1];
  EXPECT_EQ(both.actors, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(other.actors, std::vector<std::string>{"third"});
  EXPECT_EQ(both.cell, "toy");
  EXPECT_FALSE(both.cached);
  EXPECT_EQ(both.measured.at("ff"), 4);
  // A table of equal words is a constant: no logic at all.
  EXPECT_GT(both.measured.at("lut"), 0);
  EXPECT_EQ(other.measured.at("lut"), 0);
  EXPECT_EQ(result->measured.at("lut"), 2 * both.measured.at("lut"));
  EXPECT_EQ(result->predicted.at("lut"), 15);
  EXPECT_EQ(result->tool.substr(0, 5), "Yosys");
  EXPECT_EQ(errorOf(both.predicted, both.measured, "ff"), 0);
  EXPECT_NEAR(
      errorOf(synth::Counts{{"lut", 8}}, synth::Counts{{"lut", 10}}, "lut")
          .value_or(0),
      -0.2, 1e-9);
  EXPECT_EQ(errorOf(other.predicted, other.measured, "lut"), std::nullopt);

  auto kept = llvm::json::parse(folder.read("m.rhz/results/synth.json"));
  ASSERT_TRUE(bool(kept));
  EXPECT_EQ(*kept, llvm::json::Value(toJson(*result)));

  auto again = synthesize(p, options);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_TRUE(again->modules[0].cached && again->modules[1].cached);
  EXPECT_EQ(again->measured, result->measured);

  // Measured differently: from the stored netlist.
  EXPECT_GE(both.depth.levels, 1);
  EXPECT_EQ(folder.run("sed -i 's/\"measure\":[0-9]*/\"measure\":0/; "
                       "s/\"depth\":[0-9]*/\"depth\":99/' cache/*.json"),
            0);
  again = synthesize(p, options);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_TRUE(again->modules[0].cached);
  EXPECT_EQ(again->modules[0].depth.levels, both.depth.levels);
  EXPECT_EQ(again->measured, result->measured);

  // A truncated file of the cache counts as missing; nothing else of
  // a run stays.
  EXPECT_NE(folder.run("ls cache | grep -Ev 'json$|netlist$'"), 0);
  EXPECT_EQ(folder.run("for f in cache/*.json; do echo '{' > $f; done"), 0);
  again = synthesize(p, options);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_FALSE(again->modules[0].cached);
  EXPECT_EQ(again->measured, result->measured);
}

// A real cell on the families with different carry chains.
TEST_F(SynthTest, TheFifoIsShallow) {
  NEEDS("yosys");
  std::string library = llvm::cantFail(rtlDir()) + "/src/";
  auto writer = llvm::cantFail(PackageWriter::create(folder.path("m.rhz")));
  plan.nodes[0].rtl.clear();
  for (const char *cell :
       {"rhz_counter", "rhz_outbuf", "rhz_fork", "rhz_fifo"}) {
    plan.nodes[0].rtl.push_back(std::string(cell) + ".sv");
    llvm::cantFail(
        writer->copyFile("nodes/node0/rtl/" + plan.nodes[0].rtl.back(),
                         library + plan.nodes[0].rtl.back()));
  }
  plan.nodes[0].actors.resize(1);
  plan.nodes[0].actors[0].kind = "fifo";
  plan.nodes[0].actors[0].module = "rhz_fifo";
  plan.nodes[0].actors[0].parameters = {"Depth", "Width"};
  plan.nodes[0].modules["rhz_fifo"] = plan.nodes[0].rtl;
  plan.nodes[0].actors[0].config =
      llvm::json::Object{{"Width", 8}, {"Depth", 20}};
  llvm::cantFail(writer->writePlan(plan));
  llvm::cantFail(writer->commit());
  for (const char *family :
       {"ultrascale+", "ecp5", "ice40", "nexus", "gowin", "cyclonev"}) {
    plan.nodes[0].family = family;
    folder.write("m.rhz/plan.json", printPlan(plan));
    auto result = synthesize(
        llvm::cantFail(Package::open(folder.path("m.rhz"), Changes::Accept)),
        options);
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    const SynthModule &module = result->modules[0];
    EXPECT_EQ(module.depth.loop, "") << family;
    EXPECT_GE(module.depth.levels, 1) << family;
    EXPECT_LE(module.depth.levels, 6) << family;
    ASSERT_GE(module.depth.path.size(), 2u) << family;
    // Both ends have names in the source.
    EXPECT_NE(module.depth.path.front().name, "") << family;
    EXPECT_EQ(module.depth.path.front().src.substr(0, 4), "rhz_") << family;
    EXPECT_GT(module.measured.at("ff"), 10) << family;
    // 20 places of 8 bits: 3 bits of 64 or 6 of 32 in 4 LUTs; 2 x 2 x 6; one
    // block.
    EXPECT_EQ(module.measured.at("bram"),
              family == llvm::StringRef("ice40") ? 1 : 0);
  }
}

TEST_F(SynthTest, FailuresNameTheActorAndTheLog) {
  NEEDS("yosys");
  options.jobs = 1; // the first one fails first
  std::string toy = kToy;
  toy.replace(toy.find("u_adder"), 7, "u_adder oops");
  std::string message = failure(package(toy));
  EXPECT_NE(message.find("the module of 'first' (rhz_toy) cannot be "
                         "synthesized"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("syntax error"), std::string::npos) << message;
  EXPECT_EQ(folder.run("test -s cache/*.failed/log.txt"), 0);
  EXPECT_EQ(failure(package()), "passed");
}

TEST_F(SynthTest, Refusals) {
  plan.nodes[0].family = "abacus";
  EXPECT_EQ(failure(package()).find("devices of the family 'abacus' cannot be "
                                    "synthesized; families that can are "),
            test::haveTool("yosys") ? 0 : std::string::npos);
  plan.nodes[0].family = "";
  options.tool = fakeTool("exit 1");
  EXPECT_EQ(failure(package()), "the plan does not say of which family "
                                "'some-ice' is; compile the model again");
  options.tool = "no-such-yosys";
  EXPECT_NE(failure(package()).find("'no-such-yosys' is missing; --tool takes"),
            std::string::npos);
  options.tool = "true";
  EXPECT_NE(failure(package()).find("is not Yosys: it calls itself ''"),
            std::string::npos);
  plan.nodes[0].family = "ice40";
  plan.nodes[0].modules["rhz_toy"].push_back("rhz_else.sv");
  options.tool = fakeTool("exit 1");
  EXPECT_NE(failure(package()).find("its plan names the actor 'first' but no "
                                    "'rhz_else.sv'"),
            std::string::npos);
}

// ABC within it fails at some addresses.
TEST_F(SynthTest, YosysRunsAtFixedAddresses) {
  if (std::system("setarch -R true 2>/dev/null") != 0)
    GTEST_SKIP() << "addresses cannot be fixed here";
  options.tool = fakeTool("cat /proc/self/personality; exit 3");
  EXPECT_NE(failure(package()), "passed");
  EXPECT_EQ(folder.run("grep -q ^00040000 cache/*.failed/log.txt"), 0);
}

TEST_F(SynthTest, AnInterruptEndsTheRuns) {
  // The stub starts its own child and waits for it.
  options.tool = fakeTool("sleep 60 & echo child $!; wait");
  Package p = package();
  for (int signal : {SIGTERM, SIGINT}) {
    folder.run("rm -f child");
    pid_t pid = fork();
    if (pid == 0) {
      auto result = synthesize(p, options);
      _exit(result ? 0 : 1);
    }
    const std::string log = "cache/*.run-" + std::to_string(pid) + "/log.txt";
    std::string child;
    for (int i = 0; i < 500 && child.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      folder.run("sed -n '0,/^child /s/^child //p' " + log + " > child");
      child = folder.read("child");
    }
    ASSERT_FALSE(child.empty());
    kill(pid, signal);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    for (int i = 0; i < 500 && isRunning(child); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(isRunning(child)) << "a run of the tool goes on";
  }
  // The next run removes the files of interrupted ones.
  options.tool = fakeTool("exit 3");
  EXPECT_NE(failure(p).find("(status 3, log in"), std::string::npos);
  EXPECT_NE(folder.run("ls cache | grep run-"), 0);
}
} // namespace
