// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels used by several tests, and random ones.
#pragma once

#include "rhizome/Import/Kernel/Ir.h"
#include <random>

namespace rhizome::kernel::test {
/// The inverse Helmholtz operator of order p.
inline std::string helmholtz(int p) {
  std::string n = std::to_string(p), cube = n + " " + n + " " + n;
  return "var input S : [" + n + " " + n + "]\n" + "var input D : [" + cube +
         "]\nvar input u : [" + cube + "]\nvar output v : [" + cube +
         "]\nvar t : [" + cube + "]\nvar r : [" + cube +
         "]\nt = S # S # S # u . [[1 6] [3 7] [5 8]]\n"
         "r = D * t\n"
         "v = S # S # S # r . [[0 6] [2 7] [4 8]]\n";
}

/// From n points per side to m.
inline std::string interpolation(int m, int n) {
  std::string a = std::to_string(m), b = std::to_string(n);
  return "var input A : [" + a + " " + b + "]\nvar input u : [" + b + " " + b +
         " " + b + "]\nvar output v : [" + a + " " + a + " " + a +
         "]\nv = A # A # A # u . [[1 6] [3 7] [5 8]]\n";
}

inline std::string gradient(int x, int y, int z) {
  std::string a = std::to_string(x), b = std::to_string(y),
              c = std::to_string(z), u = a + " " + b + " " + c;
  return "var input Dx : [" + a + " " + a + "]\nvar input Dy : [" + b + " " +
         b + "]\nvar input Dz : [" + c + " " + c + "]\nvar input u : [" + u +
         "]\nvar output v : [3 " + u +
         "]\nv = [ Dx # u . [[1 2]] (Dy # u . [[1 3]]) ^ [[0 1]]\n"
         "      (Dz # u . [[1 4]]) ^ [[0 1] [1 2]] ]\n";
}

/// A program of random declarations and statements in both notations. It parses
/// for every seed.
std::string randomProgram(unsigned seed);

/// The program, or a failed test with its errors.
std::optional<Program> parsed(const std::string &text, bool compat = false,
                              const std::string &name = "kernel");
/// The errors of a text.
std::string errorsOf(const std::string &text, bool compat = false);
} // namespace rhizome::kernel::test
