// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a circuit, in which unused bits and bits that are always
// zero are not built, and its register positions.
#include "rhizome/Units/Circuit.h"
#include "../../lib/Units/Circuit/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "gtest/gtest.h"
#include <random>

using namespace rhizome;
using gen::Circuit;

namespace {
gen::Actor described(Circuit &c, std::vector<int> outputs, int64_t width) {
  c.outputs = std::move(outputs);
  c.outWidth = width;
  return gen::describe(c, 160);
}

/// A table over one input of this width.
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

/// One unsigned input of this width.
Circuit withInput(int64_t bits, int64_t lanes = 1) {
  Circuit c;
  c.inLanes = lanes;
  c.inWidth = bits;
  for (int64_t lane = 0; lane < lanes; ++lane)
    c.input(lane, 0, (int64_t(1) << bits) - 1);
  return c;
}

TEST(CircuitCounts, SumsFromTheFirstBitThatBothHave) {
  Circuit c = withInput(8, 2);
  // x + 16 y: the lowest four bits are x's; five more reach the carry.
  gen::Actor a = described(c, {c.sum(Circuit::Op::Add, 0, 1, 4)}, 13);
  EXPECT_EQ(a.get("adders"), 1);
  EXPECT_EQ(a.get("narrowSumBits"), 9);
  EXPECT_EQ(a.get("wideSumBits"), 4);
}

/// The sum of two unsigned inputs of which this many bits are read.
gen::Actor sumOf(int64_t bits, int64_t read) {
  Circuit c = withInput(bits, 2);
  return described(c, {c.sum(Circuit::Op::Add, 0, 1, 0)}, read);
}

TEST(CircuitCounts, SumsUpToTheLastBitThatIsRead) {
  gen::Actor a = sumOf(8, 5);
  EXPECT_EQ(a.get("narrowSumBits"), 5);
  EXPECT_EQ(a.get("wideSumBits"), 5);
}

TEST(CircuitCounts, ComplementsTakeTheBitsThatBothHave) {
  // A byte and a nibble; a difference of both has a sign, which is extended.
  Circuit c;
  c.inLanes = 2;
  c.inWidth = 8;
  int x = c.input(0, 0, 255), y = c.input(1, 0, 15);
  int sum = c.addNot(x, y, 0, 4, 0, 270);
  EXPECT_EQ(described(c, {sum}, 9).get("wideSumBits"), 4);
  // Shifted beyond the other one, they are side by side.
  int apart = c.addNot(x, y, 8, 4, 0, 4095);
  EXPECT_EQ(described(c, {apart}, 12).get("adders"), 0);
}

TEST(CircuitCounts, ShortSumsAreLogic) {
  gen::Actor a = sumOf(3, 3);
  EXPECT_EQ(a.get("narrowSumBits"), 0);
  EXPECT_EQ(a.get("narrowLuts"), 4);
  EXPECT_EQ(a.get("wideSumBits"), 3);
}

TEST(CircuitCounts, AddedConstants) {
  Circuit c = withInput(8);
  int sum = c.sum(Circuit::Op::Add, 0, c.constant(0b1010100), 0);
  gen::Actor a = described(c, {sum}, 9);
  EXPECT_EQ(a.get("narrowSumBits"), 7); // from the lowest one on
  EXPECT_EQ(a.get("wideSumBits") + a.get("wideLuts"), 0);
}

TEST(CircuitCounts, ComparisonsInChunksOfALut) {
  auto atLeast = [](int64_t bits, int64_t value) {
    Circuit c = withInput(bits);
    return described(c, {c.atLeast(0, value)}, 1);
  };
  gen::Actor few = atLeast(11, 100); // nine bits matter
  EXPECT_EQ(few.get("wideLuts"), 2);
  EXPECT_EQ(few.get("narrowCompareBits"), 12);
  gen::Actor many = atLeast(16, 12345);
  EXPECT_EQ(many.get("wideLuts"), 6);
  EXPECT_EQ(many.get("narrowCompareBits"), 16);
  gen::Actor power = atLeast(11, 64); // whether any of five bits is one
  EXPECT_EQ(power.get("wideLuts"), 1);
  EXPECT_EQ(power.get("narrowLuts"), 2);
  EXPECT_EQ(power.get("narrowCompareBits"), 0);
}

TEST(CircuitCounts, ChoicesThatALutTakesTogether) {
  // Two limits: one LUT per bit selects, in addition to the tests of the bits
  // above.
  Circuit clamp;
  clamp.inLanes = 1;
  clamp.inWidth = 12;
  int x = clamp.input(0, -2048, 2047);
  gen::Actor a = described(clamp, {clamp.clamp(x, -128, 127)}, 8);
  EXPECT_EQ(a.get("wideLuts"), 8 + 2);
  EXPECT_EQ(a.get("narrowLuts"), 8 + 4);
  // Four constants by three flags: the upper bit is a flag.
  Circuit four = withInput(3);
  auto flag = [&](int64_t value) { return four.atLeast(0, value); };
  int upper = four.select(flag(6), four.constant(3), four.constant(2));
  int lower = four.select(flag(3), four.constant(1), four.constant(0));
  gen::Actor b = described(four, {four.select(flag(4), upper, lower)}, 2);
  EXPECT_EQ(b.get("wideLuts"), 1 + 3);
}

TEST(CircuitCounts, TablesByTheirContents) {
  // Bits of the index pass through; each of these has its own place.
  gen::Actor same = tableOf(8, 8, [](int64_t i) { return i; });
  EXPECT_EQ(same.get("wideTableLeaves") + same.get("wideTableChoices"), 0);
  EXPECT_EQ(same.get("narrowTableLeaves") + same.get("narrowTableChoices"), 0);
  // Parity of eight bits: that of six bits, selected or inverted by the other
  // two.
  gen::Actor parity =
      tableOf(8, 1, [](int64_t i) { return __builtin_parity(unsigned(i)); });
  EXPECT_EQ(parity.get("wideTableLeaves"), 1);
  EXPECT_EQ(parity.get("wideTableChoices"), 1);
  EXPECT_EQ(parity.get("narrowTableLeaves"), 1);
  EXPECT_EQ(parity.get("narrowTableChoices"), 4);
  // Only the two lower of eight bits, in both bits of the result.
  gen::Actor low = tableOf(8, 2, [](int64_t i) { return (i % 4 == 3) * 3; });
  EXPECT_EQ(low.get("wideTableLeaves"), 1);
  EXPECT_EQ(low.get("wideTableChoices"), 0);
  // No two six-input LUTs are equal.
  gen::Actor noise = tableOf(10, 1, [](int64_t i) {
    return int64_t(uint64_t(i + 1) * 0x9e3779b97f4a7c15u >> 63);
  });
  EXPECT_EQ(noise.get("wideTableLeaves"), 16);
  EXPECT_EQ(noise.get("wideTableChoices"), 5);
}

/// ((x0 + x1) + x2) + x3 and the partial sums, over eight bits each.
struct SumOfFour {
  Circuit c = withInput(8, 4);
  int two = c.sum(Circuit::Op::Add, 0, 1, 0);
  int three = c.sum(Circuit::Op::Add, two, 2, 0);
  int four = c.sum(Circuit::Op::Add, three, 3, 0);

