// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An external generator whose regions are a dense layer with its
// requantizer, whose single unit (plug_dense.sv) all layers of a shape
// share, and whose weights come from an off-chip memory. The explorer
// asks it, pays for the unit once, adds up cycles and bytes, and reports which
// of the two is the limit; the built design computes the interpreter's results,
// in the predicted cycles.
#include "Layers.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Units/Shared.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
constexpr int64_t kIn = 12, kOut = 12, kBits = 8, kShift = 9;
constexpr int64_t kCycles = kIn + kIn * kOut; // of a layer
constexpr double kBytes = kIn * kOut;         // of its weights
constexpr const char *kMemory = "ddr";

// The unit: its description …
enum { Regions, In, Out, XWidth, WWidth, OutWidth, Shift, Offset, Depth };
constexpr unit::Parameter kParameters[] = {
    {"Regions", 1, 64, std::nullopt, true, "layers that take it in turn"},
    {"In", 1, 4096, std::nullopt, true, "elements of an input"},
    {"Out", 1, 4096, std::nullopt, true, "elements of an output"},
    {"XWidth", 1, 16, std::nullopt, true, "bits of an input"},
    {"WWidth", 1, 16, std::nullopt, true, "bits of a weight"},
    {"OutWidth", 1, 16, std::nullopt, true, "bits of an output"},
    {"Shift", 0, 31, std::nullopt, true, "bits that a sum is shifted by"},
    {"Offset", 0, 1 << 30, std::nullopt, true, "added before"},
    {"Depth", 2, 1 << 20, std::nullopt, true, "places of the output buffers"}};
constexpr unit::Port kPorts[] = {
    {"x", unit::Protocol::Stream, true,
     [](const int64_t *v) { return v[XWidth]; },
     [](const int64_t *v) { return v[In]; },
     [](const int64_t *v) { return v[Regions]; }, "XWidth", "In"},
    {"w", unit::Protocol::Stream, true,
     [](const int64_t *v) { return v[WWidth]; },
     [](const int64_t *v) { return v[Regions] * v[In] * v[Out]; },
     [](const int64_t *) { return int64_t(1); }, "WWidth",
     "Regions * In * Out"},
    {"y", unit::Protocol::Stream, false,
     [](const int64_t *v) { return v[OutWidth]; },
     [](const int64_t *v) { return v[Out]; },
     [](const int64_t *v) { return v[Regions]; }, "OutWidth", "Out"}};
constexpr unit::SourceFile kSources[] = {
    {"rhz_counter.sv"},
    {"rhz_outbuf.sv"},
    {"plug_dense.sv", false, RHIZOME_SOURCE_DIR "/unittests/Generator"}};
constexpr const char *kCharacterized[] = {"plug_dense"};
const unit::Kind kDense = {
    "plug_dense", "dense layers of one shape, one after another",
    "plug_dense", "",
    {},           kParameters,
    {},           kPorts,
    {},           {},
    kSources,     kCharacterized};

/// … and the meaning of its parameters.
class DenseUnit final : public gen::UnitModel {
public:
  DenseUnit() : UnitModel(kDense) {}
  int64_t latency(const unit::Instance &a) const override {
    return 1 + gen::bufferLatency(a);
  }
  bool takesTurns(const unit::Instance &) const override { return true; }
  /// A layer's outputs wait here for the next one's turn.
  int64_t leastDepth(const unit::Instance &a) const override {
    return a.get("Out");
  }
  int64_t firingsPerBeat(const unit::Instance &a) const override {
    return a.get("In");
  }
  gen::Products products(const unit::Instance &) const override {
    return {1, gen::Multiplier::Lut};
  }
  void processes(const gen::Actor &actor, gen::ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    std::vector<gen::Phase> phases;
    size_t regions = outputs.size(), weights = regions;
    int64_t in = actor.get("In"), out = actor.get("Out");
    auto only = [&](size_t index, size_t size) {
      gen::Counts counts(size, 0);
      counts[index] = 1;
      return counts;
    };
    for (size_t r = 0; r < regions; ++r) {
      phases.push_back(gen::Phase::of(in, only(r, regions + 1), {}));
      for (int64_t o = 0; o < out; ++o) {
        if (in > 1)
          phases.push_back(
              gen::Phase::of(in - 1, only(weights, regions + 1), {}));
        phases.push_back(
            gen::Phase::of(1, only(weights, regions + 1), only(r, regions)));
      }
    }
    gen::addProcess(actor, network, std::move(phases), 1, inputs, outputs);
  }
  void structure(gen::cost::Builder &b) const override {
    int64_t x = b.get("XWidth"), w = b.get("WWidth");
    b.ff(double(2 * x * w));
    b.adder(double(w), x);
    for (int64_t r = 0; r < b.get("Regions"); ++r)
      b.outbuf(b.get("Depth"), b.get("OutWidth"));
  }
};

