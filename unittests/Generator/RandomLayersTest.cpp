// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The differential test of the generators: seeded random layers with random
// options (foldings, lanes, styles), simulated as four-state RTL with random
// stalls, against the interpreter. No mismatch, no hang, no X.
// RHIZOME_RANDOM_LAYERS sets how many (default 24), RHIZOME_RANDOM_SEED where
// to start: a failure names the seed that reproduces it.
#include "../NetworkBuilder.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Pipeline/Build.h"
#include "rhizome/Simulate/Simulate.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

gen::DeviceContext device() {
  gen::DeviceContext d;
  d.budget = {{"lut", 200000},
              {"ff", 400000},
              {"dsp", 2000},
              {"bram", 500},
              {"lutram", 100000}};
  d.pairBits = 8;
  d.packedSigned = 7;
  d.packedUnsigned = 4;
  return d;
}

void randomWindow(NetworkBuilder &n, int64_t size, int64_t &kernel,
                  int64_t &stride, int64_t &dilation, int64_t &low,
                  int64_t &high, bool pool) {
  for (;;) {
    kernel = n.draw(1, 4);
    stride = n.draw(1, 3);
    dilation = n.coin() ? 1 : n.draw(1, 2);
    low = n.coin() ? 0 : n.draw(0, kernel - 1);
    high = n.coin() ? 0 : n.draw(0, kernel - 1);
    int64_t span = (kernel - 1) * dilation + 1;
    // A pool's window must touch the frame.
    bool touches = !pool || dilation == 1;
    if (size + low + high >= span && touches)
      return;
  }
}

/// One layer, sometimes with a second one behind it, of a random kind.
func::FuncOp randomNetwork(NetworkBuilder &n) {
  int64_t kind = n.draw(0, 9);
  int64_t h = n.coin() ? 1 : n.draw(1, 7), w = n.draw(1, 8), c = n.draw(1, 6);
  num::IntType x = n.drawType(kind == 6 ? 6 : n.coin() ? 8 : 16);
  mlir::Value input = n.begin({1, h, w, c}, x);
  auto window = [&](int64_t size, int64_t axis, auto &&p, bool pool) {
    int64_t kernel, stride, dilation, low, high;
    randomWindow(n, size, kernel, stride, dilation, low, high, pool);
    p.strides[axis] = stride;
    p.dilations[axis] = dilation;
    p.pads[axis] = low;
    p.pads[axis + 2] = high;
    return kernel;
  };
  auto drawConv = [&](bool depthwise) {
    NetworkBuilder::Conv conv;
    conv.kh = window(h, 0, conv, false);
    conv.kw = window(w, 1, conv, false);
    conv.out = n.draw(1, 7);
    if (depthwise) {
      conv.groups = c;
      conv.out = c * (n.coin() ? 1 : n.draw(1, 2));
    } else if (c % 2 == 0 && n.draw(0, 3) == 0) {
      conv.groups = 2;
      conv.out = 2 * n.draw(1, 4);
    }
    conv.weightBits = n.draw(1, n.coin() ? 4 : 12);
    conv.bias = n.coin();
    return conv;
  };
  auto drawPool = [&] {
    NetworkBuilder::Pool pool;
    pool.kernel[0] = window(h, 0, pool, true);
    pool.kernel[1] = window(w, 1, pool, true);
    return pool;
  };
  switch (kind) {
  case 0:
  case 1:
  case 2:
    n.conv("conv", drawConv(kind == 2));
    if (n.coin())
      n.requantise("conv", n.drawType(8), n.coin(), n.coin());
    break;
  case 3:
    n.flatten();
    n.dense("dense", n.draw(1, 9), n.draw(1, 8), n.coin());
    if (n.coin())
      n.threshold("dense", n.draw(1, n.coin() ? 3 : 17), n.coin());
    break;
  case 4:
    n.maxPool("pool", drawPool());
    break;
  case 5:
    n.sumPool("pool", drawPool(), n.coin(), n.coin());
    break;
  case 6:
    n.table("table", n.drawType(9), n.coin());
    break;
  case 7: {
    // A fork that joins again behind different paths.
    NetworkBuilder::Conv conv;
    conv.kh = conv.kw = 3;
    conv.pads[0] = conv.pads[1] = conv.pads[2] = conv.pads[3] = 1;
    conv.out = c;
    conv.weightBits = n.draw(1, 6);
    n.conv("conv", conv);
    n.add("add", input, n.draw(-5, 5) | 1, n.draw(1, 100));
    break;
  }
  case 8: {
    mlir::Value first = n.value;
    n.maxPool("pool", {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
    n.concat("concat", first, n.draw(1, 3));
    break;
  }
  default:
    if (n.coin()) {
      n.transpose("transpose", n.coin() ? llvm::ArrayRef<int64_t>{0, 3, 1, 2}
                                        : llvm::ArrayRef<int64_t>{0, 2, 1, 3});
    } else {
      n.pad("pad", n.draw(0, 2), n.draw(0, 2), n.draw(0, 2), n.draw(0, 2),
            n.draw(x.getLo(), x.getHi()));
    }
  }
  return n.end();
}

/// A random option for every operation.
std::vector<gen::Selection> randomSelections(NetworkBuilder &n,
                                             func::FuncOp network,
                                             const gen::DeviceContext &device) {
  std::vector<gen::Selection> selections;
  for (Operation &op : network.getBody().front()) {
    if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      continue;
    std::vector<gen::Option> options;
    for (const auto &generator : gen::allGenerators())
      if (!generator->coverage(&op))
        for (auto &o : generator->options(&op, {}, device))
          if (o.resources.lut() < 20000)
            options.push_back(std::move(o));
    EXPECT_FALSE(options.empty()) << "no option";
    selections.push_back({&op, options[n.rng() % options.size()]});
  }
  return selections;
}

std::string describe(const std::vector<gen::Selection> &selections) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &s : selections)
    os << "  " << s.op->getName() << " [" << s.option.summary << "] " << *s.op
       << "\n";
  return text;
}

