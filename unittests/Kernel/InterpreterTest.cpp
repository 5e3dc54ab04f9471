// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interpreter of loops agrees with a kernel's formulas. The oracle
// evaluates the formulas without any IR.
#include "rhizome/Interp/Interpreter.h"
#include "Oracle.h"
#include "Programs.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Signature.h"
#include "rhizome/Interp/Numbers.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace rhizome;
using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

namespace {
/// Largest difference relative to the largest value of each output.
double difference(const Program &program, unsigned seed) {
  mlir::MLIRContext context;
  auto module = buildModule(context, program, false);
  mlir::func::FuncOp func = llvm::cantFail(findKernel(*module));
  Signature signature = llvm::cantFail(signatureOf(func));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::map<std::string, std::vector<double>> values;
  std::vector<Tensor> inputs;
  for (const Argument &a : signature.arguments) {
    if (!a.isInput)
      continue;
    std::vector<double> &data = values[a.name];
    for (int64_t k = 0; k < a.size(); ++k)
      data.push_back(float(uniform(random)));
    inputs.push_back(numbersOf(a.shape, data,
                               a.bits == 32 ? numeric::Format::binary32()
                                            : numeric::Format::binary64()));
  }
  evaluate(program, values);
  auto results = interpret(func, inputs);
  if (failed(results)) {
    ADD_FAILURE() << "the interpreter refuses it";
    return INFINITY;
  }
  double worst = 0;
  for (unsigned r = 0; r < func.getNumResults(); ++r) {
    auto name = func.getResultAttrOfType<mlir::StringAttr>(r, marks::kName);
    const std::vector<double> &want = values[name.str()];
    std::vector<double> got = doublesOf((*results)[r]);
    EXPECT_EQ(got.size(), want.size());
    double largest = 0, error = 0;
    for (auto [x, y] : llvm::zip(got, want)) {
      largest = std::max(largest, std::abs(y));
      if (x != y && !(std::isnan(x) && std::isnan(y)))
        error = std::max(error, std::abs(x - y));
    }
    worst = std::max(worst, largest > 0 ? error / largest : error);
  }
  return worst;
}
} // namespace

TEST(Interpreter, KernelsAreTheirFormulas) {
  for (const std::string &text :
       {helmholtz(5), interpolation(4, 6), gradient(3, 4, 5)}) {
    auto program = parsed(text);
    ASSERT_TRUE(program);
    EXPECT_LT(difference(*program, 1), 1e-13) << text;
  }
}

TEST(Interpreter, RandomKernelsAreTheirFormulas) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::string text = randomProgram(seed);
    auto program = parsed(text);
    ASSERT_TRUE(program);
    bool isSingle = llvm::any_of(
        program->variables, [](const Variable &v) { return v.bits == 32; });
    EXPECT_LT(difference(*program, seed), isSingle ? 1e-5 : 1e-11) << text;
  }
}
