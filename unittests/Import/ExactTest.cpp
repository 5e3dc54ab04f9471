// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that float32 arithmetic alone would get wrong on the host: float16
// and bfloat16, large integers, QLinear operations, masks of attention. Every
// model runs in the interpreter and on the CPU path, and is compared with its
// definition, computed here in another way.
#include "ModelBuilder.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Support/LinalgLoops.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

namespace {
/// The only output of a model, from both implementations, which agree.
Tensor resultOf(Imported &i, const std::vector<Tensor> &inputs) {
  EXPECT_TRUE(i.module) << i.text();
  if (!i.module)
    return {};
  auto plain = interpret(i.main(), inputs);
  EXPECT_TRUE(mlir::succeeded(plain));
  auto compiled = CompiledFunction::compile(i.main());
  EXPECT_TRUE(mlir::succeeded(compiled)) << i.text();
  if (mlir::failed(plain) || mlir::failed(compiled))
    return {};
  auto machine = (*compiled)->run(inputs);
  if (!machine) {
    ADD_FAILURE() << llvm::toString(machine.takeError());
    return {};
  }
  EXPECT_EQ(plain->front().ints, machine->front().ints);
  EXPECT_EQ(plain->front().floats.size(), machine->front().floats.size());
  for (auto [k, v] : llvm::enumerate(plain->front().floats))
    if (v != machine->front().floats[k])
      EXPECT_NEAR(v, machine->front().floats[k], 1e-6 * std::abs(v) + 1e-7)
          << k;
  return machine->front();
}
Tensor resultOf(Imported &i, std::vector<int64_t> shape, const Floats &values) {
  return resultOf(i, {Tensor::ofFloats(std::move(shape), values)});
}

/// Rounds a real through the type's own bits.
float rounded(float v, int type) {
  llvm::APFloat f(v);
  bool lost;
  f.convert(type == TensorProto::FLOAT16 ? llvm::APFloat::IEEEhalf()
                                         : llvm::APFloat::BFloat(),
            llvm::APFloat::rmNearestTiesToEven, &lost);
  f.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
            &lost);
  return f.convertToFloat();
}

bool same(float a, float b) {
  return a == b ? std::signbit(a) == std::signbit(b)
                : std::isnan(a) && std::isnan(b);
}

Floats awkwardReals() {
  Floats values = {65504,
                   65519.99f,
                   65520,
                   1e30f,
                   -65520,
                   INFINITY,
                   -INFINITY,
                   NAN,
                   0,
                   -0.f,
                   0x1p-24f,
                   0x1p-25f,
                   0x1.8p-24f,
                   0x1.4p-23f,
                   0x1p-14f,
                   0x1.ffep-15f,
                   0x1.fffp-15f,
                   1 + 0x1p-11f,
                   1 + 0x3p-11f,
                   1 + 0x1p-8f,
                   1 + 0x3p-8f,
                   2049,
                   2051,
                   3.4e38f,
                   0x1p-149f,
                   0x1.234568p-130f,
                   0x1p-133f};
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    uint32_t bits = random();
    if (i % 2) // near float16's own range
      bits = (bits & 0x807fffffu) | ((98 + bits % 50) << 23);
    float v;
    std::memcpy(&v, &bits, 4);
    values.push_back(v);
  }
  return values;
}

TEST(ImportHalf, CastsRound) {
  Floats values = awkwardReals();
  for (int type : {TensorProto::FLOAT16, TensorProto::BFLOAT16}) {
    ModelBuilder m(19);
    m.input("x", {int64_t(values.size())});
    m.set(m.node("Cast", {"x"}, {"h"}), "to", int64_t(type));
    m.set(m.node("Cast", {"h"}, {"y"}), "to", int64_t(TensorProto::FLOAT));
    m.output("y");
    Imported i(m);
    ASSERT_TRUE(i.module) << i.text();
    std::vector<Tensor> in = {
        Tensor::ofFloats({int64_t(values.size())}, values)};
    auto plain = interpret(i.main(), in);
    auto compiled = CompiledFunction::compile(i.main());
    ASSERT_TRUE(mlir::succeeded(plain) && mlir::succeeded(compiled));
    auto machine = llvm::cantFail((*compiled)->run(in));
    for (size_t k = 0; k < values.size(); ++k) {
      float want = rounded(values[k], type);
      EXPECT_TRUE(same(plain->front().floats[k], want)) << values[k];
      EXPECT_TRUE(same(machine.front().floats[k], want)) << values[k];
    }
  }
}

