// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small hand-made packages through both simulators: values, measured cycles,
// stalls, and every kind of misbehavior that must be detected.
#include "rhizome/Simulate/Simulate.h"
#include "../TestFolder.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Simulate/Packing.h"
#include <random>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
// A stage without overlap: a beat accepted in t is offered from t + 1 on, and
// the next one accepted in the cycle after it was taken.
constexpr const char *kStage = R"sv(
module test_stage #(parameter int Width = 64) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  logic full_q;
  logic [Width-1:0] data_q;
  assign in_ready_o = !full_q;
  assign out_valid_o = full_q;
  assign out_data_o = data_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= full_q ? !out_ready_i : in_valid_i && in_ready_o;
    if (!full_q) data_q <= in_data_i;
  end
endmodule
)sv";

// Two streams of different widths through a stage each.
constexpr const char *kTop = R"mlir(
rtl.module @rhz_top attributes {
    input_names = ["clk_i", "rst_ni",
      "s_axis_0_tvalid", "s_axis_0_tdata", "s_axis_0_tlast", "m_axis_0_tready",
      "s_axis_1_tvalid", "s_axis_1_tdata", "s_axis_1_tlast", "m_axis_1_tready"],
    output_names = ["s_axis_0_tready", "m_axis_0_tvalid", "m_axis_0_tdata", "m_axis_0_tlast",
      "s_axis_1_tready", "m_axis_1_tvalid", "m_axis_1_tdata", "m_axis_1_tlast"]} {
^bb0(%clk: i1, %rst: i1, %v0: i1, %d0: i64, %l0: i1, %r0: i1, %v1: i1, %d1: i72, %l1: i1, %r1: i1):
  %a0 = rtl.concat %d0, %l0 : (i64, i1) -> i65
  %ir0, %ov0, %od0 = rtl.instance "first" "test_stage" (%clk, %rst, %v0, %a0, %r0)
    {parameters = {Width = 65 : i64}, input_names = ["clk_i", "rst_ni", "in_valid_i", "in_data_i", "out_ready_i"],
     output_names = ["in_ready_o", "out_valid_o", "out_data_o"]} : (i1, i1, i1, i65, i1) -> (i1, i1, i65)
  %td0 = rtl.extract %od0 from 0 : (i65) -> i64
  %tl0 = rtl.extract %od0 from 64 : (i65) -> i1
  %a1 = rtl.concat %d1, %l1 : (i72, i1) -> i73
  %ir1, %ov1, %od1 = rtl.instance "second" "test_stage" (%clk, %rst, %v1, %a1, %r1)
    {parameters = {Width = 73 : i64}, input_names = ["clk_i", "rst_ni", "in_valid_i", "in_data_i", "out_ready_i"],
     output_names = ["in_ready_o", "out_valid_o", "out_data_o"]} : (i1, i1, i1, i73, i1) -> (i1, i1, i73)
  %td1 = rtl.extract %od1 from 0 : (i73) -> i72
  %tl1 = rtl.extract %od1 from 72 : (i73) -> i1
  rtl.output %ir0, %ov0, %td0, %tl0, %ir1, %ov1, %td1, %tl1 : i1, i1, i64, i1, i1, i1, i72, i1
}
)mlir";

using Frames = std::vector<std::vector<Tensor>>;

class SimulateTest : public ::testing::Test {
protected:
  SimulateTest() {
    context.getOrLoadDialect<rtl::RtlDialect>();
    plan.model = "pass";
    plan.device = "xcku060-role";
    plan.predicted.intervalCycles = 20;
    plan.predicted.latencyCycles = 19;
    PlannedNode node;
    node.name = "node0";
    node.rtl = {"test_stage.sv", "rhz_top.sv"};
    // 75 elements of 8 bits: 10 beats of 64. 7 elements of 5: 1 beat of 72.
    node.inputs = {{"s_axis_0", "x", {1, 5, 5, 3}, {true, 8, -128, 127}, 64},
                   {"s_axis_1", "z", {1, 7}, {true, 5, -16, 15}, 72}};
    node.outputs = node.inputs;
    node.outputs[0].port = "m_axis_0";
    node.outputs[1].port = "m_axis_1";
    plan.nodes.push_back(std::move(node));
  }

