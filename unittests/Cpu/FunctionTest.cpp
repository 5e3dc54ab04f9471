// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU path's border: refusals, threads, and its speed on a network of
// TFC's size (printed, not judged).
#include "rhizome/Cpu/Function.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include "llvm/ADT/StringExtras.h"
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

TEST_F(JitTest, ElementaryFunctionsOfVectors) {
  for (std::string kind : {"erf", "gelu", "tanh", "exp", "sigmoid", "log"}) {
    SCOPED_TRACE(kind);
    auto f = compile(R"(
    func.func @f(%x: tensor<1x37xf32>) -> tensor<1x37xf32> {
      %y = osa.unary )" +
                     kind + R"( %x : (tensor<1x37xf32>) -> tensor<1x37xf32>
      return %y : tensor<1x37xf32>
    })");
    ASSERT_TRUE(f) << message;
    Tensor x = Tensor::ofFloats({1, 37}, {});
    for (int i = 0; i < 37; ++i)
      x.floats.push_back(0.1f + float(i) * 0.07f);
    auto out = f->run({x});
    ASSERT_TRUE(bool(out));
    auto expected = interpret(func, {x});
    ASSERT_TRUE(succeeded(expected));
    for (int i = 0; i < 37; ++i)
      EXPECT_NEAR((*out)[0].floats[i], (*expected)[0].floats[i], 1e-5);
  }
}