TEST(ImportHalf, InputsConstantsAndEveryOperationRound) {
  const int type = TensorProto::FLOAT16;
  ModelBuilder m(17);
  m.input("x", {4}, type);
  // 3.1 and 0.333 as float16; folded, their product is rounded, too.
  m.ints("a", {1}, type, {0x4233});
  m.ints("b", {1}, type, {0x3554});
  m.node("Mul", {"a", "b"}, {"ab"});
  m.node("Mul", {"x", "a"}, {"p"});
  m.node("Add", {"p", "ab"}, {"y"});
  m.output("y");
  Imported i(m);
  Floats x = {0.1f, 1.2345f, -77.7f, 30000.f};
  float a = 3.099609375f, b = 0.3330078125f;
  Floats want;
  for (float v : x)
    want.push_back(rounded(
        rounded(rounded(v, type) * a, type) + rounded(a * b, type), type));
  EXPECT_EQ(resultOf(i, {4}, x).floats, want);
  EXPECT_EQ(want[3], INFINITY); // 30000 · 3.1 is beyond float16
}

TEST(ImportHalf, ConstantsAreCast) {
  ModelBuilder m(17);
  m.input("x", {1});
  m.floats("c", {2}, {0.1f, 70000.f});
  m.set(m.node("Cast", {"c"}, {"h"}), "to", int64_t(TensorProto::BFLOAT16));
  m.set(m.node("Cast", {"h"}, {"f"}), "to", int64_t(TensorProto::FLOAT));
  m.node("Mul", {"x", "f"}, {"y"});
  m.output("y");
  Imported i(m);
  EXPECT_EQ(resultOf(i, {1}, {1}).floats, (Floats{0.10009765625f, 70144.f}));
}

/// x · 0.1 as float16, between quantizers or not.
ModelBuilder scaled(bool isQuantized) {
  ModelBuilder m(19);
  m.input("x", {1, 2});
  m.ints("s", {}, TensorProto::FLOAT16, {0x2e66}); // 0.1
  m.ints("z", {}, TensorProto::INT8, {0});
  m.ints("w", {1, 2}, TensorProto::FLOAT16, {0x2e66, 0x2e66});
  m.set(m.node("Cast", {"x"}, {"h"}), "to", int64_t(TensorProto::FLOAT16));
  m.node("QuantizeLinear", {"h", "s", "z"}, {"q"});
  m.node("DequantizeLinear", {"q", "s", "z"}, {"d"});
  m.node("Mul", {"d", "w"}, {"p"});
  if (isQuantized)
    m.node("QuantizeLinear", {"p", "s", "z"}, {"y"});
  m.output(isQuantized ? "y" : "p");
  return m;
}

