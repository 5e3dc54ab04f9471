// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Post-training quantization of a small network, on random frames: which
// quantizers are inserted, their quality, the effect of bounds and overrides,
// and that the integer model equals it.
#include "rhizome/Calibrate/Calibrate.h"
#include "../../lib/Calibrate/Runner.h"
#include "../TaskWalk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Transforms/Integerize.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::calibrate;

namespace {
/// A tensor constant drawn from a normal distribution; rows may be scaled.
std::string constant(const std::string &name, std::vector<int64_t> shape,
                     unsigned seed, bool uneven = false) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> draw(0, 0.3f);
  int64_t count = 1, rows = shape[0];
  std::string type = "tensor<";
  for (int64_t d : shape) {
    count *= d;
    type += std::to_string(d) + "x";
  }
  type += "f32>";
  std::string values;
  for (int64_t i = 0; i < count; ++i) {
    float v = draw(rng);
    if (uneven)
      v *= std::ldexp(1.0f, int(i / (count / rows)) % 6 - 3);
    char hex[9];
    uint32_t bits;
    std::memcpy(&bits, &v, 4);
    for (int b = 0; b < 4; ++b)
      std::snprintf(hex + 2 * b, 3, "%02X", bits >> (8 * b) & 255);
    values += hex;
  }
  return "  %" + name + " = osa.constant {value = dense<\"0x" + values +
         "\"> : " + type + "} : () -> " + type + "\n";
}

/// Convolution, batch norm, Relu, max pool, dense layer with a sigmoid, dense.
std::string network(bool uneven = false) {
  std::string text =
      "func.func @main(%x: tensor<1x8x8x2xf32> {rhizome.name = \"x\"}) -> "
      "(tensor<1x5xf32> {rhizome.name = \"y\"}) {\n";
  text += constant("w1", {6, 3, 3, 2}, 1, uneven) +
          constant("w2", {12, 96}, 2) + constant("b2", {12}, 3) +
          constant("w3", {5, 12}, 4);
  text += R"(
  %c = osa.conv2d %x, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<6x3x3x2xf32>) -> tensor<1x8x8x6xf32> loc("conv")
  %n = osa.batch_norm %c {gamma = dense<[1.0, 0.5, 2.0, 1.5, 1.0, 0.7]> : tensor<6xf32>, beta = dense<0.1> : tensor<6xf32>, mean = dense<[0.1, 0.0, -0.1, 0.2, 0.0, 0.0]> : tensor<6xf32>, variance = dense<[1.0, 0.5, 2.0, 1.0, 1.0, 0.3]> : tensor<6xf32>, epsilon = 1.0e-5 : f32} : (tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32> loc("norm")
  %r = osa.relu %n : (tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32> loc("relu")
  %p = osa.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x6xf32>) -> tensor<1x4x4x6xf32> loc("pool")
  %f = osa.reshape %p : (tensor<1x4x4x6xf32>) -> tensor<1x96xf32> loc("flatten")
  %d = osa.dense %f, %w2, %b2 : (tensor<1x96xf32>, tensor<12x96xf32>, tensor<12xf32>) -> tensor<1x12xf32> loc("fc1")
  %s = osa.unary sigmoid %d : (tensor<1x12xf32>) -> tensor<1x12xf32> loc("sigmoid")
  %y = osa.dense %s, %w3 : (tensor<1x12xf32>, tensor<5x12xf32>) -> tensor<1x5xf32> loc("fc2")
  return %y : tensor<1x5xf32>
})";
  return text;
}

struct Calibrated : testing::Test {
  Calibrated() {
    context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect,
                        arith::ArithDialect, linalg::LinalgDialect,
                        math::MathDialect, tensor::TensorDialect>();
    std::mt19937 rng(5);
    std::uniform_real_distribution<float> draw(-1, 1);
    for (int f = 0; f < 20; ++f) {
      std::vector<float> values(128);
      for (float &v : values)
        v = draw(rng);
      frames.push_back({Tensor::ofFloats({1, 8, 8, 2}, values)});
    }
  }
  OwningOpRef<ModuleOp> parse(bool uneven = false) {
    auto module = parseSourceString<ModuleOp>(network(uneven), &context);
    EXPECT_TRUE(module);
    return module;
  }
  llvm::Expected<Report> run(ModuleOp module, const Options &options = {}) {
    return quantize(module, frames, options, nullptr);
  }
  static const Layer &layer(const Report &report, const std::string &name) {
    for (const Layer &l : report.layers)
      if (l.name == name)
        return l;
    ADD_FAILURE() << name << " is not in the report";
    return report.layers.front();
  }
  MLIRContext context;
  Frames frames;
};
} // namespace

