// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each family of operations: the shape and structure of what is imported, and
// its values on small inputs.
#include "ModelBuilder.h"

using namespace rhizome;
using namespace rhizome::test;
using Values = std::vector<float>;

namespace {
Values ramp(size_t n) {
  Values v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = float(i);
  return v;
}

TEST(ImportConv, ChannelsLastWithoutTransposesBetween) {
  ModelBuilder m;
  m.input("x", {1, 3, 8, 8});
  m.ramp("w1", {4, 3, 3, 3}, 0.5f);
  m.ramp("b1", {4});
  m.ramp("w2", {4, 1, 3, 3}, 0.5f);
  m.ramp("shift", {4, 1, 1});
  auto &c1 = m.node("Conv", {"x", "w1", "b1"}, {"y1"});
  m.set(c1, "auto_pad", "SAME_UPPER");
  m.set(c1, "strides", {2, 2});
  m.node("Relu", {"y1"}, {"y2"});
  auto &c2 = m.node("Conv", {"y2", "w2"}, {"y3"});
  m.set(c2, "group", int64_t(4));
  m.set(c2, "pads", {1, 1, 1, 1});
  m.set(c2, "kernel_shape", {3, 3});
  m.node("Add", {"y3", "shift"}, {"y4"});
  m.output("y4");
  Imported i(m);
  ASSERT_TRUE(i.module) << i.text();
  EXPECT_EQ(i.count("osa.transpose"), 2) << i.text();
  EXPECT_TRUE(i.contains("pads = array<i64: 0, 0, 1, 1>"));
  EXPECT_TRUE(i.contains("tensor<4x3x3x3xf32>"));
  EXPECT_TRUE(i.contains("groups = 4"));
  // The addend is one value per channel, which is last.
  EXPECT_TRUE(i.contains("(tensor<1x4x4x4xf32>, tensor<4xf32>)")) << i.text();
  EXPECT_TRUE(i.contains("rhizome.name = \"x\""));
  EXPECT_TRUE(i.contains("rhizome.name = \"y4\""));
}

TEST(ImportConv, ValuesOfAsymmetricKernel) {
  ModelBuilder m;
  m.input("x", {1, 2, 2, 3});
  m.floats("w", {1, 2, 1, 2}, {1, 10, 100, 1000});
  auto &c = m.node("Conv", {"x", "w"}, {"y"});
  m.set(c, "dilations", {1, 2});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(12)}),
            (Values{0 + 20 + 600 + 8000, 3 + 50 + 900 + 11000}));
}

TEST(ImportConv, OneDimension) {
  ModelBuilder m;
  m.input("x", {1, 2, 5});
  m.floats("w", {1, 2, 3}, {1, 2, 3, 0, 0, 1});
  m.floats("b", {1}, {0.5f});
  auto &c = m.node("Conv", {"x", "w", "b"}, {"y"});
  m.set(c, "pads", {1, 0});
  m.node("Relu", {"y"}, {"z"});
  m.output("z");
  Imported i(m);
  EXPECT_TRUE(i.contains("-> (tensor<1x1x4xf32>")) << i.text();
  EXPECT_EQ(valuesOf(i, {ramp(10)}),
            (Values{3 + 6 + 0.5f, 2 + 6 + 7 + 0.5f, 1 + 4 + 9 + 8 + 0.5f,
                    2 + 6 + 12 + 9 + 0.5f}));
}

TEST(ImportConv, SamePaddingLowerAndValid) {
  for (auto [mode, pads] :
       {std::pair("SAME_LOWER", "pads = array<i64: 1, 1, 0, 0>"),
        std::pair("SAME_UPPER", "pads = array<i64: 0, 0, 1, 1>"),
        std::pair("VALID", "pads = array<i64: 0, 0, 0, 0>")}) {
    ModelBuilder m;
    m.input("x", {1, 1, 5, 5});
    m.ramp("w", {1, 1, 2, 2});
    m.set(m.node("Conv", {"x", "w"}, {"y"}), "auto_pad", mode);
    m.output("y");
    Imported i(m);
    EXPECT_TRUE(i.contains(pads)) << i.text();
  }
}