TEST(ImportHalf, NothingRoundsBetweenQuantizers) {
  Imported quantized(scaled(true)), open(scaled(false));
  // Only the cast; and with it, both results that leave.
  EXPECT_EQ(quantized.count("linalg.generic"), 1) << quantized.text();
  EXPECT_EQ(open.count("linalg.generic"), 3) << open.text();
  host::dropRounding(*open.module);
  EXPECT_EQ(open.count("linalg.generic"), 0) << open.text();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

TEST(ImportExact, IntegerProductsBeyondFloat32) {
  const int64_t depth = 600;
  ModelBuilder m;
  m.input("x", {2, depth}, TensorProto::UINT8);
  std::vector<int32_t> w;
  Floats x;
  for (int64_t k = 0; k < depth; ++k)
    w.push_back(int32_t(255 - k % 7));
  for (int64_t k = 0; k < 2 * depth; ++k)
    x.push_back(float(255 - k % 5));
  m.ints("w", {depth, 1}, TensorProto::UINT8, w);
  m.ints("one", {1}, TensorProto::INT32, {1});
  m.node("MatMulInteger", {"x", "w"}, {"p"});
  m.node("Add", {"p", "one"}, {"y"});
  m.output("y");
  Imported i(m);
  Ints want(2, 1);
  for (int64_t k = 0; k < 2 * depth; ++k)
    want[k / depth] += int64_t(x[k]) * w[k % depth];
  ASSERT_GT(want[0], int64_t(1) << 24);
  EXPECT_EQ(resultOf(i, {2, depth}, x).ints, want);
}

TEST(ImportExact, IntegerProductsOfEveryRange) {
  // Without their zero points, factors need 8 bits, with a sign or without one,
  // or 16; sums of 40,000 terms need more than 32.
  struct Case {
    int xType, wType, xZero;
    std::vector<int32_t> wZeros;
    int64_t depth;
  };
  const int u8 = TensorProto::UINT8, s8 = TensorProto::INT8;
  const Case cases[] = {
      {u8, s8, 0, {0}, 300},     {u8, s8, 128, {0}, 300},
      {s8, s8, 0, {0, 0}, 300},  {s8, u8, 0, {0}, 300},
      {u8, u8, 77, {0, 9}, 300}, {u8, s8, 255, {-128, 127}, 300},
      {u8, u8, 0, {0}, 40000}};
  for (const Case &c : cases) {
    SCOPED_TRACE(&c - cases);
    auto values = [](int type, int64_t count, int64_t step) {
      std::vector<int32_t> all;
      for (int64_t k = 0; k < count; ++k)
        all.push_back(
            int32_t(255 - k * step % 23 - (type == TensorProto::INT8) * 128));
      return all;
    };
    std::vector<int32_t> x = values(c.xType, 2 * c.depth, 5),
                         w = values(c.wType, 2 * c.depth, 7);
    ModelBuilder m;
    m.input("x", {2, c.depth}, c.xType);
    m.ints("w", {c.depth, 2}, c.wType, w);
    m.ints("xz", {}, c.xType, {c.xZero});
    if (c.wZeros.size() == 1)
      m.ints("wz", {}, c.wType, c.wZeros);
    else
      m.ints("wz", {2}, c.wType, c.wZeros);
    m.node("MatMulInteger", {"x", "w", "xz", "wz"}, {"y"});
    m.output("y");
    Imported i(m);
    Ints want(4);
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t column = 0; column < 2; ++column) {
        int64_t sum = 0;
        for (int64_t k = 0; k < c.depth; ++k)
          sum += int64_t(x[size_t(row * c.depth + k)] - c.xZero) *
                 (w[size_t(2 * k + column)] -
                  c.wZeros[size_t(column) % c.wZeros.size()]);
        want[size_t(2 * row + column)] = int32_t(uint32_t(sum));
      }
    EXPECT_EQ(resultOf(i, {2, c.depth}, Floats(x.begin(), x.end())).ints, want);
  }
}

TEST(ImportExact, IntegerProductsOfTwoInputs) {
  // Neither factor is constant; depths that are no whole number of groups.
  const int u8 = TensorProto::UINT8, s8 = TensorProto::INT8;
  const std::pair<int, int> types[] = {{u8, s8}, {s8, u8}, {s8, s8}, {u8, u8}};
  const int64_t rows = 5, columns = 21;
  for (auto [xType, wType] : types)
    for (int64_t depth : {300, 301, 303}) {
      SCOPED_TRACE(std::to_string(xType) + ", " + std::to_string(wType) + ", " +
                   std::to_string(depth));
      auto values = [](int type, int64_t count, int64_t step) {
        Floats all;
        for (int64_t k = 0; k < count; ++k)
          all.push_back(
              float(k * step % 256 - (type == TensorProto::INT8) * 128));
        return all;
      };
      Floats x = values(xType, rows * depth, 91),
             w = values(wType, depth * columns, 103);
      ModelBuilder m;
      m.input("x", {rows, depth}, xType);
      m.input("w", {depth, columns}, wType);
      m.node("MatMulInteger", {"x", "w"}, {"y"});
      m.output("y");
      Imported i(m);
      Ints want;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          int64_t sum = 0;
          for (int64_t k = 0; k < depth; ++k)
            sum += int64_t(x[size_t(row * depth + k)]) *
                   int64_t(w[size_t(k * columns + column)]);
          want.push_back(sum);
        }
      EXPECT_EQ(resultOf(i, {Tensor::ofFloats({rows, depth}, x),
                             Tensor::ofFloats({depth, columns}, w)})
                    .ints,
                want);
    }
}

