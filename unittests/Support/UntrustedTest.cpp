// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Names.h"
#include <gtest/gtest.h>

using namespace rhizome;

namespace {
TEST(Untrusted, NamesStayWhereTheyAre) {
  for (const char *good :
       {"node0", "xcku060-role", "ultrascale+", "a.b_c", "_"})
    EXPECT_TRUE(isPlainName(good)) << good;
  for (const char *bad : {"", ".", "..", "-o", "+x", "a b", "a/b", "a\nb",
                          "a\"", "$(x)", "a;b", "ü", "a\\", "`", "%n", "{"})
    EXPECT_FALSE(isPlainName(bad)) << bad;
  EXPECT_TRUE(isPlainName(std::string(255, 'a')));
  EXPECT_FALSE(isPlainName(std::string(256, 'a')));
  EXPECT_FALSE(isPlainName(llvm::StringRef("a\0b", 3)));
  EXPECT_TRUE(isPlainPath("segments/node0/w.bin"));
  for (const char *bad : {"", "/etc/passwd", "a//b", "../a", "a/../b", "a/"})
    EXPECT_FALSE(isPlainPath(bad)) << bad;
  EXPECT_TRUE(isIdentifier("rhz_top"));
  EXPECT_FALSE(isIdentifier("0top"));
  EXPECT_FALSE(isIdentifier("rhz.top"));
}

TEST(Untrusted, MessagesCarryNoControlCharacters) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\nb\\x1b[31m\\x7f");
  EXPECT_EQ(printable("conv1"), "conv1");
  EXPECT_EQ(printable(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(printable(std::string(80, 'a') + "b" + std::string(120, 'c')),
            std::string(80, 'a') + "…" + std::string(120, 'c'));
  // No character of UTF-8 is split.
  EXPECT_EQ(printable("a" + std::string(79, 'b') + "é" + std::string(120, 'c')),
            "a" + std::string(79, 'b') + "…" + std::string(120, 'c'));
  EXPECT_EQ(printable(std::string(79, 'a') + "éé" + std::string(119, 'c')),
            std::string(79, 'a') + "…" + std::string(119, 'c'));
}

TEST(Untrusted, TerminalsGetNoCommands) {
  EXPECT_EQ(withoutControls("a\nb\tc\x1b[31m\x7f\r\a"),
            "a\nb\tc\\x1b[31m\\x7f\\x0d\\x07");
  EXPECT_EQ(withoutControls("\u009b2J\u00fc\xc2"), "\\x9b2J\u00fc\xc2");
  EXPECT_EQ(withoutControls("\xc2\nA\xc2"
                            "A"),
            "\xc2\nA\xc2"
            "A")
      << "no character, but no control either";
  EXPECT_EQ(withoutControls(std::string(300, 'x')), std::string(300, 'x'));
  llvm::json::Value value = llvm::json::Object{
      {"a", "\x1b"}, {"b", llvm::json::Array{1, "c\x01", nullptr}}};
  removeControls(value);
  EXPECT_EQ(value, llvm::json::Value(llvm::json::Object{
                       {"a", "\\x1b"},
                       {"b", llvm::json::Array{1, "c\\x01", nullptr}}}));
}

TEST(Untrusted, DeepNestingIsRefusedBeforeItIsParsed) {
  auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(bool(parseJson(nested(256))));
  auto deep = parseJson(nested(300000));
  ASSERT_FALSE(deep);
  EXPECT_EQ(llvm::toString(deep.takeError()),
            "it is nested deeper than 256 levels");
  // Strings and comments have no nesting; an arrow is not a closing bracket.
  EXPECT_FALSE(checkNesting("\"" + std::string(1000, '{') + "\\\"[\""));
  EXPECT_FALSE(checkNesting("// " + std::string(1000, '{') + "\n{}"));
  std::string arrows;
  for (int i = 0; i < 300; ++i)
    arrows += "(() -> ";
  EXPECT_EQ(llvm::toString(checkNesting(arrows)),
            "it is nested deeper than 256 levels");
}

TEST(Untrusted, DenseArraysThatCrashTheParserAreRefused) {
  for (const char *bad : {"array<index: 1>", "array < // x\n index>",
                          "x = array<!alias: 2>", "(array\n<index"})
    EXPECT_TRUE(errorToBool(checkMlirText(bad))) << bad;
  for (const char *good :
       {"array<i64: 1>", "\"array<index: 1>\"", "// array<index>\n",
        "array<i64>, index", "tensor<index>", "my.array<index>", "array"})
    EXPECT_FALSE(errorToBool(checkMlirText(good))) << good;
}

TEST(Untrusted, LongNamesAreCutToDistinctOnes) {
  std::string text(5000, 'a');
  std::string name = legalName(text);
  EXPECT_EQ(name.size(), 120u);
  EXPECT_TRUE(isIdentifier(name));
  EXPECT_EQ(legalName(text), name);
  EXPECT_NE(legalName(text + "b"), name);
  EXPECT_EQ(legalName(std::string(120, 'a')), std::string(120, 'a'));
}
} // namespace
