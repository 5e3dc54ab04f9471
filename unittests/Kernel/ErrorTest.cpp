// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrong programs and their messages: the location in the file, both values,
// and all errors of a text at once.
#include "Programs.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel::test;

/// The lines "file:line:column: error: …" of the errors of a text.
static std::string messagesOf(const std::string &text) {
  llvm::SmallVector<llvm::StringRef> lines;
  std::string errors = errorsOf(text), out;
  llvm::StringRef(errors).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.contains(": error: "))
      out += line.str() + "\n";
  return out;
}

/// What follows from a part that cannot be read is no error of its own.
TEST(Errors, OneCauseIsOneError) {
  const std::pair<const char *, const char *> wrong[] = {
      {"REAL(3) :: a(4), B(4)\nREAL(8) :: c(4), d(4)\nb = a + c\nd = b\n",
       "1:6: error: expected the kind 4 or 8"},
      {"REAL(8), ALLOCATABLE :: a(4)\nREAL(8) :: c(4)\nc = a\n",
       "1:10: error: expected DIMENSION"},
      {"REAL(3) :: a(4), b(4)\nREAL(8) :: c(4)\nb = a + c\nc = b\n",
       "1:6: error: expected the kind 4 or 8"},
      {"REAL(8) :: a(0:3), b(4)\nb = a\n", "1:15: error: expected ','"},
      {"REAL(8), INTENT(OT) :: a(4), b(4)\nREAL(8) :: c(4)\nb = a\nc = b\n",
       "1:17: error: expected IN"},
      {"var input a : [4\nvar output b : [4]\nb = a\n",
       "1:17: error: expected an extent"},
      {"type m : [8 8\nvar input a : m\nvar output b : m\nb = a + a\n",
       "1:14: error: expected an extent"},
      {"type m : [0]\nvar input a : m\nvar output b : m\nb = a\n",
       "1:10: error: an extent is 0"},
      {"var input a : [4]\nvar output b : [4]\nvar output c : [4]\n"
       "b = (a + a\nc = b\n",
       "4:11: error: expected ')'"},
      {"var input a : [4\nvar output b : [2 4]\nb[0,i] = a[i]\n"
       "b[1,i] = 1\n",
       "1:17: error: expected an extent"},
  };
  for (const auto &[text, message] : wrong) {
    std::string errors = messagesOf(text);
    EXPECT_TRUE(llvm::StringRef(errors).contains(message)) << errors;
    EXPECT_EQ(llvm::StringRef(errors).count(": error: "), 1u) << errors;
  }
}

TEST(Errors, TwentyWrongPrograms) {
  const std::string head = "var input S : [3 3]\nvar input u : [3 4]\n"
                           "var output v : [3 4]\n";
  const std::pair<const char *, const char *> wrong[] = {
      {"v = S . w\n", "4:9: error: 'w' is not declared"},
      {"v = S + u\n", "4:7: error: '+' between [3 3] and [3 4]"},
      {"v = S # u . [[1 3]]\n",
       "4:14: error: index 1 has extent 3, index 3 has 4"},
      {"v = S # u . [[1 4]]\n", "4:14: error: there is no index 4: [3 3 3 4] "
                                "has the indices 0 to 3"},
      {"v = S # u . [[1 2] [2 0]]\n", "4:20: error: index 2 is contracted "
                                      "twice"},
      {"v = S # u\n", "4:1: error: 'v' is [3 4], its value is [3 3 3 4]"},
      {"v = u . S\n", "4:7: error: '.' between [3 4] and [3 3]: the last "
                      "extent, 4, is not the first, 3"},
      {"v = 2 # u\n", "4:7: error: '#' with a scalar"},
      {"v = u * 2\n", "4:7: error: '*' between [3 4] and a scalar"},
      {"v = [u S]\n", "4:8: error: a stack of [3 4] and [3 3]"},
      {"v = u ^ [[0 1 1]]\n", "4:10: error: '^' swaps two indices, not 3"},
      {"v = u\nu = v\n", "5:1: error: 'u' is an input and cannot be assigned"},
      {"v[i,j] = S[i,k] * u[k,j]\n",
       "4:14: error: the index 'k' is neither on the left side nor reduced"},
      {"v[i,j] = S[i,j] * u[i,j]\n",
       "4:14: error: the index 'j' runs to 3 in dimension 1 of 'S' and to 4 in "
       "dimension 1 of 'v'"},
      {"v[i,j] = u[i,j + 1]\n",
       "4:14: error: the offset 1 reaches outside dimension 1 of 'u'"},
      {"v[i] = u[i,0]\n",
       "4:1: error: 'v' has 2 dimensions, here it gets 1 indices"},
      {"v[0,j] = u[0,j]\nv[1,j] = u[1,j]\n",
       "5:1: error: the output 'v' is assigned only in part"},
      {"v = (u + u\n", "4:11: error: expected ')' to close the parenthesis, "
                       "not the end"},
      {"v[i,j] = cosh(u[i,j])\n",
       "4:10: error: expected a reduction or a function before '(', not "
       "'cosh'"},
      {"v = u $ u\n", "4:7: error: '$' means nothing in a kernel"},
      {"var t : [3 4]\nv = t\n",
       "5:5: error: 't' is read before it is assigned"},
      {"var input S : [3 3]\nv = u\n", "4:11: error: 'S' is declared twice"},
      {"var w : [3 0]\nv = u\n", "4:9: error: an extent is 0"},
      {"var w : matrix\nv = u\n", "4:9: error: there is no type 'matrix'"},
      {"var w : [3] @fixd(8,24)\nv = u\n",
       "4:14: error: there is no annotation '@fixd'"},
      {"var w : [3] @ap_fixed(8)\nv = u\n",
       "4:14: error: '@ap_fixed' takes at least two widths"},
      {"var w : [3] @ap_fixed(8,12)\nv = u\n",
       "4:14: error: '@ap_fixed' has more integer bits than bits"},
  };
  for (auto [text, message] : wrong) {
    std::string got = messagesOf(head + text);
    EXPECT_TRUE(
        llvm::StringRef(got).starts_with(std::string("k.cfd:") + message))
        << text << got;
    EXPECT_EQ(llvm::StringRef(got).count('\n'), 1u) << text << got;
  }
}