TEST(ImportConv, WhatDoesNotFitIsRefused) {
  ModelBuilder m;
  m.input("x", {1, 3, 8, 8});
  m.input("weights", {4, 3, 3, 3});
  m.input("batch", {2, 3, 8, 8});
  m.ramp("w", {4, 2, 3, 3});
  m.ramp("ok", {4, 3, 3, 3});
  m.ramp("big", {4, 3, 9, 9});
  m.node("Conv", {"x", "w"}, {"a"});
  m.node("Conv", {"x", "weights"}, {"b"});
  m.node("Conv", {"batch", "ok"}, {"c"});
  m.node("Conv", {"x", "big"}, {"d"});
  m.set(m.node("Conv", {"x", "ok"}, {"e"}), "activation", "Relu");
  m.set(m.node("Conv", {"x", "ok"}, {"f"}), "pads", {-1, 0, 0, 0});
  for (const char *name : {"a", "b", "c", "d", "e", "f"})
    m.output(name);
  Imported i(m);
  EXPECT_FALSE(i.module);
  EXPECT_EQ(i.refusals.size(), 4u) << i.text();
  EXPECT_TRUE(i.contains("Conv_a | Conv | its input [1, 3, 8, 8] and weights "
                         "[4, 2, 3, 3] do not fit"));
  EXPECT_TRUE(i.contains("Conv_d | Conv | its window does not fit"));
  EXPECT_TRUE(i.contains("'activation' is not supported"));
}

TEST(ImportPool, CeilModeBecomesPadding) {
  ModelBuilder m;
  m.input("x", {1, 1, 5, 5});
  auto &p = m.node("MaxPool", {"x"}, {"y"});
  m.set(p, "kernel_shape", {2, 2});
  m.set(p, "strides", {2, 2});
  m.set(p, "ceil_mode", int64_t(1));
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("pads = array<i64: 0, 0, 1, 1>")) << i.text();
  EXPECT_EQ(valuesOf(i, {ramp(25)}), (Values{6, 8, 9, 16, 18, 19, 21, 23, 24}));
}

TEST(ImportPool, WindowThatStartsInThePaddingIsLeftOut) {
  ModelBuilder m;
  m.input("x", {1, 1, 1, 4});
  auto &p = m.node("MaxPool", {"x"}, {"y"});
  m.set(p, "kernel_shape", {1, 2});
  m.set(p, "strides", {1, 3});
  m.set(p, "pads", {0, 1, 0, 1});
  m.set(p, "ceil_mode", int64_t(1));
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(4)}), (Values{0, 3})) << i.text();
}

TEST(ImportPool, AverageCountsExplicitPaddingOnly) {
  for (int64_t count : {0, 1}) {
    ModelBuilder m(19);
    m.input("x", {1, 1, 1, 4});
    auto &p = m.node("AveragePool", {"x"}, {"y"});
    m.set(p, "kernel_shape", {1, 2});
    m.set(p, "strides", {1, 2});
    m.set(p, "pads", {0, 1, 0, 0});
    m.set(p, "ceil_mode", int64_t(1));
    m.set(p, "count_include_pad", count);
    m.output("y");
    Imported i(m);
    // The windows are (pad, 4), (8, 12) and (16, beyond).
    EXPECT_EQ(valuesOf(i, {{4, 8, 12, 16}}),
              (Values{count ? 2.f : 4.f, 10, 16}))
        << i.text();
  }
}

TEST(ImportPool, Global) {
  ModelBuilder m;
  m.input("x", {1, 2, 2, 2});
  m.node("GlobalAveragePool", {"x"}, {"a"});
  m.node("GlobalMaxPool", {"x"}, {"b"});
  m.set(m.node("Concat", {"a", "b"}, {"c"}), "axis", int64_t(1));
  m.node("Flatten", {"c"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(8)}), (Values{1.5f, 5.5f, 3, 7})) << i.text();
}

