// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-points: random option points for measuring the cost model. Random
// layers of realistic sizes, a random option for each, built as a package of
// one node per layer, with the model's prediction; "rhizome synth" measures
// it. The points of a seed do not depend on the cost model, except for
// where it places memories.
#include "../unittests/MatmulBuilder.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Target/Device.h"
#include <CLI/CLI.hpp>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
// Larger options only cost time: they consist of the parts of smaller ones.
constexpr int64_t kMostProducts = 64, kMostProductBits = 768;
constexpr int64_t kMostBits = 96, kMostWords = 16384;

num::IntType activation(NetworkBuilder &n) {
  static const int64_t widths[] = {8, 8, 8, 7, 4, 2, 1, 6, 16};
  int64_t width = widths[n.draw(0, 8)];
  return num::IntType::getFull(n.b.getContext(), width > 1 && n.coin(),
                               unsigned(width));
}

int64_t weightBits(NetworkBuilder &n) {
  static const int64_t widths[] = {8, 8, 8, 4, 4, 2, 1, 6, 3, 5};
  return widths[n.draw(0, 9)];
}

/// A number up to `most`; small ones are as frequent as large ones, often even.
int64_t size(NetworkBuilder &n, int64_t most) {
  int64_t limit = 1;
  while (limit < most && n.draw(0, 3))
    limit *= 2;
  int64_t value = n.draw(1, std::min(limit, most));
  return n.coin() ? value : std::max<int64_t>(1, value & ~int64_t(3));
}

NetworkBuilder::Conv drawConv(NetworkBuilder &n, int64_t channels, bool deep) {
  NetworkBuilder::Conv conv;
  conv.kh = conv.kw = std::min<int64_t>(n.draw(0, 2) * 2 + 1, 5);
  conv.strides[0] = conv.strides[1] = n.draw(0, 3) ? 1 : 2;
  if (n.coin())
    for (int64_t &pad : conv.pads)
      pad = conv.kh / 2;
  conv.out = deep ? channels : size(n, 64);
  conv.groups = deep ? channels : 1;
  conv.weightBits = weightBits(n);
  conv.bias = n.coin();
  return conv;
}

void quantize(NetworkBuilder &n, const char *name) {
  if (n.draw(0, 3) == 0)
    n.threshold(name, n.draw(0, 1) ? n.draw(1, 3) : n.draw(4, 15), n.coin());
  else
    n.requantize(name, activation(n), n.coin(), n.coin());
}

/// One layer, often with its quantizer.
func::FuncOp drawLayer(NetworkBuilder &n) {
  n.bellShaped = true;
  int64_t kind = n.draw(0, 11), edge = n.draw(6, 32);
  int64_t channels = size(n, 48);
  num::IntType x = activation(n);
  mlir::Value input =
      n.begin({1, kind < 2 ? 1 : edge, kind < 2 ? 1 : edge, channels}, x);
  NetworkBuilder::Pool pool;
  pool.kernel[0] = pool.kernel[1] = pool.strides[0] = pool.strides[1] =
      n.draw(2, 3);
  switch (kind) {
  case 0:
  case 1:
    n.flatten();
    n.dense("dense", size(n, 64), weightBits(n), n.coin());
    quantize(n, "dense_quantize");
    break;
  case 2:
  case 3:
  case 4:
  case 5:
    n.conv("conv", drawConv(n, channels, false));
    quantize(n, "conv_quantize");
    break;
  case 6:
    n.conv("depthwise", drawConv(n, channels, true));
    quantize(n, "depthwise_quantize");
    break;
  case 7:
    n.maxPool("max_pool", pool);
    break;
  case 8:
    n.sumPool("sum_pool", pool, n.coin(), n.coin());
    quantize(n, "sum_pool_quantize");
    break;
  case 9:
    n.table("table", n.drawType(9), n.coin());
    break;
  case 10: {
    NetworkBuilder::Conv conv;
    conv.kh = conv.kw = 3;
    for (int64_t &pad : conv.pads)
      pad = 1;
    conv.out = channels;
    conv.weightBits = weightBits(n);
    n.conv("conv", conv);
    n.add("add", input, n.draw(1, 1 << n.draw(1, 12)),
          n.draw(1, 1 << n.draw(1, 12)));
    break;
  }
  default:
    n.maxPool("max_pool", pool);
    n.concat("concat", n.value, 3);
    quantize(n, "concat_quantize");
  }
  return n.end();
}

/// A product of two inputs, often with its quantizer.
func::FuncOp drawProduct(NetworkBuilder &n) {
  osa::MatmulShape s;
  bool isInside = n.coin();
  int64_t rows = size(n, 64);
  s.outer = isInside ? rows : 1;
  s.rows = isInside ? 1 : rows;
  s.batch = n.coin() ? 1 : n.draw(2, 6);
  s.inner = size(n, 64);
  s.columns = size(n, 64);
  s.axes = test::drawAxes(n);
  num::IntType x = activation(n), y = activation(n);
  auto zero = [&](num::IntType t) {
    return n.draw(0, 2) ? 0 : n.draw(t.getLo(), t.getHi());
  };
  mlir::Value lhs = n.begin({s.outer * s.batch * s.rows, s.inner}, x);
  (void)n.func.insertArgument(1, n.tensor({s.batch * s.columns, s.inner}, y),
                              {}, n.loc("second"));
  test::matmul(n, "product", lhs, n.func.getArgument(1), s, zero(x), zero(y));
  if (n.coin())
    n.requantize("product_quantize", activation(n), n.coin(), false);
  return n.end();
}

