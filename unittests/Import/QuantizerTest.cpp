// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways in which files express quantization, and which of them are refused.
#include "ModelBuilder.h"

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;
using Values = std::vector<float>;

namespace {
TEST(ImportQdq, PerChannelConvolution) {
  ModelBuilder m;
  m.input("x", {1, 1, 1, 2});
  m.floats("sx", {}, {0.5f});
  m.ints("zx", {}, TensorProto::UINT8, {128});
  m.ints("w", {2, 1, 1, 2}, TensorProto::INT8, {1, 2, 3, -4});
  m.floats("sw", {2}, {1, 0.25f});
  m.ints("zw", {2}, TensorProto::INT8, {0, 0});
  m.ints("b", {2}, TensorProto::INT32, {2, 8});
  m.floats("sb", {2}, {0.5f, 0.125f});
  m.node("QuantizeLinear", {"x", "sx", "zx"}, {"xq"});
  m.node("DequantizeLinear", {"xq", "sx", "zx"}, {"xd"});
  m.set(m.node("DequantizeLinear", {"w", "sw", "zw"}, {"wd"}), "axis",
        int64_t(0));
  m.set(m.node("DequantizeLinear", {"b", "sb"}, {"bd"}), "axis", int64_t(0));
  m.node("Conv", {"xd", "wd", "bd"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("tensor<2x1x2x1x!num.int<s8>>")) << i.text();
  EXPECT_TRUE(i.contains("zero_point = dense<128>"));
  EXPECT_TRUE(i.contains("!num.int<u8>"));
  EXPECT_TRUE(i.contains("tensor<2x!num.int<s32>>"));
  // x = (1.3, −2.2) becomes (1.5, −2) in steps of one half.
  EXPECT_EQ(valuesOf(i, {{1.3f, -2.2f}}),
            (Values{1.5f - 4 + 1, 1.125f + 2 + 1}));
}

TEST(ImportQdq, ChannelAxisFollowsThePermutation) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.ints("w", {2, 3}, TensorProto::INT8, {1, 2, 3, 4, 5, 6});
  m.floats("s", {3}, {1, 10, 100});
  m.node("DequantizeLinear", {"w", "s"}, {"wd"}); // axis 1
  m.node("MatMul", {"x", "wd"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("axis = 0")) << i.text();
  EXPECT_TRUE(i.contains("tensor<3x2x!num.int<s8>>"));
  EXPECT_EQ(valuesOf(i, {{1, 1}}), (Values{5, 70, 900}));
}

TEST(ImportQdq, ActivationAxisFollowsChannelsLast) {
  ModelBuilder m;
  m.input("x", {1, 2, 1, 1});
  m.floats("w", {2, 2, 1, 1}, {1, 0, 0, 1});
  m.floats("s", {2}, {1, 0.5f});
  m.ints("z", {2}, TensorProto::INT16, {0, 0});
  m.node("Conv", {"x", "w"}, {"a"});
  m.node("QuantizeLinear", {"a", "s", "z"}, {"q"});
  m.node("DequantizeLinear", {"q", "s", "z"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("axis = 3")) << i.text();
  EXPECT_EQ(valuesOf(i, {{1.4f, 1.4f}}), (Values{1, 1.5f}));
}

TEST(ImportQdq, IntegerBorderBecomesFloat) {
  ModelBuilder m;
  m.input("x", {1, 3}, TensorProto::UINT8);
  m.floats("s", {}, {0.5f});
  m.ints("z", {}, TensorProto::UINT8, {10});
  m.node("DequantizeLinear", {"x", "s", "z"}, {"a"});
  m.node("Relu", {"a"}, {"b"});
  m.node("QuantizeLinear", {"b", "s", "z"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("(%arg0: tensor<1x3xf32>")) << i.text();
  EXPECT_EQ(valuesOf(i, {{0, 10, 255}}), (Values{10, 10, 255}));
}

TEST(ImportQdq, WhatCannotBeBuiltIsRefusedByName) {
  ModelBuilder m(21, 10);
  m.input("x", {1, 2});
  m.input("scale", {});
  m.floats("zero", {}, {0});
  m.floats("nan", {}, {NAN});
  m.floats("inf", {}, {INFINITY});
  m.floats("minus", {}, {-1});
  m.floats("good", {}, {1});
  m.floats("three", {3}, {1, 1, 1});
  m.floats("blocks", {1, 2}, {1, 1});
  m.ints("z8", {}, TensorProto::INT8, {0});
  m.ints("z32", {}, TensorProto::INT32, {0});
  int n = 0;
  auto quantize = [&](const char *scale, const char *zero) {
    std::string out = "q" + std::to_string(n++);
    m.node("QuantizeLinear", {"x", scale, zero}, {out});
    m.output(out);
  };
  for (const char *s :
       {"zero", "nan", "inf", "minus", "three", "blocks", "scale"})
    quantize(s, "");
  quantize("good", "z32");
  m.node("DequantizeLinear", {"x", "good"}, {"d"});
  m.output("d");
  Imported i(m);
  EXPECT_FALSE(i.module);
  EXPECT_EQ(i.refusals.size(), 7u) << i.text();
  EXPECT_TRUE(i.contains("QuantizeLinear_q0 | QuantizeLinear | its scale holds "
                         "the value 0"))
      << i.text();
  EXPECT_TRUE(i.contains("its scale holds the value nan"));
  EXPECT_TRUE(i.contains("without a block_size"));
  EXPECT_TRUE(i.contains("its input has the element type float"));
}

/// QKeras' exporter writes scales of 1, zero points and widths as int64.
TEST(ImportQonnx, ParametersMayBeIntegers) {
  auto model = [](int type) {
    ModelBuilder m(9);
    m.input("x", {1, 3});
    auto parameter = [&](const std::string &name, int64_t value) {
      auto &t = m.tensor(name, {}, type);
      type == TensorProto::FLOAT ? t.add_float_data(float(value))
                                 : t.add_int64_data(value);
    };
    parameter("s", 2);
    parameter("z", 3);
    parameter("b", 4);
    m.node("Quant", {"x", "s", "z", "b"}, {"y"}, "qonnx.custom_op.general");
    m.output("y");
    return m;
  };
  Imported whole(model(TensorProto::INT64)), real(model(TensorProto::FLOAT));
  // (x / 2 + 3) rounds to 4 and saturates at 7 and −8: worth 2, 8, −22.
  EXPECT_EQ(valuesOf(whole, {{2.5f, 100, -100}}), (Values{2, 8, -22}));
  EXPECT_EQ(whole.text(), real.text());
  // A zero point that float32 cannot represent is refused.
  ModelBuilder wide = model(TensorProto::INT64);
  wide.graph().mutable_initializer(0)->set_int64_data(0, (1 << 24) + 1);
  Imported refused(wide);
  EXPECT_FALSE(refused.module);
  EXPECT_TRUE(refused.contains("its scale is not a constant of floats"));
}

TEST(ImportQonnx, AllFaultsOfAQuantizerAreTold) {
  ModelBuilder m(9);
  m.input("x", {1, 3});
  m.input("z", {});
  m.floats("s", {}, {-1});
  m.floats("b", {}, {2.5f});
  auto &n =
      m.node("Quant", {"x", "s", "z", "b"}, {"y"}, "qonnx.custom_op.general");
  m.set(n, "rounding_mode", "SIDEWAYS");
  m.output("y");
  Imported i(m);
  EXPECT_FALSE(i.module);
  EXPECT_EQ(i.refusals.size(), 4u) << i.text();
  EXPECT_TRUE(i.contains("its scale holds the value -1"));
  EXPECT_TRUE(i.contains("its zero point is not a constant"));
  EXPECT_TRUE(i.contains("its bit width is 2.5"));
  EXPECT_TRUE(i.contains("its rounding mode is 'SIDEWAYS'"));
}

/// x → Quant → y with the given parameters.
ModelBuilder quantModel(float scale, float zero, float bits,
                        const char *domain = "qonnx.custom_op.general") {
  ModelBuilder m(9);
  m.addDomain(domain, 1);
  m.input("x", {1, 4});
  m.floats("s", {1}, {scale});
  m.floats("z", {1}, {zero});
  m.floats("bits", {}, {bits});
  m.node("Quant", {"x", "s", "z", "bits"}, {"y"}, domain);
  m.output("y");
  return m;
}

TEST(ImportQonnx, QuantRangesAndRounding) {
  ModelBuilder m = quantModel(0.5f, 0, 3);
  auto &n = *m.graph().mutable_node(0);
  m.set(n, "signed", int64_t(1));
  m.set(n, "narrow", int64_t(1));
  m.set(n, "rounding_mode", "FLOOR");
  Imported i(m);
  EXPECT_TRUE(i.contains("!num.int<s3, -3:3>")) << i.text();
  EXPECT_EQ(valuesOf(i, {{-9, -0.1f, 0.9f, 9}}),
            (Values{-1.5f, -0.5f, 0.5f, 1.5f}));

  ModelBuilder u = quantModel(1, 0, 2, "finn.custom_op.general");
  u.set(*u.graph().mutable_node(0), "signed", int64_t(0));
  Imported j(u);
  EXPECT_TRUE(j.contains("!num.int<u2>")) << j.text();
  EXPECT_EQ(valuesOf(j, {{-1, 0.5f, 1.5f, 9}}), (Values{0, 0, 2, 3}));
}

TEST(ImportQonnx, OneSignedBitIsBipolar) {
  ModelBuilder m = quantModel(0.5f, 0, 1, "onnx.brevitas");
  Imported i(m);
  EXPECT_TRUE(i.contains("rounding(sign)")) << i.text();
  EXPECT_EQ(valuesOf(i, {{-9, -0.1f, 0, 9}}),
            (Values{-0.5f, -0.5f, 0.5f, 0.5f}));
}

TEST(ImportQonnx, TransposedBipolarWeights) {
  ModelBuilder m(9);
  m.input("x", {1, 2});
  m.floats("w", {3, 2}, {1, -1, -0.5f, -0.25f, 0, 2});
  m.floats("s", {3, 1}, {1, 2, 4});
  m.node("BipolarQuant", {"w", "s"}, {"wq"}, "onnx.brevitas");
  m.set(m.node("Transpose", {"wq"}, {"wt"}), "perm", {1, 0});
  m.node("MatMul", {"x", "wt"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(i.count("osa.transpose"), 0) << i.text();
  EXPECT_TRUE(i.contains("tensor<3x2x!num.int<s2, -1:1>>"));
  EXPECT_TRUE(i.contains("axis = 0"));
  EXPECT_EQ(valuesOf(i, {{3, 5}}), (Values{-2, -16, 32}));
}

TEST(ImportQonnx, WhatCannotBeBuiltIsRefusedByName) {
  auto refusal = [](const ModelBuilder &m) {
    Imported i(m);
    EXPECT_FALSE(i.module);
    return i.text();
  };
  EXPECT_NE(refusal(quantModel(1, 0, 2.5f)).find("its bit width is 2.5"),
            std::string::npos);
  EXPECT_NE(refusal(quantModel(1, 0, 17)).find("its bit width is 17"),
            std::string::npos);
  EXPECT_NE(refusal(quantModel(0, 0, 4)).find("its scale holds the value 0"),
            std::string::npos);
  EXPECT_NE(refusal(quantModel(1, 0.5f, 4)).find("its zero point holds"),
            std::string::npos);
  EXPECT_NE(refusal(quantModel(1, 0, 4, "com.example"))
                .find("Quant of domain 'com.example' is not supported"),
            std::string::npos);
  ModelBuilder m = quantModel(1, 0, 4);
  m.set(*m.graph().mutable_node(0), "rounding_mode", "STOCHASTIC");
  EXPECT_NE(refusal(m).find("its rounding mode is 'STOCHASTIC'"),
            std::string::npos);
  importer::ImportOptions raw;
  raw.rawIntegerFraction = 7;
  Imported i(quantModel(1, 0, 4), raw);
  EXPECT_TRUE(i.contains("leave out --raw-integers"));
}

TEST(ImportQonnx, ZeroPointIsAddedBeforeRounding) {
  // round(x + 1) and round(x) + 1 differ at ties.
  Imported i(quantModel(1, 1, 4));
  EXPECT_EQ(valuesOf(i, {{0.5f, 1.5f, -0.5f, 9}}), (Values{1, 1, -1, 6}))
      << i.text();
}

TEST(ImportQonnx, EveryRoundingMode) {
  auto rounded = [](const char *mode) {
    ModelBuilder m = quantModel(1, 0, 4);
    m.set(*m.graph().mutable_node(0), "rounding_mode", mode);
    Imported i(m);
    return valuesOf(i, {{0.5f, 1.25f, -0.5f, -1.75f}});
  };
  EXPECT_EQ(rounded("UP"), (Values{1, 2, -1, -2}));
  EXPECT_EQ(rounded("DOWN"), (Values{0, 1, 0, -1}));
  EXPECT_EQ(rounded("HALF_UP"), (Values{1, 1, -1, -2}));
  EXPECT_EQ(rounded("HALF_DOWN"), (Values{0, 1, 0, -2}));
  EXPECT_EQ(rounded("ROUND"), (Values{0, 1, 0, -2}));
  EXPECT_EQ(rounded("CEIL"), (Values{1, 2, 0, -1}));
  EXPECT_EQ(rounded("FLOOR"), (Values{0, 1, -1, -2}));
}

TEST(ImportQonnx, TruncDropsBits) {
  ModelBuilder m(9);
  m.input("x", {1, 4});
  for (auto [name, value] : {std::pair("s", 0.5f),
                             {"z", 0.f},
                             {"in", 6.f},
                             {"out", 4.f},
                             {"so", 2.f}})
    m.floats(name, {}, {value});
  m.node("Trunc", {"x", "s", "z", "in", "out"}, {"y"},
         "qonnx.custom_op.general");
  m.node("Trunc", {"x", "s", "z", "in", "so", "out"}, {"v"},
         "qonnx.custom_op.general");
  m.output("y");
  m.output("v");
  Imported i(m);
  // Codes 7, −7, 14, 40 become ⌊code / 4⌋ = 1, −2, 3, 10; the later form
  // clamps to −8 … 7 and keeps the size.
  auto out = i.run({{3.5f, -3.5f, 7, 20}});
  EXPECT_EQ(out[0].floats, (Values{0.5f, -1, 1.5f, 5}));
  EXPECT_EQ(out[1].floats, (Values{2, -4, 6, 14}));
}

TEST(ImportFinn, MultiThreshold) {
  ModelBuilder m(9);
  m.input("x", {1, 2, 1, 2});
  m.floats("t", {2, 3}, {0, 2, 1, -1, -1, 5});
  auto &n =
      m.node("MultiThreshold", {"x", "t"}, {"y"}, "finn.custom_op.general");
  m.set(n, "out_scale", 2.0f);
  m.set(n, "out_bias", -1.0f);
  m.set(n, "out_dtype", "INT4");
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, -0.5f, -1, 4.9f}}), (Values{3, -1, 3, 3}))
      << i.text();
}

TEST(ImportQdq, Blocks) {
  ModelBuilder m(21);
  m.input("x", {1, 3});
  m.floats("s", {1, 2}, {0.5f, 2});
  m.ints("z", {1, 2}, onnx::TensorProto::INT8, {1, -1});
  auto blocks = [&](onnx::NodeProto &n, int64_t size) {
    m.set(n, "axis", int64_t(1));
    m.set(n, "block_size", size);
  };
  blocks(m.node("QuantizeLinear", {"x", "s", "z"}, {"q"}), 2);
  blocks(m.node("DequantizeLinear", {"q", "s", "z"}, {"y"}), 2);
  m.ints("w", {1, 3}, onnx::TensorProto::INT8, {2, 3, 4});
  blocks(m.node("DequantizeLinear", {"w", "s", "z"}, {"c"}), 2);
  m.node("Add", {"y", "c"}, {"v"});
  m.output("y");
  m.output("v");
  Imported i(m);
  auto out = i.run({{1.25f, -500, 5}});
  ASSERT_EQ(out.size(), 2u) << i.text();
  EXPECT_EQ(out[0].floats, (Values{1, -64.5f, 4}));
  EXPECT_EQ(out[1].floats, (Values{1.5f, -63.5f, 14}));
  blocks(m.node("DequantizeLinear", {"w", "s", "z"}, {"bad"}), 1);
  m.output("bad");
  Imported refused(m);
  EXPECT_TRUE(refused.contains("its scale has the shape [1, 2], which does not "
                               "fit [1, 3] along axis 1 in "
                               "blocks of 1"))
      << refused.text();
}
} // namespace