class DenseGenerator final : public gen::Generator {
public:
  llvm::StringRef name() const override { return "turns"; }

  std::vector<gen::Region>
  regions(llvm::ArrayRef<Operation *> ops) const override {
    std::vector<gen::Region> found;
    for (size_t i = 0; i + 1 < ops.size(); ++i)
      if (isa<osa::DenseOp>(ops[i]) && isa<osa::RequantizeOp>(ops[i + 1]) &&
          ops[i + 1]->getOperand(0) == ops[i]->getResult(0))
        found.push_back(gen::Region(ops.slice(i, 2)));
    return found;
  }

  std::optional<std::string>
  coverage(const gen::Region &region) const override {
    if (region.ops().size() != 2)
      return "builds a dense layer with the requantizer behind it";
    auto dense = cast<osa::DenseOp>(region.ops()[0]);
    auto requantize = cast<osa::RequantizeOp>(region.ops()[1]);
    auto weights = cast<RankedTensorType>(dense->getOperand(1).getType());
    if (dense->getNumOperands() != 2 ||
        weights.getShape() != llvm::ArrayRef<int64_t>{kOut, kIn} ||
        requantize.getShift() != kShift || requantize.getTiesEven() ||
        requantize.getMultiplier() != llvm::ArrayRef<int64_t>{1} ||
        requantize.getOffset() != llvm::ArrayRef<int64_t>{1 << (kShift - 1)})
      return "has a unit for another shape and scale";
    return std::nullopt;
  }

  std::vector<gen::Offer>
  offers(const gen::Region &region,
         llvm::ArrayRef<std::optional<gen::BeatFormat>>,
         const gen::DeviceContext &device) const override {
    if (device.memories.empty())
      return {};
    gen::Offer offer;
    offer.generator = name().str();
    offer.key = gen::OptionKey(name(), "dense").add("in", kIn).add("out", kOut);
    offer.summary = "in turn, weights from '" + device.memories[0].name + "'";
    offer.inputs = {gen::formatOf(region.ins()[0].getType(), 1, 1)};
    offer.outputs = {gen::formatOf(region.outs()[0].getType(), 1, 1)};
    offer.shared = {"dense", {reader(1), unit(1)}};
    offer.busyCycles = kCycles;
    offer.traffic = {{device.memories[0].name, kBytes, 0}};
    offer.weights = gen::WeightHome::Streamed;
    gen::finishOffer(offer, device);
    return {offer};
  }

