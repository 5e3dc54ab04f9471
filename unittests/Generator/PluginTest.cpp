// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External generators: this file makes two and registers them. One
// transposes small frames by wiring; the other adds its own unit kind,
// with a cell in SystemVerilog (plug_max.sv), its timing and its cost; a third
// one has words of its own in its options' keys. The
// explorer uses them where they are faster, and what they
// build computes the interpreter's results, in the predicted cycles.
#include "Layers.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Units/Circuit.h"
#include <map>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
class WiresGenerator final : public gen::Generator {
public:
  llvm::StringRef name() const override { return "wires"; }

  std::optional<std::string>
  coverage(const gen::Region &region) const override {
    Operation *op = region.front();
    if (!isa<osa::TransposeOp>(op))
      return "transposes, nothing else";
    if (gen::formatOf(op->getOperand(0).getType(), 1, 1).count > 64)
      return "wires frames of up to 64 elements only";
    return std::nullopt;
  }

  std::vector<gen::Offer>
  offers(const gen::Region &region,
         llvm::ArrayRef<std::optional<gen::BeatFormat>>,
         const gen::DeviceContext &device) const override {
    Operation *op = region.front();
    gen::Offer offer;
    offer.generator = name().str();
    offer.key = gen::OptionKey(name(), "wires");
    offer.summary = "a frame a cycle";
    gen::BeatFormat whole = gen::formatOf(op->getOperand(0).getType(), 1, 1);
    whole.lanes = whole.row = whole.count;
    gen::Actor wires = gen::describe(circuit(op), kBudget);
    wires.name = "wires";
    wires.set("frameBeats", 1);
    offer.inputs = {whole};
    offer.outputs = {whole};
    offer.body.chain(std::move(wires), whole);
    offer.busyCycles = 1;
    gen::finishOffer(offer, device);
    return {offer};
  }

  void build(const gen::Region &region, gen::Offer &offer,
             gen::MemoryImages &) const override {
    offer.body.front().datapath =
        std::make_shared<const gen::Circuit>(circuit(region.front()));
  }

private:
  static constexpr int64_t kBudget = 128;

  static gen::Circuit circuit(Operation *op) {
    auto transpose = cast<osa::TransposeOp>(op);
    auto in = cast<RankedTensorType>(transpose.getInput().getType()).getShape();
    auto out =
        cast<RankedTensorType>(transpose.getOutput().getType()).getShape();
    auto element = num::elementInt(transpose.getInput().getType());
    gen::Circuit c;
    gen::BeatFormat f = gen::formatOf(transpose.getInput().getType(), 1, 1);
    c.inLanes = f.count;
    c.inWidth = c.outWidth = f.width;
    std::vector<int64_t> stride(in.size(), 1);
    for (size_t i = in.size() - 1; i-- > 0;)
      stride[i] = stride[i + 1] * in[i + 1];
    for (int64_t i = 0; i < f.count; ++i) {
      int64_t rest = i, from = 0;
      for (size_t axis = out.size(); axis-- > 0; rest /= out[axis])
        from += rest % out[axis] * stride[transpose.getPermutation()[axis]];
      c.outputs.push_back(c.input(from, element.getLo(), element.getHi()));
    }
    return c;
  }
};

/// The generator exists as long as this object.
struct Registered {
  Registered() { gen::addGenerator(std::make_unique<WiresGenerator>()); }
  ~Registered() { gen::removeGenerator("wires"); }
};

func::FuncOp network(NetworkBuilder &n) {
  n.begin({1, 2, 3, 4}, num::IntType::getFull(n.b.getContext(), true, 5));
  n.transpose("transpose", {0, 3, 1, 2});
  return n.end();
}

std::vector<gen::Selection> chosen(func::FuncOp f,
                                   const gen::DeviceContext &device,
                                   double &interval,
                                   const char *goal = "max-throughput") {
  explore::ClusterPlace place;
  place.device = "test";
  place.context = device;
  place.capacity = device.budget;
  explore::Cluster cluster;
  cluster.places = {place};
  auto result = explore::explore(f, *explore::parseGoal(goal), cluster);
  EXPECT_TRUE(succeeded(result));
  interval = result->nodes[0].timing.intervalCycles;
  result->nodes[0].design.erase();
  return result->nodes[0].selections;
}

