// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interpreter on integers, against values computed by hand.
#include "Evaluate.h"

using namespace rhizome;
using namespace rhizome::test;
using Ints = std::vector<int64_t>;

namespace {
class IntegerTest : public Evaluate {};

TEST_F(IntegerTest, ConvPadsAsymmetricallyWithItsPadValue) {
  // Input 1 2 / 3 4; one row above and one column at the right are 9.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<1x2x2x1x!num.int<u4>>) -> tensor<1x2x2x1x!num.int<s16>> {
      %w = osa.constant {value = dense<[[[[1],[10]],[[100],[-1]]]]> : tensor<1x2x2x1xi8>}
        : () -> tensor<1x2x2x1x!num.int<s8>>
      %b = osa.constant {value = dense<5> : tensor<1xi8>} : () -> tensor<1x!num.int<s8>>
      %y = osa.conv2d %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 1>,
        dilations = array<i64: 1, 1>, pad_value = 9 : i64}
        : (tensor<1x2x2x1x!num.int<u4>>, tensor<1x2x2x1x!num.int<s8>>, tensor<1x!num.int<s8>>)
        -> tensor<1x2x2x1x!num.int<s16>>
      return %y : tensor<1x2x2x1x!num.int<s16>>
    })",
                 {Tensor::ofInts({1, 2, 2, 1}, {1, 2, 3, 4})}),
            (Ints{5 + 99 + 100 - 2, 5 + 99 + 200 - 9, 5 + 21 + 300 - 4,
                  5 + 92 + 400 - 9}));
}

TEST_F(IntegerTest, ConvDilatesAndStrides) {
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<1x1x7x1x!num.int<u4>>) -> tensor<1x1x3x1x!num.int<s16>> {
      %w = osa.constant {value = dense<[[[[1],[10]]]]> : tensor<1x1x2x1xi8>}
        : () -> tensor<1x1x2x1x!num.int<s8>>
      %y = osa.conv2d %x, %w {strides = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 0>,
        dilations = array<i64: 1, 2>}
        : (tensor<1x1x7x1x!num.int<u4>>, tensor<1x1x2x1x!num.int<s8>>)
        -> tensor<1x1x3x1x!num.int<s16>>
      return %y : tensor<1x1x3x1x!num.int<s16>>
    })",
                 {iota({1, 1, 7, 1}, 1)}),
            (Ints{31, 53, 75}));
}

TEST_F(IntegerTest, ConvGroupsSeeOnlyTheirChannels) {
  // Two groups of two channels, two outputs each.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<1x1x1x4x!num.int<u4>>) -> tensor<1x1x1x4x!num.int<s16>> {
      %w = osa.constant {value = dense<[[[[1,10]]],[[[2,20]]],[[[3,30]]],[[[4,40]]]]> : tensor<4x1x1x2xi8>}
        : () -> tensor<4x1x1x2x!num.int<s8>>
      %y = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
        dilations = array<i64: 1, 1>, groups = 2 : i64}
        : (tensor<1x1x1x4x!num.int<u4>>, tensor<4x1x1x2x!num.int<s8>>)
        -> tensor<1x1x1x4x!num.int<s16>>
      return %y : tensor<1x1x1x4x!num.int<s16>>
    })",
                 {iota({1, 1, 1, 4}, 1)}),
            (Ints{21, 42, 129, 172}));
}

TEST_F(IntegerTest, DenseReadsUnsignedStorage) {
  // 200 as u8 is stored as the byte 0xC8.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x2x!num.int<s8>>) -> tensor<2x1x!num.int<s32>> {
      %w = osa.constant {value = dense<[[200, 1]]> : tensor<1x2xui8>} : () -> tensor<1x2x!num.int<u8>>
      %y = osa.dense %x, %w : (tensor<2x2x!num.int<s8>>, tensor<1x2x!num.int<u8>>)
        -> tensor<2x1x!num.int<s32>>
      return %y : tensor<2x1x!num.int<s32>>
    })",
                 {Tensor::ofInts({2, 2}, {1, 2, -3, 4})}),
            (Ints{202, -596}));
}

