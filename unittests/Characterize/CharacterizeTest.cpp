// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// characterize: one sampled actor in Yosys, with its registers as predicted.
#include "rhizome/Characterize/Characterize.h"
#include "../TestFolder.h"

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
TEST(Characterize, FitsWhatItSamples) {
  TestFolder folder;
  characterize::CharacterizeRequest request;
  request.device = "lfe5u-85f";
  request.work = folder.path("sample.rhz");
  request.cache = folder.path("cache");
  request.units = {"fork"};
  request.points = 1;
  auto done = characterize::characterize(request);
  ASSERT_TRUE(bool(done)) << done.failure().reason();
  const auto &result = *done;
  ASSERT_EQ(result.points.size(), 1u);
  const auto &point = result.points.front();
  EXPECT_EQ(point.unit, "fork");
  EXPECT_EQ(point.ff, point.measured.at("ff"));
  EXPECT_NEAR(point.lut, point.measured.at("lut"), 1);
  EXPECT_EQ(result.lut.points + result.lut.small, 1);
  EXPECT_NE(result.model.tool, "");
}

TEST(Characterize, WhatCannotBeSynthesizedIsRefused) {
  characterize::CharacterizeRequest request;
  request.device = "10ax115";
  auto result = characterize::characterize(request);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.failure().kind, Failure::Kind::Input);
  EXPECT_NE(result.failure().reason().find("cannot be synthesized"),
            std::string::npos)
      << result.failure().reason();
}
} // namespace
