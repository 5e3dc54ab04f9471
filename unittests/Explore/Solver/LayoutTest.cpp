// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts that are remembered are those of a search, whatever differs.
#include "rhizome/Explore/Solver/Layout.h"
#include "gtest/gtest.h"
#include <random>

using namespace rhizome::explore;
using rhizome::gen::Resources;

namespace {
class Drawn {
public:
  explicit Drawn(unsigned seed) : random(seed) {
    const int dies = draw(2, 3), items = draw(3, 9);
    for (int i = 0; i < items; ++i)
      layout.items.push_back({cost(draw(10, 60)), -1});
    for (int i = 0; i <= items; ++i)
      layout.streams.push_back({i == 0 ? Layout::kBorder : i - 1,
                                {i == items ? Layout::kBorder : i},
                                draw(1, 9),
                                cost(draw(0, 4))});
    for (int d = 0; d < dies; ++d)
      layout.room.push_back(cost(draw(60, 160)).resources);
    layout.wires = draw(5, 30);
    layout.border = draw(0, dies - 1);
  }
  /// Another one that differs in one thing.
  Layout changed() {
    Layout other = layout;
    const int items = int(layout.items.size());
    auto item = [&] { return draw(0, items - 1); };
    auto stream = [&]() -> Layout::Stream & {
      return other.streams[draw(0, items)];
    };
    auto die = [&] { return draw(0, int(layout.room.size()) - 1); };
    switch (draw(0, 12)) {
    case 0:
      other.items[item()].cost.resources.lut() += 40;
      break;
    case 1:
      other.items[item()].cost.lutVariance += 900;
      break;
    case 2:
      other.items[item()].die = die();
      break;
    case 3:
      stream().from = item();
      break;
    case 4:
      stream().to.push_back(item());
      break;
    case 5:
      stream().wires += 20;
      break;
    case 6:
      stream().crossing.resources.lut() += 30;
      break;
    case 7:
      other.room[die()].lut() /= 2;
      break;
    case 8:
      other.border = die();
      break;
    case 9:
      other.wires = draw(1, 20);
      break;
    case 10:
      other.share = 0.6;
      break;
    case 11:
      other.errorBars = false;
      break;
    default:
      for (int i = 0; i < items; ++i)
        other.first.push_back(die());
    }
    return other;
  }
  Layout layout;

private:
  std::mt19937 random;
  int draw(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  }
  static Cost cost(int luts) {
    Cost cost;
    cost.resources.lut() = luts;
    cost.lutVariance = luts / 4;
    return cost;
  }
};
} // namespace

TEST(Layouts, AreThoseOfASearch) {
  Layouts known;
  int fit = 0, differ = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Drawn drawn(seed);
    const LaidOut first = known.of(drawn.layout);
    for (int turn = 0; turn < 4; ++turn) {
      const Layout other = turn == 0 ? drawn.layout : drawn.changed();
      const LaidOut found = known.of(other), searched = layOut(other);
      ASSERT_EQ(found.dies, searched.dies) << "seed " << seed;
      ASSERT_EQ(found.fits, searched.fits) << "seed " << seed;
      fit += found.fits;
      differ += found.dies != first.dies || found.fits != first.fits;
    }
  }
  EXPECT_GT(fit, 200);
  EXPECT_GT(differ, 200);
}

/// Of many items each move that helps is made at once: a chain that fills
/// three dies to nine tenths is laid out, with few wires.
TEST(Layouts, OfManyItemsFillDies) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 5; ++turn) {
    constexpr int kItems = 600;
    Layout layout;
    double luts = 0;
    for (int i = 0; i < kItems; ++i) {
      Cost cost;
      cost.resources.lut() = std::uniform_int_distribution<int>(10, 60)(random);
      luts += cost.resources.lut();
      layout.items.push_back({cost, -1});
      layout.streams.push_back({i - 1, {i}, 8, {}});
    }
    layout.streams.front().from = Layout::kBorder;
    layout.border = turn % 3;
    layout.room.resize(3);
    for (Resources &die : layout.room)
      die.lut() = luts / 0.9 / 3;
    layout.wires = 200;
    const LaidOut on = layOut(layout);
    EXPECT_TRUE(on.fits) << turn;
    int crossings = 0;
    for (int i = 1; i < kItems; ++i)
      crossings += std::abs(on.dies[i] - on.dies[i - 1]);
    EXPECT_LE(crossings, 2 * layout.wires / 8) << turn;
  }
}