TEST(ImportPool, MeanOverAllPositions) {
  ModelBuilder m;
  m.input("x", {1, 2, 2, 2});
  auto &mean = m.node("ReduceMean", {"x"}, {"y"});
  m.set(mean, "axes", {-1, 2});
  m.set(mean, "keepdims", int64_t(0));
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(8)}), (Values{1.5f, 5.5f})) << i.text();
  m.set(m.node("ReduceMean", {"x"}, {"z"}), "axes", {1, 2});
  m.output("z");
  Imported others(m);
  EXPECT_EQ(others.run({ramp(8)}).at(1).floats, (Values{3, 4}));
}

TEST(ImportPool, ReductionsOverAnyAxes) {
  // x[c][h][w] = 6c + 3h + w.
  auto reduced = [](const char *op, std::vector<int64_t> axes, bool keep,
                    bool image) {
    ModelBuilder m;
    m.input("x", {1, 2, 2, 3});
    if (image) // so that its channels are last
      m.set(m.node("MaxPool", {"x"}, {"p"}), "kernel_shape", {1, 1});
    auto &n = m.node(op, {image ? "p" : "x"}, {"y"});
    m.set(n, "axes", axes);
    m.set(n, "keepdims", int64_t(keep));
    m.output("y");
    Imported i(m);
    return valuesOf(i, {ramp(12)});
  };
  for (bool image : {false, true}) {
    EXPECT_EQ(reduced("ReduceMean", {1, 2}, false, image),
              (Values{4.5f, 5.5f, 6.5f}));
    EXPECT_EQ(reduced("ReduceSum", {1}, true, image),
              (Values{6, 8, 10, 12, 14, 16}));
    EXPECT_EQ(reduced("ReduceMax", {3}, false, image), (Values{2, 5, 8, 11}));
    EXPECT_EQ(reduced("ReduceMin", {1, 3}, false, image), (Values{0, 3}));
    EXPECT_EQ(reduced("ReduceSum", {-1, -2}, true, image), (Values{15, 51}));
  }
}

TEST(ImportMove, SliceSplitGather) {
  ModelBuilder m;
  m.input("x", {1, 2, 2, 3});
  m.int64s("starts", {0, -1});
  m.int64s("ends", {2, -9});
  m.int64s("axes", {2, 3});
  m.int64s("steps", {1, -2});
  m.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"s"});
  m.set(m.node("Split", {"s"}, {"a", "b"}), "axis", int64_t(1));
  m.ints("i", {2, 2}, onnx::TensorProto::INT32, {1, 0, -1, 1});
  m.set(m.node("Gather", {"b", "i"}, {"y"}), "axis", int64_t(3));
  m.output("y");
  Imported i(m);
  // b = [[8, 6], [11, 9]].
  EXPECT_EQ(valuesOf(i, {ramp(12)}), (Values{6, 8, 6, 6, 9, 11, 9, 9}))
      << i.text();
}

