// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interpreter on reals, against values computed by hand.
#include "Evaluate.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::test;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

namespace {
class RealTest : public Evaluate {
protected:
  /// One elementwise operation on a vector: `op` with `%x` as operand.
  Floats elementwise(const std::string &op, Floats in) {
    std::string t = "tensor<" + std::to_string(in.size()) + "xf32>";
    return floats("func.func @f(%x: " + t + ") -> " + t + " {\n%y = " + op +
                      " : (" + t + ") -> " + t + "\nreturn %y : " + t + "\n}",
                  {Tensor::ofFloats({int64_t(in.size())}, in)});
  }
  Ints quantize(const std::string &rounding, Floats in,
                const std::string &type = "s8", int zeroPoint = 0) {
    std::string n = std::to_string(in.size()), from = "tensor<" + n + "xf32>",
                to = "tensor<" + n + "x!num.int<" + type + ">>";
    return ints("func.func @f(%x: " + from + ") -> " + to +
                    " {\n%y = osa.quantize %x rounding(" + rounding +
                    ") {scale = dense<1.0> : tensor<1xf32>, "
                    "zero_point = dense<" +
                    std::to_string(zeroPoint) + "> : tensor<1xi64>} : (" +
                    from + ") -> " + to + "\nreturn %y : " + to + "\n}",
                {Tensor::ofFloats({int64_t(in.size())}, in)});
  }
};

TEST_F(RealTest, QuantizeRounds) {
  Floats x = {0.5f, 1.5f, -0.5f, -1.5f, 1.2f, -1.2f};
  EXPECT_EQ(quantize("half_even", x), (Ints{0, 2, 0, -2, 1, -1}));
  EXPECT_EQ(quantize("toward_zero", x), (Ints{0, 1, 0, -1, 1, -1}));
  EXPECT_EQ(quantize("up", x), (Ints{1, 2, 0, -1, 2, -1}));
  EXPECT_EQ(quantize("down", x), (Ints{0, 1, -1, -2, 1, -2}));
  EXPECT_EQ(quantize("half_up", x), (Ints{1, 2, 0, -1, 1, -1}));
  EXPECT_EQ(quantize("half_down", x), (Ints{0, 1, -1, -2, 1, -1}));
  EXPECT_EQ(quantize("half_away", x), (Ints{1, 2, -1, -2, 1, -1}));
  EXPECT_EQ(quantize("sign", {0.0f, -0.0f, -1e-30f, 7.0f}),
            (Ints{1, 1, -1, 1}));
}

TEST_F(RealTest, QuantizeSaturatesAfterTheZeroPoint) {
  EXPECT_EQ(quantize("half_even", {-1e30f, -129.f, 300.f, INFINITY}, "u8", 128),
            (Ints{0, 0, 255, 255}));
  EXPECT_EQ(quantize("half_even", {126.5f, 127.5f, 2.5f}, "s8", 1),
            (Ints{127, 127, 3}));
  EXPECT_EQ(quantize("half_even", {1e30f, -1e30f}, "s64"),
            (Ints{INT64_MAX, INT64_MIN}));
}

TEST_F(RealTest, QuantizeRefusesNaN) {
  quantize("half_even", {1.0f}); // warms up, must pass
  EXPECT_FALSE(run(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1x!num.int<s8>> {
      %y = osa.quantize %x {scale = dense<1.0> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>}
        : (tensor<1xf32>) -> tensor<1x!num.int<s8>>
      return %y : tensor<1x!num.int<s8>>
    })",
                   {Tensor::ofFloats({1}, {NAN})}));
  EXPECT_NE(message.find("meets NaN"), std::string::npos);
}

TEST_F(RealTest, QuantizeAndDequantizeAlongAnAxis) {
  const char *text = R"(
    func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %q = osa.quantize %x {scale = dense<[0.5, 2.0]> : tensor<2xf32>,
        zero_point = dense<[1, -1]> : tensor<2xi64>, axis = 0 : i64}
        : (tensor<2x2xf32>) -> tensor<2x2x!num.int<s8>>
      %y = osa.dequantize %q {scale = dense<[0.5, 2.0]> : tensor<2xf32>,
        zero_point = dense<[1, -1]> : tensor<2xi64>, axis = 0 : i64}
        : (tensor<2x2x!num.int<s8>>) -> tensor<2x2xf32>
      return %y : tensor<2x2xf32>
    })";
  EXPECT_EQ(floats(text, {Tensor::ofFloats({2, 2}, {1.3f, 100.f, 1.3f, 3.f})}),
            (Floats{1.5f, 63.f, 2.f, 4.f}));
}

TEST_F(RealTest, TheQuotientIsAFloat32) {
  // 0.15 / 0.1 is 1.5 exactly in float32 but less than 1.5 in double.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1x!num.int<s8>> {
      %y = osa.quantize %x {scale = dense<0.1> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>}
        : (tensor<1xf32>) -> tensor<1x!num.int<s8>>
      return %y : tensor<1x!num.int<s8>>
    })",
                 {Tensor::ofFloats({1}, {0.15f})}),
            (Ints{int64_t(std::nearbyint(0.15f / 0.1f))}));
}

