// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Common parts of generator tests: a device, and the differential run of one
// network with given options: simulated RTL against the interpreter, cycles
// against the prediction.
#pragma once

#include "../NetworkBuilder.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/Simulate/Simulate.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace rhizome::test {
/// An environment variable's number.
inline int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

inline gen::DeviceContext testDevice() {
  gen::DeviceContext d;
  d.budget = {{"lut", 200000},
              {"ff", 400000},
              {"dsp", 2000},
              {"bram", 500},
              {"lutram", 100000}};
  d.pairBits = 8;
  return d;
}

/// Seeds from RHIZOME_RANDOM_SEED on, `first` if it is not set: one for every
/// `share` of RHIZOME_RANDOM_LAYERS, which are 5 if it is not set.
inline void forSeeds(int64_t first, int64_t share,
                     llvm::function_ref<void(uint64_t)> run) {
  first = setting("RHIZOME_RANDOM_SEED", first);
  int64_t count = (setting("RHIZOME_RANDOM_LAYERS", 5) + share - 1) / share;
  for (int64_t i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i)
    run(uint64_t(first + i));
}

/// A random option of fewer than 20,000 LUTs with a unit of its own for every
/// operation, of those that `mayTake` admits.
inline std::vector<gen::Selection> drawSelections(
    NetworkBuilder &n, mlir::func::FuncOp network,
    const gen::DeviceContext &device,
    llvm::function_ref<bool(mlir::Operation *, const gen::Offer &)> mayTake) {
  std::vector<gen::Selection> selections;
  for (mlir::Operation &op : network.getBody().front()) {
    if (llvm::isa<osa::ConstantOp, osa::ReshapeOp, mlir::func::ReturnOp>(op))
      continue;
    std::vector<gen::Offer> options;
    for (const auto &generator : gen::allGenerators())
      if (!generator->coverage(&op))
        for (gen::Offer &o : generator->offers(&op, {}, device))
          if (o.resources.lut() < 20000 && !o.shared && mayTake(&op, o))
            options.push_back(std::move(o));
    EXPECT_FALSE(options.empty()) << "no option";
    if (!options.empty())
      selections.push_back({&op, options[n.rng() % options.size()]});
  }
  return selections;
}
inline std::vector<gen::Selection>
drawSelections(NetworkBuilder &n, mlir::func::FuncOp network,
               const gen::DeviceContext &device) {
  return drawSelections(
      n, network, device,
      [](mlir::Operation *, const gen::Offer &) { return true; });
}

inline std::string describe(const std::vector<gen::Selection> &selections) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &s : selections)
    os << "  " << s.region.front()->getName() << " [" << s.offer.summary << "] "
       << *s.region.front() << "\n";
  return text;
}

/// The results of a run.
struct LayerRun {
  gen::Timing timing;
  gen::Resources resources;
  std::vector<std::string> kinds; ///< of the design's actors
  int64_t width = 0; ///< given: the border's, otherwise a random one
};