TEST(Errors, AllAtOnceWithCaretsNotesAndRemedies) {
  EXPECT_EQ(errorsOf("var input S : [3 3]\n"
                     "var input uu : [3 4]\n"
                     "var output v : [3 4]\n"
                     "\tv = S . ux\n"
                     "v[i,j] = S[i,j] * uu[i,j]\n"),
            "k.cfd:4:10: error: 'ux' is not declared; did you mean 'uu'?\n"
            "  \tv = S . ux\n"
            "  \t        ^\n"
            "k.cfd:5:14: error: the index 'j' runs to 3 in dimension 1 of 'S' "
            "and to 4 in dimension 1 of 'v'\n"
            "  v[i,j] = S[i,j] * uu[i,j]\n"
            "               ^\n"
            "k.cfd:5:5: note: the other range comes from here\n"
            "  v[i,j] = S[i,j] * uu[i,j]\n"
            "      ^\n");
}

/// The same with "; remedy: …" after each.
static std::string remediesOf(const std::string &text) {
  llvm::SmallVector<llvm::StringRef> lines;
  std::string errors = errorsOf(text), out;
  llvm::StringRef(errors).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.contains(": error: "))
      out += (out.empty() ? "" : "\n") + line.str();
    else if (line.starts_with("  remedy: "))
      out += "; " + line.ltrim().str();
  return out;
}

TEST(Errors, DeclarationsThatAreMissing) {
  const std::string head = "var input A : [4 5]\nvar output C : [4 6]\n";
  const std::pair<const char *, const char *> wrong[] = {
      {"C[i,j] = sum(k) A[i,k] * B[k,j]\n",
       "3:26: error: 'B' is not declared; remedy: declare it: var input B : "
       "[5 6]"},
      // Ranges that accesses after it tell, or a reduction.
      {"C[i,j] = sum(k) B[k,j] * A[i,k]\n",
       "3:17: error: 'B' is not declared; remedy: declare it: var input B : "
       "[5 6]"},
      {"C[i,j] = sum(k : 3) B[k]\n",
       "3:21: error: 'B' is not declared; remedy: declare it: var input B : "
       "[3]"},
      {"C[i,j] = T * A[i,0]\n",
       "3:10: error: 'T' is not declared; remedy: declare it: var input T : "
       "[]"},
      {"C[i,j] = B[i,j+1]\n",
       "3:10: error: 'B' is not declared; remedy: declare it, with its extents "
       "in the brackets: var input B : []"},
      {"D[i] = A[i,0]\nC[i,j] = A[i,0]\n",
       "3:1: error: 'D' is not declared; remedy: declare it: var D : [4]"},
      {"C = A . B\n",
       "3:9: error: 'B' is not declared; remedy: declare it, with its extents "
       "in the brackets: var input B : []"},
  };
  for (auto [text, message] : wrong)
    EXPECT_EQ(remediesOf(head + text), std::string("k.cfd:") + message) << text;
}