TEST_F(RealTest, BinaryOperationsBroadcast) {
  auto text = [](const std::string &op) {
    return "func.func @f(%a: tensor<2x1xf32>, %b: tensor<3xf32>) -> "
           "tensor<2x3xf32> {\n%y = osa." +
           op +
           " %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n"
           "return %y : tensor<2x3xf32>\n}";
  };
  std::vector<Tensor> in = {Tensor::ofFloats({2, 1}, {8, 16}),
                            Tensor::ofFloats({3}, {1, 2, 4})};
  EXPECT_EQ(floats(text("add"), in), (Floats{9, 10, 12, 17, 18, 20}));
  EXPECT_EQ(floats(text("sub"), in), (Floats{7, 6, 4, 15, 14, 12}));
  EXPECT_EQ(floats(text("mul"), in), (Floats{8, 16, 32, 16, 32, 64}));
  EXPECT_EQ(floats(text("div"), in), (Floats{8, 4, 2, 16, 8, 4}));
}

TEST_F(RealTest, Activations) {
  EXPECT_EQ(elementwise("osa.relu %x", {-1, 0, 2}), (Floats{0, 0, 2}));
  EXPECT_EQ(elementwise("osa.leaky_relu %x {alpha = 0.5 : f32}", {-1, 0, 2}),
            (Floats{-0.5f, 0, 2}));
  EXPECT_EQ(elementwise("osa.clip %x {min = -1.0 : f32, max = 1.0 : f32}",
                        {-3, 0.5f, 2}),
            (Floats{-1, 0.5f, 1}));
  EXPECT_EQ(elementwise("osa.unary neg %x", {-1, 2}), (Floats{1, -2}));
  EXPECT_EQ(elementwise("osa.unary abs %x", {-1, 2}), (Floats{1, 2}));
  EXPECT_EQ(elementwise("osa.unary sqrt %x", {4, 9}), (Floats{2, 3}));
  EXPECT_EQ(elementwise("osa.unary sigmoid %x", {0}), (Floats{0.5f}));
  EXPECT_EQ(elementwise("osa.unary tanh %x", {0}), (Floats{0}));
  EXPECT_FLOAT_EQ(elementwise("osa.unary exp %x", {1})[0], 2.7182818f);
  EXPECT_FLOAT_EQ(elementwise("osa.unary log %x", {2})[0], 0.6931472f);
}

TEST_F(RealTest, BatchNormAlongTheLastAxis) {
  EXPECT_EQ(elementwise("osa.batch_norm %x {gamma = dense<[2.0, 1.0]> : "
                        "tensor<2xf32>, beta = dense<[1.0, 0.0]> : "
                        "tensor<2xf32>, mean = dense<[1.0, 2.0]> : "
                        "tensor<2xf32>, variance = dense<[3.0, 0.0]> : "
                        "tensor<2xf32>, epsilon = 1.0 : f32}",
                        {5, 2}),
            (Floats{5, 0}));
}

TEST_F(RealTest, AveragePoolDivisors) {
  auto text = [](const std::string &include) {
    return "func.func @f(%x: tensor<1x1x3x1xf32>) -> tensor<1x1x2x1xf32> {\n"
           "%y = osa.avg_pool %x {kernel = array<i64: 1, 2>, strides = "
           "array<i64: 1, 2>, pads = array<i64: 0, 1, 0, 0>, dilations = "
           "array<i64: 1, 1>, count_include_pad = " +
           include +
           "} : (tensor<1x1x3x1xf32>) -> tensor<1x1x2x1xf32>\n"
           "return %y : tensor<1x1x2x1xf32>\n}";
  };
  Tensor in = Tensor::ofFloats({1, 1, 3, 1}, {4, 6, 8});
  EXPECT_EQ(floats(text("true"), {in}), (Floats{2, 7}));
  EXPECT_EQ(floats(text("false"), {in}), (Floats{4, 7}));
}

TEST_F(RealTest, ConvolutionAndPoolInFloat) {
  EXPECT_EQ(floats(R"(
    func.func @f(%x: tensor<1x1x3x1xf32>) -> tensor<1x1x1x1xf32> {
      %w = osa.constant {value = dense<[[[[0.5],[-2.0]]]]> : tensor<1x1x2x1xf32>}
        : () -> tensor<1x1x2x1xf32>
      %y = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
        dilations = array<i64: 1, 1>}
        : (tensor<1x1x3x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x2x1xf32>
      %z = osa.max_pool %y {kernel = array<i64: 1, 2>, strides = array<i64: 1, 1>,
        pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
        : (tensor<1x1x2x1xf32>) -> tensor<1x1x1x1xf32>
      return %z : tensor<1x1x1x1xf32>
    })",
                   {Tensor::ofFloats({1, 1, 3, 1}, {1, 2, 4})}),
            (Floats{-3.5f}));
}

TEST_F(RealTest, SoftmaxAndItsLogarithm) {
  Floats even = elementwise("osa.softmax %x {axis = -1 : i64}", {1000, 1000});
  EXPECT_EQ(even, (Floats{0.5f, 0.5f}));
  Floats log =
      elementwise("osa.softmax %x {axis = 0 : i64, log = true}", {0, 0});
  EXPECT_FLOAT_EQ(log[0], -0.6931472f);
}

TEST_F(RealTest, ArgMaxTakesTheFirstOrTheLastOfEquals) {
  auto text = [](const std::string &last) {
    return "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x1xi64> {\n"
           "%y = osa.arg_max %x {axis = 1 : i64, select_last = " +
           last +
           "} : (tensor<2x3xf32>) -> tensor<2x1xi64>\n"
           "return %y : tensor<2x1xi64>\n}";
  };
  Tensor in = Tensor::ofFloats({2, 3}, {1, 3, 3, 2, 0, 2});
  EXPECT_EQ(ints(text("false"), {in}), (Ints{1, 0}));
  EXPECT_EQ(ints(text("true"), {in}), (Ints{2, 2}));
}
} // namespace
