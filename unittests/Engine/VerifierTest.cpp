// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the verifier refuses, each with its sentence, and what it lets pass.
#include "RandomProgram.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
/// Of 16 bytes a word, 256 words, 32 entries, a queue of 2, depth 2, 1 token.
Core core() {
  Core core = coreOf(16, 16, 128, 1, 0);
  core.words = 256;
  core.entries = 32;
  core.queue = core.depth = 2;
  core.tokens = 1;
  return core;
}

/// The mistakes in a text, a line each.
std::string mistakes(const std::string &text,
                     Surroundings around = {{64}, 0, 0}, size_t limit = 20) {
  Program program = llvm::cantFail(parse(text + "\nend"));
  seal(program, core());
  std::string all;
  for (const Problem &problem : verify(program, core(), around, limit))
    all += problem.text + "\n";
  return all;
}

TEST(EngineVerifier, RightProgramsPass) {
  EXPECT_EQ(mistakes(""), "");
  EXPECT_EQ(mistakes("load give(vector)\n"
                     "vector wait(load) give(store) operation=add place=1"
                     " constants=2\n"
                     "store wait(vector) place=1 address=63"),
            "");
  // The queue of weights is order enough.
  EXPECT_EQ(mistakes("weights port=scratch place=100 column_step=1\n"
                     "matrix give(load)\nload wait(matrix) place=110"),
            "");
}

TEST(EngineVerifier, HeadsAndEnds) {
  Program program;
  program.instructions = {isa::Load(), isa::End(), isa::End(), isa::Head()};
  program.head = {1, 2, 3, 4};
  std::string all;
  for (const Problem &problem : verify(program, core(), {{64}, 0, 0}))
    all += problem.text + "\n";
  EXPECT_EQ(all,
            "the head has 'isa' 1, but the hash of the instruction set is " +
                std::to_string(kIsaHash) +
                "\nthe head has 'core' 2, but the hash of the core's "
                "parameters is " +
                std::to_string(core().hash()) +
                "\nthe head has 'instructions' 3, but their number is 4\n"
                "the head is of a program that does not finish with 'end'\n"
                "instruction 2 (end) is not the last one\n"
                "instruction 3 (end) is not the last one\n"
                "instruction 4 (head) stands after another instruction\n");
  program.instructions = {isa::End()};
  seal(program, core());
  program.head.blocks = 4;
  EXPECT_EQ(
      verify(program, core(), {}).front().text,
      "the head has 'blocks' 4, but 0 blocks of weights wait in the queue "
      "when instructions are carried out one by one");
}

TEST(EngineVerifier, FieldsAndRules) {
  EXPECT_EQ(mistakes("load rows=0\nmatrix entry=32\nvector group=1"),
            "instruction 1 (load) has 'rows' 0, not from 1 to 1023\n"
            "instruction 2 (matrix) has 'entry' 32, not from 0 to 31\n"
            "instruction 3 (vector) has 'group' 1, not from 0 to 0\n");
  EXPECT_EQ(mistakes("load port=m1"),
            "instruction 1 (load) breaks the rule that the core has the port "
            "(port < ports || port == 4)\n");
  EXPECT_EQ(mistakes("matrix rows=3 columns=11"),
            "instruction 1 (matrix) breaks the rule that the tile fits the "
            "accumulators (entry + rows * columns <= entries)\n");
  EXPECT_EQ(mistakes("load wait(load)"),
            "instruction 1 (load) waits for its own unit, or gives to it; "
            "'load' keeps their order anyway\n");
  Program program = llvm::cantFail(parse("end give(load)"));
  seal(program, core());
  EXPECT_EQ(verify(program, core(), {}).front().text,
            "instruction 1 (end) waits or gives; it does so for all units");
}

TEST(EngineVerifier, WordsThatAreNotThere) {
  EXPECT_EQ(mistakes("load place=250 channels=7"),
            "instruction 1 (load) writes word 256 of the scratchpad, which has "
            "256\n");
  EXPECT_EQ(
      mistakes("store address=60 rows=3 row_step=2"),
      "instruction 1 (store) writes word 64 of memory m0, which has 64\n");
  EXPECT_EQ(
      mistakes("load port=stream rows=3 place_row=1", {{64}, 2, 1}),
      "the head is of a program that receives 3 words, but a frame of the "
      "stream has 2\n"
      "the head is of a program that sends 0 words, but a frame of the "
      "stream has 1\n");
  // All of them, but no more than somebody wants to read.
  std::string many;
  for (int i = 0; i < 30; ++i)
    many += "load address=64\n";
  EXPECT_EQ(llvm::count(mistakes(many, {{64}, 0, 0}, 7), '\n'), 7);
}