TEST(Errors, WhatIsMissingAtTheEndOfALine) {
  const std::string head = "var input A : [5 5]\nvar output t : []\n"
                           "var output d : [5]\n";
  const std::pair<const char *, const char *> wrong[] = {
      {"d[i] = A[i,i\n", "4:13: error: expected ',' or ']' in the indices of "
                         "'A', not the end"},
      {"d[i] = A[i,i\nt[] = A[0,0]\n",
       "4:13: error: expected ',' or ']' in the indices of 'A', not the end of "
       "the line"},
      {"d[i] = A[i,i] *\n",
       "4:16: error: expected a variable, a number or '(', not the end"},
      {"t = sum(i) A[i,i]\n",
       "4:8: error: expected an operator or the next statement, not '('; "
       "remedy: 'sum' needs indices on the left: t[i] = ..., or t[] = ... for "
       "a scalar"},
      {"d(i) = A[i,i]\n", "4:2: error: expected '=' after 'd', not '('; "
                          "remedy: indices are in brackets: d[i]"},
      {"d[i] = A(i,i)\n",
       "4:9: error: expected an operator or the next statement, not '('; "
       "remedy: indices are in brackets: A[i]"},
      {"d = A(0)\n",
       "4:6: error: expected an operator or the next statement, not '('; "
       "remedy: indices are in brackets: A[i]"},
  };
  for (auto [text, message] : wrong)
    EXPECT_NE(remediesOf(head + text).find(std::string("k.cfd:") + message),
              std::string::npos)
        << text << remediesOf(head + text);
}

TEST(Errors, SumsOfIndices) {
  const std::string head = "var input u : [8 9]\nvar input w : [3 3]\n"
                           "var input x : [8] halo [1:0]\nvar t : [8]\n"
                           "var output v : [8]\n";
  const std::pair<const char *, const char *> wrong[] = {
      {"v[i] = sum(a) w[a,0] * u[i+a-1,0]\n",
       "6:26: error: 'i + a - 1' reaches outside dimension 0 of 'u': it runs "
       "from -1 to 8; remedy: declare a halo: var input u : [8 9] halo [1 0]"},
      {"v[i] = sum(a) w[a,0] * x[2*i+a]\n",
       "6:26: error: '2*i + a' reaches outside dimension 0 of 'x': it runs "
       "from "
       "0 to 16; remedy: declare a halo: var input x : [8] halo [1:9]"},
      {"t[i] = u[i,0]\nv[i] = t[9 - i]\n",
       "7:10: error: '-i + 9' reaches outside dimension 0 of 't': it runs from "
       "2 to 9; remedy: shorten its indices' ranges, or make it longer"},
      {"v[i] = sum(a) u[i,2*a]\n",
       "6:12: error: the range of the index 'a' does not follow from any "
       "subscript; remedy: say it where the index is introduced: a : 3"},
      {"v[i] = sum(a) x[i]\n", "6:12: error: nothing is subscripted by the "
                               "index 'a'; remedy: its range "
                               "follows from a subscript"},
      {"v[i] = sum(a : 2) w[a,0] * x[i]\n",
       "6:21: error: the index 'a' runs to 3 in dimension 0 of 'w' and to 2 in "
       "its range; remedy: write a + 0 to read a part of the dimension"},
      {"v[i] = sum(a : 0) u[i,a+1]\n",
       "6:12: error: the index 'a' has no values; remedy: its range is at "
       "least 1"},
      {"v[2*i] = x[i]\n",
       "6:3: error: an offset or a sum on the left side; remedy: shift the "
       "right side instead"},
      {"v[i] = x[i+]\n", "6:12: error: expected an index or a number, not ']'"},
      {"v[i] = x[2*3]\n",
       "6:12: error: expected the name of an index after '*', not '3'"},
      {"v[i] = x[i*2000000]\n",
       "6:12: error: 2000000 is too large for a factor"},
      {"v[i] = x[1000000*i+1000000*i]\n",
       "6:20: error: the factors of 'i' are together 2000000; remedy: at most "
       "1048576 are taken"},
      {"v[i] = x[i+a]\n",
       "6:10: error: the index 'a' is neither on the left side nor reduced; "
       "remedy: write sum(a) before the product, or put it on the left"},
  };
  for (auto [text, message] : wrong)
    EXPECT_EQ(remediesOf(head + text), std::string("k.cfd:") + message)
        << text << errorsOf(head + text);
}

TEST(Errors, FortranDeclarations) {
  auto firstOf = [](const std::string &text) {
    return messagesOf(text + "\nvar output v : [3]\nv = v\n");
  };
  EXPECT_TRUE(llvm::StringRef(firstOf("REAL(16) :: a(3)"))
                  .starts_with("k.cfd:1:6: error: expected the kind 4 or 8"));
  EXPECT_TRUE(llvm::StringRef(firstOf("REAL :: a(0:2)"))
                  .starts_with("k.cfd:1:12: error: expected ',' or ')' after "
                               "an extent"));
  EXPECT_TRUE(llvm::StringRef(firstOf("REAL, ALLOCATABLE :: a(3)"))
                  .starts_with("k.cfd:1:7: error: expected DIMENSION(…) or "
                               "INTENT(…)"));
  EXPECT_TRUE(llvm::StringRef(firstOf("REAL, INTENT(INPUT) :: a(3)"))
                  .starts_with("k.cfd:1:14: error: expected IN, OUT or INOUT"));
}
