// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs keep what they hold as bytes and as text; mistakes are found where
// they stand. Cores are read like devices.
#include "rhizome/Engine/Program.h"
#include "../TestFolder.h"
#include <gtest/gtest.h>
#include <random>

using namespace rhizome::engine;

namespace {
/// Any values that fit the fields.
Instruction randomInstruction(std::mt19937_64 &random) {
  Instruction instruction;
  const InstructionInfo &info =
      instructions()[random() % instructions().size()];
  instruction.opcode = info.opcode;
  instruction.waits = uint8_t(random() % (1 << kUnits));
  instruction.gives = uint8_t(random() % (1 << kUnits));
  for (size_t n = 0; n < info.fields.size(); ++n) {
    const FieldInfo &field = info.fields[n];
    switch (random() % 4) {
    case 0:
      instruction.values[n] = field.preset;
      break;
    case 1:
      instruction.values[n] = field.mostHeld();
      break;
    case 2:
      instruction.values[n] = field.leastHeld();
      break;
    default:
      instruction.values[n] =
          field.leastHeld() +
          int64_t(random() %
                  uint64_t(field.mostHeld() - field.leastHeld() + 1));
    }
  }
  return instruction;
}

TEST(EngineProgram, InstructionsComeBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const Instruction instruction = randomInstruction(random);
    auto decoded = decode(encode(instruction));
    ASSERT_TRUE(bool(decoded)) << llvm::toString(decoded.takeError());
    ASSERT_EQ(print(*decoded), print(instruction));
    ASSERT_TRUE(*decoded == instruction);
    // A head is only the first line of a text.
    if (instruction.opcode == Opcode::Head)
      continue;
    auto parsed = parse(print(instruction));
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    ASSERT_EQ(parsed->instructions.size(), 1u);
    ASSERT_TRUE(parsed->instructions[0] == instruction) << print(instruction);
  }
}

TEST(EngineProgram, FieldsStandWhereTheDescriptionSays) {
  isa::Store store;
  store.port = isa::Store::M1;
  store.address = 0x0abcdef5;
  store.rows = 3;
  const auto bytes = encode(Instruction(store, 1 << 3, 1 << 0));
  // Opcode 6, waits bit 3 + 3, gives bit 8 + 0, port at bit 13.
  EXPECT_EQ(bytes[0], 6 | 1 << 6);
  EXPECT_EQ(bytes[1], 1 << 0 | 1 << 5);
  EXPECT_EQ(bytes[2], 0xf5);
  EXPECT_EQ(bytes[4], 0xbc);
  EXPECT_EQ(bytes[5], 0x0a);
  EXPECT_EQ(bytes[31], 0);
}

TEST(EngineProgram, ProgramsComeBack) {
  std::mt19937_64 random(2);
  Program program;
  while (program.instructions.size() < 50) {
    const Instruction drawn = randomInstruction(random);
    if (drawn.opcode != Opcode::Head)
      program.instructions.push_back(drawn);
  }
  program.head = {kIsaHash, 0xfedcba98, 50, 7};
  auto fromFile = fromBytes(toBytes(program));
  ASSERT_TRUE(bool(fromFile)) << llvm::toString(fromFile.takeError());
  EXPECT_TRUE(*fromFile == program);
  auto parsed = parse(print(program));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  EXPECT_TRUE(*parsed == program);
}

std::string refusalOf(std::vector<uint8_t> bytes) {
  auto program = fromBytes(bytes);
  return program ? "accepted" : llvm::toString(program.takeError());
}

TEST(EngineProgram, BytesThatAreNoProgramAreRefused) {
  Program program;
  program.instructions = {isa::Load(), isa::End()};
  program.head.instructions = 2;
  const std::vector<uint8_t> good = toBytes(program);
  EXPECT_EQ(refusalOf(good), "accepted");
  EXPECT_EQ(refusalOf({}),
            "a program has 0 bytes, not one or more instructions of 32");
  auto bytes = good;
  bytes.pop_back();
  EXPECT_EQ(refusalOf(bytes),
            "a program has 95 bytes, not one or more instructions of 32");
  bytes = good;
  bytes[63] = 0x80;
  EXPECT_EQ(refusalOf(bytes),
            "instruction 1: bit 255 of a 'load' is set, which no field has");
  bytes = {good.begin() + 32, good.end()};
  EXPECT_EQ(refusalOf(bytes), "a program begins with 'load', not with 'head'");
  bytes = good;
  bytes[0] |= 0x40;
  EXPECT_EQ(refusalOf(bytes), "the head waits for a token or gives one");
  bytes = good;
  bytes.resize(64);
  EXPECT_EQ(refusalOf(bytes), "the head says 2 instructions, and 1 follow");
}

TEST(EngineProgram, TextsMayHaveCommentsAndBlanks) {
  auto program = parse("# a program\n\n"
                       "  load\twait( store , vector ) place=0x10 # words\r\n"
                       "store give(load) port=stream\nend");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_EQ(print(*program), "head\nload wait(vector,store) place=16\n"
                             "store give(load) port=stream\nend\n");
}

