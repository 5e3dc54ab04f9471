// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan's host section and its ports by kind: printed, read back, and
// refused if they do not fit.
#include "rhizome/Package/Plan.h"
#include "gtest/gtest.h"

using namespace rhizome;

namespace {
Plan plan() {
  Plan plan;
  plan.model = "toy";
  PlannedNode node;
  node.name = "node0";
  node.clockMhz = 100;
  node.inputs = {{"s_axis_0", "x", {1, 3, 2}, {true, 5, -16, 15}, 64}};
  node.outputs = {{"m_axis_0", "y", {1, 4}, {false, 3, 0, 7}, 8}};
  node.registerPorts = {{"channels_i", "channels", 96}};
  node.linkPorts = {{"s_link", false, 64}, {"m_link", true, 64}};
  plan.nodes.push_back(node);
  HostBorder in{"s_axis_0", 0, {true, 5, -16, 15}, 64, {{3, 1}, {2, 3}}};
  in.rounding = "half_away";
  in.channels = 2;
  in.inner = 3;
  in.scale = {0.1f, 3e-39f};
  in.zeroPoint = {-3, 4};
  HostBorder out{"m_axis_0", 0, {false, 3, 0, 7}, 8, {{4, 1}}};
  out.scale = {0.25f};
  out.zeroPoint = {0};
  out.offset = {-1.5f};
  plan.host = {true,
               {{"x", true, {1, 2, 3}, true}},
               {{"y", true, {1, 4}, false}},
               {in},
               {out}};
  return plan;
}

/// The error for the plan's text with one part replaced.
std::string message(const std::string &from, const std::string &to) {
  std::string text = printPlan(plan());
  size_t at = text.find(from, text.find("\"host\""));
  if (at == std::string::npos)
    at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  auto parsed = parsePlan(text);
  if (parsed)
    return "";
  return llvm::toString(parsed.takeError());
}
} // namespace

TEST(HostSection, ComesBack) {
  auto parsed = parsePlan(printPlan(plan()));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  EXPECT_EQ(parsed->host, plan().host);
  EXPECT_EQ(parsed->nodes[0].registerPorts, plan().nodes[0].registerPorts);
  EXPECT_EQ(parsed->nodes[0].linkPorts, plan().nodes[0].linkPorts);
  EXPECT_EQ(parsed->nodes[0].inputs, plan().nodes[0].inputs);
  EXPECT_EQ(parsed->nodes[0].outputs, plan().nodes[0].outputs);
  EXPECT_EQ(parsed->host.toDevice[0].elements(), 6);
  EXPECT_EQ(printPlan(*parsed), printPlan(plan()));
}

TEST(HostSection, SaysWhatIsWrong) {
  EXPECT_EQ(message("\"rounding\": \"half_away\"", "\"rounding\": \"away\""),
            "expected a rounding of osa.quantize at "
            "plan.host.to_device[0].rounding");
  EXPECT_EQ(message("\"tensor\": 0", "\"tensor\": 1"),
            "expected the index of a tensor at plan.host.to_device[0].tensor");
  EXPECT_EQ(message("\"stride\": 3", "\"stride\": 4"),
            "expected places in the tensor at plan.host.to_device[0].order");
  EXPECT_EQ(message("\"size\": 3", "\"size\": 0"),
            "expected a positive size and stride at "
            "plan.host.to_device[0].order[0].size");
  EXPECT_EQ(message("\"channels\": 2", "\"channels\": 3"),
            "expected as many values as channels at "
            "plan.host.to_device[0].scale");
  EXPECT_EQ(message("0.25", "0"), "expected finite numbers that are not 0 at "
                                  "plan.host.from_device[0].scale");
  EXPECT_EQ(message("\"type\": \"float32\"", "\"type\": \"int64\""),
            "expected scales for reals, and for reals only at "
            "plan.host.to_device[0].scale");
  EXPECT_EQ(message("\"type\": \"float32\"", "\"type\": \"half\""),
            "expected 'float32' or 'int64' at plan.host.inputs[0].type");
  EXPECT_EQ(
      message("\"direction\": \"out\"", "\"direction\": \"up\""),
      "expected 'in' or 'out' at plan.nodes[0].ports.stream[1].direction");
  EXPECT_EQ(message("\"of_model\": true", "\"of\": true"),
            "missing value at plan.host.inputs[0].of_model");
}
