// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of phases: names, order, and that the page on them agrees.
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/Support/Resources.h"
#include "gtest/gtest.h"

using namespace rhizome;
using namespace rhizome::pipeline;

namespace {
TEST(Phases, NamesReadBackInOrder) {
  std::optional<Phase> phase = Phase::Import;
  for (const PhaseInfo &info : phases()) {
    ASSERT_TRUE(phase);
    EXPECT_EQ(info.phase, *phase);
    EXPECT_EQ(parsePhase(info.name), *phase);
    EXPECT_EQ(infoOf(*phase).name, info.name);
    phase = next(*phase);
  }
  EXPECT_FALSE(phase);
  EXPECT_FALSE(parsePhase("flow"));
}

TEST(Phases, ThePageHasTheTable) {
  std::string page =
      llvm::cantFail(readFile(RHIZOME_SOURCE_DIR "/docs/phases.md"));
  for (const PhaseInfo &info : phases()) {
    std::string row = std::string("| `") + info.name + "` | " + info.sentence;
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(Phases, OptionsThatComeTooLateAreUsage) {
  CompileRequest request;
  request.from = Phase::Explore;
  request.given = {"--device"};
  rhizome::Result<CompileResult> result = compileModel(request);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.failure().kind, Failure::Kind::Usage);
  EXPECT_EQ(result.failure().exitCode(), 2);
  EXPECT_EQ(nearestOf(result.failure()), nullptr);
  EXPECT_NE(result.failure().reason().find("--device acts in the phase"),
            std::string::npos);
}
} // namespace