  gen::Offer join(llvm::ArrayRef<gen::Region> regions,
                  llvm::ArrayRef<const gen::Offer *> offers,
                  const gen::DeviceContext &device) const override {
    auto count = int(regions.size());
    gen::Offer all = *offers[0];
    all.inputs.clear();
    all.outputs.clear();
    all.shared.reset();
    all.busyCycles = 0;
    gen::BeatFormat weights;
    weights.isSigned = true;
    weights.width = kBits;
    weights.row = weights.count = count * kIn * kOut;
    all.body.units.push_back({reader(count),
                              {},
                              {weights},
                              {regions[0].front()->getOperand(1).getType()}});
    gen::Body::Unit dense{unit(count), {}, {}};
    for (int r = 0; r < count; ++r) {
      all.inputs.push_back(offers[r]->inputs[0]);
      all.outputs.push_back(offers[r]->outputs[0]);
      all.busyCycles += offers[r]->busyCycles;
      dense.inputs.push_back({-1, r});
      dense.outputs.push_back(offers[r]->outputs[0]);
      all.body.outputs.push_back({1, r});
    }
    dense.inputs.push_back({0, 0});
    all.body.units.push_back(std::move(dense));
    gen::finishOffer(all, device);
    return all;
  }

  void build(const gen::Region &region, gen::Offer &offer,
             gen::MemoryImages &images) const override {
    gen::Actor &reader = offer.body.front();
    gen::MemoryImage image(kBits, reader.get("Words"));
    int64_t word = 0;
    for (Operation *op : region.ops())
      if (isa<osa::DenseOp>(op))
        osa::forConstantInts(op->getOperand(1), [&](int64_t weight) {
          image.set(word++, 0, kBits, weight);
        });
    std::string segment = reader.name + ".bin";
    images[segment] = std::move(image);
    reader.memories[0].segment = segment;
  }

private:
  static gen::Actor reader(int64_t regions) {
    gen::MemoryReading reading;
    reading.bits = kBits;
    reading.words = regions * kIn * kOut;
    return gen::makeMemReader(reading, {kMemory, 0, ""});
  }
  static gen::Actor unit(int64_t regions) {
    return gen::Actor(kDense.name, "dense",
                      {{"Regions", regions},
                       {"In", kIn},
                       {"Out", kOut},
                       {"XWidth", kBits},
                       {"WWidth", kBits},
                       {"OutWidth", kBits},
                       {"Shift", kShift},
                       {"Offset", 1 << (kShift - 1)}});
  }
};

class Region : public ::testing::Test {
protected:
  void SetUp() override {
    gen::addUnit(std::make_unique<DenseUnit>());
    gen::addGenerator(std::make_unique<DenseGenerator>());
  }
  void TearDown() override {
    gen::removeGenerator("turns");
    gen::removeUnit(kDense.name);
  }

  MLIRContext context;

  /// `layers` dense layers of one shape, with a table after the first.
  static func::FuncOp network(NetworkBuilder &n, int layers) {
    auto byte = num::IntType::getFull(n.b.getContext(), true, kBits);
    n.begin({1, kIn}, byte);
    for (int i = 0; i < layers; ++i) {
      std::string name = "dense" + std::to_string(i);
      n.dense(name, kOut);
      n.value = osa::RequantizeOp::create(
          n.b, n.loc(name), n.tensor(n.shape(), byte), n.value,
          llvm::ArrayRef<int64_t>{1},
          llvm::ArrayRef<int64_t>{1 << (kShift - 1)}, kShift, false);
      if (i == 0)
        n.table("table", byte, /*perChannel=*/false);
    }
    return n.end();
  }

  static gen::DeviceContext device(double bytesPerCycle) {
    gen::DeviceContext d = test::testDevice();
    gen::Memory memory;
    memory.name = kMemory;
    memory.banks = 1;
    memory.bytesPerS = bytesPerCycle * d.clockMhz * 1e6;
    memory.latencyNs = 200;
    d.memories = {memory};
    return d;
  }

