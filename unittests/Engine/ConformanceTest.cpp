// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All faces give the same bytes for random programs, whatever the order that
// tokens leave open. A program that lost a token is refused, or its result
// still does not depend on the order. RHIZOME_ENGINE_PROGRAMS, of which a tenth
// lose a token, and RHIZOME_ENGINE_SEED make the suite longer.
#include "OpenClFace.h"
#include "RandomProgram.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <string_view>

using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

const uint64_t kSeed = setting("RHIZOME_ENGINE_SEED", 1);
const uint64_t kPrograms = setting("RHIZOME_ENGINE_PROGRAMS", 500);

struct Shape {
  int64_t in, out, portBits, ports;
};
constexpr Shape kShapes[] = {{4, 4, 32, 1},   {4, 8, 32, 2},    {8, 8, 32, 4},
                             {8, 16, 64, 1},  {16, 16, 128, 1}, {16, 32, 64, 3},
                             {32, 32, 256, 2}};

const Mix kAll = {{Opcode::Load, Opcode::Pack, Opcode::Weights, Opcode::Weights,
                   Opcode::Matrix, Opcode::Matrix, Opcode::Vector,
                   Opcode::Vector, Opcode::Store},
                  40};

Case caseOf(uint64_t number) {
  const Shape &shape = kShapes[number % std::size(kShapes)];
  // Kernels of few cores are built.
  return randomCase(coreOf(shape.in, shape.out, shape.portBits, shape.ports,
                           kSeed * 16 + number % std::size(kShapes)),
                    kAll, kSeed << 24 | number);
}

std::string checkedRun(const Case &made, State &state,
                       std::optional<uint64_t> seed = std::nullopt) {
  state = made.before;
  if (llvm::Error error = runChecked(made.program, made.core, state, seed))
    return llvm::toString(std::move(error));
  return "";
}

TEST(EngineConformance, FacesGiveTheSameBytes) {
  OpenClFace opencl;
  for (uint64_t number = 0; number < kPrograms; ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    const Case made = caseOf(number);
    const auto problems = verify(made.program, made.core, made.around);
    ASSERT_TRUE(problems.empty()) << problems.front().text;
    State expected = made.before;
    ASSERT_EQ(checkedRun(made, expected), "");
    State native = made.before;
    runNative(made.program, made.core, native);
    ASSERT_TRUE(native == expected) << "the native face differs";
    State reordered = made.before;
    for (uint64_t seed = 0; seed < 2; ++seed) {
      ASSERT_EQ(checkedRun(made, reordered, seed), "");
      ASSERT_TRUE(reordered == expected) << "order " << seed << " differs";
    }
    if (!opencl.missing().empty())
      continue;
    State device = made.before;
    ASSERT_EQ(opencl.run(made.program, made.core, made.around.sent, device),
              "");
    ASSERT_TRUE(device == expected) << "the OpenCL face differs";
  }
  if (!opencl.missing().empty())
    GTEST_SKIP() << opencl.missing();
}

/// Programs that the verifier would refuse: places, addresses and steps of
/// right ones are anything, the counts of loops stay.
TEST(EngineConformance, StrangersProgramsWriteNothingOutside) {
  OpenClFace opencl;
  if (!opencl.missing().empty())
    GTEST_SKIP() << opencl.missing();
  OpenClBounds bounds;
  bounds.instructions = 100;
  bounds.room = 200;
  bounds.blocks = 5;
  bounds.received = bounds.sent = 3;
  const std::set<std::string_view> places = {
      "port",        "address",   "row_step", "column_step",  "place",
      "place_row",   "left",      "bytes",    "place_column", "block_step",
      "step0",       "step1",     "step2",    "entry",        "a",
      "b",           "constants", "a_row",    "a_column",     "b_row",
      "b_column",    "group",     "bank",     "operation",    "blocks",
      "instructions"};
  std::mt19937_64 random(kSeed);
  for (uint64_t number = 0; number < kPrograms / 5; ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    Case made = randomCase(coreOf(4, 8, 32, 4, kSeed), kAll, number);
    auto change = [&](const InstructionInfo &info, int64_t *values) {
      for (auto [n, field] : llvm::enumerate(info.fields))
        if (places.count(field.name) && random() % 2)
          values[n] = field.leastHeld() +
                      int64_t(random() % uint64_t(field.mostHeld() -
                                                  field.leastHeld() + 1));
    };
    for (Instruction &instruction : made.program.instructions)
      change(infoOf(instruction.opcode), instruction.values.data());
    auto head = made.program.head.values();
    change(infoOf(Opcode::Head), head.data());
    head[2] =
        std::min<int64_t>(head[2], int64_t(made.program.instructions.size()));
    made.program.head = isa::Head::of(head);
    State state = made.before;
    for (auto &memory : state.memories)
      memory.resize(size_t(bounds.room * made.core.in));
    state.received.resize(size_t(bounds.received * made.core.in));
    EXPECT_EQ(opencl.run(made.program, made.core, bounds.sent, state, bounds),
              "");
  }
}

/// The pairs of instructions between which one token goes.
std::vector<std::pair<size_t, size_t>> tokensOf(const Program &program) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (unsigned from = 0; from < kUnits; ++from)
    for (unsigned to = 0; to < kUnits; ++to) {
      std::vector<size_t> givers, waiters;
      for (size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction &instruction = program.instructions[i];
        const unsigned unit = unsigned(infoOf(instruction.opcode).unit);
        if (unit == from && instruction.gives >> to & 1)
          givers.push_back(i);
        if (unit == to && instruction.waits >> from & 1)
          waiters.push_back(i);
      }
      for (size_t i = 0; i < givers.size(); ++i)
        pairs.emplace_back(givers[i], waiters[i]);
    }
  return pairs;
}

TEST(EngineConformance, WithoutATokenARaceIsRefused) {
  const uint64_t programs = kPrograms / 10;
  size_t refused = 0, accepted = 0, differing = 0;
  std::mt19937_64 random(kSeed);
  for (uint64_t number = 0; number < programs; ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    Case made = caseOf(number);
    State expected = made.before;
    ASSERT_EQ(checkedRun(made, expected), "");
    const auto pairs = tokensOf(made.program);
    auto [giver, waiter] = pairs[random() % pairs.size()];
    auto &all = made.program.instructions;
    all[giver].gives &= uint8_t(~bitOf(infoOf(all[waiter].opcode).unit));
    all[waiter].waits &= uint8_t(~bitOf(infoOf(all[giver].opcode).unit));
    const auto problems = verify(made.program, made.core, made.around);
    bool isEqual = true;
    for (uint64_t seed = 0; seed < 20 && isEqual; ++seed) {
      State state = made.before;
      ASSERT_EQ(checkedRun(made, state, seed), "");
      isEqual = state == expected;
    }
    differing += !isEqual;
    if (problems.empty()) {
      ++accepted;
      ASSERT_TRUE(isEqual) << "a race is accepted";
      continue;
    }
    ++refused;
    const Problem &problem = problems.front();
    EXPECT_LT(problem.other, problem.instruction);
    for (size_t each : {problem.other, problem.instruction})
      EXPECT_NE(problem.text.find("instruction " + std::to_string(each) + " ("),
                std::string::npos)
          << problem.text;
  }
  // Both happen, and the orders are wild enough to show what races do.
  EXPECT_GT(refused, programs / 4);
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(differing, refused / 4);
}
} // namespace