TEST_F(Calibrated, EightBitsAreCloseAndBecomeIntegers) {
  OwningOpRef<ModuleOp> module = parse();
  llvm::Expected<Report> report = run(*module);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_GT(report->snr, 33);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(layer(*report, "conv").weightBits, 8u);
  EXPECT_EQ(layer(*report, "conv").low, 0) << "Relu";
  EXPECT_EQ(layer(*report, "fc2").activationBits, 0u) << "the output is exact";
  EXPECT_EQ(layer(*report, "x").op, "input");
  // No batch norm remains, and the integer model agrees.
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  EXPECT_EQ(text.find("batch_norm"), std::string::npos);
  Interpreter real(module->lookupSymbol<func::FuncOp>("main"));
  OwningOpRef<ModuleOp> lowered = module->clone();
  Refusals refusals;
  IntegerizeStats stats;
  ASSERT_TRUE(succeeded(integerize(*lowered, {}, refusals, stats)))
      << (refusals.empty() ? "" : refusals[0].reason);
  for (const auto &frame : frames) {
    auto want = real.run(frame);
    auto got = TaskWalk(*lowered).run(frame);
    for (size_t i = 0; i < 5; ++i)
      EXPECT_NEAR((*got)[0].floats[i], (*want)[0].floats[i], 1e-4);
  }
}

TEST_F(Calibrated, FewerBitsAreWorseByEveryMethod) {
  for (Method method :
       {Method::MinMax, Method::Percentile, Method::MeanSquare}) {
    double before = 1000;
    for (unsigned bits : {10, 8, 6, 4}) {
      OwningOpRef<ModuleOp> module = parse();
      Options options;
      options.method = method;
      options.bits = {bits, bits};
      llvm::Expected<Report> report = run(*module, options);
      ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
      EXPECT_LT(report->snr, before) << int(method) << " " << bits;
      before = report->snr;
    }
    EXPECT_GT(before, 5) << int(method);
  }
}

TEST_F(Calibrated, OneLayersWidthsDiffer) {
  OwningOpRef<ModuleOp> module = parse();
  Options options;
  options.layers["fc1"] = {4, 6};
  llvm::Expected<Report> report = run(*module, options);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_EQ(layer(*report, "fc1").weightBits, 4u);
  EXPECT_EQ(layer(*report, "fc1").activationBits, 6u);
  EXPECT_EQ(layer(*report, "conv").weightBits, 8u);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  EXPECT_NE(text.find("12x96x!num.int<s4, -7:7>"), std::string::npos);

  options.layers["fc7"] = {4, 4};
  OwningOpRef<ModuleOp> other = parse();
  llvm::Expected<Report> refused = run(*other, options);
  ASSERT_FALSE(bool(refused));
  std::string why = llvm::toString(refused.takeError());
  EXPECT_NE(why.find("'fc7'"), std::string::npos) << why;
  EXPECT_NE(why.find("'conv'"), std::string::npos) << why;
}

TEST_F(Calibrated, WidthsAreLoweredUntilTheBound) {
  OwningOpRef<ModuleOp> module = parse();
  Options options;
  options.minSnr = 25;
  llvm::Expected<Report> report = run(*module, options);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_GE(report->snr, 25);
  unsigned bits = 0, rows = 0;
  for (const Layer &l : report->layers)
    for (unsigned width : {l.weightBits, l.activationBits})
      if (width) {
        bits += width;
        ++rows;
      }
  EXPECT_LT(bits, rows * 7);

  options.minSnr = 120;
  OwningOpRef<ModuleOp> other = parse();
  llvm::Expected<Report> refused = run(*other, options);
  ASSERT_FALSE(bool(refused));
  std::string why = llvm::toString(refused.takeError());
  EXPECT_NE(why.find("120.0 dB"), std::string::npos) << why;
}

TEST_F(Calibrated, UnevenChannelsAreEqualized) {
  OwningOpRef<ModuleOp> module = parse(/*uneven=*/true);
  Options options;
  options.bits = {6, 6};
  llvm::Expected<Report> report = run(*module, options);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_EQ(report->equalized, 1);
  EXPECT_GT(report->snr, report->snrPlain);
}

TEST_F(Calibrated, TwiceIsTheSame) {
  std::string texts[2];
  for (std::string &text : texts) {
    MLIRContext fresh; // resources are numbered within one
    fresh.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect>();
    auto module = parseSourceString<ModuleOp>(network(), &fresh);
    llvm::cantFail(run(*module).takeError());
    llvm::raw_string_ostream(text) << *module;
  }
  EXPECT_TRUE(texts[0] == texts[1]);
}

