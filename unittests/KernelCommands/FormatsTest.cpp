// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sweep over number formats, its Pareto front and picture, and overflow
// reports by place.
#include "../HelmholtzKernel.h"
#include "../TestFolder.h"
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/KernelCommands/ExploreFormats.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Target/CostModel.h"
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>

using namespace rhizome;
using namespace rhizome::kernelcommands;

namespace {
class Formats : public ::testing::Test {
protected:
  test::TestFolder folder;
  ExploreFormatsRequest request(const std::string &text) {
    ExploreFormatsRequest r;
    r.kernel = folder.path("kernel.mlir");
    std::ofstream(r.kernel) << text;
    r.elements = 2;
    return r;
  }
};
} // namespace

TEST_F(Formats, TheFrontFallsInErrorAsItRisesInCost) {
  auto explored = exploreFormats(request(test::helmholtz(3)));
  ASSERT_TRUE(bool(explored)) << explored.failure().reason();
  const ExploreFormatsResult &result = *explored;
  ASSERT_GT(result.points.size(), 20u);
  double error = std::numeric_limits<double>::infinity(), cost = 0;
  int front = 0;
  for (const FormatPoint &p : result.points) {
    EXPECT_GE(p.luts, cost);
    cost = p.luts;
    if (p.overflows) {
      EXPECT_TRUE(p.canOverflow) << p.format.str();
    }
    if (!p.isPareto) {
      EXPECT_TRUE(p.meanSquare >= error || p.overflows);
      continue;
    }
    EXPECT_LT(p.meanSquare, error);
    error = p.meanSquare;
    ++front;
  }
  EXPECT_GT(front, 5);
  EXPECT_EQ(result.multiplications, 6 * 81 + 27);
  std::string picture = drawFormats(result, "a < b");
  EXPECT_NE(picture.find("a &lt; b"), std::string::npos);
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
}

TEST_F(Formats, MoreFractionBitsAreMoreExact) {
  auto r = request(test::helmholtz(3));
  r.formats = {"fixed<8,8>", "fixed<8,16>", "fixed<8,24>", "double"};
  auto explored = exploreFormats(r);
  ASSERT_TRUE(bool(explored)) << explored.failure().reason();
  const ExploreFormatsResult &result = *explored;
  ASSERT_EQ(result.points.size(), 4u);
  for (size_t i = 1; i < 3; ++i)
    EXPECT_LT(result.points[i].meanSquare,
              result.points[i - 1].meanSquare / 1e3);
  EXPECT_EQ(result.points[3].meanSquare, 0); // the widest costs most
}

// Subnormals take two shifters of M + 1 bits: a 2:1 multiplexer for every bit
// and level, two levels in a six-input LUT.
TEST_F(Formats, ShiftersArePricedByTheirChoices) {
  auto shifters = [&](const char *device, const char *plain,
                      const char *flush) {
    auto r = request(test::helmholtz(2));
    r.device = device;
    r.formats = {plain, flush};
    auto explored = exploreFormats(r);
    EXPECT_TRUE(bool(explored)) << explored.failure().reason();
    const ExploreFormatsResult &result = *explored;
    EXPECT_EQ(result.points.size(), 2u);
    return std::fabs(result.points[0].luts - result.points[1].luts);
  };
  auto choice = [](const char *family) {
    auto model = llvm::cantFail(loadFamilyModel(family));
    return model.units.at("gearbox_rotate").lut.at("mux");
  };
  EXPECT_NEAR(shifters("ice40-hx8k", "float<5,10>", "float<5,10,flush>"),
              2 * 11 * 4 * choice("ice40"), 1e-9);
  EXPECT_NEAR(shifters("lfe5u-85f", "float<8,23>", "float<8,23,flush>"),
              2 * 24 * 5 * choice("ecp5"), 1e-9);
  EXPECT_NEAR(shifters("xczu3eg", "float<5,10>", "float<5,10,flush>"),
              2 * 11 * 2 * choice("ultrascale+"), 1e-9);
  EXPECT_NEAR(shifters("xczu3eg", "float<8,23>", "float<8,23,flush>"),
              2 * 24 * 3 * choice("ultrascale+"), 1e-9);
}

// As many DSP blocks as the product of a hardware unit has
// (bench/kernel_resources.txt).
TEST_F(Formats, ProductsTakeTheBlocksOfHardwareUnits) {
  for (auto [device, format, blocks] : {std::tuple("xcu280", "fixed<8,24>", 3),
                                        {"xcu280", "fixed<8,8>", 1},
                                        {"xcu280", "fixed<24,40>", 10},
                                        {"xcu280", "float<8,23>", 2},
                                        {"xcu280", "float<11,52>", 6},
                                        {"xc7z020", "fixed<16,16>", 3},
                                        {"lfe5u-85f", "fixed<8,24>", 4},
                                        {"ice40-hx8k", "fixed<8,24>", 0}}) {
    auto r = request(test::helmholtz(2));
    r.device = device;
    r.formats = {format};
    auto explored = exploreFormats(r);
    ASSERT_TRUE(bool(explored)) << explored.failure().reason();
    EXPECT_EQ(explored->points[0].dsps, blocks) << format << " on " << device;
  }
}

