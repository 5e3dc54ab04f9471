// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts that options take, and what a command says of a bad package.
#include "../TestFolder.h"
#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Pipeline/Pipeline.h"

using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;
using namespace rhizome::pipeline;
using rhizome::test::TestFolder;

namespace {
TEST(Options, GoalsAndRanges) {
  EXPECT_TRUE(explore::parseGoal("throughput=5000/s"));
  EXPECT_TRUE(explore::parseGoal("latency=100us"));
  EXPECT_FALSE(explore::parseGoal("fast"));
  EXPECT_FALSE(explore::parseGoal("throughput=0/s"));
  EXPECT_TRUE(isNormalization("0..1"));
  EXPECT_TRUE(isNormalization("0.13,0.3"));
  EXPECT_FALSE(isNormalization("0.13,0"));
  EXPECT_FALSE(isNormalization("0..2"));
}

// One meaning in all spellings: integer bits and fraction bits.
TEST(Options, FormatsOfNetworks) {
  const auto q16 = numeric::Format::fixed(6, 10);
  std::string error, note;
  EXPECT_EQ(parseNetworkFormat("fixed<6,10>", error, note), q16);
  EXPECT_EQ(parseNetworkFormat("ap_fixed<16,6>", error, note), q16);
  EXPECT_EQ(note, "");
  EXPECT_EQ(parseNetworkFormat("fixed:16,10", error, note), q16);
  EXPECT_NE(note.find("former spelling of fixed<6,10>"), std::string::npos);
  auto why = [&](const char *text) {
    EXPECT_FALSE(parseNetworkFormat(text, error, note)) << text;
    return error;
  };
  EXPECT_EQ(why("fixed<64,32>"),
            "'fixed<64,32>': networks are built in signed fixed point of 2 to "
            "16 bits, -32 to 32 of them fraction; this one has 96 bits");
  EXPECT_NE(why("fixed:17,10").find("this one has 17 bits"), std::string::npos);
  EXPECT_NE(why("half").find("this is a float"), std::string::npos);
  EXPECT_NE(why("fixed:8").find("expected fixed<"), std::string::npos);
}

TEST(Commands, RefuseWithoutLeavingAnything) {
  TestFolder folder;
  CompileRequest compile;
  compile.model.path = folder.path("missing.onnx");
  compile.device = "xc7z020";
  compile.output = folder.path("m.rhz");
  rhizome::Result<CompileResult> result = compileModel(compile);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.failure().kind, Failure::Kind::Input);
  EXPECT_EQ(result.failure().causes.size(), 1u);
  compile.device = "no-such-device";
  result = compileModel(compile);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.failure().kind, Failure::Kind::Usage);
  EXPECT_NE(result.failure().reason().find("unknown device"),
            std::string::npos);
  EXPECT_FALSE(llvm::sys::fs::exists(folder.path("m.rhz")));
  SimulateRequest simulate;
  simulate.package = folder.path();
  auto simulated = simulatePackage(simulate);
  ASSERT_FALSE(bool(simulated));
  EXPECT_EQ(simulated.failure().kind, Failure::Kind::Input);
  EXPECT_NE(simulated.failure().reason().find("holds no plan.json"),
            std::string::npos);
  // Coverage and evaluation fail by the same kinds.
  EvaluateRequest evaluate;
  evaluate.model.path = folder.path("model.onnx");
  evaluate.data.path = folder.path("no-such.npy");
  auto evaluated = evaluateModel(evaluate);
  ASSERT_FALSE(bool(evaluated));
  EXPECT_EQ(evaluated.failure().kind, Failure::Kind::Input);
  auto covered = coverModel(evaluate.model);
  ASSERT_FALSE(bool(covered));
  EXPECT_EQ(covered.failure().kind, Failure::Kind::Input);
  EXPECT_EQ(covered.failure().causes.size(), 1u);
}

/// What cannot be read is the user's input, whatever it was to be.
TEST(Commands, CallUnreadableFilesInput) {
  using Kind = Failure::Kind;
  TestFolder folder;
  const std::string missing = folder.path("missing");
  const std::string model = std::string(RHIZOME_SOURCE_DIR) +
                            "/examples/tiny-digits/tiny_digits_qdq_int8.onnx";
  const std::string reals =
      std::string(RHIZOME_SOURCE_DIR) + "/examples/pytorch/mlp.onnx";
  folder.write("empty.onnx", "");
  folder.write("page.onnx", "<html></html>");
  folder.write("broken.mlir", "module { func.func @main( }");
  auto kindOf = [&](auto change) {
    CompileRequest request;
    request.model.path = model;
    request.device = "xc7z020";
    request.output = folder.path("m.rhz");
    change(request);
    rhizome::Result<CompileResult> result = exploreModel(request);
    return result ? Kind::Internal : result.failure().kind;
  };
  for (const char *name : {"empty.onnx", "page.onnx", "broken.mlir", "."})
    EXPECT_EQ(kindOf([&](CompileRequest &request) {
                request.model.path = folder.path(name);
              }),
              Kind::Input)
        << name;
  EXPECT_EQ(kindOf([&](CompileRequest &request) {
              request.device = missing + ".yaml";
            }),
            Kind::Input);
  EXPECT_EQ(kindOf([&](CompileRequest &request) {
              request.device.clear();
              request.cluster = missing + ".yaml";
            }),
            Kind::Input);
  EXPECT_EQ(kindOf([&](CompileRequest &request) { request.steer = missing; }),
            Kind::Input);
  EXPECT_EQ(kindOf([&](CompileRequest &request) { request.plan = missing; }),
            Kind::Input);
  EXPECT_EQ(
      kindOf([&](CompileRequest &request) { request.constraints = missing; }),
      Kind::Input);
  EXPECT_EQ(kindOf([&](CompileRequest &request) {
              request.model.path = reals;
              request.model.calibration.emplace();
              request.model.calibration->data.path = missing + ".npy";
            }),
            Kind::Input);
  // What the model says is another matter.
  EXPECT_EQ(
      kindOf([&](CompileRequest &request) { request.model.path = reals; }),
      Kind::Unsupported);
  EvaluateRequest evaluate;
  evaluate.model.path = model;
  evaluate.data.path = missing + ".npy";
  auto evaluated = evaluateModel(evaluate);
  ASSERT_FALSE(bool(evaluated));
  EXPECT_EQ(evaluated.failure().kind, Kind::Input);
  AnalyzeRequest analyze;
  analyze.model.path = model;
  analyze.devices = {missing + ".yaml"};
  auto analyzed = analyzeModel(analyze);
  ASSERT_FALSE(bool(analyzed));
  EXPECT_EQ(analyzed.failure().kind, Kind::Input);
}
} // namespace
