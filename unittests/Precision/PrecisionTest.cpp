// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Widths of the jet tagger of examples/: what the choice keeps and serves, the
// front against its definition, and what cannot be.
#include "rhizome/Precision/Precision.h"
#include "rhizome/Pipeline/Pipeline.h"
#include <gtest/gtest.h>

using namespace rhizome;
using namespace rhizome::precision;

namespace {
const std::string kJets = RHIZOME_SOURCE_DIR "/examples/jets/";

Request requestFor(const std::string &goal) {
  Request request;
  request.compile.model.path = kJets + "jets_float.onnx";
  model::Calibration calibration;
  calibration.data.path = kJets + "test_jets.npy";
  calibration.frames = 30;
  calibration.options.bits = {5, 6};
  calibration.hasWidths = true;
  request.compile.model.calibration = calibration;
  request.compile.device = "xc7a35t";
  request.compile.goal = goal;
  request.data.path = kJets + "test_jets.npy";
  request.labels = kJets + "test_labels.npy";
  request.frames = 100;
  request.loss = 5;
  return request;
}

double shareWith(Request request, const Widths &widths) {
  for (const auto &[layer, bits] : widths)
    request.compile.model.calibration->options.layers[layer] = bits;
  auto explored = pipeline::exploreModel(request.compile);
  EXPECT_TRUE(bool(explored));
  double sum = 0;
  if (explored)
    for (const auto &[kind, share] : explored->plan.utilization)
      sum += share;
  return sum;
}

TEST(Precision, TheChoiceIsTheLeastThatKeepsTheAccuracy) {
  Request request = requestFor("throughput=1000000/s,min-resources,dsp=0");
  // A layer that keeps its widths is no part of the choice.
  request.compile.model.calibration->options.layers["fc4"] = {7, 7};
  int64_t told = 0;
  request.progress = [&](llvm::StringRef) { ++told; };
  auto found = findWidths(request);
  ASSERT_TRUE(bool(found)) << found.failure().reason();
  EXPECT_GT(told, int64_t(found->points.size()));
  EXPECT_EQ(found->frames, 100);
  EXPECT_EQ(found->needed, found->floatCorrect - 5);
  const Point &chosen = found->points[found->chosen];
  EXPECT_GE(chosen.correct, found->needed);
  EXPECT_TRUE(chosen.meetsGoal);
  EXPECT_GE(chosen.predicted.throughputPerS, 1e6);
  EXPECT_DOUBLE_EQ(shareWith(request, chosen.widths), chosen.share);
  for (const Point &point : found->points) {
    EXPECT_EQ(point.widths.count("fc4"), 0u);
    EXPECT_EQ(point.keepsAccuracy, point.correct >= found->needed);
    if (point.keepsAccuracy && point.meetsGoal) {
      EXPECT_GE(point.share, chosen.share);
    }
    for (const auto &[layer, bits] : point.widths) {
      EXPECT_LE(bits.weights, 5u);
      EXPECT_LE(bits.activations, 6u);
    }
    const bool isBeaten = llvm::any_of(found->points, [&](const Point &other) {
      return other.correct >= point.correct && other.share < point.share &&
             other.predicted.latencyUs <= point.predicted.latencyUs &&
             other.predicted.throughputPerS >= point.predicted.throughputPerS;
    });
    EXPECT_FALSE(point.isPareto && isBeaten) << widthsText(*found, point);
  }
  ASSERT_TRUE(found->uniform);
  EXPECT_TRUE(found->points[*found->uniform].uniform);
  EXPECT_LT(chosen.share, found->points[*found->uniform].share);
}

std::string reasonOf(const Request &request) {
  auto found = findWidths(request);
  EXPECT_FALSE(bool(found));
  return found ? "" : found.failure().reason();
}

TEST(Precision, WhatCannotBeIsSaid) {
  Request request = requestFor("max-throughput");
  request.accuracy = 99;
  EXPECT_NE(reasonOf(request).find("more than the network has without"),
            std::string::npos);
  request.accuracy = 50;
  request.compile.model.calibration->options.bits = {2, 2};
  EXPECT_NE(reasonOf(request).find("with 2 bits for all weights and 2 for all"),
            std::string::npos);
  request.labels.clear();
  EXPECT_NE(reasonOf(request).find("of which frames?"), std::string::npos);
}
} // namespace
