// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exploration on the shape of DOSA's PTTCNN: goals are met with the resources
// that hand calculation gives (docs/architecture.md, "The marks").
#include "rhizome/Explore/Explore.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace rhizome;

namespace {
/// Builds integer networks op by op, weights seeded.
class NetworkBuilder {
public:
  explicit NetworkBuilder(MLIRContext &context) : b(&context) {
    context.loadDialect<osa::OsaDialect, flow::FlowDialect, num::NumDialect,
                        func::FuncDialect>();
    module = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(module->getBody());
  }

  Type tensor(ArrayRef<int64_t> shape, num::IntType t) {
    return RankedTensorType::get(shape, t);
  }

  void begin(ArrayRef<int64_t> shape, num::IntType t) {
    func = func::FuncOp::create(b, b.getUnknownLoc(), "network",
                                b.getFunctionType(tensor(shape, t), {}));
    Block *body = func.addEntryBlock();
    b.setInsertionPointToEnd(body);
    value = body->getArgument(0);
  }

  Location loc(StringRef name) { return NameLoc::get(b.getStringAttr(name)); }

  Value constant(ArrayRef<int64_t> shape, num::IntType t) {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    std::vector<int64_t> values(n);
    for (int64_t &v : values)
      v = int64_t(rng() % uint64_t(t.getHi() - t.getLo() + 1)) + t.getLo();
    return osa::ConstantOp::create(
        b, b.getUnknownLoc(), tensor(shape, t),
        osa::makeIntAttr(b.getContext(), "w", shape, t, values));
  }

  ArrayRef<int64_t> shape() {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  void conv(StringRef name, int64_t out, int64_t k) {
    auto in = shape();
    auto s8 = num::IntType::getFull(b.getContext(), true, 8);
    auto acc = num::IntType::getFull(b.getContext(), true, 22);
    Value w = constant({out, k, k, in[3]}, s8);
    value = osa::Conv2dOp::create(
        b, loc(name), tensor({1, in[1] - k + 1, in[2] - k + 1, out}, acc),
        value, w, Value(), ArrayRef<int64_t>{1, 1},
        ArrayRef<int64_t>{0, 0, 0, 0}, ArrayRef<int64_t>{1, 1}, 1, 0);
    requantise(name);
  }

  void dense(StringRef name, int64_t out, bool last = false) {
    SmallVector<int64_t> s(shape());
    auto s8 = num::IntType::getFull(b.getContext(), true, 8);
    auto acc = num::IntType::getFull(b.getContext(), true, 24);
    Value w = constant({out, s.back()}, s8);
    s.back() = out;
    value = osa::DenseOp::create(b, loc(name), tensor(s, acc), value, w,
                                 Value());
    if (!last)
      requantise(name);
  }

  void requantise(StringRef name) {
    auto s8 = num::IntType::get(b.getContext(), true, 8, 0, 127);
    value = osa::RequantiseOp::create(b, loc(name), tensor(shape(), s8), value,
                                      ArrayRef<int64_t>{1},
                                      ArrayRef<int64_t>{64}, 7);
  }

  void pool(StringRef name) {
    auto in = shape();
    value = osa::MaxPoolOp::create(
        b, loc(name),
        tensor({1, in[1] / 2, in[2] / 2, in[3]},
               num::elementInt(value.getType())),
        value, ArrayRef<int64_t>{2, 2}, ArrayRef<int64_t>{2, 2},
        ArrayRef<int64_t>{0, 0, 0, 0}, ArrayRef<int64_t>{1, 1});
  }

  void flatten() {
    int64_t n = cast<RankedTensorType>(value.getType()).getNumElements();
    value = osa::ReshapeOp::create(
        b, loc("flatten"),
        tensor({1, n}, num::elementInt(value.getType())), value);
  }

  func::FuncOp end() {
    func::ReturnOp::create(b, b.getUnknownLoc(), value);
    func.setFunctionType(
        b.getFunctionType(func.getArgumentTypes(), value.getType()));
    return func;
  }

  OpBuilder b;
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  Value value;
  std::mt19937_64 rng{7};
};

func::FuncOp pttcnn(NetworkBuilder &n) {
  n.begin({1, 32, 32, 3}, num::IntType::getFull(n.b.getContext(), true, 8));
  n.conv("conv1", 6, 5);
  n.pool("pool1");
  n.conv("conv2", 16, 5);
  n.pool("pool2");
  n.conv("conv3", 32, 3);
  n.flatten();
  n.dense("fc1", 84);
  n.dense("fc2", 10, true);
  return n.end();
}

gen::DeviceContext ku060() {
  gen::DeviceContext d;
  d.budget = {{"lut", 96801},  {"ff", 202676},    {"dsp", 1077},
              {"bram", 254},   {"lutram", 53941}};
  d.clockMhz = 156.25;
  d.pairBits = 8;
  d.packedSigned = 7;
  d.packedUnsigned = 4;
  return d;
}

explore::Result run(func::FuncOp f, StringRef goal) {
  gen::DeviceContext device = ku060();
  auto start = std::chrono::steady_clock::now();
  auto result = explore::explore(f, *explore::parseGoal(goal), device,
                                 {"xcku060-role", 156.25, 64});
  double ms = std::chrono::duration<double, std::milli>(
                  std::chrono::steady_clock::now() - start)
                  .count();
  EXPECT_TRUE(succeeded(result));
  llvm::errs() << goal << ": interval " << result->timing.intervalCycles
               << " latency " << result->timing.latencyCycles << " lut "
               << result->resources.lut() << " ff " << result->resources.ff()
               << " dsp " << result->resources.dsp() << " bram "
               << result->resources.bram() << " limit " << result->limit
               << " meets " << result->meetsGoal << " bottleneck "
               << result->bottleneck << " in " << ms << " ms\n";
  for (auto &s : result->selections)
    llvm::errs() << "  " << osa::nodeName(s.op) << " " << s.option.summary
                 << " " << s.option.intervalCycles << " dsp "
                 << s.option.resources.dsp() << " lut "
                 << s.option.resources.lut() << "\n";
  return std::move(*result);
}

TEST(Explore, PttcnnAtFiveThousand) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto result = run(pttcnn(n), "throughput=5000/s");
  EXPECT_TRUE(result.meetsGoal);
  EXPECT_LE(result.timing.intervalCycles, 31250);
  int64_t multipliers = 0;
  for (auto &s : result.selections)
    multipliers += s.option.lutMultipliers + 2 * int64_t(s.option.resources.dsp());
  EXPECT_LE(multipliers, 30);
}

TEST(Explore, PttcnnAtLineRate) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto result = run(pttcnn(n), "max-throughput");
  EXPECT_TRUE(result.meetsGoal);
  EXPECT_LE(result.timing.intervalCycles, 409);
}
} // namespace