TEST_F(JitTest, RefusesIntegerOperationsAmongReals) {
  EXPECT_FALSE(compile(R"(
    func.func @f(%x: tensor<2xf32>, %q: tensor<2x!num.int<u4>>) -> (tensor<2xf32>, tensor<2x!num.int<u5>>) {
      %y = osa.scaled_add %q, %q : (tensor<2x!num.int<u4>>, tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u5>>
      return %x, %y : tensor<2xf32>, tensor<2x!num.int<u5>>
    })"));
  EXPECT_NE(message.find("no CPU form"), std::string::npos);
}

TEST_F(JitTest, RefusesConstantsWithoutTheirBytes) {
  context.loadDialect<arith::ArithDialect>();
  EXPECT_FALSE(compile(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %c = arith.constant dense_resource<gone> : tensor<2xf32>
      return %c : tensor<2xf32>
    })"));
  EXPECT_NE(message.find("value needs 8 bytes for 'tensor<2xf32>', but its "
                         "resource 'gone' holds 0"),
            std::string::npos)
      << message;
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

/// A convolution with bias and a requantizer, of sizes that leave rests of
/// vectors and rows; data, weights and bias are drawn.
struct Sizes {
  int64_t height, width, in, out, kernel, stride, groups;
  const char *data;
  int64_t lo, hi;
  const char *weights = "!num.int<s8>";
};
std::string convolution(const Sizes &s, int64_t seed) {
  auto join = [](std::initializer_list<int64_t> sizes) {
    std::string text;
    for (int64_t n : sizes)
      text += std::to_string(n) + "x";
    return text;
  };
  uint32_t state = uint32_t(seed) * 2654435761u + 1;
  auto draw = [&] { return (state = state * 1664525u + 1013904223u) >> 24; };
  std::string bytes, bias, factors;
  const char *digits = "0123456789ABCDEF";
  for (int64_t i = 0; i < s.out * s.kernel * s.kernel * s.in / s.groups; ++i) {
    unsigned byte = draw();
    bytes += digits[byte / 16];
    bytes += digits[byte % 16];
  }
  for (int64_t o = 0; o < s.out; ++o) {
    bias += (o ? ", " : "") + std::to_string(int64_t(draw()) * 40 - 5000);
    factors += (o ? ", " : "") + std::to_string(3000000 + draw() * 20011);
  }
  int64_t h = (s.height + 2 - s.kernel) / s.stride + 1,
          w = (s.width + 2 - s.kernel) / s.stride + 1;
  std::string x = "tensor<" + join({1, s.height, s.width, s.in}) + s.data + ">",
              f = "tensor<" +
                  join({s.out, s.kernel, s.kernel, s.in / s.groups}),
              y = "tensor<" + join({1, h, w, s.out}),
              b = "tensor<" + join({s.out}) + "!num.int<s16>>";
  return "func.func @f(%x: " + x + ") -> " + y + "!num.int<s8>> {\n" +
         "%w = osa.constant {value = dense<\"0x" + bytes + "\"> : " + f +
         "i8>} : () -> " + f + s.weights + ">\n" +
         "%b = osa.constant {value = dense<[" + bias + "]> : tensor<" +
         join({s.out}) + "i16>} : () -> " + b + "\n" +
         "%s = osa.conv2d %x, %w, %b {strides = array<i64: " +
         std::to_string(s.stride) + ", " + std::to_string(s.stride) +
         ">, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, "
         "groups = " +
         std::to_string(s.groups) + " : i64} : (" + x + ", " + f + s.weights +
         ">, " + b + ") -> " + y + "!num.int<s32>>\n" +
         "%r = osa.requantize %s {multiplier = array<i64: " + factors +
         ">, offset = array<i64: 1048576>, shift = 30 : i64} : (" + y +
         "!num.int<s32>>) -> " + y + "!num.int<s8>>\n" + "return %r : " + y +
         "!num.int<s8>>\n}";
}

TEST_F(JitTest, TilesOfEverySizeGiveTheInterpretersBits) {
  const char *u8 = "!num.int<u8>", *s8 = "!num.int<s8>", *s16 = "!num.int<s16>",
             *s12 = "!num.int<s12>";
  const Sizes cases[] = {
      {7, 9, 3, 6, 3, 1, 1, u8, 0, 255},
      {6, 13, 16, 33, 1, 1, 1, u8, 0, 255},
      {4, 31, 7, 100, 3, 2, 1, s8, -128, 127},
      {3, 3, 32, 70, 3, 1, 1, u8, 0, 255},
      {9, 2, 1, 64, 3, 1, 1, s16, -32768, 32767},
      {5, 6, 9, 2, 3, 1, 1, u8, 0, 255},
      {8, 8, 24, 24, 3, 1, 24, u8, 0, 255},
      {8, 8, 70, 70, 3, 2, 70, s8, -128, 127},
      {8, 8, 12, 20, 3, 1, 4, s12, -2048, 2047},
      {5, 5, 6, 24, 3, 1, 6, s8, -128, 127},
      {4, 5, 3072, 100, 1, 1, 1, u8, 0, 255},
      {4, 5, 3072, 100, 1, 1, 1, s8, -128, 127},
      {6, 7, 13, 37, 3, 1, 1, s8, -128, 127},
      {6, 7, 13, 37, 3, 2, 1, s8, -128, 127, u8},
      {6, 7, 13, 3, 1, 1, 1, u8, 0, 255, u8},
      {8, 8, 24, 40, 3, 1, 2, s8, -128, 127},
  };
  for (const Sizes &s : cases) {
    SCOPED_TRACE(std::to_string(s.in) + " to " + std::to_string(s.out));
    auto f = compile(convolution(s, &s - cases));
    ASSERT_TRUE(f) << message;
    Interpreter interpreter(func);
    for (int frame = 0; frame < 2; ++frame) {
      Tensor x = Tensor::ofInts({1, s.height, s.width, s.in}, {});
      for (int64_t i = 0; i < s.height * s.width * s.in; ++i)
        x.ints.push_back(frame ? (i % 3 ? s.lo : s.hi)
                               : s.lo + i * 7919 % (s.hi - s.lo + 1));
      auto expected = interpreter.run({x});
      ASSERT_TRUE(succeeded(expected)) << message;
      auto got = f->run({x});
      ASSERT_TRUE(bool(got));
      EXPECT_EQ((*expected)[0].ints, (*got)[0].ints);
    }
  }
}

/// A matrix product with constant weights, whose sums have 1,536 terms.
std::string product(int64_t rows) {
  std::string bytes;
  for (int64_t i = 0; i < 100 * 1536; ++i) {
    float w = float(i * 7919 % 1000 - 500) / 777;
    bytes += llvm::toHex(StringRef(reinterpret_cast<char *>(&w), sizeof w));
  }
  std::string x = "tensor<" + std::to_string(rows) + "x1536xf32>",
              y = "tensor<" + std::to_string(rows) + "x100xf32>",
              w = "tensor<100x1536xf32>";
  return "func.func @f(%x: " + x + ") -> " + y +
         " {\n%w = osa.constant {value = dense<\"0x" + bytes + "\"> : " + w +
         "} : () -> " + w + "\n%y = osa.dense %x, %w : (" + x + ", " + w +
         ") -> " + y + "\nreturn %y : " + y + "\n}";
}

TEST_F(JitTest, LongSumsKeepTheirOrder) {
  // Of many rows the sums are cut, of one they are not.
  auto many = compile(product(64));
  ASSERT_TRUE(many) << message;
  auto one = compile(product(1));
  ASSERT_TRUE(one) << message;
  Tensor x = Tensor::ofFloats({64, 1536}, {});
  for (int64_t i = 0; i < 64 * 1536; ++i)
    x.floats.push_back(float(i * 104729 % 2003 - 1001) / 1234);
  auto all = many->run({x});
  ASSERT_TRUE(bool(all));
  for (int64_t row : {0, 37, 63}) {
    auto first = x.floats.begin() + row * 1536;
    auto got = one->run({Tensor::ofFloats({1, 1536}, {first, first + 1536})});
    ASSERT_TRUE(bool(got));
    for (int64_t i = 0; i < 100; ++i)
      ASSERT_EQ((*got)[0].floats[i], (*all)[0].floats[row * 100 + i]);
  }
}

TEST_F(JitTest, MatricesAreReadAsTheyLie) {
  // Three heads inside five tokens of four elements, by columns.
  auto product = compile(R"(
    func.func @f(%q: tensor<5x3x1x4xf32>, %k: tensor<2x3x4xf32>) -> tensor<5x3x1x2xf32> {
      %s = osa.matmul %q, %k {rhs_axes = array<i64: 1, 2, 0>}
          : (tensor<5x3x1x4xf32>, tensor<2x3x4xf32>) -> tensor<5x3x1x2xf32>
      return %s : tensor<5x3x1x2xf32>
    })");
  ASSERT_TRUE(product) << message;
  Tensor q = Tensor::ofFloats({5, 3, 1, 4}, {}),
         k = Tensor::ofFloats({2, 3, 4}, {});
  for (int i = 0; i < 60; ++i)
    q.floats.push_back(float(i * 7 % 19 - 9));
  for (int i = 0; i < 24; ++i)
    k.floats.push_back(float(i * 5 % 13 - 6));
  auto got = product->run({q, k});
  ASSERT_TRUE(bool(got));
  for (int token = 0; token < 5; ++token)
    for (int head = 0; head < 3; ++head)
      for (int column = 0; column < 2; ++column) {
        float sum = 0;
        for (int i = 0; i < 4; ++i)
          sum += q.floats[(token * 3 + head) * 4 + i] *
                 k.floats[(column * 3 + head) * 4 + i];
        EXPECT_EQ((*got)[0].floats[(token * 3 + head) * 2 + column], sum);
      }
}

constexpr char kTasks[] = R"(
  func.func @frame(%x: tensor<1x5xf32>) -> (tensor<1x5xf32>, tensor<1x5x!num.int<s8>>) {
    %q = call @before(%x) : (tensor<1x5xf32>) -> tensor<1x5x!num.int<s8>>
    %n = call @network(%q) : (tensor<1x5x!num.int<s8>>) -> tensor<1x5x!num.int<s8>>
    %y = call @after(%n) : (tensor<1x5x!num.int<s8>>) -> tensor<1x5xf32>
    return %y, %n : tensor<1x5xf32>, tensor<1x5x!num.int<s8>>
  }
  func.func @before(%x: tensor<1x5xf32>) -> tensor<1x5x!num.int<s8>> {
    %q = osa.quantize %x {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<1x5xf32>) -> tensor<1x5x!num.int<s8>>
    return %q : tensor<1x5x!num.int<s8>>
  }
  func.func @network(%x: tensor<1x5x!num.int<s8>>) -> tensor<1x5x!num.int<s8>> {
    %y = osa.requantize %x {multiplier = array<i64: 3>, offset = array<i64: 1>, shift = 1 : i64} : (tensor<1x5x!num.int<s8>>) -> tensor<1x5x!num.int<s8>>
    return %y : tensor<1x5x!num.int<s8>>
  }
  func.func @after(%x: tensor<1x5x!num.int<s8>>) -> tensor<1x5xf32> {
    %y = osa.dequantize %x {scale = dense<0.25> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<1x5x!num.int<s8>>) -> tensor<1x5xf32>
    return %y : tensor<1x5xf32>
  }
)";

TEST_F(JitTest, TransposesOfEverySize) {
  struct {
    std::vector<int64_t> from;
    std::vector<int64_t> order;
  } cases[] = {{{7, 33}, {1, 0}},       {{64, 40}, {1, 0}},
               {{4, 19}, {1, 0}},       {{3, 19}, {1, 0}},
               {{2, 9, 21}, {0, 2, 1}}, {{3, 17, 5, 6}, {2, 0, 3, 1}}};
  auto text = [](ArrayRef<int64_t> sizes) {
    std::string all;
    for (int64_t n : sizes)
      all += std::to_string(n) + "x";
    return all;
  };
  for (const char *element : {"!num.int<s8>", "!num.int<s16>", "f32"})
    for (const auto &c : cases) {
      std::vector<int64_t> to;
      std::string order;
      for (int64_t axis : c.order) {
        to.push_back(c.from[axis]);
        order += (order.empty() ? "" : ", ") + std::to_string(axis);
      }
      std::string x = "tensor<" + text(c.from) + element + ">",
                  y = "tensor<" + text(to) + element + ">";
      auto f = compile(
          "func.func @f(%x: " + x + ") -> " + y +
          " {\n%y = osa.transpose %x {permutation = array<i64: " + order +
          ">} : (" + x + ") -> " + y + "\nreturn %y : " + y + "\n}");
      ASSERT_TRUE(f) << message;
      Tensor in{c.from, element[0] == 'f', {}, {}};
      for (int64_t i = 0; i < in.size(); ++i)
        in.isFloat ? in.floats.push_back(float(i))
                   : in.ints.push_back(i * 31 % 256 - 128);
      auto want = interpret(func, {in});
      ASSERT_TRUE(succeeded(want)) << message;
      auto got = f->run({in});
      ASSERT_TRUE(bool(got));
      EXPECT_EQ((*got)[0].ints, (*want)[0].ints) << x << " " << order;
      EXPECT_EQ((*got)[0].floats, (*want)[0].floats) << x << " " << order;
    }
}

TEST_F(JitTest, FunctionsThatAreCalledBecomePartOfTheCode) {
  auto f = compile(kTasks);
  ASSERT_TRUE(f) << message;
  Tensor x = Tensor::ofFloats({1, 5}, {-60, -3.25, 0.75, 2, 41});
  auto got = f->run({x});
  ASSERT_TRUE(bool(got));
  std::vector<Tensor> want{x};
  std::vector<int64_t> codes;
  for (const char *name : {"before", "network", "after"}) {
    auto out = interpret(module->lookupSymbol<func::FuncOp>(name), want);
    ASSERT_TRUE(succeeded(out)) << message;
    want = *out;
    if (StringRef(name) == "network")
      codes = want[0].ints;
  }
  EXPECT_EQ((*got)[0].floats, want[0].floats);
  EXPECT_EQ((*got)[1].ints, codes);
}

TEST_F(JitTest, CompilingLoadsNoDialectThatIsNotThereBefore) {
  // Other threads work in the context meanwhile.
  loadCpuDialects(context);
  size_t before = context.getLoadedDialects().size();
  ASSERT_TRUE(compile(kTasks)) << message;
  EXPECT_EQ(context.getLoadedDialects().size(), before);
}

TEST_F(JitTest, RefusesCallsOfWhatIsElsewhere) {
  EXPECT_FALSE(compile(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }
    func.func private @g(tensor<2xf32>) -> tensor<2xf32>)"));
  EXPECT_NE(message.find("calls @g, which has no body"), std::string::npos);
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
