// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts that options take, and what a command says of a bad package.
#include "../TestFolder.h"
#include "rhizome/Pipeline/Pipeline.h"

using namespace rhizome;
using namespace rhizome::pipeline;
using rhizome::test::TestFolder;

namespace {
TEST(Options, GoalsFormatsAndRanges) {
  EXPECT_TRUE(isGoal("throughput=5000/s"));
  EXPECT_TRUE(isGoal("latency=100us"));
  EXPECT_FALSE(isGoal("fast"));
  EXPECT_FALSE(isGoal("throughput=0/s"));
  ASSERT_TRUE(parseNumberFormat("fixed:16,10"));
  EXPECT_EQ(parseNumberFormat("fixed:16,10")->width, 16u);
  EXPECT_EQ(parseNumberFormat("fixed:16,10")->fraction, 10);
  EXPECT_FALSE(parseNumberFormat("fixed:17,10"));
  EXPECT_FALSE(parseNumberFormat("fixed:8"));
  EXPECT_FALSE(parseNumberFormat("float"));
  EXPECT_TRUE(isNormalisation("0..1"));
  EXPECT_TRUE(isNormalisation("0.13,0.3"));
  EXPECT_FALSE(isNormalisation("0.13,0"));
  EXPECT_FALSE(isNormalisation("0..2"));
}

TEST(Commands, RefuseWithoutLeavingAnything) {
  TestFolder folder;
  CompileRequest compile;
  compile.model.path = folder.path("missing.onnx");
  compile.device = "xc7z020";
  compile.output = folder.path("m.rhz");
  CompileResult result = compileModel(compile);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.refused.size(), 1u);
  compile.device = "no-such-device";
  EXPECT_NE(compileModel(compile).error.find("unknown device"),
            std::string::npos);
  EXPECT_FALSE(llvm::sys::fs::exists(folder.path("m.rhz")));
  SimulateRequest simulate;
  simulate.package = folder.path();
  SimulateResult simulated = simulatePackage(simulate);
  EXPECT_FALSE(simulated.ok);
  EXPECT_NE(simulated.error.find("holds no plan.json"), std::string::npos);
}
} // namespace
