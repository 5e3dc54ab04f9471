// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a circuit is counted to: bits that nobody reads or that stay zero are
// not built.
#include "rhizome/Generator/Circuit.h"
#include "rhizome/Generator/Actor.h"
#include "gtest/gtest.h"

using namespace rhizome;
using gen::Circuit;

namespace {
gen::Actor described(Circuit &c, std::vector<int> outputs, int64_t width) {
  c.outputs = std::move(outputs);
  c.outWidth = width;
  gen::Actor a;
  gen::describe(a, c, 160);
  return a;
}

/// A table over one input of so many bits.
gen::Actor tableOf(int64_t bits, int64_t width,
                   llvm::function_ref<int64_t(int64_t)> entry) {
  Circuit c;
  c.inLanes = 1;
  c.inWidth = bits;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < int64_t(1) << bits; ++i)
    values.push_back(entry(i));
  int x = c.input(0, 0, (int64_t(1) << bits) - 1);
  return described(c, {c.table(x, values)}, width);
}

TEST(CircuitCounts, SumsFromTheFirstBitThatBothHave) {
  Circuit c;
  c.inLanes = 2;
  c.inWidth = 8;
  int x = c.input(0, 0, 255), y = c.input(1, 0, 255);
  // x + 16 y: the lowest four bits are x's; five more reach the carry.
  gen::Actor a = described(c, {c.sum(Circuit::Op::Add, x, y, 4)}, 13);
  EXPECT_EQ(a.get("adders"), 1);
  EXPECT_EQ(a.get("adderBits"), 9);
  EXPECT_EQ(a.get("sharedBits"), 4);
}

TEST(CircuitCounts, SumsUpToTheLastBitThatIsRead) {
  Circuit c;
  c.inLanes = 2;
  c.inWidth = 8;
  int x = c.input(0, 0, 255), y = c.input(1, 0, 255);
  gen::Actor a = described(c, {c.sum(Circuit::Op::Add, x, y, 0)}, 5);
  EXPECT_EQ(a.get("adderBits"), 5);
}

TEST(CircuitCounts, OnesOfAnAddedConstant) {
  Circuit c;
  c.inLanes = 1;
  c.inWidth = 8;
  int x = c.input(0, 0, 255), k = c.constant(0b1010100);
  gen::Actor a = described(c, {c.sum(Circuit::Op::Add, x, k, 0)}, 9);
  EXPECT_EQ(a.get("adderBits"), 0);
  EXPECT_EQ(a.get("offsetBits"), 7); // from the lowest one on
  EXPECT_EQ(a.get("offsetOnes"), 3);
}

TEST(CircuitCounts, TablesByTheirContents) {
  // Bits of the index pass; every one of these has its own place.
  gen::Actor same = tableOf(8, 8, [](int64_t i) { return i; });
  EXPECT_EQ(same.get("tableLeaves") + same.get("tableChoices"), 0);
  EXPECT_EQ(same.get("narrowTableLeaves") + same.get("narrowTableChoices"), 0);
  // Eight bits' parity: six bits' one, chosen or inverted by the other two.
  gen::Actor parity =
      tableOf(8, 1, [](int64_t i) { return __builtin_parity(unsigned(i)); });
  EXPECT_EQ(parity.get("tableLeaves"), 1);
  EXPECT_EQ(parity.get("tableChoices"), 1);
  EXPECT_EQ(parity.get("narrowTableLeaves"), 1);
  EXPECT_EQ(parity.get("narrowTableChoices"), 4);
  // The two lower of eight bits alone, in both bits of the result.
  gen::Actor low = tableOf(8, 2, [](int64_t i) { return (i % 4 == 3) * 3; });
  EXPECT_EQ(low.get("tableLeaves"), 1);
  EXPECT_EQ(low.get("tableChoices"), 0);
  // No LUT of six inputs is like another.
  gen::Actor noise = tableOf(10, 1, [](int64_t i) {
    return int64_t(uint64_t(i + 1) * 0x9e3779b97f4a7c15u >> 63);
  });
  EXPECT_EQ(noise.get("tableLeaves"), 16);
  EXPECT_EQ(noise.get("tableChoices"), 5);
}
} // namespace