TEST_F(IntegerTest, MaxPoolIgnoresWhatLiesOutside) {
  // Ceil mode: the last window contains only one column; all values negative.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<1x1x3x1x!num.int<s8>>) -> tensor<1x1x2x1x!num.int<s8>> {
      %y = osa.max_pool %x {kernel = array<i64: 1, 2>, strides = array<i64: 1, 2>,
        pads = array<i64: 0, 0, 0, 1>, dilations = array<i64: 1, 1>}
        : (tensor<1x1x3x1x!num.int<s8>>) -> tensor<1x1x2x1x!num.int<s8>>
      return %y : tensor<1x1x2x1x!num.int<s8>>
    })",
                 {Tensor::ofInts({1, 1, 3, 1}, {-5, -7, -3})}),
            (Ints{-5, -3}));
}

TEST_F(IntegerTest, MaxPoolRefusesAnEmptyWindow) {
  EXPECT_FALSE(run(R"(
    func.func @f(%x: tensor<1x1x1x1x!num.int<s8>>) -> tensor<1x1x2x1x!num.int<s8>> {
      %y = osa.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
        pads = array<i64: 0, 0, 0, 1>, dilations = array<i64: 1, 1>}
        : (tensor<1x1x1x1x!num.int<s8>>) -> tensor<1x1x2x1x!num.int<s8>>
      return %y : tensor<1x1x2x1x!num.int<s8>>
    })",
                   {iota({1, 1, 1, 1})}));
  EXPECT_NE(message.find("C2: a window holds no position"), std::string::npos);
}

TEST_F(IntegerTest, SumPoolSubtractsZeroAndScalesByPosition) {
  // Padded left by one: the first window contains one position.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<1x1x3x1x!num.int<s8>>) -> tensor<1x1x2x1x!num.int<s16>> {
      %y = osa.sum_pool %x {kernel = array<i64: 1, 2>, strides = array<i64: 1, 2>,
        pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>, zero = 3 : i64,
        position_scale = array<i64: 2, 1>}
        : (tensor<1x1x3x1x!num.int<s8>>) -> tensor<1x1x2x1x!num.int<s16>>
      return %y : tensor<1x1x2x1x!num.int<s16>>
    })",
                 {Tensor::ofInts({1, 1, 3, 1}, {10, 20, -30})}),
            (Ints{14, 17 - 33}));
}

TEST_F(IntegerTest, RequantizeFloorsNegativesAndClamps) {
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<6x!num.int<s16>>) -> tensor<6x!num.int<s4>> {
      %y = osa.requantize %x {multiplier = array<i64: 3>, offset = array<i64: 2>, shift = 2 : i64}
        : (tensor<6x!num.int<s16>>) -> tensor<6x!num.int<s4>>
      return %y : tensor<6x!num.int<s4>>
    })",
                 {Tensor::ofInts({6}, {0, 1, -1, -2, 100, -100})}),
            (Ints{0, 1, -1, -1, 7, -8}));
}

TEST_F(IntegerTest, RequantizePerChannel) {
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x2x!num.int<s8>>) -> tensor<2x2x!num.int<s8>> {
      %y = osa.requantize %x {multiplier = array<i64: 1, -2>, offset = array<i64: 0, 5>, shift = 0 : i64}
        : (tensor<2x2x!num.int<s8>>) -> tensor<2x2x!num.int<s8>>
      return %y : tensor<2x2x!num.int<s8>>
    })",
                 {Tensor::ofInts({2, 2}, {1, 2, 3, 4})}),
            (Ints{1, 1, 3, -3}));
}

