// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of systems against all assignments of units to dies, and why there is
// none.
#include "rhizome/KernelCommands/SystemDies.h"
#include <gtest/gtest.h>
#include <random>
#include <tuple>

using namespace rhizome;
using namespace rhizome::kernelcommands;

namespace {
constexpr size_t kLut = 0, kDsp = 2;

SystemRoom roomOf(const std::vector<double> &luts) {
  SystemRoom room;
  for (auto [d, lut] : llvm::enumerate(luts)) {
    room.dies.push_back({"SLR" + std::to_string(d), {}});
    room.dies.back().routable.lut() = lut;
    room.all.lut() += lut;
  }
  return room;
}

SystemUnit unitOf(double lut) {
  SystemUnit unit;
  unit.resources.lut() = lut;
  return unit;
}

std::vector<int64_t> unitsOf(const SystemLayout &layout) {
  std::vector<int64_t> units;
  for (const SystemLayout::Die &die : layout.dies)
    units.push_back(die.units);
  return units;
}

/// Every assignment, unit by unit: the smallest largest share and whether any
/// is within the wires.
std::pair<bool, double> smallest(const SystemUnit &unit, int64_t units,
                                 const SystemRoom &room) {
  const size_t dies = room.dies.size();
  size_t all = 1;
  for (int64_t u = 0; u < units; ++u)
    all *= dies;
  std::pair<bool, double> best{false, 2};
  for (size_t code = 0; code < all; ++code) {
    std::vector<int64_t> on(dies);
    for (size_t u = 0, left = code; u < size_t(units); ++u, left /= dies)
      ++on[left % dies];
    double share = 0;
    for (size_t d = 0; d < dies; ++d)
      for (size_t k : {kLut, kDsp})
        if (const double need = double(on[d]) * unit.resources.amount[k];
            need > 0)
          share = std::max(share, need / room.dies[d].routable.amount[k]);
    bool isWired = true;
    for (size_t border = 0; border + 1 < dies; ++border) {
      int64_t wires = 0;
      for (size_t d = 0; d < dies; ++d) {
        if ((d <= border) != (room.memory <= border))
          wires += on[d] * unit.memoryWires;
        if ((d <= border) != (room.border <= border))
          wires += on[d] * unit.controlWires;
      }
      isWired &= room.wires == 0 || wires <= room.wires;
    }
    if (share <= 1 && isWired)
      best = {true, std::min(best.second, share)};
  }
  return best;
}
} // namespace

TEST(SystemDies, UnitsAreSpreadAndStayNextToTheMemory) {
  SystemRoom room = roomOf({100, 110, 110});
  EXPECT_EQ(unitsOf(layOut(unitOf(20), 1, room)),
            (std::vector<int64_t>{1, 0, 0}));
  const SystemLayout three = layOut(unitOf(20), 3, room);
  EXPECT_EQ(unitsOf(three), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(three.dieOf, (std::vector<size_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(three.share, 0.2);
  room.memory = 1;
  const SystemLayout two = layOut(unitOf(20), 2, room);
  EXPECT_EQ(unitsOf(two), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(two.dieOf, (std::vector<size_t>{1, 2}));
  // 17 fit: 5 and 6 and 6 units of 18.
  EXPECT_EQ(unitsOf(layOut(unitOf(18), 17, room)),
            (std::vector<int64_t>{5, 6, 6}));
}

TEST(SystemDies, WhatDoesNotFitHasAReason) {
  SystemRoom room = roomOf({100, 110});
  EXPECT_EQ(layOut(unitOf(120), 1, room).obstacle,
            "a unit, which is on one die, needs 109.1 % of the lut that routes "
            "on SLR1");
  EXPECT_EQ(layOut(unitOf(60), 3, room).obstacle,
            "there is room for 2 (1 on SLR0, 1 on SLR1), and 2 would need "
            "109.1 % of the lut that routes on SLR1");
  room.all.lut() = 100;
  EXPECT_EQ(layOut(unitOf(60), 2, room).obstacle,
            "together they need 120.0 % of the lut that may be used");
  SystemUnit unit = unitOf(20);
  unit.resources.dsp() = 1;
  EXPECT_EQ(layOut(unit, 1, room).obstacle,
            "a unit, which is on one die, needs dsp, of which SLR0 has none");
  // 5 fit on the memory's die, 3 more need wires.
  room = roomOf({100, 110});
  room.wires = 299;
  unit = unitOf(20);
  unit.memoryWires = 80;
  unit.controlWires = 20;
  EXPECT_EQ(unitsOf(layOut(unit, 7, room)), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(layOut(unit, 8, room).obstacle,
            "they need 300 wires between two dies, which have 299");
}

TEST(SystemDies, RandomLayoutsAreTheBest) {
  std::mt19937 random(1);
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  int fit = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<double> luts;
    for (int64_t d = pick(1, 4); d > 0; --d)
      luts.push_back(double(pick(20, 100)));
    SystemRoom room = roomOf(luts);
    for (SystemRoom::Die &die : room.dies)
      die.routable.dsp() = double(pick(5, 40));
    room.all.dsp() = 1000;
    room.memory = size_t(pick(0, int64_t(luts.size()) - 1));
    room.border = size_t(pick(0, int64_t(luts.size()) - 1));
    room.wires = pick(0, 1) ? pick(10, 60) : 0;
    SystemUnit unit = unitOf(double(pick(5, 30)));
    unit.resources.dsp() = double(pick(0, 8));
    unit.memoryWires = pick(1, 20);
    unit.controlWires = pick(0, 5);
    const int64_t units = pick(1, 7);
    const auto [fits, share] = smallest(unit, units, room);
    const SystemLayout layout = layOut(unit, units, room);
    ASSERT_EQ(layout.obstacle.empty(), fits)
        << "trial " << trial << ": " << layout.obstacle;
    if (!fits)
      continue;
    ++fit;
    EXPECT_GE(layout.share, share - 1e-9) << trial;
    EXPECT_LE(layout.share, std::min(1.0, 1.1 * share) + 1e-9) << trial;
    EXPECT_EQ(int64_t(layout.dieOf.size()), units);
    for (const SystemLayout::Die &die : layout.dies)
      EXPECT_TRUE(room.wires == 0 || die.wires <= room.wires);
  }
  EXPECT_GT(fit, 100);
}
