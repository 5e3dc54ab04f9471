// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// characterise: one sampled actor through Yosys, its registers as predicted.
#include "rhizome/Pipeline/Characterise.h"
#include "../TestFolder.h"

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
TEST(Characterise, FitsWhatItSamples) {
  TestFolder folder;
  pipeline::CharacteriseRequest request;
  request.device = "lfe5u-85f";
  request.work = folder.path("sample.rhz");
  request.cache = folder.path("cache");
  request.units = {"fork"};
  request.points = 1;
  auto result = pipeline::characterise(request);
  ASSERT_EQ(result.error, "");
  ASSERT_EQ(result.points.size(), 1u);
  const auto &point = result.points.front();
  EXPECT_EQ(point.unit, "fork");
  EXPECT_EQ(point.ff, point.measured.at("ff"));
  EXPECT_NEAR(point.lut, point.measured.at("lut"), 1);
  // The file's other units keep their points.
  auto known = loadFamilyModel("ecp5");
  ASSERT_TRUE(static_cast<bool>(known));
  int64_t points = 1, large = 0;
  for (const auto &[name, unit] : known->units)
    if (name != "fork") {
      large += unit.lutResiduals.points;
      points += unit.lutResiduals.points + unit.lutResiduals.small;
    }
  EXPECT_EQ(result.model.points, points);
  EXPECT_EQ(result.model.lut.points, large);
  EXPECT_EQ(result.model.lut.worst, known->lut.worst);
  EXPECT_NE(result.model.tool, "");
}

TEST(Characterise, WhatCannotBeSynthesisedIsRefused) {
  pipeline::CharacteriseRequest request;
  request.device = "10ax115";
  auto result = pipeline::characterise(request);
  EXPECT_NE(result.error.find("cannot be synthesised"), std::string::npos)
      << result.error;
}
} // namespace
