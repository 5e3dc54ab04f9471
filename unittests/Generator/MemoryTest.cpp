// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Designs that read weights from off-chip memories, from the IR to the
// simulated package: readers that share a bank and readers that do not, a unit
// kind of the test's own, limited by the memory and limited by the stream.
// Values are correct under any stalls, cycles are as predicted.
#include "Layers.h"
#include "PlugOffset.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Design/Segments.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Units/Shared.h"
#include <random>

using namespace mlir;
using namespace rhizome;

namespace {
/// y = x + w0 (+ w1): every weight is an element of a segment, which is read
/// `rounds` times per frame.
struct Case {
  const char *name = "";
  int64_t lanes = 8;          ///< bytes of a beat
  int64_t words = 32;         ///< of the first segment
  int64_t rounds = 2;         ///< that it is read; the second one is read once
  int64_t readers = 1;        ///< 1 or 2
  bool ownUnit = false;       ///< reads the first one instead of a reader
  int64_t secondBank = 0;     ///< of the second one
  int64_t burst = 8;          ///< beats
  int64_t depth = 32;         ///< of the prefetch buffers
  int64_t borderBits = 64;    ///< of the input's and the output's beats
  int64_t bytesPerS = 1600e6; ///< of two banks: 8 bytes a cycle each
  int64_t latencyNs = 200, turnaroundNs = 0;
  int64_t refreshEveryNs = 0, refreshNs = 0;

  int64_t beats() const { return words * rounds; }
  int64_t elements() const { return lanes * beats(); }
  /// Beats of a segment.
  int64_t wordsOf(int64_t reader) const { return reader ? beats() : words; }
};

void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

/// A design's text, actor by actor.
class Text {
public:
  explicit Text(const Case &c) : c(c) {}

  std::string run() {
    std::string sum = "%x", body;
    int bits = 8;
    for (int64_t k = 0; k < c.readers; ++k) {
      body += k == 0 && c.ownUnit ? ownUnit(sum) : readAndAdd(k, sum, bits);
      bits += k > 0 || !c.ownUnit;
      sum = "%y" + n(k);
    }
    std::string tensor = "tensor<1x" + n(c.elements()) + "x!num.int<s";
    return "func.func private @network(" + tensor + "8>>) -> " + tensor +
           n(bits) +
           ">>\nflow.design @node0 attributes {clock_mhz = 100.0, device = "
           "\"test\", memories = [#flow.memory<\"ddr4\", banks = 2, "
           "bytes_per_s = " +
           n(c.bytesPerS) + ", latency_ns = " + n(c.latencyNs) +
           ", turnaround_ns = " + n(c.turnaroundNs) +
           ", refresh_every_ns = " + n(c.refreshEveryNs) +
           ", refresh_ns = " + n(c.refreshNs) + ">]} {\n" +
           "%x = flow.actor \"axis_in\" \"s_axis_0\"() " + border(8, ": 8") +
           "() -> " + stream(8) + "\n" + body +
           "flow.actor \"axis_out\" \"m_axis_0\"(" + sum + ") " +
           border(bits, "") + "(" + stream(bits) + ") -> ()\n}\n";
  }

private:
  const Case &c;