TEST(Plugin, IsAskedAndTakenWhereItIsFaster) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = network(n);
  gen::DeviceContext device = test::testDevice();
  double before, after;
  EXPECT_EQ(chosen(f, device, before)[0].offer.generator, "stream");
  Registered registered;
  EXPECT_EQ(chosen(f, device, after)[0].offer.generator, "wires");
  EXPECT_LT(after, before);
}

TEST(Plugin, ComputesWhatTheInterpreterSays) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = network(n);
  gen::DeviceContext device = test::testDevice();
  Registered registered;
  double interval;
  test::LayerRun run;
  test::runLayer(n, f, chosen(f, device, interval), device, false, &run);
  EXPECT_TRUE(llvm::is_contained(run.kinds, "circuit"));
}

TEST(Plugin, SaysWhyNot) {
  MLIRContext context;
  NetworkBuilder n(context);
  n.begin({1, 4, 4, 3}, num::IntType::getFull(n.b.getContext(), true, 5));
  n.maxPool("pool");
  func::FuncOp f = n.end();
  EXPECT_FALSE(gen::findGenerator("wires"));
  Registered registered;
  for (Operation &op : f.getBody().front())
    if (isa<osa::MaxPoolOp>(op))
      EXPECT_EQ(*gen::findGenerator("wires")->coverage(&op),
                "transposes, nothing else");
  explore::Cluster anywhere;
  anywhere.places.emplace_back();
  EXPECT_TRUE(explore::coverage(f, anywhere).empty())
      << "the stream generator has it";
}

// A unit kind: its description, as a record of rtl/units would give it …
constexpr unit::Parameter kParameters[] = {
    {"Lanes", 1, 1 << 20, std::nullopt, true, "elements of a beat"},
    {"Width", 1, 4096, std::nullopt, true, "bits of an element"},
    {"Signed", 0, 1, std::nullopt, true, "elements are signed"},
    {"Depth", 2, 1 << 20, std::nullopt, true, "places of the output buffer"},
    {"frameBeats", 0, int64_t(1) << 50, std::nullopt, false, "beats a frame"}};
int64_t bitsOf(const int64_t *v) { return v[0] * v[1]; }
int64_t beatsOf(const int64_t *v) { return v[4]; }
int64_t one(const int64_t *) { return 1; }
constexpr unit::Port kPorts[] = {{"a", unit::Protocol::Stream, true, bitsOf,
                                  beatsOf, one, "Lanes * Width", "frameBeats"},
                                 {"b", unit::Protocol::Stream, true, bitsOf,
                                  beatsOf, one, "Lanes * Width", "frameBeats"},
                                 {"out", unit::Protocol::Stream, false, bitsOf,
                                  beatsOf, one, "Lanes * Width", "frameBeats"}};
constexpr unit::SourceFile kSources[] = {
    {"rhz_counter.sv"},
    {"rhz_outbuf.sv"},
    {"plug_max.sv", false, RHIZOME_SOURCE_DIR "/unittests/Generator"}};
constexpr const char *kCharacterized[] = {"plug_max"};
const unit::Kind kMax = {"plug_max", "the larger element of two streams",
                         "plug_max", "",
                         {},         kParameters,
                         {},         kPorts,
                         {},         {},
                         kSources,   kCharacterized};

/// … and the meaning of its parameters.
class MaxUnit final : public gen::UnitModel {
public:
  MaxUnit() : UnitModel(kMax) {}
  int64_t latency(const unit::Instance &a) const override {
    return 1 + gen::bufferLatency(a);
  }
  void structure(gen::cost::Builder &b) const override {
    int64_t lanes = b.get("Lanes"), width = b.get("Width");
    b.ff(double(1 + lanes * width));
    b.compare(double(lanes), width);
    b.term(gen::Term::Select, double(lanes * width));
    b.outbuf(b.get("Depth"), lanes * width);
  }
};

class MaxGenerator final : public gen::Generator {
public:
  llvm::StringRef name() const override { return "larger"; }