TEST(ImportExact, IntegerConvolutionsBeyondFloat32) {
  ModelBuilder m;
  m.input("x", {1, 40, 3, 3}, TensorProto::UINT8);
  m.ints("w", {1, 40, 3, 3}, TensorProto::UINT8,
         std::vector<int32_t>(360, 251));
  m.ints("zw", {}, TensorProto::UINT8, {2});
  m.node("ConvInteger", {"x", "w", "", "zw"}, {"y"});
  m.output("y");
  Imported i(m);
  Floats x;
  int64_t want = 0;
  for (int k = 0; k < 360; ++k) {
    x.push_back(float(255 - k % 3));
    want += int64_t(x.back()) * 249;
  }
  EXPECT_EQ(resultOf(i, {1, 40, 3, 3}, x).ints, Ints{want});
}

/// round(value · over / under), half to even; exact for what the tests need.
int64_t quotient(__int128 over, __int128 under) {
  __int128 down = over / under;
  if (over % under < 0)
    --down;
  __int128 twice = 2 * (over - down * under);
  return int64_t(down + (twice > under || (twice == under && down % 2 != 0)));
}

/// A float32 number as a multiple of 2^-31.
__int128 whole(float v) {
  EXPECT_EQ(std::ldexp(double(v), 31), double(int64_t(std::ldexp(v, 31))));
  return int64_t(std::ldexp(double(v), 31));
}

TEST(ImportExact, ConvolutionOfSeveralImages) {
  // 0.1 · 0.1 / 0.02 is about one half: every odd sum is near a tie.
  const float sx = 0.1f, sw = 0.1f, sy = 0.02f;
  ModelBuilder m;
  m.input("x", {2, 1, 8, 8}, TensorProto::UINT8);
  m.floats("sx", {}, {sx});
  m.ints("zx", {}, TensorProto::UINT8, {128});
  m.ints("w", {2, 1, 1, 1}, TensorProto::INT8, {1, -3});
  m.floats("sw", {2}, {sw, 0.3f});
  m.ints("zw", {}, TensorProto::INT8, {0});
  m.floats("sy", {}, {sy});
  m.ints("zy", {}, TensorProto::UINT8, {100});
  m.ints("b", {2}, TensorProto::INT32, {1, 5});
  m.node("QLinearConv", {"x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"},
         {"y"});
  m.output("y");
  Imported i(m);
  Floats x, want;
  for (int k = 0; k < 128; ++k)
    x.push_back(float(k * 2 + k / 64));
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 2; ++c)
      for (int p = 0; p < 64; ++p) {
        int64_t sum =
            (int64_t(x[n * 64 + p]) - 128) * (c ? -3 : 1) + (c ? 5 : 1);
        int64_t q = quotient(sum * whole(sx) * whole(c ? 0.3f : sw),
                             whole(sy) * (__int128(1) << 31)) +
                    100;
        want.push_back(float(std::clamp<int64_t>(q, 0, 255)));
      }
  EXPECT_EQ(resultOf(i, {2, 1, 8, 8}, x).floats, want);
}

