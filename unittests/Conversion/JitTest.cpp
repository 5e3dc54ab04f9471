// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU path's border: refusals, threads, and its speed on a network of
// TFC's size (printed, not judged).
#include "rhizome/Conversion/Jit.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace mlir;
using namespace rhizome;

namespace {
class JitTest : public ::testing::Test {
protected:
  JitTest() {
    context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &d) { message += d.str(); });
  }
  std::unique_ptr<CompiledFunction> compile(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    if (!module)
      return nullptr;
    func = *module->getOps<func::FuncOp>().begin();
    auto compiled = CompiledFunction::compile(func);
    return succeeded(compiled) ? std::move(*compiled) : nullptr;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  std::string message;
};

TEST_F(JitTest, RefusesOtherElementTypes) {
  EXPECT_FALSE(compile(R"(
    func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
      return %x : tensor<2xf64>
    })"));
  EXPECT_NE(message.find("takes integers, indices and"), std::string::npos);
}

TEST_F(JitTest, RunsRealFunctions) {
  auto f = compile(R"(
    func.func @f(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x1xi64>) {
      %y = osa.softmax %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %i = osa.arg_max %x {axis = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x1xi64>
      return %y, %i : tensor<1x3xf32>, tensor<1x1xi64>
    })");
  ASSERT_TRUE(f) << message;
  auto out = f->run({Tensor::ofFloats({1, 3}, {0, 2, 1})});
  ASSERT_TRUE(bool(out));
  auto expected = interpret(func, {Tensor::ofFloats({1, 3}, {0, 2, 1})});
  ASSERT_TRUE(succeeded(expected));
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR((*out)[0].floats[i], (*expected)[0].floats[i], 1e-6);
  EXPECT_EQ((*out)[1].ints, (std::vector<int64_t>{1}));
}

TEST_F(JitTest, RefusesRealOperationsOnIntegers) {
  EXPECT_FALSE(compile(R"(
    func.func @f(%x: tensor<2x!num.int<s8>>) -> tensor<2x!num.int<s8>> {
      %y = osa.relu %x : (tensor<2x!num.int<s8>>) -> tensor<2x!num.int<s8>>
      return %y : tensor<2x!num.int<s8>>
    })"));
  EXPECT_NE(message.find("no CPU form"), std::string::npos);
}

TEST_F(JitTest, ChecksItsInputs) {
  auto f = compile(R"(
    func.func @f(%x: tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u4>> {
      return %x : tensor<2x!num.int<u4>>
    })");
  ASSERT_TRUE(f) << message;
  auto fails = [&](std::vector<Tensor> in) {
    auto out = f->run(in);
    if (out)
      return false;
    llvm::consumeError(out.takeError());
    return true;
  };
  EXPECT_TRUE(fails({}));
  EXPECT_TRUE(fails({Tensor::ofInts({3}, {1, 2, 3})}));
  EXPECT_TRUE(fails({Tensor::ofInts({2}, {1, 16})}));
  EXPECT_TRUE(fails({Tensor::ofFloats({2}, {1, 2})}));
  auto out = f->run({Tensor::ofInts({2}, {1, 15})});
  ASSERT_TRUE(bool(out));
  EXPECT_EQ(out->at(0).ints, (std::vector<int64_t>{1, 15}));
}

/// 784-64-64-64-10 with two-bit weights and thresholds between.
std::string tfc() {
  std::string body = "func.func @f(%v0: tensor<1x784x!num.int<u8>>) -> "
                     "tensor<1x10x!num.int<s32>> {\n";
  int sizes[] = {784, 64, 64, 64, 10};
  std::string in = "!num.int<u8>";
  for (int i = 0; i < 4; ++i) {
    std::string n = std::to_string(i), to = std::to_string(sizes[i + 1]),
                from = std::to_string(sizes[i]);
    std::string w = "tensor<" + to + "x" + from + "x!num.int<s2>>";
    std::string bytes;
    for (int k = 0; k < sizes[i] * sizes[i + 1]; ++k) {
      const char *values[] = {"FE", "FF", "00", "01"};
      bytes += values[(k * 7919 + k / 13) % 4];
    }
    std::string sum = "tensor<1x" + to + "x!num.int<s32>>";
    body += "%w" + n + " = osa.constant {value = dense<\"0x" + bytes +
            "\"> : tensor<" + to + "x" + from + "xi8>} : () -> " + w + "\n";
    body += "%s" + n + " = osa.dense %v" + n + ", %w" + n + " : (tensor<1x" +
            from + "x" + in + ">, " + w + ") -> " + sum + "\n";
    if (i == 3) {
      body += "return %s3 : " + sum + "\n}";
      break;
    }
    in = "!num.int<u2>";
    body += "%v" + std::to_string(i + 1) + " = osa.threshold %s" + n +
            " {thresholds = dense<[[-40, 0, 40]]> : tensor<1x3xi64>, base = 0 "
            ": i64} : (" +
            sum + ") -> tensor<1x" + to + "x" + in + ">\n";
  }
  return body;
}

double seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since)
      .count();
}

TEST_F(JitTest, TfcSizedFromFourThreads) {
  std::string text = tfc();
  auto start = std::chrono::steady_clock::now();
  auto f = compile(text);
  ASSERT_TRUE(f) << message;
  double compileSeconds = seconds(start);
  Interpreter interpreter(func);

  constexpr int kFrames = 2000, kThreads = 4;
  std::vector<Tensor> frames;
  for (int i = 0; i < kFrames; ++i) {
    Tensor t = Tensor::ofInts({1, 784}, {});
    for (int k = 0; k < 784; ++k)
      t.ints.push_back((i * 31 + k * 17 + i * k) % 256);
    frames.push_back(std::move(t));
  }
  start = std::chrono::steady_clock::now();
  std::vector<std::vector<int64_t>> alone;
  for (const Tensor &frame : frames)
    alone.push_back(llvm::cantFail(f->run(frame)).at(0).ints);
  double runSeconds = seconds(start);
  std::printf("parse and compile %.3f s, %.0f frames/s\n", compileSeconds,
              kFrames / runSeconds);
  for (int i = 0; i < 50; ++i) {
    auto expected = interpreter.run(frames[i]);
    ASSERT_TRUE(succeeded(expected)) << message;
    EXPECT_EQ((*expected)[0].ints, alone[i]);
  }

  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads, 0);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < kFrames; i += 2)
        wrong[t] += llvm::cantFail(f->run(frames[i])).at(0).ints != alone[i];
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}
} // namespace
