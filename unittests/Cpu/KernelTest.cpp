// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled kernels against a direct evaluation of their formulas.
#include "rhizome/Cpu/Kernel.h"
#include "../Kernel/Oracle.h"
#include "../Kernel/Programs.h"
#include "rhizome/Transforms/Algebra.h"
#include "llvm/Config/llvm-config.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

namespace {
/// A kernel compiled for this processor, or for another of its family.
struct Compiled {
  mlir::MLIRContext context;
  Program program;
  Signature signature;
  std::optional<LoadedKernel> kernel;

  Compiled(const std::string &text, const std::string &cpu = "native",
           bool gemm = false) {
    program = *parsed(text);
    auto module = buildModule(context, program, true);
    mlir::func::FuncOp func = llvm::cantFail(findKernel(*module));
    signature = llvm::cantFail(signatureOf(func));
    EXPECT_TRUE(mlir::succeeded(factorizeProducts(
        func, gemm ? IndexOrder::First : IndexOrder::InPlace)));
    if (gemm)
      EXPECT_EQ(formMatmuls(func), 6);
    std::string object = llvm::cantFail(compileObject(func, signature, {cpu}));
    kernel.emplace(llvm::cantFail(LoadedKernel::load(object, signature)));
  }

  /// Largest error relative to the largest value, over random elements.
  double error(unsigned seed, int elements = 1, int threads = 1,
               bool strided = false) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    // Twice the places in each dimension if strided.
    std::vector<std::vector<double>> doubles(signature.arguments.size());
    std::vector<std::vector<float>> floats(signature.arguments.size());
    std::vector<KernelArray> arrays;
    std::vector<std::map<std::string, std::vector<double>>> expected(elements);
    auto offsetOf = [](const Argument &a, const KernelArray &array, int64_t i) {
      int64_t at = 0;
      for (size_t d = a.shape.size(); d-- > 0; i /= a.shape[d])
        at += i % a.shape[d] * array.strides[d];
      return at;
    };
    for (auto [i, a] : llvm::enumerate(signature.arguments)) {
      KernelArray array;
      int64_t places = 1;
      for (size_t d = 0; d < a.shape.size(); ++d) {
        array.strides[d] = a.strides[d] * (strided ? 2 : 1);
        places += (a.shape[d] - 1) * array.strides[d];
      }
      array.elementStride = places;
      doubles[i].resize(places * elements);
      for (double &v : doubles[i])
        v = float(uniform(random));
      floats[i].assign(doubles[i].begin(), doubles[i].end());
      array.data =
          a.bits == 64 ? (void *)doubles[i].data() : (void *)floats[i].data();
      arrays.push_back(array);
      for (int e = 0; e < elements && a.isInput; ++e)
        for (int64_t k = 0; k < a.size(); ++k)
          expected[e][a.name].push_back(
              doubles[i][e * places + offsetOf(a, array, k)]);
    }
    for (auto &values : expected)
      evaluate(program, values);
    kernel->run(elements, threads, arrays.data());
    double worst = 0;
    for (auto [i, a] : llvm::enumerate(signature.arguments)) {
      if (!a.isOutput)
        continue;
      for (int e = 0; e < elements; ++e) {
        double largest = 0, error = 0;
        for (int64_t k = 0; k < a.size(); ++k) {
          double want = expected[e][a.name][k];
          int64_t at = e * arrays[i].elementStride + offsetOf(a, arrays[i], k);
          double got = a.bits == 64 ? doubles[i][at] : floats[i][at];
          largest = std::max(largest, std::abs(want));
          if (!(std::isnan(want) && std::isnan(got)) && want != got)
            error = std::max(error, std::abs(want - got));
        }
        worst = std::max(worst, largest > 0 ? error / largest : error);
      }
    }
    return worst;
  }
};
} // namespace

TEST(Cpu, HelmholtzInterpolationGradient) {
  EXPECT_LT(Compiled(helmholtz(7)).error(1), 1e-12);
  EXPECT_LT(Compiled(helmholtz(11)).error(2), 1e-12);
  EXPECT_LT(Compiled(interpolation(9, 7)).error(3), 1e-12);
  EXPECT_LT(Compiled(gradient(5, 6, 7)).error(4), 1e-12);
}

TEST(Cpu, EverySumBeginsWithANumber) {
  // None of the six begins with a copy of an array of zeros.
  mlir::MLIRContext context;
  Program program = *parsed(helmholtz(5));
  auto module = buildModule(context, program, true);
  mlir::func::FuncOp func = llvm::cantFail(findKernel(*module));
  ASSERT_TRUE(mlir::succeeded(factorizeProducts(func, IndexOrder::InPlace)));
  std::string text =
      llvm::cantFail(printC99(func, llvm::cantFail(signatureOf(func))));
  EXPECT_EQ(llvm::StringRef(text).count("= 0.0;"), 6u) << text;
}

TEST(Cpu, MatrixProducts) {
  EXPECT_LT(Compiled(helmholtz(11), "native", true).error(1), 1e-12);
}

TEST(Cpu, RowsOfEveryLength) {
  // A last vector of every width; in the caller's memory it is moved back, or
  // masked where the result is computed in its own place.
  for (int n : {3, 5, 9, 11, 14, 17})
    for (const char *cpu : {"native", "x86-64-v3"}) {
      if (cpu != llvm::StringRef("native") &&
          !llvm::StringRef(LLVM_HOST_TRIPLE).starts_with("x86_64"))
        continue;
      std::string e = std::to_string(n);
      EXPECT_LT(Compiled("var input S : [" + e + " " + e +
                             "]\nvar input D : [5 " + e +
                             "]\nvar input u : [5 " + e +
                             "]\nvar input a : []\nvar output v : [5 " + e +
                             "]\nvar input output w : [" + e +
                             "]\nv = D * (u # S . [[1 2]])\nw = a * w\n",
                         cpu)
                    .error(1, 3),
                1e-12)
          << n << " on " << cpu;
    }
}

TEST(Cpu, OtherVectorUnits) {
  for (const char *cpu : {"x86-64", "x86-64-v3"}) {
    if (!llvm::StringRef(LLVM_HOST_TRIPLE).starts_with("x86_64"))
      GTEST_SKIP() << "the names are of x86-64 processors";
    EXPECT_LT(Compiled(helmholtz(7), cpu).error(1), 1e-12) << cpu;
  }
}

TEST(Cpu, ElementsOnThreadsAndStrides) {
  Compiled kernel(helmholtz(5));
  EXPECT_LT(kernel.error(1, 23, 1), 1e-12);
  EXPECT_LT(kernel.error(2, 23, 4), 1e-12);
  EXPECT_LT(kernel.error(3, 3, 9, true), 1e-12);
}

TEST(Cpu, ColumnMajor) {
  Compiled kernel("REAL(8) :: S(5,5)\nREAL(8), DIMENSION(5,5,5) :: u, v\n"
                  "v = S # S # S # u . [[1 6] [3 7] [5 8]]\n");
  EXPECT_EQ(kernel.signature.arguments[1].strides[0], 1);
  EXPECT_LT(kernel.error(1), 1e-12);
  EXPECT_LT(kernel.error(1, 2, 1, true), 1e-12);
}

TEST(Cpu, RandomPrograms) {
  for (unsigned seed = 1000; seed < 1012; ++seed) {
    std::string text = randomProgram(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    bool narrow = text.find("f32") != std::string::npos ||
                  text.find("real,") != std::string::npos;
    EXPECT_LT(Compiled(text).error(seed, 2, 1, seed % 2), narrow ? 1e-3 : 1e-9);
  }
}