void runLayer(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = randomNetwork(n);
  ASSERT_TRUE(succeeded(mlir::verify(*n.module)));
  gen::DeviceContext d = device();
  explore::NodeResult result;
  result.function = network;
  result.selections = randomSelections(n, network, d);
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed) + "\n" +
               describe(result.selections));
  static const int64_t widths[] = {8, 24, 32, 64, 128};
  gen::Border border{"test", 100, widths[n.draw(0, 4)]};
  result.design =
      gen::buildDesign(network, result.selections, border, result.images);
  ASSERT_TRUE(succeeded(gen::sizeBuffers(result.design)));
  auto timing = gen::predictTiming(result.design);
  ASSERT_TRUE(succeeded(timing));
  result.timing = *timing;
  result.resources = gen::costOf(result.design, d.cost);

  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("rhizome-layer", folder));
  std::string dir = (folder + "/layer.rhz").str();
  auto check = [](llvm::Error error) {
    EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  };
  {
    auto writer = PackageWriter::create(dir);
    ASSERT_TRUE(bool(writer)) << llvm::toString(writer.takeError());
    PlannedNode node = describeNode("node0", result, d);
    check(writeNode(**writer, node, result));
    Plan plan;
    plan.model = "layer";
    plan.device = "test";
    plan.goal = "random";
    plan.predicted = node.predicted;
    plan.clockMhz = d.clockMhz;
    plan.nodes.push_back(std::move(node));
    check((*writer)->writePlan(plan));
    check((*writer)->commit());
  }
  auto package = Package::open(dir);
  ASSERT_TRUE(bool(package)) << llvm::toString(package.takeError());

  std::vector<std::vector<Tensor>> frames, expected;
  auto inputType =
      cast<RankedTensorType>(network.getFunctionType().getInput(0));
  for (int frame = 0; frame < 3; ++frame) {
    Tensor x = Tensor::ofInts(
        inputType.getShape().vec(),
        n.drawValues(inputType.getNumElements(), num::elementInt(inputType)));
    auto out = interpret(network, {x});
    ASSERT_TRUE(succeeded(out));
    frames.push_back({x});
    expected.push_back(*out);
  }
  SimOptions options;
  options.seed = seed;
  options.fourState = !measure;
  options.measure = measure;
  options.stallsIn = measure ? 0 : unsigned(n.draw(0, 70));
  options.stallsOut = measure ? 0 : unsigned(n.draw(0, 70));
  auto sim = simulateRtl(*package, frames, options);
  ASSERT_TRUE(bool(sim)) << llvm::toString(sim.takeError()) << dir;
  for (size_t f = 0; f < frames.size(); ++f)
    EXPECT_EQ(sim->outputs[f][0].ints, expected[f][0].ints)
        << "frame " << f << " in " << dir;
  if (measure) {
    EXPECT_NEAR(sim->intervalCycles, timing->intervalCycles,
                0.005 * timing->intervalCycles + 0.01);
    EXPECT_EQ(sim->latencyCycles, timing->latencyCycles);
  }
  if (!::testing::Test::HasFailure())
    llvm::sys::fs::remove_directories(folder);
}

TEST(RandomLayers, FourStateRtlEqualsInterpreter) {
  int64_t first = setting("RHIZOME_RANDOM_SEED", 1);
  int64_t count = setting("RHIZOME_RANDOM_LAYERS", 24);
  for (int64_t i = 0; i < count && !HasFatalFailure(); ++i)
    runLayer(uint64_t(first + i), false);
}

TEST(RandomLayers, MeasuredCyclesEqualPrediction) {
  int64_t first = setting("RHIZOME_RANDOM_SEED", 1000);
  int64_t count = setting("RHIZOME_RANDOM_LAYERS", 24) / 10;
  for (int64_t i = 0; i < count && !HasFatalFailure(); ++i)
    runLayer(uint64_t(first + i), true);
}
} // namespace