TEST(ImportMove, DepthToSpaceAndBack) {
  for (const char *mode : {"DCR", "CRD"}) {
    ModelBuilder m(13);
    m.input("x", {1, 8, 1, 2});
    auto &d = m.node("DepthToSpace", {"x"}, {"y"});
    m.set(d, "blocksize", int64_t(2));
    m.set(d, "mode", mode);
    m.output("y");
    Imported i(m);
    // Channel c holds 2c and 2c + 1.
    Values dcr = {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15},
           crd = {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15};
    EXPECT_EQ(valuesOf(i, {ramp(16)}), *mode == 'D' ? dcr : crd) << i.text();
  }
  ModelBuilder m(13);
  m.input("x", {1, 1, 2, 4});
  m.set(m.node("SpaceToDepth", {"x"}, {"y"}), "blocksize", int64_t(2));
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(8)}), (Values{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(ImportMove, Resize) {
  auto resized = [](const char *mode, const char *coordinates,
                    const char *nearest, std::vector<float> scales) {
    ModelBuilder m(13);
    m.input("x", {1, 1, 2, 2});
    m.floats("scales", {4}, scales);
    auto &n = m.node("Resize", {"x", "", "scales"}, {"y"});
    m.set(n, "mode", mode);
    m.set(n, "coordinate_transformation_mode", coordinates);
    m.set(n, "nearest_mode", nearest);
    m.output("y");
    Imported i(m);
    return valuesOf(i, {ramp(4)});
  };
  EXPECT_EQ(resized("nearest", "asymmetric", "floor", {1, 1, 2, 3}),
            (Values{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1,
                    2, 2, 2, 3, 3, 3, 2, 2, 2, 3, 3, 3}));
  EXPECT_EQ(
      resized("nearest", "half_pixel", "round_prefer_floor", {1, 1, 0.5f, 1}),
      (Values{0, 1}));
  EXPECT_EQ(resized("linear", "half_pixel", "floor", {1, 1, 1, 2}),
            (Values{0, 0.25f, 0.75f, 1, 2, 2.25f, 2.75f, 3}));
  EXPECT_EQ(resized("linear", "asymmetric", "floor", {1, 1, 2, 1}),
            (Values{0, 1, 1, 2, 2, 3, 2, 3}));
}

TEST(ImportConv, Transposed) {
  ModelBuilder m;
  m.input("x", {1, 1, 1, 2});
  m.floats("w", {1, 1, 1, 3}, {1, 10, 100});
  m.floats("b", {1}, {0.5f});
  auto &n = m.node("ConvTranspose", {"x", "w", "b"}, {"y"});
  m.set(n, "strides", {1, 2});
  m.set(n, "pads", {0, 1, 0, 0});
  m.set(n, "output_padding", {0, 1});
  m.output("y");
  Imported i(m);
  // Without padding 1, 10, 102, 20, 200 and, after them, 0.
  EXPECT_EQ(valuesOf(i, {{1, 2}}), (Values{10.5f, 102.5f, 20.5f, 200.5f, 0.5f}))
      << i.text();
}

TEST(ImportElementwise, MaxAndMin) {
  ModelBuilder m;
  m.input("x", {1, 3});
  m.floats("low", {1}, {2});
  m.floats("c", {3}, {9, 0, 3});
  m.node("Max", {"x", "low"}, {"a"});
  m.node("Min", {"a", "c"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, 5, 2.5f}}), (Values{2, 0, 2.5f}));
}

TEST(ImportPool, WithoutAKernelIsRefused) {
  ModelBuilder m;
  m.input("x", {1, 1, 4, 4});
  auto &p = m.node("MaxPool", {"x"}, {"b"});
  m.set(p, "kernel_shape", {2, 2});
  m.set(p, "pads", {2, 0, 0, 0});
  m.node("MaxPool", {"x"}, {"c"});
  for (const char *name : {"b", "c"})
    m.output(name);
  Imported i(m);
  EXPECT_EQ(i.refusals.size(), 1u) << i.text();
  EXPECT_TRUE(i.contains("MaxPool_c | MaxPool | its kernel"));
}

TEST(ImportNorm, BatchNormalization) {
  ModelBuilder m;
  m.input("x", {1, 2, 1, 2});
  m.floats("g", {2}, {1, 2});
  m.floats("b", {2}, {0, 1});
  m.floats("mean", {2}, {1, 2});
  m.floats("var", {2}, {1, 4});
  auto &n = m.node("BatchNormalization", {"x", "g", "b", "mean", "var"}, {"y"});
  m.set(n, "epsilon", 0.0f);
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(4)}), (Values{-1, 0, 1, 2})) << i.text();
}

TEST(ImportDense, GemmInItsForms) {
  for (bool transB : {false, true}) {
    ModelBuilder m;
    m.input("x", {-1, 2});
    if (transB)
      m.floats("w", {3, 2}, {1, 4, 2, 5, 3, 6});
    else
      m.floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
    m.floats("c", {3}, {10, 20, 30});
    auto &g = m.node("Gemm", {"x", "w", "c"}, {"y"});
    m.set(g, "transB", int64_t(transB));
    m.output("y");
    Imported i(m);
    EXPECT_EQ(i.count("osa.add"), 0);
    EXPECT_EQ(valuesOf(i, {{1, 2}}), (Values{19, 32, 45})) << i.text();
  }
  ModelBuilder m;
  m.input("x", {1, 2});
  m.floats("w", {2, 1}, {1, 2});
  m.floats("c", {}, {3});
  auto &g = m.node("Gemm", {"x", "w", "c"}, {"y"});
  m.set(g, "alpha", 0.5f);
  m.set(g, "beta", 2.0f);
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{3, 4}}), (Values{11.5f})) << i.text();
}

