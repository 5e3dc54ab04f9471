// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each language's escapes, judged by its own interpreter: whatever the text, it
// comes back as one word.
#include "rhizome/Support/Quoting.h"
#include "../TestFolder.h"
#include <array>
#include <cstdio>
#include <gtest/gtest.h>
#include <random>
#include <yaml-cpp/yaml.h>

using namespace rhizome;
using rhizome::test::TestFolder;

namespace {
/// What strangers write, and random text of the characters that mean something
/// somewhere.
std::vector<std::string> texts() {
  std::vector<std::string> all = {"node0",
                                  "a b",
                                  "",
                                  "'",
                                  "\"",
                                  "\\",
                                  "$(touch harm)",
                                  "`touch harm`",
                                  "[exec touch harm]",
                                  "${x}",
                                  "{",
                                  "}",
                                  "{*}",
                                  "#",
                                  ";",
                                  "a\nb",
                                  "\t",
                                  "-o",
                                  "!touch harm",
                                  "null",
                                  "yes",
                                  "12",
                                  "1e3",
                                  "0x10",
                                  "~",
                                  "- a",
                                  "a: b",
                                  "a #b",
                                  "*x",
                                  "&x",
                                  "%n",
                                  "{{x}}",
                                  "\x1b[2J",
                                  "ü",
                                  "'\\''",
                                  "\"]\n    load: touch harm",
                                  "x\\"};
  std::mt19937 random(5);
  const std::string from = "ab '\"\\$`[](){};#\n\t!*&|<>~:,-%";
  for (int i = 0; i < 60; ++i) {
    std::string text;
    for (unsigned n = random() % 12; n > 0; --n)
      text += from[random() % from.size()];
    all.push_back(text);
  }
  return all;
}

std::string outputOf(const std::string &command) {
  std::string output;
  FILE *pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

TEST(Quoting, PlainTextStaysAsItIs) {
  for (const char *text : {"node0", "rhz_top.sv", "xcku060-role", "a/b.v"}) {
    EXPECT_EQ(shellWord(text), text);
    EXPECT_EQ(tclWord(text), text);
    EXPECT_EQ(yamlScalar(text), text);
  }
  EXPECT_EQ(shellWord("/tmp/a.bin"), "/tmp/a.bin");
}

TEST(Quoting, AShellReadsOneWord) {
  // printf repeats its format for each word.
  std::string command = "printf '<%s>'", expected;
  for (const std::string &text : texts()) {
    command += " " + shellWord(text);
    expected += "<" + text + ">";
  }
  EXPECT_EQ(outputOf(command), expected);
}

TEST(Quoting, TclReadsOneWord) {
  if (system("command -v tclsh >/dev/null"))
    GTEST_SKIP() << "tclsh is missing";
  TestFolder folder;
  std::string script = "fconfigure stdout -translation binary\n", expected;
  for (const std::string &text : texts()) {
    if (text.empty())
      continue; // no word at all
    const std::string word = tclWord(text);
    // As a word, between quotes, and as an element of a list.
    script += "set x " + word +
              "\nputs -nonewline [encoding convertto utf-8 "
              "<$x>]\nputs -nonewline [encoding convertto utf-8 \"<" +
              word + ">\"]\nforeach x { " + word +
              " } {puts -nonewline [encoding convertto utf-8 <$x>]}\n";
    for (int i = 0; i < 3; ++i)
      expected += "<" + text + ">";
  }
  folder.write("t.tcl", script);
  EXPECT_EQ(outputOf("tclsh -encoding utf-8 " + folder.path("t.tcl")),
            expected);
}

TEST(Quoting, MarkupStaysText) {
  EXPECT_EQ(markupText("conv1 5,6"), "conv1 5,6");
  EXPECT_EQ(markupText("<a b='1'>&\""), "&lt;a b=&apos;1&apos;&gt;&amp;&quot;");
}

TEST(Quoting, YamlReadsThisString) {
  for (const std::string &text : texts()) {
    YAML::Node root = YAML::Load("a: " + yamlScalar(text) + "\nb: [" +
                                 yamlScalar(text) + "]\n");
    EXPECT_EQ(root["a"].as<std::string>(), text);
    EXPECT_EQ(root["b"][0].as<std::string>(), text);
    EXPECT_EQ(root.size(), 2u) << text;
  }
}

TEST(Quoting, YosysReadsThisFileOrItIsRefused) {
  for (const char *bad :
       {"a\"b", "a\n!touch harm", "a\rb", "a*", "a?", "[a]"}) {
    auto path = yosysPath(bad);
    ASSERT_FALSE(bool(path)) << bad;
    EXPECT_EQ(llvm::toString(path.takeError())
                  .rfind("Yosys can name no file whose path", 0),
              0u);
  }
  if (system("command -v yosys >/dev/null"))
    GTEST_SKIP() << "yosys is missing";
  TestFolder folder;
  std::string script;
  int count = 0;
  for (const std::string &text : texts()) {
    std::string name = std::to_string(count) + text + ".sv";
    auto path = yosysPath(folder.path(name));
    if (!path) {
      llvm::consumeError(path.takeError());
      continue;
    }
    if (name.find('/') != std::string::npos)
      continue;
    folder.write(name, "module m" + std::to_string(count++) +
                           "(input a, output b); assign b = a; endmodule\n");
    script += "read_verilog -sv " + *path + "\n";
  }
  script += "select -assert-count " + std::to_string(count) + " */w:a\n";
  folder.write("t.ys", script);
  EXPECT_GT(count, 20);
  EXPECT_EQ(outputOf("timeout 60 yosys -q -s " + folder.path("t.ys") + " 2>&1"),
            "");
}
} // namespace
