// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language: every construct of the grammar parses, the meaning of CFDlang's
// pitfalls, twenty wrong programs with their messages, and damaged texts.
#include "Programs.h"
#include "llvm/ADT/SmallVector.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

TEST(Parser, GrammarOfCfdlang) {
  // Each production of the grammar.
  for (const char *text :
       {"var input a : [] var output b : [] b = a",
        "type m : [3 3] type n : m var input a : n var output b : m b = a",
        "var input a : [2] var output b : [2] b = a + a - a",
        "var input output a : [2] a = a * a / a",
        "var input a : [2] var output b : [2] b = 2 * a / 3",
        "var input a : [2] var output b : [2 2] b = a # a",
        "var input a : [2] var output b : [2 2 2] b = a # a # a",
        "var input a : [2 3] var output b : [3 2] b = a ^ [[0 1]]",
        "var input a : [2 3 4] var output b : [4 2 3] "
        "b = a ^ [[0 1] [0 2]]",
        "var input a : [2 3] var input c : [3 4] var output b : [2 4] "
        "b = a . c",
        "var input a : [2 2] var output b : [] b = a . [[0 1]]",
        "var input a : [2 2 2] var output b : [] b = a . [[0 1 2]]",
        "var input a : [2 3] var output b : [3] b = a . [[0]]",
        "var input a : [2 3] var output b : [2 3] b = a . []",
        "var input a : [2 3] var output b : [2 2 3] b = [a a + a]",
        "var input a : [2] var output b : [2 2 2] b = [[a a] [a a]]",
        "var input a : [2] var output b : [2] b = (((a)))",
        "var input a : [2] var output b : [2] elem [a b] 5 first b = a",
        "var input a : [2] var output b : [2] elem [a b] 5 last b = a",
        "var input a : [2] var output b : [2] elem [] 5 last b = a",
        "var input input : [2] var output output : [2] output = input"}) {
    EXPECT_EQ(errorsOf(text), "") << text;
    EXPECT_EQ(errorsOf(text, true), "") << text;
  }
  for (int p : {7, 11})
    EXPECT_TRUE(parsed(helmholtz(p)));
  EXPECT_TRUE(parsed(interpolation(9, 7)));
  EXPECT_TRUE(parsed(gradient(3, 4, 5)));
}

/// The printed statements of a kernel.
static std::string statementsOf(const std::string &text, bool compat = false) {
  mlir::MLIRContext context;
  auto program = parsed(text, compat);
  if (!program)
    return "";
  auto module = buildModule(context, *program, true);
  std::string printed =
      llvm::cantFail(printProgram(llvm::cantFail(findKernel(*module))));
  std::string out;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(printed).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (!line.empty() && !line.starts_with("var"))
      out += line.str() + "\n";
  return out;
}

TEST(Parser, Association) {
  std::string head = "var input a : [] var input b : [] var input c : [] "
                     "var output o : [] ";
  EXPECT_EQ(statementsOf(head + "o = a - b - c"), "o[] = a - b - c\n");
  EXPECT_EQ(statementsOf(head + "o = a - b - c", true), "o[] = a - (b - c)\n");
  EXPECT_EQ(statementsOf(head + "o = a / b / c"), "o[] = a / b / c\n");
  EXPECT_EQ(statementsOf(head + "o = a / b / c", true), "o[] = a / (b / c)\n");
}

TEST(Parser, ContractionBindsTighterThanProduct) {
  std::string text = "var input D : [2 2 2] var input S : [2 2] "
                     "var input u : [2 2 2] var output o : [2 2 2] "
                     "o = D * S # u . [[1 4]]";
  std::string meant = "o_1[i, j, k] = sum(l) S[i, l] * u[j, k, l]\n"
                      "o[i, j, k] = D[i, j, k] * o_1[i, j, k]\n";
  EXPECT_EQ(statementsOf(text), meant);
  EXPECT_EQ(statementsOf(text, true), meant);
}

TEST(Parser, IndexForm) {
  EXPECT_EQ(statementsOf("var input A : [2 3] var input B : [3 4] "
                         "var output t : [2 4] "
                         "t[x,y] = sum(z) A[x,z] * B[z,y]"),
            "t[i, j] = sum(k) A[i, k] * B[k, j]\n");
  EXPECT_EQ(statementsOf("var input u : [8] halo [1] var output v : [8] "
                         "v[i] = u[i - 1] - 2 * u[i] + u[i + 1]"),
            "v[i] = u[i - 1] - 2 * u[i] + u[i + 1]\n");
  EXPECT_EQ(statementsOf("var input u : [8 2] var output m : [2] "
                         "m[j] = max(i) abs(u[i,j])"),
            "m[i] = max(j) abs(u[j, i])\n");
}