TEST(ImportDense, MatMulInItsForms) {
  ModelBuilder m;
  m.input("x", {2, 3});
  m.ramp("w", {3, 2});
  m.ramp("v", {2});
  m.floats("left", {1, 2}, {1, 1});
  m.node("MatMul", {"x", "w"}, {"a"});
  m.node("MatMul", {"a", "v"}, {"b"});
  m.node("MatMul", {"left", "a"}, {"c"});
  m.output("a");
  m.output("b");
  m.output("c");
  Imported i(m);
  std::vector<Tensor> out = i.run({ramp(6)});
  ASSERT_EQ(out.size(), 3u) << i.text();
  EXPECT_EQ(out[0].floats, (Values{10, 13, 28, 40}));
  EXPECT_EQ(out[1].floats, (Values{13, 40}));
  EXPECT_EQ(out[1].shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(out[2].floats, (Values{38, 53}));
}

TEST(ImportDense, ShapesThatDoNotFitAreRefused) {
  ModelBuilder m;
  m.input("x", {2, 2});
  m.node("MatMul", {"x", "x"}, {"y"});
  m.ramp("w", {3, 2});
  m.node("MatMul", {"x", "w"}, {"z"});
  m.output("y");
  m.output("z");
  Imported i(m);
  EXPECT_EQ(i.refusals.size(), 1u) << i.text();
  EXPECT_TRUE(i.contains("its inputs [2, 2] and [3, 2] do not fit"));
}

TEST(ImportElementwise, ArithmeticBroadcasts) {
  ModelBuilder m;
  m.input("x", {1, 2, 1, 2});
  m.floats("k", {2, 1, 1}, {1, 10});
  m.floats("two", {}, {2});
  m.node("Mul", {"k", "x"}, {"a"});
  m.node("Sub", {"two", "a"}, {"b"});
  m.node("Div", {"b", "two"}, {"c"});
  m.node("Sum", {"c", "x", "x"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(4)}), (Values{1, 2.5f, -5, -8})) << i.text();
}

TEST(ImportElementwise, Activations) {
  ModelBuilder m;
  m.input("x", {1, 3});
  m.floats("lo", {}, {-1});
  m.node("Clip", {"x", "lo", ""}, {"a"});
  m.set(m.node("LeakyRelu", {"a"}, {"b"}), "alpha", 0.5f);
  m.node("Relu", {"x"}, {"c"});
  m.node("Neg", {"c"}, {"d"});
  m.node("Add", {"b", "d"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{-4, 2, 0}}), (Values{-0.5f, 0, 0})) << i.text();
  ModelBuilder old(7);
  old.input("x", {1, 3});
  auto &clip = old.node("Clip", {"x"}, {"y"});
  old.set(clip, "min", 0.0f);
  old.set(clip, "max", 6.0f);
  old.output("y");
  Imported j(old);
  EXPECT_EQ(valuesOf(j, {{-4, 2, 9}}), (Values{0, 2, 6})) << j.text();
}

TEST(ImportHead, SoftmaxCoercesBeforeOpset13) {
  for (int64_t opset : {11, 13}) {
    ModelBuilder m(opset);
    m.input("x", {1, 2, 2});
    m.set(m.node("Softmax", {"x"}, {"y"}), "axis", int64_t(1));
    m.output("y");
    Imported i(m);
    Values y = valuesOf(i, {{0, 0, 0, 0}});
    ASSERT_EQ(y.size(), 4u);
    EXPECT_FLOAT_EQ(y[0], opset == 11 ? 0.25f : 0.5f) << i.text();
  }
}