  /// Writes the package with `stage` as the cell.
  Package package(const std::string &stage) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kTop, &context);
    auto writer = llvm::cantFail(PackageWriter::create(folder.path("m.rhz")));
    std::string rtl = llvm::cantFail(writer->makeFolder("nodes/node0/rtl"));
    EXPECT_TRUE(succeeded(emitDesign(*module, rtl)));
    llvm::cantFail(writer->writeFile("nodes/node0/rtl/test_stage.sv", stage));
    llvm::cantFail(writer->writePlan(plan));
    llvm::cantFail(writer->commit());
    return llvm::cantFail(Package::open(folder.path("m.rhz")));
  }

  Frames randomFrames(int n) {
    std::mt19937 random(7);
    Frames frames(n);
    for (auto &frame : frames)
      for (const BorderPort &port : plan.nodes[0].inputs) {
        std::vector<int64_t> values(port.elements());
        for (int64_t &v : values)
          v = std::uniform_int_distribution<int64_t>(port.element.lo,
                                                     port.element.hi)(random);
        frame.push_back(Tensor::ofInts(port.shape, values));
      }
    return frames;
  }

  static void expectSame(const Frames &got, const Frames &want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t f = 0; f < got.size(); ++f)
      for (size_t k = 0; k < want[f].size(); ++k)
        EXPECT_EQ(got[f][k].ints, want[f][k].ints) << f << " " << k;
  }

  /// The stage with one piece of text replaced.
  static std::string broken(const std::string &from, const std::string &to) {
    std::string text = kStage;
    return text.replace(text.find(from), from.size(), to);
  }

  std::string failure(const Package &p, bool fourState,
                      unsigned stallsOut = 0) {
    SimOptions options;
    options.fourState = fourState;
    options.stallsOut = stallsOut;
    auto result = simulateRtl(p, randomFrames(2), options);
    return result ? "passed" : llvm::toString(result.takeError());
  }

  mlir::MLIRContext context;
  TestFolder folder;
  Plan plan;
};

#define NEEDS(tool)                                                            \
  if (!test::haveTool(tool))                                                   \
  GTEST_SKIP() << tool << " is not installed"

TEST_F(SimulateTest, FreeRunningMeasuresCycles) {
  NEEDS("verilator");
  Package p = package(kStage);
  // Without files of an earlier run.
  setenv("XDG_CACHE_HOME", (p.dir() + "/cache").c_str(), /*overwrite=*/1);
  Frames frames = randomFrames(3);
  auto result = simulateRtl(p, frames, {});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  expectSame(result->outputs, frames);
  EXPECT_TRUE(result->measured);
  EXPECT_EQ(result->intervalCycles, 20);
  EXPECT_EQ(result->latencyCycles, 19);
  EXPECT_GT(result->simCyclesPerS, 0);
  EXPECT_GT(result->buildSeconds, 0);

  SimOptions stalls;
  stalls.stallsIn = 40;
  stalls.stallsOut = 60;
  for (stalls.seed = 1; stalls.seed <= 3; ++stalls.seed) {
    auto again = simulateRtl(p, frames, stalls);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    expectSame(again->outputs, frames);
    EXPECT_FALSE(again->measured);
    EXPECT_EQ(again->buildSeconds, 0); // from the cache
    EXPECT_GT(again->cycles, 60);
  }
}

