// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer lowering as a whole: small networks written by hand and the real
// models under ../shared, their tasks compared with the interpreter's
// evaluation of @main; refusals; the layout of the result.
#include "rhizome/Transforms/Integerize.h"
#include "../TaskWalk.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Transforms/OutputFormat.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace rhizome;

namespace {
struct Integerized : testing::Test {
  Integerized() {
    context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect>();
  }

  OwningOpRef<ModuleOp> parse(const std::string &main) {
    auto module = parseSourceString<ModuleOp>(main, &context);
    EXPECT_TRUE(module);
    return module;
  }

  bool lower(ModuleOp module, const IntegerizeOptions &options = {}) {
    refusals.clear();
    stats = {};
    return succeeded(integerize(module, options, refusals, stats));
  }

  /// Runs @main of `model` and the tasks of `lowered` on random
  /// inputs of lo..hi and returns the number of elements that differ by more
  /// than `tolerance` of the largest.
  int64_t compare(ModuleOp model, ModuleOp lowered, int frames, float lo,
                  float hi, float tolerance = 0) {
    auto function = [](ModuleOp m, const char *name) {
      return m.lookupSymbol<func::FuncOp>(name);
    };
    Interpreter main(function(model, "main"));
    TaskWalk tasks(lowered);
    std::mt19937 rng(7);
    std::uniform_real_distribution<float> uniform(lo, hi);
    int64_t differing = 0;
    for (int n = 0; n < frames; ++n) {
      std::vector<Tensor> inputs;
      for (Type t : function(model, "main").getArgumentTypes()) {
        auto type = cast<RankedTensorType>(t);
        std::vector<float> v(type.getNumElements());
        for (float &x : v)
          x = uniform(rng);
        inputs.push_back(Tensor::ofFloats(type.getShape().vec(), v));
      }
      auto want = main.run(inputs);
      auto got = tasks.run(inputs);
      if (failed(want) || failed(got))
        return -1;
      for (size_t i = 0; i < want->size(); ++i) {
        EXPECT_EQ((*want)[i].shape, (*got)[i].shape);
        float largest = 0;
        for (float v : (*want)[i].floats)
          largest = std::max(largest, std::abs(v));
        for (size_t j = 0; j < (*want)[i].floats.size(); ++j)
          differing += std::abs((*want)[i].floats[j] - (*got)[i].floats[j]) >
                       tolerance * largest;
        for (size_t j = 0; j < (*want)[i].ints.size(); ++j)
          differing += (*want)[i].ints[j] != (*got)[i].ints[j];
      }
    }
    return differing;
  }

  template <typename Op> int count(ModuleOp module) {
    int n = 0;
    for (FunctionOpInterface task : flow::tasksOf(module, flow::Place::Fpga))
      task.walk([&](Op) { ++n; });
    return n;
  }

  MLIRContext context;
  Refusals refusals;
  IntegerizeStats stats;
};

const std::string quarter =
    "{scale = dense<0.25> : tensor<1xf32>, zero_point = dense<3> : "
    "tensor<1xi64>}";

/// A convolution between quantizers in ONNX's layout, `middle` between them.
std::string convolution(const std::string &middle) {
  return R"mlir(
func.func @main(%x: tensor<1x2x5x5xf32> {rhizome.name = "x"})
    -> (tensor<1x3x5x5xf32> {rhizome.name = "y"}) {
  %q = osa.quantize %x )mlir" +
         quarter +
         R"mlir( : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5x!num.int<s8>>
  %d = osa.dequantize %q )mlir" +
         quarter +
         R"mlir( : (tensor<1x2x5x5x!num.int<s8>>) -> tensor<1x2x5x5xf32>
  %t = osa.transpose %d {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x5x5x2xf32>
  %w = osa.constant {value = dense<[[[[1, -2], [3, 4], [0, 1]], [[5, 6], [-7, 8], [2, 2]], [[1, 1], [9, 0], [3, 0]]],
      [[[1, 2], [-3, 4], [0, 0]], [[5, 6], [7, 8], [1, 1]], [[1, 1], [0, 0], [0, 0]]],
      [[[-1, 0], [0, 4], [0, 0]], [[5, -6], [7, -8], [0, 0]], [[1, 1], [9, 0], [0, 0]]]]> : tensor<3x3x3x2xi8>} : () -> tensor<3x3x3x2x!num.int<s8>>
  %wd = osa.dequantize %w {axis = 0 : i64, scale = dense<[0.11371, 0.03237, 0.07193]> : tensor<3xf32>, zero_point = dense<0> : tensor<3xi64>} : (tensor<3x3x3x2x!num.int<s8>>) -> tensor<3x3x3x2xf32>
  %b = osa.constant {value = dense<[0.51, -0.253, 1.77]> : tensor<3xf32>} : () -> tensor<3xf32>
  %c = osa.conv2d %t, %wd, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<3x3x3x2xf32>, tensor<3xf32>) -> tensor<1x5x5x3xf32>
  )mlir" +
         middle + R"mlir(
  %u = osa.transpose %m {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x5x5x3xf32>) -> tensor<1x3x5x5xf32>
  %r = osa.quantize %u {scale = dense<0.31717> : tensor<1xf32>, zero_point = dense<-5> : tensor<1xi64>} : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5x!num.int<s8>>
  %y = osa.dequantize %r {scale = dense<0.31717> : tensor<1xf32>, zero_point = dense<-5> : tensor<1xi64>} : (tensor<1x3x5x5x!num.int<s8>>) -> tensor<1x3x5x5xf32>
  return %y : tensor<1x3x5x5xf32>
}
)mlir";
}
} // namespace