  static explore::Result
  explored(func::FuncOp f, const gen::DeviceContext &device, const char *goal) {
    explore::ClusterPlace place;
    place.device = "test";
    place.context = device;
    place.capacity = device.budget;
    explore::Cluster cluster;
    cluster.places = {place};
    // The other generators' units are also small: request it by name.
    explore::Steering steering;
    for (const char *node : {"dense0", "dense1", "dense2"})
      if (llvm::any_of(f.getOps(), [&](Operation &op) {
            return osa::nodeName(&op) == node;
          })) {
        explore::Steering::Pin pin;
        pin.of.node = node;
        pin.generator = "turns";
        steering.pins.push_back(pin);
      }
    auto result =
        explore::explore(f, *explore::parseGoal(goal), cluster, steering);
    EXPECT_TRUE(succeeded(result));
    for (const Refusal &refusal : result->refused)
      ADD_FAILURE() << refusal.node << ": " << refusal.reason;
    return std::move(*result);
  }
};

int64_t count(explore::NodeResult &node, llvm::StringRef kind) {
  return llvm::count_if(node.design.getBody().getOps<flow::ActorOp>(),
                        [&](flow::ActorOp op) { return op.getKind() == kind; });
}

TEST_F(Region, AUnitThatLayersShareIsPaidForOnce) {
  NetworkBuilder one(context), two(context);
  explore::Result first =
      explored(network(one, 1), device(4), "max-throughput");
  explore::Result both = explored(network(two, 2), device(4), "min-resources");
  ASSERT_EQ(both.nodes.size(), 1u);
  EXPECT_EQ(count(both.nodes[0], "plug_dense"), 1);
  EXPECT_EQ(count(both.nodes[0], "mem_reader"), 1);
  // The second layer takes buffers, not another multiplier.
  EXPECT_LT(both.nodes[0].resources.lut(),
            1.7 * first.nodes[0].resources.lut());
  EXPECT_GE(both.nodes[0].timing.intervalCycles, 2 * kCycles);
  EXPECT_LE(both.nodes[0].timing.intervalCycles, 2 * kCycles + 40);
  EXPECT_EQ(both.nodes[0].taken.size(), 5u);
  EXPECT_EQ(both.nodes[0].taken[0].key.text(),
            both.nodes[0].taken[1].key.text());
}

TEST_F(Region, ARateThatOneUnitCannotGiveTakesMore) {
  NetworkBuilder n(context);
  std::string goal =
      "throughput=" + std::to_string(100000000 / kCycles / 2 + 1000) + "/s";
  explore::Result result = explored(network(n, 3), device(8), goal.c_str());
  EXPECT_GE(count(result.nodes[0], "plug_dense"), 2);
}

TEST_F(Region, TheMemoryBindsWhereItIsSlow) {
  NetworkBuilder fast(context), slow(context);
  explore::Result wide =
      explored(network(fast, 2), device(4), "max-throughput");
  explore::Result narrow =
      explored(network(slow, 2), device(0.25), "max-throughput");
  EXPECT_LT(wide.nodes[0].timing.intervalCycles, 2 * kCycles + 40);
  // Four cycles a byte.
  EXPECT_GE(narrow.nodes[0].timing.intervalCycles, 8 * kBytes);
  EXPECT_LE(narrow.nodes[0].timing.intervalCycles, 1.03 * 8 * kBytes);
  EXPECT_EQ(narrow.bottleneck.kind, flow::BottleneckKind::Memory);
  EXPECT_EQ(narrow.bottleneck.node, kMemory);
  EXPECT_EQ(narrow.limit.kind, explore::Limit::Kind::Bandwidth)
      << explore::describe(narrow.limit);
  EXPECT_NE(wide.bottleneck.kind, flow::BottleneckKind::Memory);
}

TEST_F(Region, ComputesWhatTheInterpreterSaysUnderStalls) {
  for (double bytesPerCycle : {4.0, 0.25})
    for (bool measure : {false, true}) {
      NetworkBuilder n(context);
      gen::DeviceContext d = device(bytesPerCycle);
      func::FuncOp f = network(n, 2);
      explore::Result result = explored(f, d, "min-resources");
      result.nodes[0].design.erase();
      test::LayerRun run;
      test::runLayer(n, f, result.nodes[0].selections, d, measure, &run);
      EXPECT_EQ(llvm::count(run.kinds, "plug_dense"), 1);
    }
}
} // namespace