TEST(ImportExact, SumsAndProductsOfHostTensors) {
  // BitwiseNot keeps the operands on the host.
  const float sa = 0.013f, sb = 0.0065f, sy = 0.013f;
  for (bool isSum : {true, false}) {
    ModelBuilder m(18);
    m.input("x", {256, 1}, TensorProto::UINT8);
    m.node("BitwiseNot", {"x"}, {"a"});
    std::vector<int32_t> all(256);
    for (int k = 0; k < 256; ++k)
      all[k] = k;
    m.ints("b", {256}, TensorProto::UINT8, all);
    m.floats("sa", {}, {sa});
    m.ints("za", {}, TensorProto::UINT8, {7});
    m.floats("sb", {}, {sb});
    m.ints("zb", {}, TensorProto::UINT8, {125});
    m.floats("sy", {}, {sy});
    m.ints("zy", {}, TensorProto::UINT8, {90});
    m.node(isSum ? "QLinearAdd" : "QLinearMul",
           {"a", "sa", "za", "b", "sb", "zb", "sy", "zy"}, {"y"},
           "com.microsoft");
    m.addDomain("com.microsoft", 1);
    m.output("y");
    Imported i(m);
    Floats x, want;
    for (int k = 0; k < 256; ++k)
      x.push_back(float(k));
    for (int k = 0; k < 256; ++k)
      for (int j = 0; j < 256; ++j) {
        int64_t a = 255 - k - 7, b = j - 125;
        __int128 over = isSum ? whole(sa) * a + whole(sb) * b
                              : whole(sa) * whole(sb) * a * b;
        __int128 under = isSum ? whole(sy) : whole(sy) * (__int128(1) << 31);
        want.push_back(
            float(std::clamp<int64_t>(quotient(over, under) + 90, 0, 255)));
      }
    EXPECT_EQ(resultOf(i, {256, 1}, x).floats, want) << isSum;
  }
}

TEST(ImportExact, UnknownAttributesAreRefused) {
  ModelBuilder m;
  m.input("x", {2, 1, 2, 2}, TensorProto::UINT8);
  m.floats("s", {}, {0.5f});
  m.ints("z", {}, TensorProto::UINT8, {0});
  m.ints("w", {1, 1, 1, 1}, TensorProto::UINT8, {1});
  auto &n =
      m.node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
  m.set(n, "activation", "Relu");
  m.output("y");
  Imported i(m);
  EXPECT_FALSE(i.module);
  EXPECT_TRUE(i.contains("its attribute 'activation' is not supported"))
      << i.text();
}

TEST(ImportExact, MatrixProductAndMeanOnTheHost) {
  ModelBuilder m(18);
  m.input("x", {2, 2}, TensorProto::UINT8);
  m.node("BitwiseNot", {"x"}, {"a"});
  m.floats("s", {}, {0.1f});
  m.ints("z", {}, TensorProto::UINT8, {0});
  m.ints("w", {2, 2}, TensorProto::UINT8, {1, 2, 3, 4});
  m.floats("sy", {}, {0.02f});
  m.node("QLinearMatMul", {"a", "s", "z", "w", "s", "z", "sy", "z"}, {"y"});
  m.output("y");
  Imported i(m);
  // Sums 255 − x: [1, 2; 0, 5] · w = [7, 10; 15, 20], of which half, a bit
  // more than it: 0.1 · 0.1 / 0.02 in float32 numbers is above one half.
  ASSERT_GT(whole(0.1f) * whole(0.1f) * 2, whole(0.02f) << 31);
  EXPECT_EQ(resultOf(i, {2, 2}, {254, 253, 255, 250}).floats,
            (Floats{4, 5, 8, 10}));

  ModelBuilder p(18);
  p.addDomain("com.microsoft", 1);
  p.input("x", {2, 1, 1, 2}, TensorProto::UINT8);
  p.floats("s", {}, {0.5f});
  p.ints("z", {}, TensorProto::UINT8, {10});
  p.node("QLinearGlobalAveragePool", {"x", "s", "z", "s", "z"}, {"y"},
         "com.microsoft");
  p.output("y");
  Imported j(p);
  // Means 11.5 and 14.5: ties, to even with the zero point.
  EXPECT_EQ(resultOf(j, {2, 1, 1, 2}, {11, 12, 14, 15}).floats,
            (Floats{12, 14}));
}

TEST(ImportExact, FourBitsSaturate) {
  ModelBuilder m(21);
  m.input("x", {4});
  m.input("s", {1});
  auto &q = m.node("QuantizeLinear", {"x", "s"}, {"y"});
  m.set(q, "output_dtype", int64_t(22)); // int4
  m.output("y");
  Imported i(m);
  Tensor out = resultOf(
      i, {Tensor::ofFloats({4}, {-30, 40, 3, -3}), Tensor::ofFloats({1}, {2})});
  EXPECT_EQ(out.ints, (Ints{-8, 7, 2, -2}));
}

