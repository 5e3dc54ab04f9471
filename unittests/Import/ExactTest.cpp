// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that float32 arithmetic alone would get wrong on the host: float16
// and bfloat16, large integers, QLinear operations, masks of attention. Every
// model runs in the interpreter and on the CPU path, and is compared with its
// definition, computed here in another way.
#include "ModelBuilder.h"
#include "rhizome/Conversion/Jit.h"
#include "rhizome/Host/Loops.h"
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
  // 3.1 and 0.333 as float16 hold them; folded, their product is rounded, too.
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

/// x · 0.1 as float16, between quantisers or not.
ModelBuilder scaled(bool isQuantised) {
  ModelBuilder m(19);
  m.input("x", {1, 2});
  m.ints("s", {}, TensorProto::FLOAT16, {0x2e66}); // 0.1
  m.ints("z", {}, TensorProto::INT8, {0});
  m.ints("w", {1, 2}, TensorProto::FLOAT16, {0x2e66, 0x2e66});
  m.set(m.node("Cast", {"x"}, {"h"}), "to", int64_t(TensorProto::FLOAT16));
  m.node("QuantizeLinear", {"h", "s", "z"}, {"q"});
  m.node("DequantizeLinear", {"q", "s", "z"}, {"d"});
  m.node("Mul", {"d", "w"}, {"p"});
  if (isQuantised)
    m.node("QuantizeLinear", {"p", "s", "z"}, {"y"});
  m.output(isQuantised ? "y" : "p");
  return m;
}

TEST(ImportHalf, NothingRoundsBetweenQuantisers) {
  Imported quantised(scaled(true)), open(scaled(false));
  // The cast alone; and with it, both results that leave.
  EXPECT_EQ(quantised.count("linalg.generic"), 1) << quantised.text();
  EXPECT_EQ(open.count("linalg.generic"), 3) << open.text();
  host::dropRounding(*open.module);
  EXPECT_EQ(open.count("linalg.generic"), 0) << open.text();
}
} // namespace