TEST_F(Calibrated, WhatIsQuantizedIsRefused) {
  OwningOpRef<ModuleOp> module = parse();
  llvm::cantFail(run(*module).takeError());
  llvm::Expected<Report> again = run(*module);
  ASSERT_FALSE(bool(again));
  std::string why = llvm::toString(again.takeError());
  EXPECT_NE(why.find("drop --calibration"), std::string::npos) << why;
}

/// x through √(x² + 1) on the host, whose constant is outside the loop as
/// rewrites leave it, into a dense layer whose weights are transposed, and x
/// added again.
TEST_F(Calibrated, HostOperationsAndMovedWeights) {
  std::string text =
      "#id = affine_map<(a, b) -> (a, b)>\n"
      "func.func @main(%x: tensor<1x6xf32> {rhizome.name = \"x\"}) -> "
      "(tensor<1x6xf32> {rhizome.name = \"y\"}) {\n" +
      constant("w", {6, 6}, 7) + R"(
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x6xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x6xf32>) outs(%e : tensor<1x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %p, %one : f32
    %r = math.sqrt %q : f32
    linalg.yield %r : f32
  } -> tensor<1x6xf32> loc("norm")
  %t = osa.transpose %w {permutation = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32> loc("turn")
  %d = osa.dense %h, %t : (tensor<1x6xf32>, tensor<6x6xf32>) -> tensor<1x6xf32> loc("fc")
  %y = osa.add %d, %x : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32> loc("sum")
  return %y : tensor<1x6xf32>
})";
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  frames.clear();
  for (float f : {0.f, 1.f, 2.f, 3.f})
    frames.push_back({Tensor::ofFloats({1, 6}, {f, -f, 0, 2, 1, -3})});
  llvm::Expected<Report> report = run(*module);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_GT(report->snr, 30);
  // The host's result is rounded before the layer reads it.
  EXPECT_NEAR(layer(*report, "norm").high, std::sqrt(10.0), 1e-5);
  EXPECT_EQ(layer(*report, "norm").activationBits, 8u);
  EXPECT_EQ(layer(*report, "fc").weightBits, 8u);
}

TEST_F(Calibrated, WhatIsNoNumberNamesItsFrame) {
  frames[7][0].floats[3] = NAN;
  OwningOpRef<ModuleOp> module = parse();
  llvm::Expected<Report> report = run(*module);
  ASSERT_FALSE(bool(report));
  std::string why = llvm::toString(report.takeError());
  EXPECT_EQ(why, "'x' is not finite on frame 7 of the calibration data");
}

TEST_F(Calibrated, SaturationIsCounted) {
  // One value of x in 2,560 is ten times as large as the others.
  for (auto &frame : frames)
    frame[0].floats[0] = 0;
  frames[3][0].floats[0] = 10;
  for (auto [method, share] :
       {std::pair{Method::MinMax, 0.0}, {Method::Percentile, 1.0 / 2560}}) {
    OwningOpRef<ModuleOp> module = parse();
    Options options;
    options.method = method;
    options.percentile = 99.9;
    options.layers["x"] = {8, 8};
    llvm::Expected<Report> report = run(*module, options);
    ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
    const Layer &x = layer(*report, "x");
    if (method == Method::MinMax)
      EXPECT_EQ(x.saturated, 0);
    else {
      EXPECT_GE(x.saturated, share);
      EXPECT_LT(x.saturated, 0.01);
    }
  }
}

TEST_F(Calibrated, ManyFramesRunAsMachineCode) {
  OwningOpRef<ModuleOp> module = parse();
  auto main = module->lookupSymbol<func::FuncOp>("main");
  std::vector<Value> values;
  for (Operation &op : main.getBody().front().without_terminator())
    if (!isa<osa::ConstantOp>(op))
      values.push_back(op.getResult(0));
  // Enough that the interpreter would take long, of which few are run.
  auto many = makeRunner(main, values, 10'000'000);
  auto few = makeRunner(main, values, 1);
  EXPECT_TRUE(many->isCompiled());
  EXPECT_FALSE(few->isCompiled());
  for (const std::vector<Tensor> &frame : ArrayRef(frames).take_front(4)) {
    std::vector<Tensor> seen(values.size());
    auto want =
        few->run(frame, [&](size_t i, const Tensor &t) { seen[i] = t; });
    size_t looks = 0;
    auto got = many->run(frame, [&](size_t i, const Tensor &t) {
      ++looks;
      ASSERT_EQ(t.floats.size(), seen[i].floats.size());
      for (auto [a, b] : llvm::zip(t.floats, seen[i].floats))
        EXPECT_NEAR(a, b, 1e-4f * (1 + std::abs(b)));
    });
    ASSERT_TRUE(succeeded(want) && succeeded(got));
    EXPECT_EQ(looks, values.size());
  }
}