std::string mistakeIn(const std::string &text) {
  auto program = parse(text);
  return program ? "accepted" : llvm::toString(program.takeError());
}

TEST(EngineProgram, MistakesInTextsHavePlaces) {
  EXPECT_EQ(mistakeIn("end\n  lod rows=1"),
            "2:3: 'lod' is no instruction; known are end, load, pack, weights, "
            "matrix, vector, store, head");
  EXPECT_EQ(mistakeIn("=end"),
            "1:1: '=' is no instruction; known are end, load, pack, weights, "
            "matrix, vector, store, head");
  EXPECT_EQ(
      mistakeIn("matrix taps3=1"),
      "1:8: 'matrix' has no field 'taps3'; known are place, taps2, taps1, "
      "taps0, step2, step1, step0, rows, columns, row_step, column_step, "
      "bank, entry, more");
  EXPECT_EQ(mistakeIn("matrix rows=2 rows=2"),
            "1:15: 'rows' stands here twice");
  EXPECT_EQ(mistakeIn("matrix rows 2"), "1:13: '=' is missing after 'rows'");
  EXPECT_EQ(mistakeIn("matrix rows=two"), "1:13: 'two' is no number");
  EXPECT_EQ(mistakeIn("matrix rows="), "1:13: '' is no number");
  EXPECT_EQ(mistakeIn("matrix rows=1024"),
            "1:13: 'rows' is 1024, not from 0 to 1023");
  EXPECT_EQ(mistakeIn("load pad=-129"), "1:10: 'pad' is -129, not from -128 to "
                                        "127");
  EXPECT_EQ(mistakeIn("load port=m4"),
            "1:11: 'm4' is no value of 'port'; known are m0, m1, m2, m3, "
            "stream");
  EXPECT_EQ(mistakeIn("load wait(lod)"),
            "1:11: 'lod' is no unit; known are load, weights, matrix, vector, "
            "store");
  EXPECT_EQ(mistakeIn("load wait(store,store)"),
            "1:17: 'store' stands here twice");
  EXPECT_EQ(mistakeIn("load wait(store"), "1:16: ')' is missing");
  EXPECT_EQ(mistakeIn("load wait(store) wait(store)"),
            "1:18: 'wait' stands here twice");
  EXPECT_EQ(mistakeIn("load sends(store)"),
            "1:6: 'sends' has no list of units; 'wait' and 'give' have");
}

TEST(EngineCore, ShippedOnesLoad) {
  auto cores = listCores();
  ASSERT_TRUE(bool(cores)) << llvm::toString(cores.takeError());
  std::vector<std::string> names;
  for (const Core &core : *cores) {
    names.push_back(core.name);
    auto again = loadCore(core.name);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    EXPECT_EQ(again->hash(), core.hash());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"core16x16", "core16x32", "core32x32",
                                      "core32x64", "core64x64", "tiny"}));
}

constexpr const char *kGood = R"(name: toy
description: for tests
in: 16
out: 32
words: 1024
banks: 4
entries: 64
sum_bits: 24
queue: 4
depth: 4
tokens: 2
ports: 1
port_bits: 64
)";

std::string messageFor(const std::string &from, const std::string &to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  rhizome::test::TestFolder folder;
  folder.write("c.yaml", text);
  auto core = loadCore(folder.path("c.yaml"));
  if (core)
    return "accepted";
  const std::string message = llvm::toString(core.takeError());
  return message.substr(message.find("c.yaml"));
}

TEST(EngineCore, WrongOnesAreRefused) {
  EXPECT_EQ(messageFor("toy", "toy"), "accepted");
  EXPECT_EQ(messageFor("words: 1024", "words: 255"),
            "c.yaml:5: 'words' is 255, not from 256 to 131072");
  EXPECT_EQ(messageFor("queue: 4\n", ""),
            "c.yaml:1: a core file needs 'queue'");
  EXPECT_EQ(messageFor("in: 16", "in: 24"),
            "c.yaml:1: 'in' is 24, not a power of two");
  EXPECT_EQ(messageFor("out: 32", "out: 64"),
            "c.yaml:1: 'out' is 64, not one or two times 'in', which is 16");
  EXPECT_EQ(messageFor("words: 1024", "words: 1022"),
            "c.yaml:1: 'words' is 1022, not a power of two");
  EXPECT_EQ(messageFor("banks: 4", "banks: 3"),
            "c.yaml:1: 'banks' is 3, not a power of two");
  EXPECT_EQ(messageFor("port_bits: 64", "port_bits: 256"),
            "c.yaml:1: 'port_bits' is 256, not a power of two of at most a "
            "word, which has 128 bits");
}

TEST(EngineCore, EachParameterChangesTheHash) {
  Core core = llvm::cantFail(loadCore("tiny"));
  for (const ParameterInfo &parameter : parameters()) {
    Core other = core;
    other.*parameter.member += 1;
    EXPECT_NE(other.hash(), core.hash()) << parameter.name;
  }
}
} // namespace