TEST(Parser, SumsOfIndices) {
  EXPECT_EQ(statementsOf("var input w : [3 2] var input u : [8 9] halo [1 0:1] "
                         "var output v : [8 9] "
                         "v[i,j] = sum(a,b) w[a,b] * u[a+i-1, j+b]"),
            "v[i, j] = sum(k, l) w[k, l] * u[i + k - 1, j + l]\n");
  EXPECT_EQ(statementsOf("var input u : [9] var output v : [4] "
                         "v[i] = max(a : 2) u[2*i + a + i - i]"),
            "v[i] = max(j : 2) u[2*i + j]\n");
  EXPECT_EQ(statementsOf("var input u : [9] var output v : [7] "
                         "v[i] = u[i+0] + u[i+2] - u[6-i]"),
            "v[i] = u[i + 0] + u[i + 2] - u[-i + 6]\n");
  EXPECT_EQ(statementsOf("var input u : [8] halo [1] var output v : [] "
                         "v[] = sum(a) u[a + 1]"),
            "v[] = sum(i : 8) u[i + 1]\n");
}

// Integer bits and fraction bits, however they were written.
TEST(Parser, FixedPointOfBothSpellings) {
  auto program = parsed("var input a : [3] @fixed(8,24)\n"
                        "var input b : [3] @ap_fixed(32,8)\n"
                        "var input c : [3] @ap_ufixed(8,0)\n"
                        "var output d : [3]\nd = a + b + c\n");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->variables[0].format, "fixed<8,24>");
  EXPECT_EQ(program->variables[1].format, "fixed<8,24>");
  EXPECT_EQ(program->variables[2].format, "fixed<0,8,unsigned>");
}

TEST(Parser, FortranDeclarations) {
  auto program = parsed("REAL :: S(11,11)\n"
                        "REAL(8), DIMENSION(11,11,11) :: D, u, v, t, r\n"
                        "t = s # S # S # U . [[1 6] [3 7] [5 8]]  ! first\n"
                        "r = D * t\n"
                        "V = S # S # S # r . [[0 6] [2 7] [4 8]]\n");
  ASSERT_TRUE(program);
  auto role = [&](int i) { return program->variables[i].role; };
  EXPECT_EQ(role(0), Role::Input);
  EXPECT_EQ(role(1), Role::Input);
  EXPECT_EQ(role(2), Role::Input);
  EXPECT_EQ(role(3), Role::Output);
  EXPECT_EQ(role(4), Role::Local);
  EXPECT_EQ(role(5), Role::Local);
  EXPECT_EQ(program->variables[0].bits, 32u);
  EXPECT_EQ(program->variables[1].bits, 64u);
  EXPECT_TRUE(program->variables[1].columnMajor);
  EXPECT_TRUE(parsed("DOUBLE PRECISION, INTENT(IN) :: a(3)\n"
                     "double precision, intent(inout) :: b(3)\n"
                     "real(kind=8), intent(out) :: c(3)\n"
                     "b = a + b\nc = b\n"));
}

TEST(Parser, DamagedTextsNeverCrash) {
  std::mt19937 random(1);
  std::string seeds[] = {helmholtz(7), gradient(3, 4, 5), randomProgram(3),
                         randomProgram(17), randomProgram(23)};
  const std::string alphabet = "[]()#.^*+-/=:,@ \n0129azAS!&\x80\xff\"";
  for (int i = 0; i < 2000; ++i) {
    std::string text = seeds[i % 5];
    for (unsigned edits = 1 + random() % 4; edits > 0 && !text.empty();
         --edits) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text.erase(at, 1 + random() % 5);
        break;
      case 1:
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
        break;
      default:
        text[at] = alphabet[random() % alphabet.size()];
      }
    }
    errorsOf(text, i % 2);
  }
  errorsOf("var output a : [] a = " + std::string(100000, '('));
  errorsOf("var output a : [] a = " + std::string(100000, '['));
  errorsOf("var output a : [] a[] = " + std::string(100000, '-') + "1");
  errorsOf("var output a : [99999999999999999999]");
  errorsOf(std::string("\0\1\2", 3));
}