TEST_F(IntegerTest, ThresholdCountsPerChannel) {
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x2x!num.int<s8>>) -> tensor<2x2x!num.int<s8>> {
      %y = osa.threshold %x {thresholds = dense<[[-5, 3], [0, 9999]]> : tensor<2x2xi64>,
        base = -1 : i64, step = 2 : i64}
        : (tensor<2x2x!num.int<s8>>) -> tensor<2x2x!num.int<s8>>
      return %y : tensor<2x2x!num.int<s8>>
    })",
                 {Tensor::ofInts({2, 2}, {-5, -1, 3, 127})}),
            (Ints{1, -1, 3, 1}));
}

TEST_F(IntegerTest, TableStartsAtTheLowerBound) {
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<4x!num.int<s2>>) -> tensor<4x!num.int<s8>> {
      %y = osa.table %x {values = dense<[[10, 20, -30, 40]]> : tensor<1x4xi64>}
        : (tensor<4x!num.int<s2>>) -> tensor<4x!num.int<s8>>
      return %y : tensor<4x!num.int<s8>>
    })",
                 {Tensor::ofInts({4}, {-2, -1, 0, 1})}),
            (Ints{10, 20, -30, 40}));
}

TEST_F(IntegerTest, ScaledAdd) {
  EXPECT_EQ(
      ints(R"(
    func.func @f(%x: tensor<2x!num.int<s8>>, %y: tensor<2x!num.int<u8>>) -> tensor<2x!num.int<s16>> {
      %z = osa.scaled_add %x, %y {lhs_multiplier = 3 : i64, rhs_multiplier = -2 : i64}
        : (tensor<2x!num.int<s8>>, tensor<2x!num.int<u8>>) -> tensor<2x!num.int<s16>>
      return %z : tensor<2x!num.int<s16>>
    })",
           {Tensor::ofInts({2}, {-128, 5}), Tensor::ofInts({2}, {255, 1})}),
      (Ints{-894, 13}));
}

TEST_F(IntegerTest, ConcatTransposePadReshapeMoveElements) {
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x1x!num.int<u4>>, %y: tensor<2x2x!num.int<u4>>) -> tensor<8x!num.int<u4>> {
      %c = osa.concat %x, %y {axis = 1 : i64}
        : (tensor<2x1x!num.int<u4>>, tensor<2x2x!num.int<u4>>) -> tensor<2x3x!num.int<u4>>
      %t = osa.transpose %c {permutation = array<i64: 1, 0>}
        : (tensor<2x3x!num.int<u4>>) -> tensor<3x2x!num.int<u4>>
      %p = osa.pad %t {low = array<i64: 0, 0>, high = array<i64: 1, 0>, value = 7.0 : f64}
        : (tensor<3x2x!num.int<u4>>) -> tensor<4x2x!num.int<u4>>
      %r = osa.reshape %p : (tensor<4x2x!num.int<u4>>) -> tensor<8x!num.int<u4>>
      return %r : tensor<8x!num.int<u4>>
    })",
                 {iota({2, 1}, 1), iota({2, 2}, 3)}),
            (Ints{1, 2, 3, 5, 4, 6, 7, 7}));
}

TEST_F(IntegerTest, AResultOutsideItsRangeIsReported) {
  EXPECT_FALSE(run(R"(
    func.func @f(%x: tensor<1x!num.int<u8>>) -> tensor<1x!num.int<u8>> {
      %z = osa.scaled_add %x, %x : (tensor<1x!num.int<u8>>, tensor<1x!num.int<u8>>)
        -> tensor<1x!num.int<u8>>
      return %z : tensor<1x!num.int<u8>>
    })",
                   {iota({1}, 200)}));
  EXPECT_NE(message.find("'osa.scaled_add' op gives 400 at element 0, outside "
                         "its declared range 0:255"),
            std::string::npos)
      << message;
}