namespace {
/// Two quantized tensors a [1,4,4,2] and b of `shape`, followed by `body`;
/// scales are powers of two, so that float32 is exact.
std::string twoTensors(const std::string &shape, const std::string &body,
                       const std::string &result) {
  auto step = [](const std::string &name, const std::string &type,
                 const std::string &scale, const std::string &zero) {
    std::string attrs = "{scale = dense<" + scale +
                        "> : tensor<1xf32>, zero_point = dense<" + zero +
                        "> : tensor<1xi64>}";
    return "  %q" + name + " = osa.quantize %" + name + " " + attrs +
           " : (tensor<" + type + "xf32>) -> tensor<" + type +
           "x!num.int<u8>>\n  %d" + name + " = osa.dequantize %q" + name + " " +
           attrs + " : (tensor<" + type + "x!num.int<u8>>) -> tensor<" + type +
           "xf32>\n";
  };
  return "func.func @main(%a: tensor<1x4x4x2xf32> {rhizome.name = \"a\"}, %b: "
         "tensor<" +
         shape + "xf32> {rhizome.name = \"b\"}) -> (tensor<" + result +
         "xf32> {rhizome.name = \"y\"}) {\n" +
         step("a", "1x4x4x2", "0.125", "100") + step("b", shape, "0.5", "7") +
         body + step("m", result, "0.25", "128") + "  return %dm : tensor<" +
         result + "xf32>\n}\n";
}
} // namespace

TEST_F(Integerized, PairsOfStreams) {
  const std::string whole = "1x4x4x2", gate = "2";
  for (const char *op : {"add", "sub", "mul", "max", "min"})
    for (const std::string &shape : {whole, gate}) {
      SCOPED_TRACE(op + (" " + shape));
      auto model =
          parse(twoTensors(shape,
                           "%m = osa." + std::string(op) +
                               " %da, %db : (tensor<1x4x4x2xf32>, tensor<" +
                               shape + "xf32>) -> tensor<1x4x4x2xf32>\n",
                           whole));
      auto lowered = OwningOpRef<ModuleOp>(model->clone());
      ASSERT_TRUE(lower(*lowered));
      EXPECT_EQ(compare(*model, *lowered, 20, -20, 40), 0);
      EXPECT_EQ(count<osa::GatherOp>(*lowered), shape == whole ? 0 : 2);
    }
}

