// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-bench-explore [LAYERS [NODES]]: seconds of exploration for a
// residual network with LAYERS convolutions on NODES KU060 roles.
#include "rhizome/Explore/Explore.h"
#include "../unittests/NetworkBuilder.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;
using namespace rhizome;

/// Blocks of two convolutions with a shortcut; channels double at each third.
static func::FuncOp residualNetwork(rhizome::test::NetworkBuilder &n,
                                    int layers) {
  auto s8 = num::IntType::getFull(n.b.getContext(), true, 8);
  auto conv = [&](const std::string &name, int64_t out, int64_t stride) {
    n.conv(name, {.out = out,
                  .kh = 3,
                  .kw = 3,
                  .strides = {stride, stride},
                  .pads = {1, 1, 1, 1}});
    n.requantize(name + "_q", s8, true, false);
  };
  n.begin({1, 32, 32, 3}, s8);
  conv("conv0", 16, 1);
  int64_t channels = 16;
  for (int layer = 1; layer + 1 < layers; layer += 2) {
    bool grows = layer > 1 &&
                 (layer - 1) % (2 * std::max(1, layers / 6)) == 0 &&
                 channels < 64;
    std::string name = "block" + std::to_string(layer / 2);
    Value shortcut = n.value;
    channels *= grows ? 2 : 1;
    conv(name + "_a", channels, grows ? 2 : 1);
    if (grows)
      shortcut = n.value;
    conv(name + "_b", channels, 1);
    n.add(name + "_add", shortcut, 1, 1);
    n.requantize(name + "_add_q", s8, true, false);
  }
  n.flatten();
  n.dense("fc", 10);
  return n.end();
}

int main(int argc, char **argv) {
  int layers = argc > 1 ? std::atoi(argv[1]) : 50;
  int nodes = argc > 2 ? std::atoi(argv[2]) : 16;
  auto device = loadDevice("xcku060-role");
  if (!device) {
    llvm::errs() << llvm::toString(device.takeError()) << "\n";
    return 1;
  }
  auto known = planbuild::contextOf(*device, device->clockMhz);
  if (!known) {
    llvm::errs() << llvm::toString(known.takeError()) << "\n";
    return 1;
  }
  explore::ClusterPlace place;
  place.device = device->name;
  place.context = *known;
  place.capacity = device->budget;
  place.streamBits = device->streamBits;
  place.wire = explore::Wire();
  place.wire->bitsPerS = 10e9;
  place.wire->latencyNs = 1000;
  explore::Cluster cluster;
  cluster.places.assign(size_t(nodes), place);
  cluster.hostWire = place.wire;
  for (const char *goal :
       {"max-throughput", "throughput=5000/s", "min-nodes"}) {
    MLIRContext context;
    rhizome::test::NetworkBuilder n(context, 5);
    func::FuncOp network = residualNetwork(n, layers);
    auto start = std::chrono::steady_clock::now();
    auto result = explore::explore(network, *explore::parseGoal(goal), cluster);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    if (failed(result))
      return 1;
    llvm::outs() << llvm::formatv(
        "{0} layers, {1} places, {2}: {3:F3} s, {4} devices, {5:F0} per "
        "second, bound {6:F0}{7}\n",
        layers, nodes, goal, seconds, result->devices(), 1 / result->seconds,
        1 / result->bound, result->isExact ? ", exact for the order" : "");
  }
  return 0;
}
