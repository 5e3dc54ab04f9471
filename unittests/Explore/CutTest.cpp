// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cutting and splitting do not change the computation: the functions of
// nodes, one after the other in the interpreter, equal the whole network.
#include "../NetworkBuilder.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Interp/Interpreter.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
/// conv1, then a residual block, then conv4.
func::FuncOp residual(NetworkBuilder &n) {
  auto s8 = num::IntType::getFull(n.b.getContext(), true, 8);
  auto conv = [&](StringRef name, int64_t out) {
    n.conv(name, {.out = out, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}});
    n.requantize((name + "_q").str(), s8, false, true);
  };
  n.begin({1, 6, 6, 3}, s8);
  conv("conv1", 8);
  Value shortcut = n.value;
  conv("conv2", 8);
  conv("conv3", 8);
  n.add("add", shortcut, 1, 1);
  n.requantize("add_q", s8, true, false);
  conv("conv4", 5);
  return n.end();
}

explore::Cluster clusterOf(int count, bool isChain) {
  explore::ClusterPlace place;
  place.device = "toy";
  place.context.budget = {
      {"lut", 100000}, {"ff", 200000}, {"dsp", 500}, {"bram", 100}};
  place.capacity = place.context.budget;
  place.wire = explore::Wire();
  place.wire->bitsPerS = 1e9;
  explore::Cluster cluster;
  cluster.places.assign(size_t(count), place);
  cluster.hostWire = place.wire;
  cluster.isChain = isChain;
  cluster.mayReplicate = !isChain;
  return cluster;
}

Tensor drawInput(NetworkBuilder &n, func::FuncOp f) {
  auto type = cast<RankedTensorType>(f.getFunctionType().getInput(0));
  return Tensor::ofInts(
      type.getShape().vec(),
      n.drawValues(type.getNumElements(), num::elementInt(type)));
}

int64_t numberAt(DictionaryAttr attrs, const char *key) {
  auto number = attrs.getAs<IntegerAttr>(key);
  return number ? number.getInt() : -1;
}

/// The network's outputs, computed by the nodes' functions.
Tensor composed(const explore::Result &result, const Tensor &input) {
  std::map<int64_t, Tensor> values;
  std::optional<Tensor> answer;
  for (const explore::NodeResult &node : result.nodes) {
    func::FuncOp f = node.function;
    std::vector<Tensor> arguments;
    for (unsigned i = 0; i < f.getNumArguments(); ++i) {
      auto it = values.find(numberAt(f.getArgAttrDict(i), "rhizome.value"));
      arguments.push_back(it == values.end() ? input : it->second);
    }
    auto out = interpret(f, arguments);
    EXPECT_TRUE(succeeded(out));
    for (unsigned i = 0; i < f.getNumResults(); ++i) {
      DictionaryAttr attrs = f.getResultAttrDict(i);
      values.insert_or_assign(numberAt(attrs, "rhizome.value"), (*out)[i]);
      if (!attrs.getAs<DenseI64ArrayAttr>("rhizome.outputs").empty())
        answer = (*out)[i];
    }
  }
  EXPECT_TRUE(answer);
  return *answer;
}

void cutAndCompare(bool isChain, const explore::Steering &steering,
                   size_t nodes) {
  MLIRContext context;
  NetworkBuilder n(context, 11);
  func::FuncOp network = residual(n);
  auto result = explore::explore(network, {}, clusterOf(4, isChain), steering);
  ASSERT_TRUE(succeeded(result));
  ASSERT_TRUE(result->refused.empty()) << result->refused[0].reason;
  ASSERT_GE(result->nodes.size(), nodes);
  for (int frame = 0; frame < 3; ++frame) {
    Tensor input = drawInput(n, network);
    auto want = interpret(network, {input});
    ASSERT_TRUE(succeeded(want));
    EXPECT_EQ(composed(*result, input).ints, (*want)[0].ints);
  }
}

explore::Steering::Pin &pinOf(explore::Steering &steering, StringRef node) {
  for (explore::Steering::Pin &pin : steering.pins)
    if (pin.of.node == node)
      return pin;
  steering.pins.emplace_back().of.node = node;
  return steering.pins.back();
}

explore::Steering cutsBefore(std::initializer_list<const char *> names) {
  explore::Steering steering;
  for (const char *name : names)
    pinOf(steering, name).cutBefore = true;
  return steering;
}

TEST(Cut, ResidualsCrossCuts) {
  cutAndCompare(false, cutsBefore({"conv2", "conv3", "conv4"}), 4);
}

TEST(Cut, ChainsPassTensorsOn) {
  cutAndCompare(true, cutsBefore({"conv2", "conv3", "conv4"}), 4);
}

TEST(Cut, SharedChannelsAreTheSameNetwork) {
  for (int parts : {2, 3}) {
    explore::Steering steering = cutsBefore({"conv3.1"});
    steering.splits.push_back({{"conv3"}, parts});
    cutAndCompare(false, steering, 2);
    cutAndCompare(true, steering, 2);
  }
}

TEST(Cut, PinsThatNameNothingAreRefused) {
  MLIRContext context;
  NetworkBuilder n(context, 11);
  func::FuncOp network = residual(n);
  auto reason = [&](const char *name, explore::Steering::Pin pin) {
    explore::Steering steering;
    pin.line = 7;
    pin.of.node = name;
    steering.pins.push_back(pin);
    auto result = explore::explore(network, {}, clusterOf(2, false), steering);
    EXPECT_TRUE(succeeded(result));
    EXPECT_EQ(result->refused.size(), 1u);
    if (result->refused.empty())
      return std::string();
    EXPECT_EQ(result->refused[0].line, 7u);
    return result->refused[0].reason;
  };
  EXPECT_EQ(reason("conv9", {}), "the network has no such node");
  EXPECT_EQ(reason("conv1", {{}, "magic"}),
            "the generator 'magic' offers nothing for it");
  EXPECT_EQ(reason("conv1", {{}, "", "stream/matvec?pe=99"}),
            "no generator offers the option 'stream/matvec?pe=99'");
  EXPECT_EQ(reason("conv1", {{}, "", "", 2}), "there is no place 2");
}

TEST(Cut, PinsAreKept) {
  MLIRContext context;
  NetworkBuilder n(context, 11);
  func::FuncOp network = residual(n);
  explore::Steering steering = cutsBefore({"conv4"});
  const char *whole = "stream/matvec?pe=1&simd=8&read=word&pixels=1&style=lut";
  pinOf(steering, "conv2").option = "matvec?simd=8&pe=2";
  pinOf(steering, "conv3").option = whole;
  pinOf(steering, "conv4").place = 3;
  auto result = explore::explore(network, {}, clusterOf(4, false), steering);
  ASSERT_TRUE(succeeded(result));
  ASSERT_TRUE(result->refused.empty()) << result->refused[0].reason;
  ASSERT_EQ(result->nodes.size(), 2u);
  const std::vector<int> &last = result->nodes[1].places;
  EXPECT_TRUE(llvm::is_contained(last, 3));
  std::map<std::string, std::string> taken;
  for (const gen::Selection &s : result->nodes[0].selections)
    if (isa<osa::Conv2dOp>(s.region.front()))
      taken[osa::nodeName(s.region.front())] = s.offer.key.text();
  EXPECT_TRUE(
      StringRef(taken["conv2"]).starts_with("stream/matvec?pe=2&simd=8&read="))
      << taken["conv2"];
  EXPECT_EQ(taken["conv3"], whole);
}
} // namespace