/// Sizes that bound the time of synthesis.
bool isSmall(const gen::Offer &offer) {
  for (const gen::Body::Unit &unit : offer.body.units) {
    const gen::Actor &actor = unit.actor;
    if (!actor.memories.empty())
      continue; // as wide as the device's memory
    const gen::BeatFormat &format = unit.outputs[0];
    gen::Products products = gen::productsOf(actor);
    if (products.count > kMostProducts ||
        format.lanes * format.width > kMostBits)
      return false;
    if (products.count > 0 && products.by == gen::Multiplier::Lut &&
        products.count * actor.get("XWidth") * actor.get("WWidth") >
            kMostProductBits)
      return false;
    const int64_t *values = actor.params.data();
    for (const unit::Rom *rom : actor.roms())
      if (rom->words(values) * rom->width(values) * rom->copies(values) >
          8 * kMostWords)
        return false;
  }
  return true;
}

/// The same for the glue between the options.
bool isSmall(const PlannedNode &node) {
  return llvm::all_of(node.actors, [](const PlannedActor &actor) {
    auto value = [&](const char *key) {
      return actor.config.getInteger(key).value_or(1);
    };
    return actor.kind != "gearbox" ||
           std::max(value("LanesIn"), value("LanesOut")) * value("Elem") <=
               2 * kMostBits;
  });
}

/// A random option for every operation; empty if one has no small option.
std::vector<gen::Selection> drawOffers(NetworkBuilder &n, func::FuncOp network,
                                       gen::WeightHome home,
                                       const gen::DeviceContext &device) {
  auto isThere = [&](const gen::Offer &o) { return o.weights == home; };
  std::vector<gen::Selection> selections;
  for (Operation &op : network.getBody().front()) {
    if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      continue;
    std::vector<gen::Offer> offers;
    for (const auto &generator : gen::allGenerators())
      if (!generator->coverage(&op))
        for (gen::Offer &offer : generator->offers(&op, {}, device))
          if (isSmall(offer))
            offers.push_back(std::move(offer));
    // The requested home of weights comes before others.
    if (home != gen::WeightHome::Rom && llvm::any_of(offers, isThere))
      llvm::erase_if(offers, [&](const gen::Offer &o) { return !isThere(o); });
    if (offers.empty())
      return {};
    selections.push_back({&op, offers[n.rng() % offers.size()]});
  }
  return selections;
}

/// Adds the layer of `seed` to the package; nothing if it has no small option.
llvm::Error addLayer(uint64_t seed, const std::string &name,
                     const Device &device, gen::WeightHome home,
                     bool ofProducts, PackageWriter &writer, Plan &plan) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = ofProducts ? drawProduct(n) : drawLayer(n);
  auto known = planbuild::contextOf(device, device.clockMhz);
  if (!known)
    return known.takeError();
  gen::DeviceContext &d = *known;
  if (home == gen::WeightHome::Resident)
    d.residents = gen::Residents::All;
  if (home == gen::WeightHome::Streamed)
    d.streaming = gen::Streaming::All;
  explore::NodeResult result;
  result.function = network;
  result.selections = drawOffers(n, network, home, d);
  if (result.selections.empty())
    return llvm::Error::success();
  gen::Border border{device.name, device.clockMhz, device.streamBits};
  border.memories = d.memories;
  result.design =
      gen::buildDesign(network, result.selections, border, result.images);
  if (failed(gen::sizeBuffers(result.design)))
    return llvm::createStringError("the layer of seed %llu deadlocks",
                                   static_cast<unsigned long long>(seed));
  PlannedNode node = planbuild::describeNode(name, result, d);
  if (!isSmall(node))
    return llvm::Error::success();
  node.family = device.family;
  node.address = uint16_t(plan.nodes.size() + 1);
  if (llvm::Error error = planbuild::writeNode(writer, node, result))
    return error;
  plan.nodes.push_back(std::move(node));
  return llvm::Error::success();
}

llvm::Error write(const std::string &deviceName, int64_t count, uint64_t seed,
                  gen::WeightHome home, bool ofProducts,
                  const std::string &target) {
  auto device = loadDevice(deviceName);
  if (!device)
    return device.takeError();
  auto writer = PackageWriter::create(target);
  if (!writer)
    return writer.takeError();
  Plan plan;
  plan.model = "points of " + std::to_string(count) + " layers from seed " +
               std::to_string(seed) + " on";
  plan.device = device->name;
  plan.clockMhz = device->clockMhz;
  plan.goal = "random";
  while (int64_t(plan.nodes.size()) < count)
    if (auto error = addLayer(seed++, "p" + std::to_string(plan.nodes.size()),
                              *device, home, ofProducts, **writer, plan))
      return error;
  if (auto error = (*writer)->writePlan(plan))
    return error;
  return (*writer)->commit();
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Writes a package of random option points.", "rhizome-points");
  std::string device = "xczu3eg", target;
  int64_t count = 100;
  uint64_t seed = 1;
  bool resident = false, streamed = false, products = false;
  app.add_option("--device", device, "a name or a .yaml file");
  app.add_option("--count", count, "layers")->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "of the first layer");
  app.add_flag("--resident", resident,
               "weights in memories that are filled when the design starts");
  app.add_flag("--streamed", streamed,
               "weights that are read from a memory for every frame")
      ->excludes("--resident");
  app.add_flag("--products", products, "products of two tensors")
      ->excludes("--resident")
      ->excludes("--streamed");
  app.add_option("-o", target, "the package")->required();
  CLI11_PARSE(app, argc, argv);
  gen::WeightHome home = streamed   ? gen::WeightHome::Streamed
                         : resident ? gen::WeightHome::Resident
                                    : gen::WeightHome::Rom;
  if (llvm::Error error = write(device, count, seed, home, products, target)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