TEST(ImportExact, SignedShiftsKeepTheSign) {
  for (bool right : {true, false}) {
    ModelBuilder m(28, 14);
    m.input("x", {5}, TensorProto::INT32);
    m.input("by", {5}, TensorProto::INT32);
    m.set(m.node("BitShift", {"x", "by"}, {"y"}), "direction",
          right ? "RIGHT" : "LEFT");
    m.output("y");
    Imported i(m);
    Tensor out = resultOf(i, {Tensor::ofInts({5}, {-8, -8, 8, -8, 1 << 30}),
                              Tensor::ofInts({5}, {1, 40, 40, -1, 1})});
    EXPECT_EQ(out.ints, right ? (Ints{-4, -1, 0, -1, 1 << 29})
                              : (Ints{-16, 0, 0, 0, INT32_MIN}));
  }
}

TEST(ImportExact, PowersOfWholeNumbersGoTowardsZero) {
  ModelBuilder m(15);
  m.input("x", {10}, TensorProto::INT64);
  m.input("n", {10}, TensorProto::INT64);
  m.node("Pow", {"x", "n"}, {"y"});
  m.output("y");
  Imported i(m);
  Tensor out = resultOf(
      i, {Tensor::ofInts({10}, {2, 2, 3, -2, -1, -1, 1, 0, -1, 0}),
          Tensor::ofInts({10}, {3, -1, -2, -3, -3, -4, -5, 0, 65, 64})});
  EXPECT_EQ(out.ints, (Ints{8, 0, 0, 0, -1, 1, 1, 1, -1, 0}));
}

TEST(ImportExact, SpaceToDepthInBothOrders) {
  Floats x = {0, 1, 2, 3, 4, 5, 6, 7}; // two channels of 2 × 2
  for (int64_t images : {1, 2})
    for (bool crd : {false, true}) {
      ModelBuilder m(28, 14);
      m.input("x", {images, 2, 2, 2});
      auto &n = m.node("SpaceToDepth", {"x"}, {"y"});
      m.set(n, "blocksize", int64_t(2));
      m.set(n, "mode", crd ? "CRD" : "DCR");
      m.output("y");
      Imported i(m);
      Floats in, want;
      for (int64_t k = 0; k < images; ++k) {
        llvm::append_range(in, x);
        llvm::append_range(want, crd ? x : Floats{0, 4, 1, 5, 2, 6, 3, 7});
      }
      EXPECT_EQ(resultOf(i, {images, 2, 2, 2}, in).floats, want) << crd;
    }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// One head: 3 queries, some keys, vectors of 2; every kind of mask.
struct AttentionCase {
  int64_t past = 0, keys = 3, nonpad = -1, left = -1, right = -1;
  bool causal = false;
  double softcap = 0;
  Floats mask = {};            ///< added, [3, keys and past]
  std::vector<bool> seen = {}; ///< the same for booleans
};

Floats numbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Floats out;
  for (size_t k = 0; k < count; ++k)
    out.push_back(float(int(random() % 2001) - 1000) / 500);
  return out;
}

/// Y by its definition.
Floats attention(const AttentionCase &c, const Floats &q, const Floats &k,
                 const Floats &v) {
  int64_t all = c.past + c.keys;
  Floats out;
  for (int64_t i = 0; i < 3; ++i) {
    std::vector<double> weights(all, 0);
    double total = 0;
    for (int64_t j = 0; j < all; ++j) {
      int64_t place = i + (c.nonpad >= 0 ? c.nonpad - 3 : c.past);
      bool hidden = (c.causal && j > place) ||
                    (c.left >= 0 && j < place - c.left) ||
                    (c.right >= 0 && j > place + c.right) ||
                    (c.nonpad >= 0 && j >= c.nonpad) ||
                    (!c.seen.empty() && !c.seen[i * all + j]);
      double score =
          (q[2 * i] * k[2 * j] + q[2 * i + 1] * k[2 * j + 1]) / std::sqrt(2.0);
      if (c.softcap > 0)
        score = c.softcap * std::tanh(score / c.softcap);
      if (!c.mask.empty())
        score += c.mask[i * all + j];
      weights[j] = hidden ? 0 : std::exp(score);
      total += weights[j];
    }
    for (int64_t d = 0; d < 2; ++d) {
      double sum = 0;
      for (int64_t j = 0; j < all; ++j)
        sum += weights[j] * v[2 * j + d];
      out.push_back(total > 0 ? float(sum / total) : 0);
    }
  }
  return out;
}

