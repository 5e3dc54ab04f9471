// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels between markers: found with the host file's line numbers, and
// replaced by calls without moving a line.
#include "rhizome/Import/Kernel/Embed.h"
#include "Programs.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

static std::string markerErrors(Host host, const std::string &text) {
  Source file{"host", text};
  Diagnostics diagnostics(file);
  findEmbedded(host, file, diagnostics);
  return diagnostics.render();
}

TEST(Embed, FortranKeepsLines) {
  Source file{"host.f90", "program p\n  real(8) :: a(3), b(3)\n"
                          "  !$rhizome kernel twice\n  REAL(8) :: a(3), b(3)\n"
                          "  b = a + a\n  !$rhizome end\nend program\n"};
  Diagnostics diagnostics(file);
  auto kernels = findEmbedded(Host::Fortran, file, diagnostics);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].source.firstLine, 4u);
  EXPECT_EQ(kernels[0].source.line(5), "  b = a + a");
  Signature signature;
  signature.name = "twice";
  signature.arguments.resize(2);
  signature.arguments[0].name = "a";
  signature.arguments[1].name = "b";
  EXPECT_EQ(replaceEmbedded(Host::Fortran, file, kernels, {signature}),
            "program p\n  real(8) :: a(3), b(3)\n"
            "  block; use twice_kernel, only: twice\n  call twice(a, b)\n"
            "  end block\n\nend program\n");
}

TEST(Embed, ErrorsHaveTheHostsLines) {
  Source file{"host.cpp", "int x;\n#pragma rhizome kernel k\n"
                          "var input a : [3]\nb = a\n#pragma rhizome end\n"};
  Diagnostics markers(file);
  auto kernels = findEmbedded(Host::Cpp, file, markers);
  ASSERT_EQ(kernels.size(), 1u);
  Diagnostics diagnostics(kernels[0].source);
  EXPECT_FALSE(parseProgram(kernels[0].source, {"k"}, diagnostics));
  EXPECT_TRUE(llvm::StringRef(diagnostics.render())
                  .starts_with("host.cpp:4:1: error: 'b' is not declared"))
      << diagnostics.render();
}

TEST(Embed, BadMarkers) {
  auto starts = [](const std::string &text, const char *begin) {
    EXPECT_TRUE(llvm::StringRef(text).starts_with(begin)) << text;
  };
  starts(markerErrors(Host::Cpp, "\n#pragma rhizome end\n"),
         "host:2:1: error: no kernel begins before this end");
  starts(markerErrors(Host::Fortran, "!$rhizome kernel a\n"),
         "host:1:1: error: the kernel 'a' does not end");
  starts(markerErrors(Host::Fortran, " !$rhizome kernels a\n"),
         "host:1:2: error: this marker is none of 'kernel NAME' and 'end'");
  starts(markerErrors(Host::Fortran,
                      "!$rhizome kernel a\n!$rhizome kernel b\n!$rhizome end"),
         "host:2:1: error: a kernel begins inside the kernel 'a'");
  starts(markerErrors(Host::Fortran, "!$rhizome kernel a\n!$rhizome end\n"
                                     "!$rhizome kernel A\n!$rhizome end"),
         "host:3:1: error: two kernels are called 'A'");
}