TEST_F(Integerized, GathersStayBehindTransposes) {
  auto model = parse(twoTensors("2", R"(
  %t = osa.transpose %da {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %s = osa.gather %t {axis = 2 : i64, indices = array<i64: 3, 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x4xf32>
  %u = osa.transpose %s {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %g = osa.gather %u {axis = 3 : i64, indices = array<i64: 1>} : (tensor<1x3x4x2xf32>) -> tensor<1x3x4x1xf32>
  %m = osa.mul %g, %db : (tensor<1x3x4x1xf32>, tensor<2xf32>) -> tensor<1x3x4x2xf32>
)",
                                "1x3x4x2"));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(compare(*model, *lowered, 20, -20, 40), 0);
  EXPECT_EQ(count<osa::TransposeOp>(*lowered), 0);
}

TEST_F(Integerized, MultiThresholdsAreExact) {
  auto model = parse(twoTensors("2", R"(
  %k = osa.constant {value = dense<[-0.5, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %f = osa.mul %da, %k : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %n = osa.multi_threshold %f {thresholds = dense<[[-5.0, -4.9, 0.0, 0.0, 3.0625], [-9.0, 0.1, 0.25, 0.26, 99.0]]> : tensor<2x5xf32>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2x!num.int<u3, 0:5>>
  %m = osa.dequantize %n {scale = dense<2.0> : tensor<1xf32>, zero_point = dense<2> : tensor<1xi64>} : (tensor<1x4x4x2x!num.int<u3, 0:5>>) -> tensor<1x4x4x2xf32>
)",
                                "1x4x4x2"));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(compare(*model, *lowered, 40, -12, 20), 0);
}

TEST_F(Integerized, ConvolutionKeepsNoTranspose) {
  auto model = parse(convolution(
      "%m = osa.relu %c : (tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>"));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(count<osa::TransposeOp>(*lowered), 0);
  EXPECT_EQ(count<osa::RequantizeOp>(*lowered), 1);
  EXPECT_EQ(compare(*model, *lowered, 50, -40, 40), 0);
}

TEST_F(Integerized, BatchNormWithFallingChannels) {
  auto model = parse(convolution(R"mlir(
  %m = osa.batch_norm %c {gamma = dense<[0.7, -1.3, 0.0]> : tensor<3xf32>, beta = dense<[1.0, -2.0, 0.5]> : tensor<3xf32>, mean = dense<[0.1, 0.2, 0.3]> : tensor<3xf32>, variance = dense<[2.0, 0.9, 3.0]> : tensor<3xf32>, epsilon = 1.0e-5 : f32} : (tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>)mlir"));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(compare(*model, *lowered, 50, -40, 40), 0);
}

TEST_F(Integerized, LeakyReluBecomesThresholds) {
  auto model = parse(convolution(
      "%m = osa.leaky_relu %c {alpha = 0.1 : f32} : (tensor<1x5x5x3xf32>) -> "
      "tensor<1x5x5x3xf32>"));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(count<osa::ThresholdOp>(*lowered), 1);
  EXPECT_EQ(compare(*model, *lowered, 50, -40, 40), 0);
}

/// One tensor of bytes through `body`, which makes %y of %d, and a quantizer.
static std::string curve(const std::string &body, const char *scale) {
  std::string real = "tensor<1x4x4x3xf32>",
              code = "tensor<1x4x4x3x!num.int<u8>>";
  std::string in = "{scale = dense<0.05> : tensor<1xf32>, zero_point = "
                   "dense<128> : tensor<1xi64>}",
              out = std::string("{scale = dense<") + scale +
                    "> : tensor<1xf32>, zero_point = dense<40> : "
                    "tensor<1xi64>}";
  return "func.func @main(%x: " + real + " {rhizome.name = \"x\"}) -> (" +
         real + " {rhizome.name = \"y\"}) {\n  %q = osa.quantize %x " + in +
         " : (" + real + ") -> " + code + "\n  %d = osa.dequantize %q " + in +
         " : (" + code + ") -> " + real + "\n" + body +
         "  %r = osa.quantize %y " + out + " : (" + real + ") -> " + code +
         "\n  %s = osa.dequantize %r " + out + " : (" + code + ") -> " + real +
         "\n  return %s : " + real + "\n}\n";
}

TEST_F(Integerized, CurvesAreExact) {
  std::string one = " : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>\n",
              two = " : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> "
                    "tensor<1x4x4x3xf32>\n";
  auto unary = [&](const std::string &to, const std::string &from,
                   const std::string &kind) {
    return "  %" + to + " = osa.unary " + kind + " %" + from + one;
  };
  struct Case {
    std::string body;
    const char *scale;
    bool monotone;
  };
  std::vector<Case> cases;
  for (const char *kind : {"sigmoid", "tanh", "erf", "exp", "softplus"})
    cases.push_back({unary("y", "d", kind), "0.01", true});
  for (const char *kind : {"gelu", "mish", "hardswish"})
    cases.push_back({unary("y", "d", kind), "0.0371", false});
  // x · sigmoid(x), and |x| · x + x.
  cases.push_back({unary("a", "d", "sigmoid") + "  %y = osa.mul %d, %a" + two,
                   "0.03", false});
  cases.push_back({unary("a", "d", "abs") + "  %b = osa.mul %a, %d" + two +
                       "  %y = osa.add %b, %d" + two,
                   "0.4", false});
  for (const Case &c : cases) {
    auto model = parse(curve(c.body, c.scale));
    ASSERT_TRUE(model) << c.body;
    auto lowered = OwningOpRef<ModuleOp>(model->clone());
    ASSERT_TRUE(lower(*lowered)) << c.body;
    EXPECT_EQ(count<osa::ThresholdOp>(*lowered) + count<osa::TableOp>(*lowered),
              1)
        << c.body;
    if (!c.monotone)
      EXPECT_EQ(count<osa::TableOp>(*lowered), 1) << c.body;
    EXPECT_EQ(compare(*model, *lowered, 30, -6.4f, 6.3f), 0) << c.body;
  }
}

TEST_F(Integerized, ResidualPoolsAndConcat) {
  auto model = parse(R"mlir(
func.func @main(%x: tensor<1x6x6x2xf32> {rhizome.name = "x"}) -> (tensor<1x4x4x4xf32> {rhizome.name = "y"}, tensor<1x3x3x2xf32> {rhizome.name = "z"}) {
  %q = osa.quantize %x {scale = dense<0.117> : tensor<1xf32>, zero_point = dense<3> : tensor<1xi64>} : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2x!num.int<s6>>
  %d = osa.dequantize %q {scale = dense<0.117> : tensor<1xf32>, zero_point = dense<3> : tensor<1xi64>} : (tensor<1x6x6x2x!num.int<s6>>) -> tensor<1x6x6x2xf32>
  // A quantized branch with another scale, added back.
  %n = osa.relu %d : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32>
  %a = osa.quantize %n {scale = dense<0.0531> : tensor<1xf32>, zero_point = dense<-20> : tensor<1xi64>} : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2x!num.int<s6>>
  %b = osa.dequantize %a {scale = dense<0.0531> : tensor<1xf32>, zero_point = dense<-20> : tensor<1xi64>} : (tensor<1x6x6x2x!num.int<s6>>) -> tensor<1x6x6x2xf32>
  %s = osa.sub %d, %b : (tensor<1x6x6x2xf32>, tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32>
  %sq = osa.quantize %s {scale = dense<0.0919> : tensor<1xf32>, zero_point = dense<-7> : tensor<1xi64>} : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2x!num.int<s6>>
  %sd = osa.dequantize %sq {scale = dense<0.0919> : tensor<1xf32>, zero_point = dense<-7> : tensor<1xi64>} : (tensor<1x6x6x2x!num.int<s6>>) -> tensor<1x6x6x2xf32>
  // Average over partial windows, largest of full ones, joined.
  %p = osa.avg_pool %sd {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 2, 2>, dilations = array<i64: 1, 1>, count_include_pad = false} : (tensor<1x6x6x2xf32>) -> tensor<1x4x4x2xf32>
  %m = osa.max_pool %d {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x6x6x2xf32>) -> tensor<1x4x4x2xf32>
  %c = osa.concat %p, %m {axis = 3 : i64} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32>
  %cq = osa.quantize %c {scale = dense<0.2113> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4x!num.int<s5>>
  %y = osa.dequantize %cq {scale = dense<0.2113> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<1x4x4x4x!num.int<s5>>) -> tensor<1x4x4x4xf32>
  // Padding counts here, and the zero point is not 0.
  %e = osa.avg_pool %d {kernel = array<i64: 4, 4>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x6x6x2xf32>) -> tensor<1x3x3x2xf32>
  %eq = osa.quantize %e {scale = dense<0.1017> : tensor<1xf32>, zero_point = dense<1> : tensor<1xi64>} : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2x!num.int<s8>>
  %z = osa.dequantize %eq {scale = dense<0.1017> : tensor<1xf32>, zero_point = dense<1> : tensor<1xi64>} : (tensor<1x3x3x2x!num.int<s8>>) -> tensor<1x3x3x2xf32>
  return %y, %z : tensor<1x4x4x4xf32>, tensor<1x3x3x2xf32>
})mlir");
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(count<osa::ScaledAddOp>(*lowered), 1);
  EXPECT_EQ(count<osa::SumPoolOp>(*lowered), 2);
  EXPECT_EQ(compare(*model, *lowered, 200, -6, 6), 0);
}

TEST_F(Integerized, FlattenInOnnxOrderPermutesTheWeights) {
  auto model = parse(
      R"mlir(
func.func @main(%x: tensor<1x2x2x3xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %q = osa.quantize %x )mlir" +
      quarter + R"mlir( : (tensor<1x2x2x3xf32>) -> tensor<1x2x2x3x!num.int<s8>>
  %d = osa.dequantize %q )mlir" +
      quarter + R"mlir( : (tensor<1x2x2x3x!num.int<s8>>) -> tensor<1x2x2x3xf32>
  %t = osa.transpose %d {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x2x3xf32>) -> tensor<1x2x3x2xf32>
  %m = osa.max_pool %t {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x2xf32>
  %u = osa.transpose %m {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %f = osa.reshape %u : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
  %w = osa.constant {value = dense<[[0.5, -0.25, 0.75, 1.0, 2.0, -3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, -5.0, -6.0, -7.0, 8.5]]> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %y = osa.dense %f, %w : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
})mlir");
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(count<osa::TransposeOp>(*lowered), 0);
  EXPECT_EQ(compare(*model, *lowered, 50, -40, 40, 1e-6f), 0);
}

TEST_F(Integerized, TheHostComputesBehindASoftmax) {
  auto model =
      parse(R"mlir(
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %q = osa.quantize %x )mlir" +
            quarter + R"mlir( : (tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>
  %d = osa.dequantize %q )mlir" +
            quarter + R"mlir( : (tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>
  %s = osa.softmax %d {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("soft"("Softmax"))
  %w = osa.constant {value = dense<1.0> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %y = osa.dense %s, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32> loc("last"("Gemm"))
  return %y : tensor<1x2xf32>
})mlir");
  ASSERT_TRUE(lower(*model));
  ASSERT_EQ(stats.host.size(), 2u);
  EXPECT_EQ(stats.host[0].node, "soft");
  EXPECT_EQ(stats.host[0].op, "Softmax");
  EXPECT_EQ(stats.host[1].node, "last");
}

/// Rows of 8 between quantizers; `middle` makes %m of %d.
std::string rowsBetween(const std::string &middle,
                        const std::string &codes = "!num.int<s8>",
                        const std::string &scales = quarter) {
  return R"mlir(
func.func @main(%x: tensor<2x3x8xf32> {rhizome.name = "x"}) -> (tensor<2x3x8xf32> {rhizome.name = "y"}) {
  %q = osa.quantize %x )mlir" +
         scales + " : (tensor<2x3x8xf32>) -> tensor<2x3x8x" + codes +
         ">\n  %d = osa.dequantize %q " + scales + " : (tensor<2x3x8x" + codes +
         ">) -> tensor<2x3x8xf32>\n" + middle + R"mlir(
  %r = osa.quantize %m {scale = dense<0.02> : tensor<1xf32>, zero_point = dense<-100> : tensor<1xi64>} : (tensor<2x3x8xf32>) -> tensor<2x3x8x!num.int<s8>>
  %y = osa.dequantize %r {scale = dense<0.02> : tensor<1xf32>, zero_point = dense<-100> : tensor<1xi64>} : (tensor<2x3x8x!num.int<s8>>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
})mlir";
}
const char *const kLikeRows = " : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>";

std::string softmaxOf(const std::string &attributes) {
  return "  %m = osa.softmax %d {" + attributes + "}" + kLikeRows +
         " loc(\"soft\"(\"Softmax\"))";
}

TEST_F(Integerized, SoftmaxBetweenQuantizersIsInFixedPoint) {
  auto model =
      parse(rowsBetween(softmaxOf("axis = 2 : i64, rhizome.fixed_point")));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_TRUE(llvm::none_of(stats.host,
                            [](const Refusal &r) { return r.node == "soft"; }));
  EXPECT_EQ(count<osa::RowSoftmaxOp>(*lowered), 1);
  // A code at most from the float operation: 0.02.
  EXPECT_EQ(compare(*model, *lowered, 50, -9, 9, 0.021f), 0);
}

TEST_F(Integerized, RowsNeedNoTranspose) {
  auto model = parse(rowsBetween(R"mlir(
  %t = osa.transpose %d {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x8xf32>) -> tensor<3x2x8xf32>
  %s = osa.softmax %t {axis = -1 : i64, rhizome.fixed_point} : (tensor<3x2x8xf32>) -> tensor<3x2x8xf32>
  %m = osa.transpose %s {permutation = array<i64: 1, 0, 2>} : (tensor<3x2x8xf32>) -> tensor<2x3x8xf32>)mlir"));
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  ASSERT_TRUE(lower(*lowered));
  EXPECT_EQ(count<osa::RowSoftmaxOp>(*lowered), 1);
  EXPECT_EQ(count<osa::TransposeOp>(*lowered), 0);
  EXPECT_EQ(compare(*model, *lowered, 20, -9, 9, 0.021f), 0);
}

TEST_F(Integerized, NormalizationsAreInFixedPoint) {
  for (const char *centered : {"true", "false"}) {
    auto model = parse(rowsBetween(
        std::string("  %n = osa.normalize %d {epsilon = 1.0e-05 : f32, "
                    "centered = ") +
        centered + "}" + kLikeRows + R"mlir( loc("norm"("LayerNormalization"))
  %g = osa.constant {value = dense<[0.5, 1.5, -1.0, 1.0, 0.7, 0.2, 1.1, 0.9]> : tensor<8xf32>} : () -> tensor<8xf32>
  %m = osa.mul %n, %g : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>)mlir"));
    auto lowered = OwningOpRef<ModuleOp>(model->clone());
    ASSERT_TRUE(lower(*lowered));
    EXPECT_EQ(count<osa::RowNormOp>(*lowered), 1);
    EXPECT_EQ(compare(*model, *lowered, 50, -9, 9, 0.021f), 0);
  }
}

TEST_F(Integerized, FixedPointFunctionsSayWhyNot) {
  const std::string fixed = "axis = 2 : i64, rhizome.fixed_point",
                    norm = std::string("  %m = osa.normalize %d {epsilon = "
                                       "1.0e-05 : f32}") +
                           kLikeRows + " loc(\"soft\"(\"Softmax\"))",
                    wide = "{scale = dense<0.001> : tensor<1xf32>, zero_point "
                           "= dense<0> : tensor<1xi64>}";
  const std::string eights =
      "{axis = 2 : i64, scale = dense<[0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]>"
      " : tensor<8xf32>, zero_point = dense<0> : tensor<8xi64>}";
  auto exposed = rowsBetween(softmaxOf(fixed));
  exposed.replace(exposed.find("return %y"), 9, "return %m");
  const std::pair<std::string, const char *> cases[] = {
      {rowsBetween(softmaxOf("axis = 2 : i64")), "it is computed on the host"},
      {rowsBetween(softmaxOf("axis = 1 : i64, rhizome.fixed_point")),
       "its fixed-point form is for the last axis, without a logarithm"},
      {rowsBetween(softmaxOf(fixed + ", log = true")),
       "its fixed-point form is for the last axis, without a logarithm"},
      {exposed, "its result is not quantized with one scale"},
      {rowsBetween(softmaxOf(fixed), "!num.int<s8>", eights),
       "its input's channels have different scales"},
      {rowsBetween(softmaxOf(fixed), "!num.int<s16>", wide),
       "its input falls, or has more than 4096 values"},
      {rowsBetween(norm, "!num.int<s8>", eights),
       "its input's channels have different scales"},
      {rowsBetween(norm, "!num.int<s40>", wide),
       "its sums of squares need more than 60 bits"},
      {rowsBetween("  %e = osa.unary exp %d" + std::string(kLikeRows) +
                   "\n  %m = osa.softmax %e {" + fixed + "}" + kLikeRows +
                   " loc(\"soft\"(\"Softmax\"))"),
       "its input has an activation but no quantizer"}};
  for (const auto &[text, reason] : cases) {
    auto model = parse(text);
    ASSERT_TRUE(lower(*model)) << reason;
    EXPECT_TRUE(llvm::any_of(stats.host, [&, why = reason](const Refusal &r) {
      return r.node == "soft" && r.reason == why;
    })) << reason;
  }
}

TEST(FixedPoint, LimitsOfNetworksAreTold) {
  using numeric::Format;
  EXPECT_EQ(whyNotForNetworks(Format::fixed(6, 10)), "");
  EXPECT_EQ(whyNotForNetworks(Format::fixed(-30, 32)), "");
  const std::string limits = "networks are built in signed fixed point of 2 to "
                             "16 bits, -32 to 32 of them fraction; ";
  EXPECT_EQ(whyNotForNetworks(Format::fixed(64, 32)),
            limits + "this one has 96 bits");
  EXPECT_EQ(whyNotForNetworks(Format::fixed(1, 0)),
            limits + "this one has a single bit");
  EXPECT_EQ(whyNotForNetworks(Format::fixed(-25, 33)),
            limits + "this one has 33 bits of fraction");
  EXPECT_EQ(whyNotForNetworks(Format::fixed(4, 4, false)),
            limits + "this one has no sign");
  EXPECT_EQ(whyNotForNetworks(Format::floating(5, 10)),
            limits + "this is a float");
  EXPECT_EQ(whyNotForOutputs(Format::fixed(12, 20)), "");
  EXPECT_EQ(whyNotForOutputs(Format::fixed(1, 32)),
            "outputs of networks are signed fixed point of 2 to 32 bits, -32 "
            "to 32 of them fraction; this one has 33 bits");
}

/// Two layers, a host operation between them, and after the second a group
/// without a layer between two of the host's.
const std::string blocks = R"mlir(
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x4xf32> {rhizome.name = "y"}) {
  %wq = osa.constant {value = dense<[[1, 2, 3, 4], [-1, -2, -3, -4], [4, 1, 2, 3], [5, 6, 7, 8]]> : tensor<4x4xi8>} : () -> tensor<4x4x!num.int<s8>>
  %w = osa.dequantize %wq {scale = dense<0.25> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<4x4x!num.int<s8>>) -> tensor<4x4xf32>
  %aq = osa.quantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>
  %a = osa.dequantize %aq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>
  %b = osa.dense %a, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %c = osa.softmax %b {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %dq = osa.quantize %c {scale = dense<0.01> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<u8>>
  %d = osa.dequantize %dq {scale = dense<0.01> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<u8>>) -> tensor<1x4xf32>
  %e = osa.dense %d, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %sum = osa.add %a, %d : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %sq = osa.quantize %sum {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>
  %s = osa.dequantize %sq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>
  %f = osa.softmax %e {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %gq = osa.quantize %f {scale = dense<0.01> : tensor<f32>, zero_point = dense<3> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<u8>>
  %g = osa.dequantize %gq {scale = dense<0.01> : tensor<f32>, zero_point = dense<3> : tensor<i64>} : (tensor<1x4x!num.int<u8>>) -> tensor<1x4xf32>
  %h = osa.relu %g : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("glue"("Relu"))
  %hq = osa.quantize %h {scale = dense<0.02> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<u8>>
  %i = osa.dequantize %hq {scale = dense<0.02> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<u8>>) -> tensor<1x4xf32>
  %j = osa.softmax %i {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %y = osa.add %j, %s : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
})mlir";

TEST_F(Integerized, HostAndFpgaTakeTurns) {
  auto model = parse(blocks), lowered = parse(blocks);
  ASSERT_TRUE(lower(*lowered));
  std::vector<std::string> names;
  for (FunctionOpInterface task : flow::tasksOf(*lowered))
    names.push_back(task.getName().str());
  EXPECT_EQ(names,
            (std::vector<std::string>{"host0", "region0", "host1", "region1",
                                      "host2", "region2", "host3"}));
  EXPECT_EQ(count<osa::DenseOp>(*lowered), 2);
  // The sum joins codes of two regions: formerly it was given the first one's
  // twice.
  EXPECT_EQ(count<osa::ScaledAddOp>(*lowered), 1);
  EXPECT_EQ(compare(*model, *lowered, 50, -40, 40, 1e-5f), 0);
  // In parallel in one design.
  func::FuncOp network = fpgaNetwork(*lowered);
  unsigned inputs = 0;
  for (auto task : flow::tasksOf(*lowered, flow::Place::Fpga))
    inputs += task.getNumArguments();
  EXPECT_EQ(network.getNumArguments(), inputs);
  EXPECT_TRUE(succeeded(verify(*lowered)));
}

TEST_F(Integerized, OnlyGroupsWithoutALayerHaveAChoice) {
  auto model = parse(blocks), lowered = parse(blocks);
  std::vector<std::string> open;
  IntegerizeOptions options;
  options.placer = [&](const std::vector<PlaceableOp> &ops) {
    std::vector<flow::Place> places;
    for (const PlaceableOp &op : ops) {
      if (op.onHost && op.onFpga)
        open.push_back(op.op->getName().stripDialect().str());
      places.push_back(op.onHost ? flow::Place::Host : flow::Place::Fpga);
    }
    return places;
  };
  ASSERT_TRUE(lower(*lowered, options));
  EXPECT_EQ(open, (std::vector<std::string>{"dequantize", "relu", "quantize",
                                            "dequantize"}));
  EXPECT_EQ(flow::tasksOf(*lowered, flow::Place::Fpga).size(), 2u);
  EXPECT_TRUE(llvm::any_of(stats.host, [](const Refusal &entry) {
    return entry.node == "glue" &&
           entry.reason == "a copy to the FPGA and back would take longer";
  }));
  EXPECT_EQ(count<osa::DenseOp>(*lowered), 2);
  EXPECT_EQ(compare(*model, *lowered, 50, -40, 40, 1e-5f), 0);
}

TEST_F(Integerized, FloatModelWantsANumberFormat) {
  std::string text = R"mlir(
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %w = osa.constant {value = dense<[[0.5, -0.3, 0.1, 1.7], [0.2, 0.3, 0.4, 0.5]]> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %a = osa.dense %x, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32> loc("first"("Gemm"))
  %r = osa.relu %a : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %v = osa.constant {value = dense<[[0.5, -0.3], [0.2, 0.3]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %y = osa.dense %r, %v : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("second"("Gemm"))
  return %y : tensor<1x2xf32>
})mlir";
  auto model = parse(text);
  ASSERT_TRUE(lower(*model));
  EXPECT_EQ(fpgaNetwork(*model), nullptr);
  ASSERT_EQ(stats.host.size(), 3u);
  EXPECT_EQ(stats.host[0].node, "first");
  EXPECT_NE(stats.host[0].remedy.find("--number-format"), std::string::npos);

  IntegerizeOptions options;
  options.fixed = numeric::Format::fixed(1, 7);
  model = parse(text);
  ASSERT_TRUE(lower(*model, options));
  int64_t saturated = 0;
  for (auto &s : stats.saturations)
    saturated += s.saturated;
  EXPECT_EQ(saturated, 1); // 1.7
  options.fixed = numeric::Format::fixed(33, 7);
  model = parse(text);
  EXPECT_FALSE(lower(*model, options));
}

namespace {
struct ModelCase {
  const char *path;
  int frames;
  float lo, hi;
  std::optional<numeric::Format> fixed;
  bool rawIntegers;
  float tolerance; ///< of the host's float computation after the network
};
void PrintTo(const ModelCase &c, std::ostream *out) { *out << c.path; }
struct RealModel : Integerized, testing::WithParamInterface<ModelCase> {};
} // namespace

TEST_P(RealModel, EqualsItsRealSemantics) {
  const ModelCase &c = GetParam();
  const char *root = std::getenv("RHIZOME_SHARED");
  std::string path = c.path;
  if (StringRef(path).starts_with("examples/"))
    path = RHIZOME_SOURCE_DIR "/" + path;
  else
    path = std::string(root ? root : RHIZOME_SOURCE_DIR "/../shared") +
           "/models/" + path;
  if (!llvm::sys::fs::exists(path))
    GTEST_SKIP() << "SKIPPED: " << path << " is missing";
  importer::ImportOptions import;
  if (c.rawIntegers)
    import.rawIntegerFraction = c.fixed->fractionBits;
  auto model = importer::importOnnx(&context, path, import, refusals);
  ASSERT_TRUE(model);
  auto lowered = OwningOpRef<ModuleOp>(model->clone());
  IntegerizeOptions options;
  options.fixed = c.fixed;
  ASSERT_TRUE(lower(*lowered, options));
  if (c.fixed) {
    canonicalizeReal(*model);
    ASSERT_TRUE(succeeded(applyFixedPoint(*model, options, refusals, stats)));
  }
  EXPECT_EQ(compare(*model, *lowered, c.frames, c.lo, c.hi, c.tolerance), 0);
}

static const numeric::Format q8 = numeric::Format::fixed(1, 7),
                             q16 = numeric::Format::fixed(6, 10);
#define DOSA "cloudFPGA+DOSA/examples/"
#define TFC                                                                    \
  "fastmachinelearning+qonnx_model_zoo/models/MNIST/Brevitas_FINN_TFC/TFC/"
INSTANTIATE_TEST_SUITE_P(
    Shared, RealModel,
    testing::Values(
        ModelCase{
            "examples/digits/digits_qdq_int8.onnx", 30, 0, 16, {}, false, 0},
        ModelCase{"examples/digits/digits_qonnx_w4a4.onnx",
                  30,
                  0,
                  16,
                  {},
                  false,
                  1e-6f},
        ModelCase{"examples/lenet5/lenet5_codes.onnx", 3, -1, 1, q8, true, 0},
        ModelCase{DOSA "CERN.onnx", 20, -1, 1, q8, true, 0},
        ModelCase{DOSA "MNIST_int8.onnx", 3, 0, 1, q8, true, 0},
        ModelCase{DOSA "MPCNN.onnx", 3, -1, 1, q8, true, 0},
        ModelCase{DOSA "PTTCNN_int8.onnx", 3, -1, 1, q8, true, 0},
        ModelCase{DOSA "TFC.onnx", 5, 0, 1, q8, true, 0},
        ModelCase{TFC "TFC_1W1A.onnx", 10, 0, 1, {}, false, 0},
        ModelCase{TFC "TFC_2W2A.onnx", 10, 0, 1, {}, false, 0},
        ModelCase{"fastmachinelearning+hls4ml/example-models/onnx/"
                  "three_layer_keras.onnx",
                  20, -4, 4, q16, false, 1e-6f},
        ModelCase{"emmtrix+emx-onnx-cgen/tests/onnx/"
                  "micro_kws_m_static_qdq.onnx",
                  10,
                  -1,
                  1,
                  {},
                  false,
                  0},
        ModelCase{"sonos+tract/onnx/test_cases/qrelu_1/model.onnx",
                  10,
                  -4,
                  4,
                  {},
                  false,
                  0}));