TEST(ImportHead, NormalizationsAreTheNetworksIfAllowed) {
  importer::ImportOptions allowed;
  allowed.fixedPointFunctions = true;
  for (const char *op : {"LayerNormalization", "RMSNormalization"}) {
    const bool isLayer = op[0] == 'L';
    ModelBuilder m(isLayer ? 17 : 23);
    m.input("x", {1, 2, 2, 2});
    m.floats("scale", {2, 2}, {1, 2, 1, 1});
    m.floats("bias", {2, 2}, {0, 0, 0, 5});
    std::vector<std::string> inputs = {"x", "scale"};
    if (isLayer)
      inputs.push_back("bias");
    m.set(m.node(op, inputs, {"n"}), "axis", int64_t(2));
    m.node("Softmax", {"n"}, {"y"});
    m.output("n");
    m.output("y");
    const std::vector<float> x = {1, 3, 1, 3, 2, 2, 2, 2};
    Imported host(m), network(m, allowed);
    EXPECT_FALSE(host.contains("osa.normalize"));
    EXPECT_TRUE(network.contains("osa.normalize")) << network.text();
    EXPECT_TRUE(network.contains("rhizome.fixed_point")) << network.text();
    auto wanted = host.run({x}), got = network.run({x});
    ASSERT_EQ(got.size(), 2u) << network.text();
    for (size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(got[0].floats[i], wanted[0].floats[i], 1e-5) << op;
  }
}

TEST(ImportHead, SomeNormalizationsAreTheHosts) {
  importer::ImportOptions allowed;
  allowed.fixedPointFunctions = true;
  auto reasonOf = [](Imported &&i, const char *reason) {
    return i.contains(std::string("rhizome.why_host = \"") + reason);
  };
  auto model = [](bool isConstant, bool usesMean) {
    ModelBuilder m(17);
    m.input("x", {1, 4});
    if (isConstant)
      m.floats("scale", {4}, {1, 2, 1, 1});
    else
      m.input("scale", {4});
    m.node("LayerNormalization", {"x", "scale"}, {"y", "mean"});
    m.output("y");
    if (usesMean)
      m.output("mean");
    return m;
  };
  EXPECT_TRUE(reasonOf(Imported(model(true, false)),
                       "it is computed in floating point"));
  EXPECT_TRUE(reasonOf(Imported(model(false, false), allowed),
                       "its scale or bias is not constant"));
  EXPECT_TRUE(reasonOf(Imported(model(true, true), allowed),
                       "its mean or deviation is used"));
}

TEST(ImportHead, ArgMaxAndTopK) {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.int64s("one", {1});
  auto &a = m.node("ArgMax", {"x"}, {"a"});
  m.set(a, "axis", int64_t(1));
  m.set(a, "keepdims", int64_t(0));
  m.node("TopK", {"x", "one"}, {"values", "b"});
  m.output("a");
  m.output("b");
  Imported i(m);
  std::vector<Tensor> out = i.run({{3, 9, 1, 9}});
  ASSERT_EQ(out.size(), 2u) << i.text();
  EXPECT_EQ(out[0].ints, (std::vector<int64_t>{1}));
  EXPECT_EQ(out[1].ints, (std::vector<int64_t>{1}));
  EXPECT_TRUE(i.contains("tensor<1xi64>"));
  m.output("values");
  Imported values(m);
  EXPECT_EQ(values.run({{3, 9, 1, 9}}).at(2).floats, (Values{9}));
}

TEST(ImportShape, ArithmeticFoldsAway) {
  // x.view(x.size(0), -1), as PyTorch writes it.
  ModelBuilder m(11);
  m.input("x", {-1, 2, 3});
  m.tensor("zero", {}, onnx::TensorProto::INT64).add_int64_data(0);
  m.int64s("minus", {-1});
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "zero"}, {"n"});
  m.set(m.node("Unsqueeze", {"n"}, {"n1"}), "axes", std::vector<int64_t>{0});
  m.set(m.node("Concat", {"n1", "minus"}, {"shape"}), "axis", int64_t(0));
  m.node("Reshape", {"x", "shape"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_TRUE(i.contains("tensor<1x6xf32>")) << i.text();
  EXPECT_EQ(i.count("osa.reshape"), 1);
  EXPECT_EQ(i.count("osa.constant"), 0);
}

/// x + what a graph of constants computes, as float32, of x = 0.
Values folded(ModelBuilder &m, const std::string &result) {
  m.input("x", {1});
  m.set(m.node("Cast", {result}, {"f"}), "to",
        int64_t(onnx::TensorProto::FLOAT));
  m.node("Add", {"x", "f"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(i.count("linalg.generic"), 0) << i.text();
  return valuesOf(i, {{0}});
}

TEST(ImportFold, DoublesAreDoubles) {
  ModelBuilder m;
  m.tensor("a", {}, onnx::TensorProto::DOUBLE).add_double_data(0x1p40);
  m.tensor("b", {2}, onnx::TensorProto::DOUBLE).add_double_data(1);
  m.graph().mutable_initializer(1)->add_double_data(0.5);
  m.node("Add", {"a", "b"}, {"s"});
  m.node("Sub", {"s", "a"}, {"d"});
  EXPECT_EQ(folded(m, "d"), (Values{1, 0.5}));
}

TEST(ImportFold, SixtyFourBitsWithoutASign) {
  ModelBuilder m;
  auto &a = m.tensor("a", {2}, onnx::TensorProto::UINT64);
  a.add_uint64_data(uint64_t(1) << 63);
  a.add_uint64_data(7);
  m.tensor("b", {}, onnx::TensorProto::UINT64).add_uint64_data(4);
  m.node("Max", {"a", "b"}, {"m"});
  m.node("Abs", {"m"}, {"n"});
  m.node("Div", {"n", "b"}, {"d"});
  EXPECT_EQ(folded(m, "d"), (Values{0x1p61f, 1}));
}

TEST(ImportFold, IntegersWrapAndRaise) {
  ModelBuilder m;
  const int type = onnx::TensorProto::INT8;
  m.ints("a", {3}, type, {100, -128, 5});
  m.ints("b", {1}, type, {2});
  m.node("Mul", {"a", "b"}, {"p"}); // -56, 0, 10
  m.node("Neg", {"p"}, {"n"});
  m.node("Pow", {"n", "b"}, {"q"}); // 3136, 0, 100, in 8 bits
  EXPECT_EQ(folded(m, "q"), (Values{64, 0, 100}));
}

TEST(ImportFold, ZeroKeepsItsSign) {
  ModelBuilder m;
  m.floats("z", {2}, {0, -0.f});
  m.floats("low", {1}, {-5});
  m.node("Neg", {"z"}, {"n"});
  m.node("Reciprocal", {"n"}, {"r"}); // -inf, inf
  m.node("Max", {"r", "low"}, {"b"});
  m.floats("high", {1}, {5});
  m.node("Min", {"b", "high"}, {"c"});
  EXPECT_EQ(folded(m, "c"), (Values{-5, 5}));
}

TEST(ImportFold, TensorsMayBeEmpty) {
  ModelBuilder m;
  m.tensor("none", {0}, onnx::TensorProto::INT64);
  m.int64s("one", {1});
  m.node("Mul", {"none", "one"}, {"p"});
  m.set(m.node("Concat", {"p", "one"}, {"c"}), "axis", int64_t(0));
  EXPECT_EQ(folded(m, "c"), (Values{1}));
}

TEST(ImportFold, DivisionsByZeroAndHugePowersAreRefused) {
  for (const char *op : {"Div", "Pow"}) {
    ModelBuilder m;
    m.int64s("a", {10});
    m.int64s("b", {op == std::string("Div") ? 0 : 60});
    m.node(op, {"a", "b"}, {"d"});
    m.input("x", {1});
    m.set(m.node("Cast", {"d"}, {"f"}), "to",
          int64_t(onnx::TensorProto::FLOAT));
    m.node("Add", {"x", "f"}, {"y"});
    m.output("y");
    Imported i(m);
    EXPECT_TRUE(i.contains(op == std::string("Div")
                               ? "it divides a constant by zero"
                               : "it raises a constant to a power that "
                                 "overflows"));
  }
}

TEST(ImportShape, ShapesGivenByTheUser) {
  ModelBuilder m;
  m.input("x", {-1, 2});
  m.node("Relu", {"x"}, {"y"});
  m.output("y");
  importer::ImportOptions options;
  options.shapes["x"] = {5, 2};
  Imported i(m, options);
  EXPECT_TRUE(i.contains("tensor<5x2xf32>")) << i.text();
  options.shapes["z"] = {1};
  Imported j(m, options);
  EXPECT_TRUE(j.contains("the model has no such input"));
  options.shapes.erase("z");
  options.keptInputs = {"h"};
  Imported k(m, options);
  EXPECT_TRUE(k.contains("a state is given for this name, but the model has "
                         "no such input"));
}

TEST(ImportShape, Movements) {
  ModelBuilder m;
  m.input("x", {1, 2, 3});
  m.int64s("axis0", {0});
  m.int64s("pads", {0, 1, 0, 0, 0, 1});
  m.floats("fill", {}, {7});
  m.node("Pad", {"x", "pads", "fill"}, {"a"});
  m.node("Squeeze", {"a", "axis0"}, {"b"});
  m.set(m.node("Transpose", {"b"}, {"c"}), "perm", {1, 0});
  m.node("Unsqueeze", {"c", "axis0"}, {"d"});
  m.set(m.node("Concat", {"d", "d"}, {"e"}), "axis", int64_t(-1));
  m.node("Identity", {"e"}, {"f"});
  m.node("Dropout", {"f"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {ramp(6)}),
            (Values{7, 0, 3, 7, 0, 3, 7, 1, 4, 7, 1, 4,
                    7, 2, 5, 7, 2, 5, 7, 7, 7, 7, 7, 7}))
      << i.text();
}

/// Integers that are known to hold less than their type does meet others.
TEST(ImportShape, ClippedIntegersMeetOthers) {
  const int s8 = onnx::TensorProto::INT8;
  ModelBuilder m;
  m.input("x", {1, 3}, s8);
  m.ints("lo", {}, s8, {0});
  m.ints("hi", {}, s8, {4});
  m.int64s("pads", {0, 1, 0, 1});
  m.ints("fill", {}, s8, {-128});
  m.node("Clip", {"x", "lo", "hi"}, {"c"});
  m.node("Pad", {"c", "pads", "fill"}, {"p"});
  m.set(m.node("Concat", {"c", "x", "p"}, {"y"}), "axis", int64_t(1));
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{-5, 3, 100}}),
            (Values{0, 3, 4, -5, 3, 100, -128, 0, 3, 4, -128}))
      << i.text();
}

