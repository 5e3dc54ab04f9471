// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that compute on integers: those with built-in quantization, those
// with integer sums, and integer arithmetic between float tensors.
#include "ModelBuilder.h"

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;
using Values = std::vector<float>;

namespace {
/// A graph input of bytes with the names x, xs (scale), xz (zero point).
void byteInput(ModelBuilder &m, const std::vector<int64_t> &shape, float scale,
               int zero, const std::string &x = "x") {
  m.input(x, shape, TensorProto::UINT8);
  m.floats(x + "s", {}, {scale});
  m.ints(x + "z", {}, TensorProto::UINT8, {zero});
}

void byteOutput(ModelBuilder &m, float scale, int zero) {
  m.floats("ys", {}, {scale});
  m.ints("yz", {}, TensorProto::UINT8, {zero});
  m.output("y");
}

TEST(ImportQLinear, ConvolutionWithBias) {
  ModelBuilder m;
  byteInput(m, {1, 1, 1, 2}, 0.5f, 10);
  m.ints("w", {2, 1, 1, 2}, TensorProto::INT8, {1, 2, 3, -4});
  m.floats("ws", {2}, {1, 0.25f});
  m.ints("wz", {2}, TensorProto::INT8, {0, 1});
  byteOutput(m, 0.5f, 100);
  m.ints("b", {2}, TensorProto::INT32, {4, -8});
  m.node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"},
         {"y"});
  Imported i(m);
  // x represents (1, −1.5). Channel 0: 1 − 3 + 4 · ½ = 0; channel 1, weights 2
  // and −5 quarters: ½ + 1.875 − 8 · ⅛ = 1.375, which rounds to 3 halves.
  EXPECT_EQ(valuesOf(i, {{12, 7}}), (Values{100, 103}));
}

TEST(ImportQLinear, MatrixProductPerColumn) {
  ModelBuilder m;
  byteInput(m, {1, 2}, 1, 0);
  m.ints("w", {2, 2}, TensorProto::INT8, {1, 2, 3, 4});
  m.floats("ws", {2}, {1, 2});
  m.ints("wz", {2}, TensorProto::INT8, {0, 0});
  byteOutput(m, 1, 0);
  m.node("QLinearMatMul", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"},
         {"y"});
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, 2}}), (Values{7, 20}));
}

TEST(ImportQLinear, ProductOfTwoTensors) {
  ModelBuilder m;
  byteInput(m, {2, 2, 3}, 1, 1);
  byteInput(m, {3, 2}, 0.5f, 2, "u");
  byteOutput(m, 1, 0);
  m.node("QLinearMatMul", {"x", "xs", "xz", "u", "us", "uz", "ys", "yz"},
         {"y"});
  m.node("DequantizeLinear", {"x", "xs", "xz"}, {"xd"});
  m.node("DequantizeLinear", {"u", "us", "uz"}, {"ud"});
  m.set(m.node("Einsum", {"xd", "ud"}, {"e"}), "equation", "abc,cd->dba");
  m.output("e");
  Imported i(m);
  // x: [[1, 2, 3], [0, 0, 1]] and twice as much; u: [[1, 0], [0, 1], [1, 1]].
  auto out = i.run({{2, 3, 4, 1, 1, 2, 3, 5, 7, 1, 1, 3}, {4, 2, 2, 4, 4, 4}});
  ASSERT_EQ(out.size(), 2u) << i.text();
  EXPECT_EQ(out[0].floats, (Values{4, 5, 1, 1, 8, 10, 2, 2}));
  EXPECT_EQ(out[1].floats, (Values{4, 8, 1, 2, 5, 10, 1, 2}));
}

TEST(ImportQLinear, SumsAndConcatenations) {
  ModelBuilder m;
  byteInput(m, {1, 2}, 0.5f, 0);
  byteInput(m, {1, 2}, 0.25f, 4, "u");
  byteOutput(m, 0.25f, 0);
  m.node("QLinearAdd", {"x", "xs", "xz", "u", "us", "uz", "ys", "yz"}, {"a"},
         "com.microsoft");
  m.node("QLinearMul", {"x", "xs", "xz", "u", "us", "uz", "ys", "yz"}, {"b"},
         "com.microsoft");
  auto &n =
      m.node("QLinearConcat", {"ys", "yz", "a", "ys", "yz", "b", "ys", "yz"},
             {"y"}, "com.microsoft");
  m.set(n, "axis", int64_t(1));
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{2, 4}, {8, 12}}), (Values{8, 16, 4, 16}));
}

