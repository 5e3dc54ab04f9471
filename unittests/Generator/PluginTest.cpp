// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generator from outside: this file alone makes one, which transposes small
// frames by wiring, and registers it. The explorer then asks it, takes it where
// it is faster, and what it builds computes what the interpreter says.
#include "Layers.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Generator/Circuit.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
class WiresGenerator final : public gen::Generator {
public:
  llvm::StringRef name() const override { return "wires"; }

  std::optional<std::string> coverage(Operation *op) const override {
    if (!isa<osa::TransposeOp>(op))
      return "transposes, nothing else";
    if (gen::formatOf(op->getOperand(0).getType(), 1, 1).count > 64)
      return "wires frames of up to 64 elements only";
    return std::nullopt;
  }

  std::vector<gen::Option>
  options(Operation *op, llvm::ArrayRef<std::optional<gen::Format>>,
          const gen::DeviceContext &device) const override {
    gen::Option option;
    option.generator = name().str();
    option.key = gen::OptionKey(name(), "wires");
    option.summary = "a frame a cycle";
    gen::Format whole = gen::formatOf(op->getOperand(0).getType(), 1, 1);
    whole.lanes = whole.row = whole.count;
    gen::Actor wires{"circuit", "wires", {}, {}};
    gen::describe(wires, circuit(op), kBudget);
    wires.set("frameBeats", 1);
    option.inputs = {whole};
    option.output = whole;
    option.actors = {std::move(wires)};
    option.formats = {whole};
    option.intervalCycles = 1;
    gen::finishOption(option, device);
    return {option};
  }

  void build(Operation *op, gen::Option &option,
             gen::MemoryImages &) const override {
    option.actors[0].circuit =
        std::make_shared<const gen::Circuit>(circuit(op));
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
    gen::Format f = gen::formatOf(transpose.getInput().getType(), 1, 1);
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

/// The generator is there while this object is.
struct Registered {
  Registered() { gen::addGenerator(std::make_unique<WiresGenerator>()); }
  ~Registered() { gen::removeGenerator("wires"); }
};

func::FuncOp network(NetworkBuilder &n) {
  n.begin({1, 2, 3, 4}, num::IntType::getFull(n.b.getContext(), true, 5));
  n.transpose("transpose", {0, 3, 1, 2});
  return n.end();
}

std::vector<gen::Selection>
chosen(func::FuncOp f, const gen::DeviceContext &device, double &interval) {
  explore::ClusterPlace place;
  place.device = "test";
  place.context = device;
  place.capacity = device.budget;
  explore::Cluster cluster;
  cluster.places = {place};
  auto result =
      explore::explore(f, *explore::parseGoal("max-throughput"), cluster);
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
  EXPECT_EQ(chosen(f, device, before)[0].option.generator, "stream");
  Registered registered;
  EXPECT_EQ(chosen(f, device, after)[0].option.generator, "wires");
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
  EXPECT_TRUE(explore::coverage(f).empty()) << "the stream generator has it";
}
} // namespace
