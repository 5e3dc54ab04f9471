// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work and intensities against published figures; roofs against arithmetic.
#include "rhizome/Analysis/Analysis.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace rhizome;
using namespace rhizome::analysis;

namespace {
class AnalysisTest : public testing::Test {
protected:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  mlir::func::FuncOp parse(const std::string &text) {
    context.loadDialect<osa::OsaDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
};

/// A convolution of 4-bit images, a requantizer and a residual sum.
constexpr const char *kResidual = R"mlir(
func.func @network(%x: tensor<1x4x4x2x!num.int<u4, 0:15>>)
    -> tensor<1x4x4x2x!num.int<s9, -120:230>> {
  %w = osa.constant {value = dense<1> : tensor<2x3x3x2xi8>}
      : () -> tensor<2x3x3x2x!num.int<s2, -1:1>>
  %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>,
      pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x4x2x!num.int<u4, 0:15>>,
         tensor<2x3x3x2x!num.int<s2, -1:1>>)
      -> tensor<1x4x4x2x!num.int<s10, -270:270>>
  %q = osa.requantize %c {multiplier = array<i64: 1>, offset = array<i64: 0>,
      shift = 2 : i64}
      : (tensor<1x4x4x2x!num.int<s10, -270:270>>)
      -> tensor<1x4x4x2x!num.int<s8, -68:67>>
  %s = osa.scaled_add %q, %x
      : (tensor<1x4x4x2x!num.int<s8, -68:67>>,
         tensor<1x4x4x2x!num.int<u4, 0:15>>)
      -> tensor<1x4x4x2x!num.int<s9, -120:230>>
  return %s : tensor<1x4x4x2x!num.int<s9, -120:230>>
})mlir";

/// EVEREST D4.2, listing 1: a convolution of 3 to 36 channels, 5 x 5, over
/// 32 x 32 pixels of float32 with a bias.
TEST_F(AnalysisTest, IntensitiesOfThePublishedConvolution) {
  auto network = parse(R"mlir(
func.func @main(%x: tensor<1x32x32x3xf32>) -> tensor<1x28x28x36xf32> {
  %w = osa.constant {value = dense<1.0> : tensor<36x5x5x3xf32>}
      : () -> tensor<36x5x5x3xf32>
  %b = osa.constant {value = dense<1.0> : tensor<36xf32>} : () -> tensor<36xf32>
  %y = osa.conv2d %x, %w, %b {strides = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x32x32x3xf32>, tensor<36x5x5x3xf32>, tensor<36xf32>)
      -> tensor<1x28x28x36xf32>
  return %y : tensor<1x28x28x36xf32>
})mlir");
  Needs needs = analyze(network);
  ASSERT_EQ(needs.operations.size(), 1u);
  const osa::Work &work = needs.operations[0].work;
  EXPECT_EQ(work.flops, (2 * 75 - 1) * 28224 + 36);
  EXPECT_EQ(work.macs, 75 * 28224);
  EXPECT_EQ(work.inputBits / 8, 12288);
  EXPECT_EQ((work.inputBits + work.paramBits) / 8, 23232);
  EXPECT_NEAR(work.engineIntensity(), 181.02, 0.005);
  EXPECT_NEAR(work.streamIntensity(), 342.24, 0.005);
}

TEST_F(AnalysisTest, TrafficCountsBitsAndNeighbors) {
  Needs needs = analyze(parse(kResidual));
  ASSERT_EQ(needs.operations.size(), 3u);
  const auto &conv = needs.operations[0], &add = needs.operations[2];
  EXPECT_EQ(conv.op, "conv2d");
  EXPECT_EQ(conv.work.inputBits, 32 * 4);
  EXPECT_EQ(conv.work.paramBits, 36 * 2);
  EXPECT_EQ(conv.work.outputBits, 32 * 10);
  EXPECT_EQ(conv.work.macs, 32 * 18);
  EXPECT_EQ(conv.work.flops, 32 * (2 * 18 - 1));
  EXPECT_EQ(conv.from, (std::vector<int64_t>{-1}));
  EXPECT_EQ(add.from, (std::vector<int64_t>{1, -1}));
  EXPECT_EQ(needs.outputs, (std::vector<int64_t>{2}));
  EXPECT_EQ(needs.border.in, 32 * 4);
  EXPECT_EQ(needs.border.out, 32 * 9);
}