TEST(ImportShape, ConstantsAreComputedInFloat32) {
  ModelBuilder m;
  m.input("x", {1});
  m.floats("a", {1}, {16777216.0f});
  m.floats("b", {1}, {1.0f});
  m.node("Add", {"a", "b"}, {"c"}); // rounds back to 2^24
  m.node("Sub", {"c", "a"}, {"d"});
  m.node("Add", {"x", "d"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{3}}), (Values{3})) << i.text();
  EXPECT_EQ(i.count("osa.constant"), 1);
}

TEST(ImportLocation, NamesNodeAndOperation) {
  ModelBuilder m;
  m.input("x", {1});
  m.node("Relu", {"x"}, {"y"}).clear_name();
  m.output("y");
  Imported i(m);
  ASSERT_TRUE(i.module);
  i.main().walk([](osa::ReluOp op) {
    EXPECT_EQ(osa::nodeName(op), "y");
    auto loc = mlir::cast<mlir::NameLoc>(op.getLoc());
    EXPECT_EQ(mlir::cast<mlir::NameLoc>(loc.getChildLoc()).getName(), "Relu");
  });
}

TEST(ImportRaw, FloatTensorsAreCodes) {
  ModelBuilder m;
  m.input("x", {1, 1});
  m.floats("w", {1, 1}, {64});
  m.floats("b", {1}, {-32});
  m.floats("factor", {}, {2});
  m.node("Gemm", {"x", "w", "b"}, {"a"});
  m.node("Mul", {"a", "factor"}, {"y"});
  m.output("y");
  importer::ImportOptions options;
  options.rawIntegerFraction = 7;
  Imported i(m, options);
  EXPECT_EQ(valuesOf(i, {{1}}), (Values{0.5f})) << i.text();
}
} // namespace