TEST(ImportQLinear, PoolsInEitherLayout) {
  for (int64_t last : {0, 1}) {
    ModelBuilder m;
    byteInput(m,
              last ? std::vector<int64_t>{1, 1, 2, 2}
                   : std::vector<int64_t>{1, 2, 1, 2},
              1, 0);
    byteOutput(m, 0.5f, 0);
    auto &n = m.node("QLinearGlobalAveragePool", {"x", "xs", "xz", "ys", "yz"},
                     {"y"}, "com.microsoft");
    m.set(n, "channels_last", last);
    Imported i(m);
    // Channels (1, 3) and (2, 5), or, channels-last, (1, 2) and (3, 5).
    EXPECT_EQ(valuesOf(i, {last ? Values{1, 2, 3, 5} : Values{1, 3, 2, 5}}),
              (Values{4, 7}));
  }
}

TEST(ImportQonnx, ChannelsLast) {
  const char *domain = "qonnx.custom_op.channels_last";
  ModelBuilder m;
  m.addDomain(domain, 1);
  m.input("x", {1, 2, 2, 2});
  m.floats("w", {1, 1, 2, 2}, {1, 10, 100, 1000});
  auto &conv = m.node("Conv", {"x", "w"}, {"c"}, domain);
  m.set(conv, "kernel_shape", {1, 2});
  m.floats("two", {1}, {2});
  m.floats("one", {1}, {1});
  m.floats("none", {1}, {0});
  m.set(m.node("BatchNormalization", {"c", "two", "one", "none", "one"}, {"b"},
               domain),
        "epsilon", 0.0f);
  m.set(m.node("MaxPool", {"b"}, {"y"}, domain), "kernel_shape", {2, 1});
  m.output("y");
  Imported i(m);
  // Rows (1, 2), (3, 4) and (5, 6), (7, 8): 4321 and 8765.
  EXPECT_EQ(valuesOf(i, {{1, 2, 3, 4, 5, 6, 7, 8}}), (Values{17531}))
      << i.text();
  EXPECT_EQ(i.count("osa.transpose"), 0);
}

TEST(ImportQLinear, RefusalsNameTheOperationOfTheFile) {
  ModelBuilder m;
  byteInput(m, {1, 2}, 1, 0);
  byteInput(m, {3, 2}, 1, 0, "w");
  byteOutput(m, 1, 0);
  m.node("QLinearMatMul", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"},
         {"y"});
  Imported i(m);
  ASSERT_EQ(i.refusals.size(), 1u);
  EXPECT_EQ(i.refusals[0].op, "QLinearMatMul");
  EXPECT_EQ(i.refusals[0].node, "QLinearMatMul_y");
}

TEST(ImportInteger, ConvolutionAndMatrixProduct) {
  ModelBuilder m;
  byteInput(m, {1, 1, 1, 2}, 1, 3);
  m.ints("w", {2, 1, 1, 2}, TensorProto::UINT8, {1, 2, 3, 4});
  m.ints("wz", {2}, TensorProto::UINT8, {0, 5});
  m.node("ConvInteger", {"x", "w", "xz", "wz"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{4, 1}}), (Values{1 - 4, -2 + 2}));

  ModelBuilder p;
  byteInput(p, {1, 2}, 1, 3);
  p.ints("w", {2, 1}, TensorProto::INT8, {5, -6});
  p.floats("ws", {}, {0.5f});
  p.ints("wz", {}, TensorProto::INT8, {1});
  p.floats("b", {1}, {10});
  p.node("MatMulIntegerToFloat", {"x", "w", "xs", "ws", "xz", "wz", "b"}, {"y"},
         "com.microsoft");
  p.output("y");
  Imported j(p);
  EXPECT_EQ(valuesOf(j, {{4, 1}}), (Values{10 + 0.5f * (4 + 14)}));
}

TEST(ImportInteger, ArithmeticBetweenCasts) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.set(m.node("Cast", {"x"}, {"a"}), "to", int64_t(TensorProto::INT64));
  m.int64s("k", {3});
  m.int64s("d", {4});
  m.node("Mul", {"a", "k"}, {"b"});
  m.node("Div", {"b", "d"}, {"c"});
  m.set(m.node("Cast", {"c"}, {"y"}), "to", int64_t(TensorProto::FLOAT));
  m.output("y");
  Imported i(m);
  // Casts and divisions truncate towards zero.
  EXPECT_EQ(valuesOf(i, {{2.7f, -2.7f, 1, -3}}), (Values{1, -1, 0, -2}));
}