  static std::string n(int64_t value) { return std::to_string(value); }
  std::string stream(int bits) const {
    std::string all = n(c.elements());
    return "!flow.stream<!num.int<s" + n(bits) + ">, lanes = " + n(c.lanes) +
           ", row = " + all + ", count = " + all + ", order = pixels>";
  }
  std::string border(int bits, const char *depths) const {
    return "{config = {DataWidth = " + n(c.borderBits) + ", Elem = " + n(bits) +
           ", Lanes = " + n(c.lanes) + ", FrameElements = " + n(c.elements()) +
           ", Row = " + n(c.elements()) + "}, depths = array<i64" + depths +
           ">, nodes = [\"border\"], port = 0} : ";
  }
  /// The common part of readers: parameters, and their bank.
  std::string reading(int64_t k) const {
    return "DataWidth = " + n(8 * c.lanes) + ", Words = " + n(c.wordsOf(k)) +
           ", Burst = " + n(c.burst) + ", frameBeats = " + n(c.beats());
  }
  std::string place(int64_t k) const {
    return "memories = [#flow.bank<\"ddr4\", " + n(k ? c.secondBank : 0) +
           ", \"w" + n(k) + ".bin\">], nodes = [\"weights\"]} : ";
  }
  std::string ownUnit(const std::string &sum) const {
    return "%y0 = flow.actor \"plug_offset\" \"offset\"(" + sum +
           ") {config = {" + reading(0) + ", Places = " + n(c.depth) +
           "}, depths = array<i64: 4>, " + place(0) + "(" + stream(8) +
           ") -> " + stream(8) + "\n";
  }
  std::string readAndAdd(int64_t k, const std::string &sum, int bits) const {
    return "%w" + n(k) + " = flow.actor \"mem_reader\" \"read" + n(k) +
           "\"() {config = {" + reading(k) +
           "}, depths = array<i64: " + n(c.depth) + ">, " + place(k) +
           "() -> " + stream(8) + "\n%y" + n(k) +
           " = flow.actor \"scaled_add\" \"add" + n(k) + "\"(" + sum + ", %w" +
           n(k) + ") {config = {Lanes = " + n(c.lanes) +
           ", AWidth = " + n(bits) +
           ", ASigned = 1, BWidth = 8, BSigned = 1, MulA = 1, MulB = 1, "
           "MulWidth = 2, Max = 0, OutWidth = " +
           n(bits + 1) + ", frameBeats = " + n(c.beats()) +
           "}, depths = array<i64: 8>, nodes = [\"add\"]} : (" + stream(bits) +
           ", " + stream(8) + ") -> " + stream(bits + 1) + "\n";
  }
};

/// A case's design with its weights, and a package of it.
class Memories : public ::testing::TestWithParam<Case> {
protected:
  test::WithOffset registered;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  explore::NodeResult result;
  std::vector<std::vector<int64_t>> weights;
  std::mt19937 random{11};
  llvm::SmallString<128> folder;
  std::string dir;

  int64_t drawByte() { return int64_t(random() % 256) - 128; }

  void build(const Case &c) {
    context.loadDialect<flow::FlowDialect, rtl::RtlDialect, num::NumDialect,
                        func::FuncDialect>();
    module = parseSourceString<ModuleOp>(Text(c).run(), &context);
    ASSERT_TRUE(bool(module));
    result.function = *module->getOps<func::FuncOp>().begin();
    result.design = *module->getOps<flow::DesignOp>().begin();
    for (int64_t k = 0; k < c.readers; ++k) {
      int64_t words = c.wordsOf(k);
      gen::MemoryImage image(8 * c.lanes, words);
      weights.emplace_back();
      for (int64_t i = 0; i < words * c.lanes; ++i) {
        weights.back().push_back(drawByte());
        image.set(i / c.lanes, 8 * (i % c.lanes), 8, weights.back().back());
      }
      result.images["w" + std::to_string(k) + ".bin"] = image;
    }
    ASSERT_TRUE(succeeded(gen::sizeBuffers(result.design)));
    auto timing = gen::predictTiming(result.design);
    ASSERT_TRUE(succeeded(timing));
    result.timing = *timing;
  }

  void write() {
    ASSERT_FALSE(
        llvm::sys::fs::createUniqueDirectory("rhizome-memory", folder));
    dir = (folder + "/m.rhz").str();
    auto check = [](llvm::Error error) {
      EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
    };
    auto writer = PackageWriter::create(dir);
    ASSERT_TRUE(bool(writer)) << llvm::toString(writer.takeError());
    PlannedNode node =
        planbuild::describeNode("node0", result, test::testDevice());
    check(planbuild::writeNode(**writer, node, result));
    Plan plan;
    plan.model = "memory";
    plan.device = "test";
    plan.goal = "test";
    plan.predicted = node.predicted;
    plan.clockMhz = 100;
    plan.nodes.push_back(std::move(node));
    check((*writer)->writePlan(plan));
    check((*writer)->commit());
  }

  void TearDown() override {
    if (!HasFailure() && !std::getenv("RHIZOME_KEEP_LAYERS"))
      llvm::sys::fs::remove_directories(folder);
  }