TEST(EngineVerifier, WordsTwice) {
  EXPECT_EQ(mistakes("load rows=2"),
            "instruction 1 (load) writes a word of the scratchpad twice\n");
  EXPECT_EQ(mistakes("store rows=3 row_step=2 columns=2 column_step=4"),
            "instruction 1 (store) writes a word of memory m0 twice\n");
  EXPECT_EQ(mistakes("load rows=3 place_row=2 columns=2 place_column=3"), "");
  EXPECT_EQ(mistakes("vector operation=add constants=5 place=14"),
            "instruction 1 (vector) reads and writes word 14 of the "
            "scratchpad\n");
}

TEST(EngineVerifier, TokensAndBlocksMeet) {
  EXPECT_EQ(mistakes("store wait(load) address=9 place=9\nload give(store)"),
            "instruction 1 (store) waits for a token of 'load' that no earlier "
            "instruction gives\n"
            "instruction 2 (load) gives 'store' a token that no later "
            "instruction waits for\n");
  EXPECT_EQ(
      mistakes("weights\nmatrix taps0=2"),
      "instruction 2 (matrix) takes 2 blocks of weights, more than earlier "
      "instructions have left in the queue\n");
  EXPECT_EQ(mistakes("weights blocks=2\nmatrix"),
            "instruction 1 (weights) appends blocks of weights that no later "
            "instruction takes\n");
}

TEST(EngineVerifier, Conflicts) {
  EXPECT_EQ(
      mistakes("load place=8 channels=8\nstore place=4 channels=6"),
      "instruction 2 (store) reads words 8 to 9 of the scratchpad, which "
      "instruction 1 (load) writes, and nothing orders them: a token from "
      "'load' to 'store' would\n");
  EXPECT_EQ(
      mistakes("store place=4 channels=6 address=9\nload place=9"),
      "instruction 2 (load) writes word 9 of the scratchpad, which "
      "instruction 1 (store) reads, and nothing orders them: a token from "
      "'store' to 'load' would\n");
  EXPECT_EQ(
      mistakes("store address=5\nload place=9 address=5"),
      "instruction 2 (load) reads word 5 of memory m0, which instruction 1 "
      "(store) writes, and nothing orders them: a token from 'store' to "
      "'load' would\n");
  // Other words of the same bank of accumulators.
  const std::string sums = "vector operation=multiply bank=1 b=1\n"
                           "weights\nmatrix entry=20";
  EXPECT_EQ(mistakes(sums + " bank=1"),
            "instruction 3 (matrix) writes bank 1 of the accumulators, which "
            "instruction 1 (vector) writes, and nothing orders them: a token "
            "from 'vector' to 'matrix' would\n");
  EXPECT_EQ(mistakes(sums), "");
  // The matrix that takes the last block knows that the weights are read, one
  // that takes an earlier one does not.
  EXPECT_NE(mistakes("weights port=scratch place=100 blocks=2 column_step=1\n"
                     "matrix give(load)\nload wait(matrix) place=110\nmatrix"),
            "");
  // Tokens carry on what their givers know.
  EXPECT_EQ(mistakes("load give(vector)\n"
                     "vector wait(load) give(store) operation=table a=50 "
                     "constants=51 place=90\n"
                     "store wait(vector) place=0"),
            "");
}