  /// Registers on the way to `outputs`, by the delay between them.
  int stages(std::vector<int> outputs, int64_t budget) {
    c.outputs = std::move(outputs);
    return gen::stagesOf(c, budget).count;
  }
};

TEST(CircuitSchedule, SumsOfOneReaderAreCarryChains) {
  // A level of memory, a level for each sum and ten bits of carry.
  SumOfFour s;
  EXPECT_EQ(s.stages({s.four}, 4 * 32 + 10), 0);
  EXPECT_EQ(s.stages({s.four}, 4 * 32 + 9), 1);
}

TEST(CircuitSchedule, SumsThatAreReadTwiceAreCarryChains) {
  // A level each; the carries of all three overlap.
  SumOfFour s;
  EXPECT_EQ(s.stages({s.two, s.three, s.four}, 4 * 32 + 10), 0);
  EXPECT_EQ(s.stages({s.two, s.three, s.four}, 4 * 32 + 9), 1);
}

TEST(CircuitSchedule, CarryChainsTakeWhatTheDeviceSays) {
  // Half a level for each chain, and a quarter of a level for ten bits.
  SumOfFour s;
  auto stages = [&](int64_t budget) {
    s.c.outputs = {s.two, s.three, s.four};
    return gen::stagesOf(s.c, {budget, 16, 26}).count;
  };
  EXPECT_EQ(stages(4 * 32 + 3 * 16 + 9), 0);
  EXPECT_EQ(stages(4 * 32 + 3 * 16 + 8), 1);
}

TEST(CircuitSchedule, SumsOfANarrowerRangeAreCarryChains) {
  // None of the sum's eight bits can carry, which only the caller knows.
  Circuit c = withInput(8, 3);
  int two = c.sum(Circuit::Op::Add, 0, 1, 0, 0, 255);
  c.outputs = {c.sum(Circuit::Op::Add, two, 2, 0)};
  EXPECT_EQ(gen::stagesOf(c, 3 * 32 + 9).count, 0);
  EXPECT_EQ(gen::stagesOf(c, 3 * 32 + 8).count, 1);
}
/// A random circuit with operations of all kinds, over bytes.
Circuit randomCircuit(std::mt19937_64 &rng) {
  Circuit c;
  c.inLanes = 4;
  c.inWidth = 8;
  std::vector<int> made;
  for (int64_t lane = 0; lane < 4; ++lane)
    made.push_back(c.input(lane, lane % 2 ? -128 : 0, lane % 2 ? 127 : 255));
  auto any = [&] { return made[rng() % made.size()]; };
  for (int step = 0; step < 30; ++step) {
    int a = any(), b = any();
    int64_t shift = int64_t(rng() % 4);
    auto fits = [&](int node) { return c.nodes[node].bits() < 24; };
    switch (rng() % 8) {
    case 0:
    case 1:
    case 2:
      if (fits(a) && fits(b))
        made.push_back(c.sum(
            Circuit::Op(int(Circuit::Op::Add) + int(rng() % 3)), a, b, shift));
      break;
    case 3:
      made.push_back(c.floor(a, shift + 1));
      break;
    case 4:
      made.push_back(c.even(a, shift + 1));
      break;
    case 5:
      made.push_back(
          c.select(c.atLeast(a, (c.nodes[a].lo + c.nodes[a].hi) / 2 + 1), a,
                   rng() & 1 ? b : c.constant(int64_t(rng() % 64) - 32)));
      break;
    case 6:
      made.push_back(c.clamp(a, -50, 60));
      break;
    default:
      int low = c.clamp(a, 0, 15);
      std::vector<int64_t> values(
          size_t(c.nodes[low].hi - c.nodes[low].lo + 1));
      for (int64_t &value : values)
        value = int64_t(rng() % 40) - 20;
      made.push_back(c.table(low, values));
    }
  }
  for (int i = 0; i < 3; ++i)
    c.outputs.push_back(any());
  c.outWidth = 24;
  return c;
}

TEST(CircuitSchedule, IsOneByAFreshModel) {
  std::mt19937_64 rng(17);
  int cut = 0;
  for (int round = 0; round < 300; ++round) {
    Circuit c = randomCircuit(rng);
    int64_t budget = 64 + int64_t(rng() % 128);
    schedule::Problem problem = gen::problemOf(c);
    schedule::Schedule stages = gen::scheduleOf(c, budget);
    gen::CircuitDelays fresh(c, budget), again(c, budget);
    EXPECT_EQ(schedule::verifyChained(problem, fresh, budget, stages),
              std::nullopt);
    // Everything in one stage is too long if there are several.
    schedule::Schedule one = stages;
    std::fill(one.start.begin(), one.start.end(), 0);
    if (stages.start.back() > 0) {
      ++cut;
      EXPECT_TRUE(schedule::verifyChained(problem, again, budget, one));
    }
  }
  EXPECT_GT(cut, 200);
}

TEST(CircuitRegisters, AllThatIsReadIsOfOneStage) {
  std::mt19937_64 rng(19);
  mlir::MLIRContext context;
  context.loadDialect<rtl::RtlDialect>();
  for (int round = 0; round < 300; ++round) {
    Circuit c = randomCircuit(rng);
    int64_t budget = 64 + int64_t(rng() % 128);
    mlir::OwningOpRef<mlir::ModuleOp> parent =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    mlir::Region &region = parent->getBodyRegion();
    region.getBlocks().clear();
    gen::emitCircuit(region, c, budget, parent->getLoc());
    mlir::Block &block = region.front();
    // Registers on the way to each value; none for constants.
    llvm::DenseMap<mlir::Value, std::optional<int>> stages;
    stages[block.getArgument(1)] = 0;
    for (mlir::Operation &op : block) {
      auto delay = llvm::dyn_cast<rtl::RegisterOp>(op);
      std::optional<int> stage;
      for (mlir::Value operand : op.getOperands()) {
        if (delay && operand == delay.getClock())
          continue;
        ASSERT_TRUE(stages.count(operand)) << "read before it is there";
        std::optional<int> own = stages[operand];
        ASSERT_TRUE(!own || !stage || *own == *stage)
            << "round " << round << ": stages " << *own << " and " << *stage;
        stage = own ? own : stage;
      }
      if (op.getNumResults() == 0)
        EXPECT_EQ(stage.value_or(0), gen::stagesOf(c, budget).count);
      else
        stages[op.getResult(0)] =
            delay && stage ? std::optional(*stage + 1) : stage;
    }
  }
}
} // namespace