TEST_F(AnalysisTest, RoofsFollowFromTheDevice) {
  auto network = parse(kResidual);
  Needs needs = analyze(network);
  auto device = loadDevice("xcku060-role");
  auto link = loadLink("udp-10g");
  ASSERT_TRUE(device && link);
  gen::DeviceContext known;
  known.budget = device->budget;
  known.clockMhz = device->clockMhz;
  DeviceAnalysis found = roofsOf(network, needs, *device, &known, &*link);
  ASSERT_EQ(found.operations.size(), 3u);
  const Roofs &whole = found.whole.roofs;
  // 16 bytes in and 36 out, each in a datagram with 66 more.
  EXPECT_NEAR(whole.network, 1.25e9 / (36 + 66), 1);
  EXPECT_NEAR(whole.dram, 10e9 * 8 / double(needs.total.paramBits), 1);
  EXPECT_GT(whole.onChip, 0);
  // The rate of one copy cannot exceed what the whole device allows, and
  // all operations together cannot exceed any of them.
  for (const OperationRoofs &o : found.operations) {
    ASSERT_TRUE(o.roofs.compute.count("stream"));
    EXPECT_GE(o.roofs.compute.at("stream"), o.fastest.at("stream") * 0.999);
    EXPECT_LE(whole.compute.at("stream"), o.roofs.compute.at("stream") * 1.001);
  }
  ASSERT_EQ(found.whole.attainable.size(), 2u);
  const Attainable &onChip = found.whole.attainable[0];
  EXPECT_EQ(onChip.weights, "on_chip");
  EXPECT_TRUE(onChip.possible);
  EXPECT_EQ(onChip.perS, std::min({whole.network, whole.onChip,
                                   whole.compute.begin()->second}));
  EXPECT_EQ(found.whole.attainable[1].weights, "dram");
}

TEST_F(AnalysisTest, WeightsNeedRoom) {
  auto network = parse(kResidual);
  Needs needs = analyze(network);
  needs.total.paramBits = int64_t(1) << 40;
  auto device = loadDevice("ice40-up5k");
  ASSERT_TRUE(bool(device));
  DeviceAnalysis found = roofsOf(network, needs, *device, nullptr, nullptr);
  EXPECT_FALSE(found.whole.attainable[0].possible); // too large for the chip
  EXPECT_FALSE(found.whole.attainable[1].possible); // no DRAM
  // With DRAM, what the chip has no room for is read from there.
  auto large = loadDevice("xcvu9p-slr");
  ASSERT_TRUE(bool(large));
  gen::DeviceContext known;
  known.budget = large->budget;
  known.clockMhz = large->clockMhz;
  found = roofsOf(network, needs, *large, &known, nullptr);
  const Attainable &onChip = found.whole.attainable[0];
  EXPECT_TRUE(onChip.possible);
  EXPECT_EQ(onChip.bound, "dram");
  EXPECT_NEAR(onChip.perS,
              found.capacity.dramBytesPerS /
                  (double(int64_t(1) << 37) - found.capacity.onChipBytes),
              1e-6);
  EXPECT_GT(onChip.perS, found.whole.attainable[1].perS);
}

gen::Offer option(int64_t interval, double lut, double dsp) {
  gen::Offer o;
  o.busyCycles = interval;
  o.resources.lut() = lut;
  o.resources.dsp() = dsp;
  return o;
}

/// Ten DSPs and ten times ten LUTs are twenty copies, each a frame in ten
/// cycles: two frames a cycle.
TEST(ComputeRoof, AddsWhatUnlikeOptionsTakeOfUnlikeResources) {
  gen::Budget budget{{"lut", 100}, {"dsp", 10}};
  std::vector<gen::Offer> options = {option(10, 10, 0), option(10, 0, 1)};
  double roof = computeRoof({options}, budget, 1);
  EXPECT_GE(roof, 2);
  EXPECT_LE(roof, 2.05);
  // Two such operations share the device.
  double both = computeRoof({options, options}, budget, 1);
  EXPECT_GE(both, 1);
  EXPECT_LE(both, 1.025);
  // A resource that the device lacks cannot be used.
  EXPECT_EQ(computeRoof({{option(10, 0, 1)}}, {{"lut", 100}}, 1), 0);
}
} // namespace