TEST_F(SimulateTest, IcarusAgrees) {
  NEEDS("iverilog");
  Package p = package(kStage);
  Frames frames = randomFrames(3);
  for (unsigned stalls : {0u, 50u}) {
    SimOptions options;
    options.fourState = true;
    options.stallsIn = options.stallsOut = stalls;
    auto result = simulateRtl(p, frames, options);
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    expectSame(result->outputs, frames);
    EXPECT_FALSE(result->measured);
  }
}

TEST_F(SimulateTest, HangsAreNamed) {
  Package p = package(broken("in_ready_o = !full_q",
                             "in_ready_o = !full_q && !(&in_data_i[1:0])"));
  if (test::haveTool("verilator"))
    EXPECT_NE(failure(p, false).find("it hangs: no output for 100000 cycles; "
                                     "waiting for output"),
              std::string::npos)
        << failure(p, false);
  if (test::haveTool("iverilog"))
    EXPECT_NE(failure(p, true).find("it hangs"), std::string::npos)
        << failure(p, true);
}

TEST_F(SimulateTest, ProtocolErrorsAreNamed) {
  NEEDS("verilator");
  EXPECT_NE(failure(package(broken("full_q ? !out_ready_i : in_valid_i",
                                   "!full_q && in_valid_i")),
                    false, 50)
                .find("a beat is withdrawn"),
            std::string::npos);
  EXPECT_NE(failure(package(broken("if (!full_q) data_q", "data_q")), false, 50)
                .find("a waiting beat changes"),
            std::string::npos);
  EXPECT_NE(
      failure(package(broken("out_data_o = data_q", "out_data_o = ~data_q")),
              false)
          .find("TLAST is 1"),
      std::string::npos);
}

TEST_F(SimulateTest, UnknownValuesAreErrors) {
  NEEDS("iverilog");
  EXPECT_NE(
      failure(package(broken("if (!rst_ni) full_q <= 1'b0;\n    else ", "")),
              true)
          .find("is X"),
      std::string::npos);
  EXPECT_NE(failure(package(broken("if (!full_q) data_q <= in_data_i;",
                                   "data_q[Width-1] <= in_data_i[Width-1];")),
                    true)
                .find("data is X"),
            std::string::npos);
}

TEST_F(SimulateTest, BadRtlAndBadFramesAreErrors) {
  NEEDS("verilator");
  EXPECT_NE(failure(package("module test_stage; endmodule"), false)
                .find("verilator failed (status 1, log in"),
            std::string::npos);
  Package p = package(kStage);
  Frames frames = randomFrames(1);
  frames[0][1].ints[3] = 16;
  auto result = simulateRtl(p, frames, {});
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(llvm::toString(result.takeError()),
            "the input 'z' takes integers from -16 to 15, the frame holds 16");
  frames[0].pop_back();
  result = simulateRtl(p, frames, {});
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(llvm::toString(result.takeError()),
            "the design has 2 inputs, a frame 1");
}

TEST(Packing, EveryWidthReturns) {
  std::mt19937_64 random(3);
  for (unsigned width = 1; width <= 64; ++width)
    for (bool isSigned : {false, true}) {
      uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
      BorderPort port{"s_axis_0", "x", {1, 13}, {isSigned, width, 0, 0}, 64};
      port.element.lo = isSigned ? -int64_t(mask >> 1) - 1 : 0;
      port.element.hi = int64_t(isSigned || width == 64 ? mask >> 1 : mask);
      Tensor frame = Tensor::ofInts({1, 13}, {});
      for (int i = 0; i < 13; ++i) {
        uint64_t raw = random() & mask;
        if (isSigned && width < 64 && raw >> (width - 1))
          raw |= ~mask;
        if (!isSigned && width == 64)
          raw >>= 1;
        frame.ints.push_back(int64_t(raw));
      }
      auto bytes = packFrame(frame, port);
      ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
      EXPECT_EQ(bytes->size(), size_t(port.beats() * 8));
      EXPECT_EQ(unpackFrame(bytes->data(), port).ints, frame.ints);
    }
}
} // namespace
