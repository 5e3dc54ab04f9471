// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Off-chip memories in a plan: read back as they were
// written, and refused if their parts do not fit together.
#include "rhizome/Package/Plan.h"
#include <gtest/gtest.h>

using namespace rhizome;

namespace {
Plan planOf() {
  Plan plan;
  plan.model = "toy";
  plan.device = "xcu280";
  plan.clockMhz = 300;
  plan.goal = "max-throughput";
  PlannedNode node;
  node.name = "node0";
  node.device = "xcu280";
  node.clockMhz = 300;
  node.memories = {{"hbm2", 32, 460000000000, 123, 14, 3900, 260}};
  node.memoryPorts = {{"m_axi_hbm2_3", "hbm2", 3, 256, 8192}};
  node.segments = {{"segments/node0/weights", "hbm2", 3, 4096, 8192, "start"}};
  plan.nodes.push_back(std::move(node));
  return plan;
}

TEST(PlanMemories, AreReadBack) {
  Plan plan = planOf();
  auto read = parsePlan(printPlan(plan));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->nodes[0].memories, plan.nodes[0].memories);
  EXPECT_EQ(read->nodes[0].memoryPorts, plan.nodes[0].memoryPorts);
  EXPECT_EQ(read->nodes[0].segments, plan.nodes[0].segments);
  ASSERT_TRUE(read->nodes[0].memory("hbm2"));
  EXPECT_FALSE(read->nodes[0].memory("ddr4"));
}

TEST(PlanMemories, AreRefusedWhereTheyDoNotFit) {
  auto message = [](const std::string &from, const std::string &to) {
    std::string text = printPlan(planOf());
    EXPECT_NE(text.find(from), std::string::npos) << from;
    auto plan = parsePlan(text.replace(text.find(from), from.size(), to));
    return plan ? "accepted" : llvm::toString(plan.takeError());
  };
  EXPECT_EQ(message("\"bank\": 3", "\"bank\": 32"),
            "node 'node0' has no bank 32 of a memory 'hbm2', which "
            "'m_axi_hbm2_3' names");
  EXPECT_EQ(message("\"name\": \"hbm2\"", "\"name\": \"hbm\""),
            "node 'node0' has no bank 3 of a memory 'hbm2', which "
            "'m_axi_hbm2_3' names");
  EXPECT_EQ(message("\"segments/node0/weights\"", "\"model/weights\""),
            "node 'node0' names the segment 'model/weights', which does not "
            "lie in segments/");
  EXPECT_EQ(message("segments/node0", "segments/../.."),
            "plan.nodes[0].segments[0].file: 'segments/../../weights' is not a "
            "path below its folder, made of names that have letters, digits "
            "and any of '_.+-'");
  EXPECT_EQ(message("\"load\": \"start\"", "\"load\": \"later\""),
            "expected 'start' at plan.nodes[0].segments[0].load");
  EXPECT_EQ(message("\"address\": 4096", "\"address\": -1"),
            "plan.nodes[0].segments[0].address: -1 is not in "
            "0..1125899906842624");
  EXPECT_EQ(message("\"data_width\": 256", "\"data_width\": 48"),
            "expected a power of two, 8..1024 at "
            "plan.nodes[0].ports.memory[0].data_width");
  EXPECT_EQ(message("\"refresh_ns\": 260", "\"refresh_ns\": 3900"),
            "expected less than refresh_every_ns at "
            "plan.nodes[0].memories[0].refresh_ns");
  // What C++ holds in fewer bits is not cut to them.
  EXPECT_EQ(message("\"data_width\": 256", "\"data_width\": 4294967552"),
            "expected 0..4294967295 at "
            "plan.nodes[0].ports.memory[0].data_width");
  EXPECT_EQ(message("\"segments\"", "\"segment\""),
            "missing value at plan.nodes[0].segments");
}
} // namespace
