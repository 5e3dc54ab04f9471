// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A core is offered at no clock that its levels of logic do not allow.
#include "../NetworkBuilder.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Target/CostModel.h"
#include "rhizome/Target/Device.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;

namespace {
const gen::Generator &engines() {
  for (const auto &generator : gen::allGenerators())
    if (generator->name() == "engine")
      return *generator;
  llvm_unreachable("there is a generator 'engine'");
}

class EngineClock
    : public ::testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(EngineClock, IsThatOfTheirLevels) {
  const auto &[name, most] = GetParam();
  MLIRContext context;
  test::NetworkBuilder n(context);
  const auto bytes = num::IntType::getFull(&context, true, 8);
  n.begin({1, 8, 8, 16}, bytes);
  test::NetworkBuilder::Conv conv;
  conv.kh = conv.kw = 3;
  conv.out = 16;
  n.conv("conv", conv);
  n.requantize("round", bytes, /*unit=*/false, /*perChannel=*/true);
  func::FuncOp network = n.end();
  SmallVector<Operation *> ops;
  for (Operation &op : network.front())
    if (isa<osa::Conv2dOp, osa::RequantizeOp>(op))
      ops.push_back(&op);
  const auto regions = engines().regions(ops);
  ASSERT_EQ(regions.size(), 1u);

  auto device = loadDevice(name);
  ASSERT_TRUE(bool(device));
  auto at = [&](double clock) {
    auto context = planbuild::contextOf(*device, clock);
    EXPECT_TRUE(bool(context));
    return std::move(*context);
  };
  EXPECT_FALSE(engines().offers(regions[0], {}, at(most)).empty());
  const gen::DeviceContext beyond = at(most + 1);
  EXPECT_TRUE(engines().offers(regions[0], {}, beyond).empty());
  EXPECT_EQ(engines().leastCycles(ops, beyond), std::nullopt);
  const std::string why = engines().whyNone(regions[0], beyond);
  EXPECT_NE(why.find("needs a clock of at most " + std::to_string(most) +
                     " MHz: 5 levels of logic"),
            std::string::npos)
      << why;
  // What --clock-mhz auto takes is not beyond it.
  auto family = loadFamilyModel(device->family);
  ASSERT_TRUE(bool(family));
  EXPECT_LE(bestClockOf(*family).mhz, most);
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineClock,
                         ::testing::Values(std::pair("xczu3eg", 476),
                                           std::pair("xc7z020", 210)));
} // namespace