TEST(ImportInteger, RoundingOfReals) {
  for (auto [op, expected] : {std::pair{"Floor", Values{-2, 1, 2}},
                              {"Ceil", Values{-1, 2, 3}},
                              {"Round", Values{-2, 2, 2}}}) {
    ModelBuilder m;
    m.input("x", {1, 3});
    m.node(op, {"x"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_EQ(valuesOf(i, {{-1.5f, 1.5f, 2.5f}}), expected) << op;
  }
}

TEST(ImportActivations, WrittenOut) {
  ModelBuilder m;
  m.input("x", {1, 3});
  m.floats("s", {3}, {0.5f, 0.25f, 2});
  m.set(m.node("HardSigmoid", {"x"}, {"a"}), "alpha", 0.25f);
  m.node("PRelu", {"x", "s"}, {"b"});
  m.set(m.node("Elu", {"x"}, {"c"}), "alpha", 2.0f);
  m.node("HardSwish", {"x"}, {"d"});
  for (const char *name : {"a", "b", "c", "d"})
    m.output(name);
  Imported i(m);
  std::vector<Tensor> out = i.run({{-3, 0, 4}});
  ASSERT_EQ(out.size(), 4u) << i.text();
  EXPECT_EQ(out[0].floats, (Values{0, 0.5f, 1}));
  EXPECT_EQ(out[1].floats, (Values{-1.5f, 0, 4 * 1.0f}));
  EXPECT_FLOAT_EQ(out[2].floats[0], 2 * (std::exp(-3.0f) - 1));
  EXPECT_EQ(out[2].floats[2], 4);
  EXPECT_EQ(out[3].floats, (Values{0, 0, 4}));
}

TEST(ImportInteger, CastsThatWrapDoSoOnTheHost) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.set(m.node("Cast", {"x"}, {"a"}), "to", int64_t(TensorProto::INT32));
  m.set(m.node("Cast", {"a"}, {"y"}), "to", int64_t(TensorProto::UINT8));
  m.output("y");
  Imported i(m);
  std::vector<Tensor> out = i.run({{-1.5f, 2.5f, 256, 300}});
  ASSERT_EQ(out.size(), 1u) << i.text();
  EXPECT_EQ(out[0].ints, (std::vector<int64_t>{255, 2, 0, 44}));
}

TEST(ImportInteger, OperationsOnRealsRefuseIntegers) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.set(m.node("Cast", {"x"}, {"a"}), "to", int64_t(TensorProto::INT32));
  m.node("Sigmoid", {"a"}, {"y"});
  m.output("y");
  Imported i(m);
  ASSERT_EQ(i.refusals.size(), 1u);
  EXPECT_NE(i.refusals[0].reason.find("is not defined"), std::string::npos);
}

TEST(ImportInteger, InputTypes) {
  ModelBuilder m;
  m.input("x", {1, 2}, TensorProto::INT32);
  m.ints("w", {2, 1}, TensorProto::INT32, {100, -3});
  m.node("MatMul", {"x", "w"}, {"y"});
  m.output("y");
  Imported wide(m);
  EXPECT_TRUE(wide.contains("%arg0: tensor<1x2xi64>")) << wide.text();
  importer::ImportOptions options;
  options.inputTypes["x"] = {false, 8};
  Imported i(m, options);
  EXPECT_TRUE(i.contains("!num.int<u8>")) << i.text();
  EXPECT_EQ(valuesOf(i, {{3, 255}}), (Values{300 - 765}));
  options.inputTypes["z"] = {true, 8};
  Imported unknown(m, options);
  ASSERT_EQ(unknown.refusals.size(), 1u);
  EXPECT_EQ(unknown.refusals[0].node, "z");
}

TEST(ImportInteger, FourBitWeights) {
  ModelBuilder m;
  m.input("x", {1, 3});
  auto &w = m.tensor("w", {3, 1}, 22); // int4: 1, −2, 7, two in a byte
  w.set_raw_data(std::string("\xe1\x07", 2));
  m.floats("s", {}, {0.5f});
  m.node("DequantizeLinear", {"w", "s"}, {"d"});
  m.node("MatMul", {"x", "d"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("!num.int<s4>")) << i.text();
  EXPECT_EQ(valuesOf(i, {{1, 1, 1}}), (Values{3}));
}

TEST(ImportInteger, HalfPrecisionTensors) {
  ModelBuilder m;
  m.input("x", {1, 1}, TensorProto::FLOAT16);
  auto &w = m.tensor("w", {1, 1}, TensorProto::FLOAT16);
  w.add_int32_data(0x3e00); // 1.5
  m.node("MatMul", {"x", "w"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{2}}), (Values{3}));
}
} // namespace
