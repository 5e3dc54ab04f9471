// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing is the parser's inverse: the text of a kernel's IR parses to the
// same IR, and prints as the same text.
#include "Programs.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

static void checkRoundTrip(const std::string &text) {
  SCOPED_TRACE(text);
  mlir::MLIRContext context;
  auto program = parsed(text);
  ASSERT_TRUE(program);
  auto module = buildModule(context, *program, true);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
  auto printed = printProgram(llvm::cantFail(findKernel(*module)));
  ASSERT_TRUE(bool(printed)) << llvm::toString(printed.takeError());
  auto again = parsed(*printed);
  ASSERT_TRUE(again);
  auto second = buildModule(context, *again, true);
  EXPECT_EQ(textOf(*module), textOf(*second)) << *printed;
  auto twice = printProgram(llvm::cantFail(findKernel(*second)));
  ASSERT_TRUE(bool(twice)) << llvm::toString(twice.takeError());
  EXPECT_EQ(*printed, *twice);
}

TEST(RoundTrip, KnownKernels) {
  checkRoundTrip(helmholtz(7));
  checkRoundTrip(interpolation(5, 4));
  checkRoundTrip(gradient(3, 4, 5));
  checkRoundTrip("var input a : [3] @ap_fixed(32,8)\n"
                 "var input b : [3] @ap_ufixed(8,0)\n"
                 "var output c : [3]\nc = a + b\n");
}

TEST(RoundTrip, RandomPrograms) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    checkRoundTrip(randomProgram(seed));
    if (HasFatalFailure() || HasNonfatalFailure())
      break;
  }
}