// What a plan says of a unit's LUTs and registers covers every measured number
// of at least 200, and is not much larger than needed.
TEST(KernelErrors, AreThoseOfTheMeasuredUnits) {
  std::string text = llvm::cantFail(
      readFile(RHIZOME_SOURCE_DIR "/bench/kernel_resources.txt"));
  const std::regex row(R"((\S+) +([\d,]+), ([\d,]+) +[+-][\d.]+% +)"
                       R"(([\d,]+), ([\d,]+) +[+-][\d.]+% )");
  std::map<bool, double> worst; // by whether there are shift registers
  int count = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end;
       ++at, ++count) {
    const std::string name = (*at)[1];
    auto device = loadDevice(name);
    ASSERT_TRUE(bool(device)) << name;
    gen::CostContext cost = llvm::cantFail(planbuild::costContextOf(*device));
    const double bar = gen::loops::errorShareOf(cost);
    for (int column : {2, 4}) {
      auto number = [&](int i) {
        std::string digits = (*at)[i];
        llvm::erase(digits, ',');
        return std::stod(digits);
      };
      const double predicted = number(column), measured = number(column + 1);
      if (measured < 200)
        continue;
      const double error = std::fabs(measured - predicted) / predicted;
      EXPECT_LE(error, bar) << at->str();
      double &most = worst[cost.shiftRegisters];
      most = std::max(most, error);
    }
  }
  EXPECT_GE(count, 37);
  for (auto [shift, error] : worst) {
    gen::CostContext cost;
    cost.shiftRegisters = shift;
    EXPECT_LE(gen::loops::errorShareOf(cost), 1.2 * error);
  }
}

// A model with a term that is unknown to the cost model is refused,
// rather than read with a price of 1.
TEST_F(Formats, UnknownTermsAreErrors) {
  auto r = request(test::helmholtz(2));
  r.formats = {"half"};
  r.device = folder.path("toy.yaml");
  std::string device = llvm::cantFail(
      readFile(llvm::cantFail(dataDir()) + "/devices/ice40-hx8k.yaml"));
  device.replace(device.find("family: ice40"), 13, "family: toy");
  folder.write("toy.yaml", device);
  FamilyModel model = llvm::cantFail(loadFamilyModel("ice40"));
  model.family = "toy";
  model.units["requant"].lut["shift"] = 1;
  llvm::sys::fs::create_directories(folder.path("devices"));
  llvm::sys::fs::create_directories(folder.path("models"));
  folder.write("models/toy.yaml", printFamilyModel(model));
  setenv("RHIZOME_DATA", folder.path().c_str(), 1);
  auto result = exploreFormats(r);
  unsetenv("RHIZOME_DATA");
  ASSERT_FALSE(bool(result));
  EXPECT_NE(result.failure().reason().find("unknown term 'shift'"),
            std::string::npos)
      << result.failure().reason();
}

TEST_F(Formats, OverflowsHaveTheirPlace) {
  auto r = request(test::helmholtz(7));
  r.formats = {"fixed<8,24>"};
  auto checked = checkRanges(r);
  ASSERT_TRUE(bool(checked)) << checked.failure().reason();
  const std::vector<OverflowPlace> &places = *checked;
  ASSERT_FALSE(places.empty());
  // 7^3 products of at most 1: the third contraction, the twelfth line.
  EXPECT_NE(places[0].place.find("kernel.mlir:11:"), std::string::npos)
      << places[0].place;
  EXPECT_TRUE(places[0].isCertain);
  ASSERT_EQ(places[0].input.size(), 3u);
  EXPECT_EQ(places[0].input[0].second.size(), 49u);
}

TEST_F(Formats, WrongKernelsAndFormatsAreErrors) {
  auto r = request("func.func @k(%a: tensor<2xf64>) -> tensor<2xf64> {\n"
                   "  return %b : tensor<2xf64>\n}\n");
  auto why = [&]() -> std::string {
    auto explored = exploreFormats(r);
    return explored ? "" : explored.failure().reason();
  };
  EXPECT_NE(why().find(":2:10"), std::string::npos) << why();
  r = request(test::helmholtz(2));
  r.formats = {"fixed<8>"};
  EXPECT_NE(why().find("not a number format"), std::string::npos);
  r.kernel = folder.path("missing.mlir");
  EXPECT_NE(why(), "");
}