  std::optional<std::string>
  coverage(const gen::Region &region) const override {
    Operation *op = region.front();
    auto most = dyn_cast<osa::ScaledMaxOp>(op);
    if (!most || most.getLhsMultiplier() != 1 || most.getRhsMultiplier() != 1 ||
        most.getRhsOffset() != 0)
      return "takes the larger one of two plain streams, nothing else";
    return std::nullopt;
  }

  std::vector<gen::Offer>
  offers(const gen::Region &region,
         llvm::ArrayRef<std::optional<gen::BeatFormat>>,
         const gen::DeviceContext &device) const override {
    Operation *op = region.front();
    std::vector<gen::Offer> offers;
    gen::BeatFormat f = gen::formatOf(op->getOperand(0).getType(), 1, 1);
    for (int64_t lanes : gen::foldings(gen::channelsOf(op))) {
      f.lanes = lanes;
      f.row = gen::channelsOf(op);
      gen::Offer offer;
      offer.generator = name().str();
      offer.key = gen::OptionKey(name(), "max").add("lanes", lanes);
      offer.summary = gen::counted(lanes, "lane");
      offer.inputs = {f.canonical(), f.canonical()};
      offer.outputs = {f.canonical()};
      offer.body.chain(gen::Actor(kMax.name, "max",
                                  {{"Lanes", lanes},
                                   {"Width", f.width},
                                   {"Signed", f.isSigned},
                                   {"frameBeats", f.beats()}}),
                       f.canonical());
      offer.busyCycles = f.beats();
      gen::finishOffer(offer, device);
      offers.push_back(offer);
    }
    return offers;
  }

  void build(const gen::Region &, gen::Offer &,
             gen::MemoryImages &) const override {}
};

/// The unit and its generator exist as long as this object.
struct WithMax {
  WithMax() {
    gen::addUnit(std::make_unique<MaxUnit>());
    gen::addGenerator(std::make_unique<MaxGenerator>());
  }
  ~WithMax() {
    gen::removeGenerator("larger");
    gen::removeUnit(kMax.name);
  }
};