TEST(EngineVerifier, OverlapsOfBoxesAreExact) {
  std::mt19937_64 random(5);
  auto below = [&](int64_t end) { return int64_t(random() % uint64_t(end)); };
  int overlapping = 0;
  for (int i = 0; i < 3000; ++i) {
    isa::Load load;
    load.rows = 1 + below(4);
    load.columns = 1 + below(4);
    load.channels = 1 + below(3);
    load.place_row = below(40);
    load.place_column = below(12);
    load.place = below(60);
    isa::Store store;
    store.rows = 1 + below(5);
    store.columns = 1 + below(5);
    store.channels = 1 + below(3);
    store.place_row = below(30);
    store.place_column = below(12);
    store.place = below(60);
    store.address = 100;
    store.column_step = 3;
    store.row_step = 15;
    Program program;
    program.instructions = {load, store, isa::End()};
    seal(program, core());
    std::vector<Access> accesses;
    for (const Instruction &instruction : program.instructions)
      infoOf(instruction.opcode)
          .accesses(core(), instruction.values.data(), accesses);
    std::set<int64_t> written;
    bool isTwice = false, isRead = false;
    for (const Access &access : accesses)
      if (access.space == Space::Scratch)
        for (int64_t word : wordsOf(access)) {
          isRead |= !access.writes && written.count(word) > 0;
          isTwice |= access.writes && !written.insert(word).second;
        }
    const auto problems = verify(program, core(), {{1000}, 0, 0});
    ASSERT_EQ(!problems.empty(), isTwice || isRead) << print(program);
    if (isTwice)
      ASSERT_NE(problems[0].text.find("twice"), std::string::npos);
    overlapping += isRead && !isTwice;
  }
  EXPECT_GT(overlapping, 100);
}

/// A text with the tokens that a core with `tokens` places for them needs.
std::string withTokens(const std::string &text, int64_t tokens) {
  Program program = llvm::cantFail(parse(text + "\nend"));
  Core few = core();
  few.tokens = tokens;
  addTokens(program, few);
  seal(program, few);
  EXPECT_TRUE(verify(program, few, {{64}, 0, 0}).empty()) << print(program);
  std::string all;
  for (const Instruction &instruction : program.instructions)
    all += print(instruction) + "\n";
  return all;
}

TEST(EngineVerifier, TokensAreAddedWhereTheyAreNeeded) {
  const std::string text = "load\nload place=1\nstore address=9\n"
                           "store place=1 address=10";
  EXPECT_EQ(withTokens(text, 2), "load give(store)\n"
                                 "load give(store) place=1\n"
                                 "store wait(load) address=9\n"
                                 "store wait(load) address=10 place=1\nend\n");
  // Where one fits, it stands for both.
  EXPECT_EQ(withTokens(text, 1), "load\nload give(store) place=1\n"
                                 "store wait(load) address=9\n"
                                 "store address=10 place=1\nend\n");
  // What is known by another way needs none.
  EXPECT_EQ(withTokens("load\nvector operation=table constants=20 place=50\n"
                       "store place=50 address=8\nload place=60\n"
                       "store address=10",
                       4),
            "load give(vector)\n"
            "vector wait(load) give(store) operation=table place=50 "
            "constants=20\n"
            "store wait(vector) address=8 place=50\nload place=60\n"
            "store address=10\nend\n");
}

TEST(EngineVerifier, ProgramsThatDoNotEnd) {
  // One token fits: the second gift waits for a taker, which waits for more.
  EXPECT_EQ(mistakes("load give(vector)\nload place=1 give(vector)\n"
                     "load place=2 give(store)\n"
                     "store wait(load) give(vector) place=2\n"
                     "vector wait(load,store) operation=add a=10 b=11 place=30 "
                     "constants=12\n"
                     "vector wait(load) operation=add a=10 b=11 place=31 "
                     "constants=12"),
            "instruction 2 (load) never ends: the core holds 1 tokens between "
            "two units, and those to 'vector' are not taken\n"
            "instruction 4 (store) never begins: it waits for tokens of "
            "'load'\n"
            "instruction 5 (vector) never begins: it waits for tokens of "
            "'load', 'store'\n");
  // Three blocks, and the queue holds two until the load is done, for which
  // fetch has no room.
  EXPECT_EQ(mistakes("weights blocks=3 give(load)\n"
                     "load wait(weights) give(matrix)\n"
                     "matrix wait(load) place=5 taps0=3"),
            "instruction 1 (weights) never ends: 1 blocks of weights are left, "
            "and the queue holds 2\n"
            "instruction 2 (load) never begins: it waits for tokens of "
            "'weights'\n"
            "instruction 3 (matrix) never begins: it waits for tokens of "
            "'load'\n");
  EXPECT_EQ(mistakes("weights give(store) blocks=3\nstore wait(weights)\n"
                     "store\nstore\nmatrix place=5 taps0=3 columns=2"),
            "instruction 1 (weights) never ends: 1 blocks of weights are left, "
            "and the queue holds 2; fetch waits with instruction 4 (store) for "
            "room before its unit\n"
            "instruction 2 (store) never begins: it waits for tokens of "
            "'weights'; fetch waits with instruction 4 (store) for room before "
            "its unit\n");
}
} // namespace