  /// Runs three frames; every value must be the correct sum.
  llvm::Expected<SimResult> run(const Case &c, const SimOptions &options) {
    auto package = Package::open(dir);
    if (!package)
      return package.takeError();
    std::vector<std::vector<Tensor>> frames;
    std::vector<std::vector<int64_t>> expected;
    for (int frame = 0; frame < 3; ++frame) {
      std::vector<int64_t> x, y;
      for (int64_t i = 0; i < c.elements(); ++i) {
        x.push_back(drawByte());
        y.push_back(x.back());
        for (size_t k = 0; k < weights.size(); ++k) {
          y.back() += weights[k][size_t(i) % weights[k].size()];
          if (k == 0 && c.ownUnit)
            y.back() = int8_t(y.back());
        }
      }
      frames.push_back({Tensor::ofInts({1, c.elements()}, x)});
      expected.push_back(y);
    }
    auto sim = simulateRtl(*package, frames, options);
    if (sim)
      for (size_t f = 0; f < frames.size(); ++f)
        EXPECT_EQ(sim->outputs[f][0].ints, expected[f]) << "frame " << f;
    return sim;
  }
};

TEST_P(Memories, AreSimulatedAsPredicted) {
  build(GetParam());
  write();
  auto sim = run(GetParam(), SimOptions());
  ASSERT_TRUE(bool(sim)) << llvm::toString(sim.takeError()) << dir;
  EXPECT_NEAR(sim->intervalCycles, result.timing.intervalCycles, 1e-5);
  // The position of a refresh depends on when the single frame arrives.
  EXPECT_NEAR(double(sim->latencyCycles), double(result.timing.latencyCycles),
              0.03 * double(result.timing.latencyCycles) +
                  double(GetParam().refreshNs) / 10);
  for (bool fourState : {false, true}) {
    SimOptions options;
    options.measure = false;
    options.fourState = fourState;
    options.stallsIn = unsigned(random() % 70);
    options.stallsOut = unsigned(random() % 70);
    auto stalled = run(GetParam(), options);
    ASSERT_TRUE(bool(stalled)) << llvm::toString(stalled.takeError()) << dir;
  }
}

Case randomCase(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  static const char *const names[] = {"Random0", "Random1", "Random2",
                                      "Random3", "Random4", "Random5"};
  Case c{.name = names[seed]};
  c.lanes = int64_t(1) << draw(0, 5);
  c.words = draw(1, 90);
  c.rounds = draw(1, 4);
  c.readers = draw(1, 2);
  c.secondBank = draw(0, 2) == 0;
  c.ownUnit = draw(0, 1);
  c.burst = int64_t(1) << draw(0, 5);
  c.depth = c.burst * draw(1, 3) + draw(1, 40);
  c.borderBits = 8 << draw(0, 5);
  c.bytesPerS = draw(50, 500) * 1000000 * c.lanes;
  c.latencyNs = draw(10, 600);
  c.turnaroundNs = draw(0, 1) * draw(10, 60);
  c.refreshEveryNs = draw(0, 1) * draw(3000, 8000);
  c.refreshNs = c.refreshEveryNs ? draw(50, 400) : 0;
  return c;
}

/// Four of them by default; RHIZOME_MEMORY_DESIGNS requests all, plus that
/// many random ones.
std::vector<Case> cases() {
  std::vector<Case> all = {{.name = "MemoryBound", .bytesPerS = 500000000},
                           {.name = "TwoReadersOfABank",
                            .readers = 2,
                            .bytesPerS = 1800000000,
                            .turnaroundNs = 30,
                            .refreshEveryNs = 3900,
                            .refreshNs = 350},
                           {.name = "BanksFasterThanTheirPorts",
                            .readers = 2,
                            .bytesPerS = 4800000000,
                            .turnaroundNs = 30},
                           {.name = "OwnUnitAndAReader",
                            .readers = 2,
                            .ownUnit = true,
                            .burst = 4,
                            .depth = 9,
                            .latencyNs = 300}};
  int64_t more = test::setting("RHIZOME_MEMORY_DESIGNS", 0);
  if (more == 0)
    return all;
  all.insert(
      all.end(),
      {{.name = "StreamBound", .borderBits = 16},
       {.name = "LatencyBound", .burst = 4, .depth = 8, .latencyNs = 300},
       {.name = "TwoBanks",
        .readers = 2,
        .secondBank = 1,
        .bytesPerS = 700000000},
       {.name = "WideBeats",
        .lanes = 32,
        .words = 7,
        .rounds = 3,
        .readers = 2,
        .burst = 16,
        .depth = 70,
        .borderBits = 256,
        .bytesPerS = 5000000000},
       {.name = "OneWord",
        .lanes = 4,
        .words = 1,
        .rounds = 60,
        .burst = 1,
        .depth = 2,
        .latencyNs = 30}});
  for (int64_t seed = 0; seed < more; ++seed)
    all.push_back(randomCase(uint64_t(seed)));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Designs, Memories, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

TEST_F(Memories, SegmentsAreWhereTheLayoutSays) {
  Case c{.words = 600, .rounds = 1, .readers = 2};
  build(c);
  auto segments = gen::layOut(result.design, result.images);
  ASSERT_TRUE(succeeded(segments));
  ASSERT_EQ(segments->size(), 2u);
  EXPECT_EQ((*segments)[0].address, 0);
  EXPECT_EQ((*segments)[0].bytes, 4800);
  EXPECT_EQ((*segments)[1].address, 8192) << "on the next free page";
  int64_t page = 0;
  for (auto op : result.design.getBody().getOps<flow::ActorOp>())
    if (!op.getBanks().empty()) {
      EXPECT_EQ(op.getUnit().get("Page"), page);
      page += 2;
    }
}

TEST_F(Memories, AReaderNeedsItsSegment) {
  Case c{};
  build(c);
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    text = d.str();
    return success();
  });
  EXPECT_TRUE(failed(gen::layOut(result.design, {})));
  EXPECT_EQ(text, "'flow.actor' op reads the segment 'w0.bin', which nobody "
                  "has made");
  gen::MemoryImages narrow = {{"w0.bin", gen::MemoryImage(32, 64)}};
  EXPECT_TRUE(failed(gen::layOut(result.design, narrow)));
  EXPECT_EQ(text, "'flow.actor' op reads the segment 'w0.bin' in words of 64 "
                  "bits, which has words of 32");
}