/// max(pool(x), x) with both of one type.
func::FuncOp largerNetwork(NetworkBuilder &n) {
  n.begin({1, 4, 4, 6}, num::IntType::getFull(n.b.getContext(), true, 5));
  Value input = n.value;
  n.maxPool("pool", {{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});
  n.pair("max", input, /*product=*/false, 1, 1, 0);
  return n.end();
}

TEST(Plugin, BringsAUnitKindOfItsOwn) {
  MLIRContext context;
  gen::DeviceContext device = test::testDevice();
  WithMax registered;
  for (bool measure : {false, true}) {
    NetworkBuilder n(context);
    func::FuncOp f = largerNetwork(n);
    double interval;
    // It is the smallest unit that takes the larger element.
    std::vector<gen::Selection> selections =
        chosen(f, device, interval, "min-resources");
    EXPECT_EQ(selections.back().offer.generator, "larger");
    test::LayerRun run;
    test::runLayer(n, f, selections, device, measure, &run);
    EXPECT_TRUE(llvm::is_contained(run.kinds, "plug_max"));
  }
}

/// What the stream generator builds for dense layers, under keys with other
/// words: `kept=mask`, `kept=chip` and `kept=outside` for weights' homes,
/// `together=` for frames that share them.
class RenamedGenerator final : public gen::Generator {
public:
  llvm::StringRef name() const override { return "renamed"; }

  std::optional<std::string>
  coverage(const gen::Region &region) const override {
    if (!isa<osa::DenseOp>(region.front()))
      return "builds dense layers, nothing else";
    return stream().coverage(region);
  }

  std::vector<gen::Offer>
  offers(const gen::Region &region,
         llvm::ArrayRef<std::optional<gen::BeatFormat>> upstream,
         const gen::DeviceContext &device) const override {
    std::vector<gen::Offer> offers = stream().offers(region, upstream, device);
    llvm::erase_if(offers, [](const gen::Offer &o) { return o.shared; });
    std::map<std::string, int64_t> numbers;
    for (gen::Offer &offer : offers) {
      int64_t frames = 1;
      for (const gen::Body::Unit &unit : offer.body.units)
        frames = std::max(frames, unit.batch);
      constexpr const char *kHomes[] = {"mask", "chip", "outside"};
      offer.generator = name().str();
      offer.key = gen::OptionKey(name(), "dense")
                      .add("kept", kHomes[size_t(offer.weights)])
                      .add("together", frames);
      offer.key.add("number", numbers[offer.key.text()]++);
    }
    return offers;
  }

  void build(const gen::Region &region, gen::Offer &offer,
             gen::MemoryImages &images) const override {
    stream().build(region, offer, images);
  }

private:
  static const gen::Generator &stream() {
    return *gen::findGenerator("stream");
  }
};

struct WithRenamed {
  WithRenamed() { gen::addGenerator(std::make_unique<RenamedGenerator>()); }
  ~WithRenamed() { gen::removeGenerator("renamed"); }
};

class RenamedKeys : public ::testing::Test {
protected:
  WithRenamed registered;
  MLIRContext context;
  NetworkBuilder n{context};

  /// A dense layer explored with this option, next to a memory or not.
  explore::Result explored(llvm::StringRef option, bool hasMemory = true) {
    n.begin({1, 64}, num::IntType::getFull(n.b.getContext(), true, 8));
    n.dense("dense", 32);
    explore::ClusterPlace place;
    place.device = "test";
    place.context = test::testDevice();
    if (hasMemory) {
      gen::Memory memory;
      memory.name = "ddr4";
      memory.bytesPerS = 10'000'000'000;
      place.context.memories = {memory};
    }
    place.capacity = place.context.budget;
    explore::Cluster cluster;
    cluster.places = {place};
    explore::Steering steering;
    explore::Steering::Pin &pin = steering.pins.emplace_back();
    pin.of.node = "dense";
    pin.option = option.str();
    auto result = explore::explore(
        n.end(), *explore::parseGoal("min-resources"), cluster, steering);
    EXPECT_TRUE(succeeded(result));
    return std::move(*result);
  }
};

TEST_F(RenamedKeys, AHomeIsUnderstoodInAGeneratorsOwnWords) {
  for (auto [option, home] :
       {std::pair("renamed/dense?kept=mask", gen::WeightHome::Rom),
        {"?kept=chip", gen::WeightHome::Resident},
        {"renamed/dense?kept=outside", gen::WeightHome::Streamed},
        {"?kept=outside&together=4", gen::WeightHome::Streamed}}) {
    SCOPED_TRACE(option);
    n.module = ModuleOp::create(n.b.getUnknownLoc());
    n.b.setInsertionPointToEnd(n.module->getBody());
    explore::Result result = explored(option);
    ASSERT_TRUE(result.refused.empty()) << result.refused[0].reason;
    ASSERT_EQ(result.nodes.size(), 1u);
    const gen::Offer &offer = result.nodes[0].selections[0].offer;
    EXPECT_EQ(offer.generator, "renamed");
    EXPECT_EQ(offer.weights, home);
    EXPECT_EQ(result.residents == gen::Residents::All,
              home == gen::WeightHome::Resident);
    EXPECT_EQ(result.streaming == gen::Streaming::All,
              home == gen::WeightHome::Streamed);
    EXPECT_EQ(result.batch, llvm::StringRef(option).contains('4') ? 4 : 1);
    result.nodes[0].design.erase();
  }
}

TEST_F(RenamedKeys, ADeviceWithoutAMemoryIsNamed) {
  explore::Result result = explored("?kept=outside", /*hasMemory=*/false);
  ASSERT_EQ(result.refused.size(), 1u);
  EXPECT_NE(result.refused[0].remedy.find("a memory outside the chip"),
            std::string::npos)
      << result.refused[0].remedy;
}

TEST_F(RenamedKeys, AWordThatNobodyHasIsRefused) {
  explore::Result result = explored("?weights=streamedly");
  ASSERT_EQ(result.refused.size(), 1u);
  EXPECT_NE(result.refused[0].reason.find("'?weights=streamedly'"),
            std::string::npos)
      << result.refused[0].reason;
}

TEST(Plugin, ItsKindIsGoneWithIt) {
  EXPECT_FALSE(gen::findUnit("plug_max"));
  EXPECT_FALSE(unit::find("plug_max"));
}
} // namespace
