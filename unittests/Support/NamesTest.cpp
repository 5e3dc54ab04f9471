// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Identifiers of every language from any text, and text in files of others.
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Program.h"
#include "rhizome/Support/Sizes.h"
#include "rhizome/Support/Texts.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>

using namespace rhizome;

namespace {
/// Texts that leave a folder, or that mean something to a shell, Tcl, C, LLVM's
/// text, YAML or a template.
const std::string kTexts[] = {"../../etc/passwd",
                              "$(touch harm)",
                              "[exec touch harm]",
                              "a */ int b;",
                              "x\ny",
                              "\"",
                              "'",
                              "",
                              "_",
                              "__",
                              "1",
                              "NAME",
                              "-o",
                              "\xc3\xa9",
                              std::string("\0", 1),
                              std::string(1000, 'x')};

TEST(Names, AnyTextBecomesAnIdentifier) {
  for (Language language :
       {Language::Hardware, Language::C, Language::Fortran, Language::Python})
    for (const std::string &text : kTexts) {
      std::string name = identifier(language, text);
      EXPECT_FALSE(name.empty());
      EXPECT_FALSE(llvm::isDigit(name[0])) << name;
      EXPECT_TRUE(llvm::all_of(name, [](char c) {
        return llvm::isAlnum(c) || c == '_';
      })) << name;
      EXPECT_LE(name.size(), language == Language::Fortran ? 63u : 122u);
      if (language != Language::Hardware) {
        EXPECT_NE(name[0], '_');
      }
      EXPECT_EQ(identifier(language, name), name);
    }
}

TEST(Names, ReservedWordsAreThoseOfTheLanguage) {
  for (const char *word :
       {"asm",       "noexcept",     "concept",   "requires", "thread_local",
        "wchar_t",   "co_await",     "alignas",   "decltype", "nullptr",
        "NULL",      "EOF",          "I",         "linux",    "unix",
        "rhz_array", "EDOM",         "INT64_MAX", "M_PI",     "SIGINT",
        "PRIu64",    "FE_TONEAREST", "typeof",    "constinit"})
    EXPECT_EQ(identifier(Language::C, word), std::string(word) + "_n");
  for (const char *word : {"lambda", "None", "def"})
    EXPECT_EQ(identifier(Language::Python, word), std::string(word) + "_n");
  // What means nothing there stays.
  EXPECT_EQ(identifier(Language::Python, "asm"), "asm");
  EXPECT_EQ(identifier(Language::C, "lambda"), "lambda");
  EXPECT_EQ(legalName("EOF"), "EOF");
  EXPECT_EQ(legalName("always"), "always_n");
  for (const char *word : {"S", "u", "out_2", "E", "SUM", "MAXIMUM"})
    EXPECT_EQ(identifier(Language::C, word), word);
}

TEST(Names, KernelsNamesAreLegalInAllOfThem) {
  for (const char *word : {"main", "malloc", "exit", "printf", "sin", "check",
                           "C_INT", "EOF", "asm", "table"})
    EXPECT_EQ(kernelName(word), std::string(word) + "_n");
  EXPECT_EQ(kernelName("helmholtz"), "helmholtz");
  EXPECT_EQ(kernelName("_k"), "n_k");
  // With "_elements", Fortran takes 63 characters.
  const std::string most(54, 'k');
  EXPECT_EQ(kernelName(most), most);
  EXPECT_EQ(kernelName(most + "k").size(), 54u);
  EXPECT_NE(kernelName(most + "k"), kernelName(most + "l"));
  EXPECT_EQ(pythonModuleName("numpy"), "numpy_");
  EXPECT_EQ(pythonModuleName("os"), "os_");
  EXPECT_EQ(pythonModuleName("lambda"), "lambda_");
  EXPECT_EQ(pythonModuleName("gradient"), "gradient");
}

TEST(Names, AScopeKnowsWhatItsLanguageTellsApart) {
  NameScope c(Language::C), fortran(Language::Fortran);
  EXPECT_EQ(c.unique("a"), "a");
  EXPECT_EQ(c.unique("A"), "A");
  EXPECT_EQ(c.unique("a"), "a_2");
  EXPECT_EQ(fortran.unique("a"), "a");
  EXPECT_EQ(fortran.unique("A"), "A_2");
  const std::string most(63, 'b');
  EXPECT_EQ(fortran.unique(most), most);
  EXPECT_EQ(fortran.unique(most).size(), 63u);
}

TEST(Quoting, PagesShowNamesAsText) {
  EXPECT_EQ(markdownCode("conv1/Relu:0"), "`conv1/Relu:0`");
  for (const std::string &text :
       {std::string("<script>alert(1)</script>"), std::string("a|b"),
        std::string("a`b"), std::string("a\n# b"), std::string("[x](y)!"),
        std::string("&lt;")}) {
    std::string shown = markdownCode(text) + markdownText(text);
    EXPECT_EQ(shown.find_first_of("|\n"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("<script"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("&lt;"), std::string::npos) << shown;
  }
  EXPECT_EQ(cString("a\"\n?"
                    "?/\x01"),
            "\"a\\\"\\n\\?\\?/\\001\"");
}

TEST(Quoting, TemplatesAreFilledInOnce) {
  EXPECT_EQ(fillIn("f(NAME, NAME)", "NAME", "NAME_2"), "f(NAME_2, NAME_2)");
  EXPECT_EQ(fillIn("@NAME@", "@NAME@", "@NAME@"), "@NAME@");
  EXPECT_EQ(fillIn("none", "NAME", "x"), "none");
  EXPECT_EQ(fillIn("NAMENAME", "NAME", ""), "");
}

TEST(Sizes, ProductsThatOverflowAreNone) {
  constexpr int64_t kMax = INT64_MAX;
  EXPECT_EQ(elementsOf({}), 1);
  EXPECT_EQ(elementsOf({3, 5}), 15);
  EXPECT_EQ(elementsOf({3, 0, 5}), 0);
  EXPECT_EQ(elementsOf({kMostElements}), kMostElements);
  const std::vector<int64_t> large[] = {
      {kMax, kMax},    {kMax, 2},
      {-1, 3},         {int64_t(1) << 32, int64_t(1) << 32},
      {0, kMax, kMax}, {kMostElements, 2}};
  for (const std::vector<int64_t> &shape : large)
    EXPECT_FALSE(elementsOf(shape));
}

TEST(Program, WhatIsThrownBecomesAnError) {
  std::string reason;
  auto report = [&](llvm::StringRef text) { reason = text; };
  EXPECT_EQ(runProgram([] { return 2; }, report), 2);
  EXPECT_EQ(reason, "");
  for (int what = 0; what < 3; ++what) {
    reason.clear();
    int undone = 0;
    struct Undo {
      int &done;
      ~Undo() { ++done; }
    };
    EXPECT_EQ(runProgram(
                  [&]() -> int {
                    Undo undo{undone};
                    if (what == 0)
                      throw std::bad_alloc();
                    if (what == 1)
                      throw std::length_error("vector");
                    llvm::report_fatal_error("no such register");
                  },
                  report),
              1);
    EXPECT_EQ(undone, 1);
    EXPECT_NE(reason.find(what < 2 ? "the memory does not suffice"
                                   : "LLVM cannot go on: no such register"),
              std::string::npos)
        << reason;
  }
  EXPECT_EQ(runProgram([]() -> int { throw std::runtime_error("x"); }, report),
            1);
  EXPECT_EQ(reason, "an unexpected exception, please report it: x");
}
} // namespace