void expectAttention(const AttentionCase &c) {
  int64_t all = c.past + c.keys;
  ModelBuilder m(25, 13);
  m.input("q", {1, 1, 3, 2});
  m.input("k", {1, 1, c.keys, 2});
  m.input("v", {1, 1, c.keys, 2});
  std::vector<std::string> names = {"q", "k", "v", "", "", "", ""};
  Floats q = numbers(6, 1), k = numbers(size_t(all) * 2, 2),
         v = numbers(size_t(all) * 2, 3);
  auto tail = [&](const Floats &all) {
    return Floats(all.begin() + 2 * c.past, all.end());
  };
  std::vector<Tensor> in = {Tensor::ofFloats({1, 1, 3, 2}, q),
                            Tensor::ofFloats({1, 1, c.keys, 2}, tail(k)),
                            Tensor::ofFloats({1, 1, c.keys, 2}, tail(v))};
  if (!c.mask.empty()) {
    m.input("m", {3, all});
    in.push_back(Tensor::ofFloats({3, all}, c.mask));
    names[3] = "m";
  }
  if (!c.seen.empty()) {
    m.input("m", {3, all}, TensorProto::BOOL);
    in.push_back(Tensor::ofInts({3, all}, Ints(c.seen.begin(), c.seen.end())));
    names[3] = "m";
  }
  if (c.past) {
    for (auto [n, from] : {std::pair("pk", &k), std::pair("pv", &v)}) {
      m.input(n, {1, 1, c.past, 2});
      in.push_back(
          Tensor::ofFloats({1, 1, c.past, 2},
                           Floats(from->begin(), from->begin() + 2 * c.past)));
    }
    names[4] = "pk", names[5] = "pv";
  }
  if (c.nonpad >= 0) {
    m.input("n", {1}, TensorProto::INT64);
    in.push_back(Tensor::ofInts({1}, {c.nonpad}));
    names[6] = "n";
  }
  auto &n = m.node("Attention", names, {"y"});
  m.set(n, "is_causal", int64_t(c.causal));
  m.set(n, "softcap", float(c.softcap));
  m.set(n, "left_window_size", c.left);
  m.set(n, "right_window_size", c.right);
  m.output("y");
  Imported i(m);
  Floats got = resultOf(i, in).floats, want = attention(c, q, k, v);
  ASSERT_EQ(got.size(), want.size());
  for (size_t e = 0; e < want.size(); ++e)
    EXPECT_NEAR(got[e], want[e], 1e-5) << e;
}

constexpr float kNone = -INFINITY;

TEST(ImportAttention, SoftcapComesBeforeTheMask) {
  AttentionCase c;
  c.softcap = 0.5;
  c.mask = {0, kNone, kNone, 0.5f, 0, kNone, -1, 0, 2};
  expectAttention(c);
}

TEST(ImportAttention, CausalMaskBeginsAfterThePast) {
  for (int64_t past : {0, 2, 5})
    for (int64_t keys : {3, 4}) {
      AttentionCase c;
      c.causal = true;
      c.past = past;
      c.keys = keys;
      expectAttention(c);
    }
}

TEST(ImportAttention, QueriesWithoutKeysGiveZero) {
  AttentionCase c;
  c.seen = {true, false, true, false, false, false, true, true, true};
  expectAttention(c);
  c.causal = true;
  c.seen[0] = false; // the first row has no keys left, either
  expectAttention(c);
  AttentionCase added;
  added.mask = {0, 0, 0, kNone, kNone, kNone, 0, kNone, 0};
  expectAttention(added);
}

TEST(ImportAttention, WindowsAndPaddedKeys) {
  for (int64_t left : {-1, 0, 1})
    for (int64_t right : {-1, 0, 1})
      for (int64_t nonpad : {-1, 2, 4}) {
        AttentionCase c;
        c.keys = 5;
        c.left = left;
        c.right = right;
        c.nonpad = nonpad;
        c.causal = left == 1 && right < 0;
        expectAttention(c);
      }
}
} // namespace