TEST_F(Memories, SegmentsThatAreNotAsWrittenAreRefused) {
  Case c{};
  build(c);
  write();
  auto messageOf = [&](Changes changes = Changes::Refuse) -> std::string {
    auto package = Package::open(dir, changes);
    return package ? "opened" : llvm::toString(package.takeError());
  };
  EXPECT_EQ(messageOf(), "opened");
  std::string file = dir + "/segments/node0/w0.bin";
  auto bytes = readFile(file);
  ASSERT_TRUE(bool(bytes));
  EXPECT_EQ(bytes->size(), 256u);
  (*bytes)[17] ^= 1;
  ASSERT_FALSE(bool(writeBytes(file, *bytes)));
  EXPECT_NE(messageOf().find("'segments/node0/w0.bin' was altered"),
            std::string::npos);
  EXPECT_EQ(messageOf(Changes::Accept), "opened");
  bytes->pop_back();
  ASSERT_FALSE(bool(writeBytes(file, *bytes)));
  EXPECT_NE(messageOf(Changes::Accept)
                .find("'segments/node0/w0.bin' has 255 bytes, its plan says "
                      "256"),
            std::string::npos);
  llvm::sys::fs::remove(file);
  EXPECT_NE(messageOf().find("'segments/node0/w0.bin' is missing"),
            std::string::npos);
  EXPECT_NE(messageOf(Changes::Accept)
                .find("names the segment 'segments/node0/w0.bin', which is "
                      "missing"),
            std::string::npos);
}

TEST_F(Memories, TheLongestProcessOfAReaderIsItsBeats) {
  gen::Actor reader = gen::makeMemReader(
      {.bits = 64, .words = 100, .rounds = 3, .burst = 16, .depth = 64},
      {"ddr4", 0, "w.bin"});
  EXPECT_EQ(gen::serviceCycles(reader), 300);
}
} // namespace