TEST_F(IntegerTest, InputsAreChecked) {
  const char *text = R"(
    func.func @f(%x: tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u4>> {
      return %x : tensor<2x!num.int<u4>>
    })";
  EXPECT_FALSE(run(text, {iota({3})}));
  EXPECT_FALSE(run(text, {Tensor::ofInts({2}, {0, 16})}));
  EXPECT_FALSE(run(text, {Tensor::ofFloats({2}, {0, 1})}));
  EXPECT_FALSE(run(text, {}));
  EXPECT_TRUE(run(text, {iota({2})}));
}

TEST_F(IntegerTest, UnknownOperationsFailByName) {
  EXPECT_FALSE(run(R"(
    func.func @f(%x: tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u4>> {
      %y = "other.op"(%x) : (tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u4>>
      return %y : tensor<2x!num.int<u4>>
    })",
                   {iota({2})}));
  EXPECT_NE(message.find("unknown to the interpreter"), std::string::npos);
}

TEST_F(IntegerTest, TheProbeSeesEveryOperation) {
  std::vector<std::string> seen;
  EXPECT_TRUE(run(R"(
    func.func @f(%x: tensor<2x!num.int<u4>>) -> tensor<2x1x!num.int<u4>> {
      %r = osa.reshape %x : (tensor<2x!num.int<u4>>) -> tensor<1x2x!num.int<u4>>
      %t = osa.transpose %r {permutation = array<i64: 1, 0>}
        : (tensor<1x2x!num.int<u4>>) -> tensor<2x1x!num.int<u4>>
      return %t : tensor<2x1x!num.int<u4>>
    })",
                  {iota({2})}, [&](mlir::Operation *op, const Tensor &t) {
                    seen.push_back(op->getName().getStringRef().str());
                    EXPECT_EQ(t.ints, (Ints{0, 1}));
                  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"osa.reshape", "osa.transpose"}));
}
TEST_F(IntegerTest, RowSoftmaxDividesByTheSumOfItsRow) {
  // Exponentials of the distances from 3: 4, 2, 1, 0; 100 / 7 and 100 / 16.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u5, 0:25>> {
      %y = osa.row_softmax %x {exponentials = array<i64: 4, 2, 1, 0>, numerator = 100 : i64, shift = 1 : i64}
        : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<u5, 0:25>>
      return %y : tensor<2x4x!num.int<u5, 0:25>>
    })",
                 {Tensor::ofInts({2, 4}, {3, 2, 1, 0, 2, 2, 2, 2})}),
            (Ints{25, 14, 7, 0, 12, 12, 12, 12}));
}

TEST_F(IntegerTest, RowNormCentersAndScales) {
  // 1 3 1 3 has variance 1. W = 4·20 − 64 + 1 = 17: j = 3, T = ⌊√(17·4^13)⌋,
  // and (4·1 − 8)·R·2^4 / 2^19 is −15.5. The second row is constant.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<s7, -33:33>> {
      %y = osa.row_norm %x {epsilon = 1 : i64, fraction = 4 : i64}
        : (tensor<2x4x!num.int<u2>>) -> tensor<2x4x!num.int<s7, -33:33>>
      return %y : tensor<2x4x!num.int<s7, -33:33>>
    })",
                 {Tensor::ofInts({2, 4}, {1, 3, 1, 3, 2, 2, 2, 2})}),
            (Ints{-16, 16, -16, 16, 0, 0, 0, 0}));
}

TEST_F(IntegerTest, RowNormWithoutACenterTakesTheZeroOff) {
  // 3 and −4 have the mean square 12.5; W = 2·25 + 1 = 51.
  EXPECT_EQ(ints(R"(
    func.func @f(%x: tensor<2x!num.int<u3>>) -> tensor<2x!num.int<s6, -23:23>> {
      %y = osa.row_norm %x {centered = false, zero = 4 : i64, epsilon = 1 : i64, fraction = 4 : i64}
        : (tensor<2x!num.int<u3>>) -> tensor<2x!num.int<s6, -23:23>>
      return %y : tensor<2x!num.int<s6, -23:23>>
    })",
                 {Tensor::ofInts({2}, {7, 0})}),
            (Ints{13, -18}));
}
} // namespace