/// Builds `network` from `selections` with a border of random width and
/// simulates three frames: four-state with random stalls, or (`measure`)
/// without stalls, when cycles must equal the prediction; with a tolerance, for
/// designs that read a memory, up to that and a refresh. Every value must equal
/// the interpreter's.
inline void runLayer(NetworkBuilder &n, mlir::func::FuncOp network,
                     std::vector<gen::Selection> chosen,
                     const gen::DeviceContext &d, bool measure,
                     LayerRun *left = nullptr, double tolerance = 0) {
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*n.module)));
  explore::NodeResult result;
  result.function = network;
  result.selections = std::move(chosen);
  SCOPED_TRACE(describe(result.selections));
  static const int64_t widths[] = {8, 24, 32, 64, 128};
  int64_t width = widths[n.draw(0, 4)];
  // Icarus resolves a vector that is driven word by word anew for every word:
  // a border that is far narrower than its stream would take a quarter of an
  // hour.
  for (const auto &s : result.selections)
    while (s.offer.outputs[0].bits() > 64 * width)
      width *= 2;
  if (left && left->width)
    width = left->width;
  gen::Border border{"test", 100, width, "node0", d.memories};
  result.design =
      gen::buildDesign(network, result.selections, border, result.images);
  ASSERT_TRUE(mlir::succeeded(gen::sizeBuffers(result.design)));
  auto timing = gen::predictTiming(result.design);
  ASSERT_TRUE(mlir::succeeded(timing));
  result.timing = *timing;
  if (left) {
    left->timing = *timing;
    left->resources = gen::costOf(result.design, d.cost);
    for (auto op : result.design.getBody().getOps<flow::ActorOp>())
      left->kinds.push_back(op.getKind().str());
  }
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
    PlannedNode node = planbuild::describeNode("node0", result, d);
    check(planbuild::writeNode(**writer, node, result));
    node.family = "ultrascale+";
    node.budget = d.budget;
    Plan plan;
    plan.model = "layer";
    plan.device = "test";
    plan.goal = "random";
    plan.predicted = node.predicted;
    plan.clockMhz = d.clockMhz;
    plan.nodes.push_back(std::move(node));
    for (const flow::Kept &one : flow::keptBy(network))
      plan.tasks.states.push_back(
          {one.state.getOf().str(), one.state.getNext().str(), 1, true, ""});
    check((*writer)->writePlan(plan));
    check((*writer)->commit());
  }
  auto package = Package::open(dir);
  ASSERT_TRUE(bool(package)) << llvm::toString(package.takeError());

  std::vector<std::vector<Tensor>> frames, expected;
  // What the design keeps, the interpreter is handed.
  llvm::SmallVector<flow::Kept> kept = flow::keptBy(network);
  std::vector<std::vector<int64_t>> states;
  for (const flow::Kept &one : kept)
    states.push_back(osa::intValues(one.state.getInitial()));
  for (int frame = 0; frame < 3; ++frame) {
    std::vector<Tensor> taken;
    for (mlir::Type type : network.getArgumentTypes()) {
      auto shaped = llvm::cast<mlir::RankedTensorType>(type);
      const bool isPort = taken.size() < flow::portsOf(network, false);
      taken.push_back(Tensor::ofInts(
          shaped.getShape().vec(),
          isPort
              ? n.drawValues(shaped.getNumElements(), num::elementInt(shaped))
              : states[taken.size() - kept.front().argument]));
    }
    auto out = interpret(network, taken);
    ASSERT_TRUE(mlir::succeeded(out));
    for (auto [k, one] : llvm::enumerate(kept))
      states[k] = (*out)[one.result].ints;
    taken.resize(flow::portsOf(network, false));
    out->resize(flow::portsOf(network, true));
    frames.push_back(std::move(taken));
    expected.push_back(*out);
  }
  SimOptions options;
  options.seed = uint64_t(n.draw(1, 1 << 20));
  options.fourState = !measure;
  options.measure = measure;
  options.stallsIn = measure ? 0 : unsigned(n.draw(0, 70));
  options.stallsOut = measure ? 0 : unsigned(n.draw(0, 70));
  auto sim = simulateRtl(*package, frames, options);
  ASSERT_TRUE(bool(sim)) << llvm::toString(sim.takeError()) << dir;
  for (size_t f = 0; f < frames.size(); ++f)
    for (size_t k = 0; k < expected[f].size(); ++k)
      EXPECT_EQ(sim->outputs[f][k].ints, expected[f][k].ints)
          << "frame " << f << " in " << dir;
  if (measure) {
    double refresh = 0;
    for (const gen::Memory &memory : d.memories)
      if (tolerance > 0)
        refresh += double(memory.refreshNs) * d.clockMhz / 1000;
    auto slack = [&](double cycles) { return tolerance * cycles + refresh; };
    // Over at least eight intervals; which of them a refresh meets is chance.
    EXPECT_NEAR(sim->intervalCycles, timing->intervalCycles,
                std::max(tolerance, 0.005) * timing->intervalCycles +
                    refresh / 8 + 0.01);
    EXPECT_NEAR(double(sim->latencyCycles), double(timing->latencyCycles),
                slack(double(timing->latencyCycles)));
    if (int64_t cycles = gen::loadCycles(result.design)) {
      // Others read ahead at the same time.
      const double ahead = tolerance > 0 ? 100 : 0;
      EXPECT_NEAR(double(sim->loadCycles), double(cycles),
                  slack(double(cycles)) + ahead);
    }
  }
  // Kept for `rhizome characterize --add`, on request.
  if (!::testing::Test::HasFailure() && !std::getenv("RHIZOME_KEEP_LAYERS"))
    llvm::sys::fs::remove_directories(folder);
}
} // namespace rhizome::test
