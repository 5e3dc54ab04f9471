// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-points: random option points for measuring the cost model. Random
// layers of realistic sizes, a random option for each, built as a package of
// one node per layer, with the model's prediction; "rhizome synth" measures
// it. The points of a seed do not depend on the cost model, except for
// where it places memories. Together, the sets contain every unit kind.
#include "../unittests/MatmulBuilder.h"
#include "../unittests/RowsBuilder.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Design/Spill.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Target/Device.h"
#include "rhizome/Units/Shared.h"
#include <CLI/CLI.hpp>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
// Larger options only cost time: they consist of the parts of smaller ones.
constexpr int64_t kMostProducts = 64, kMostProductBits = 768;
constexpr int64_t kMostBits = 96, kMostWords = 16384, kMostBorderBits = 64;

/// What layers a package contains.
enum class Set {
  Rom,      ///< weights in ROMs
  Resident, ///< weights in memories that are filled when the design starts
  Streamed, ///< weights that are read from a memory for every frame
  Products, ///< products of two tensors
  Rows,     ///< softmax and normalization
  Moves,    ///< what moves or keeps elements, crosses dies, has wide borders
  Fifos,    ///< FIFOs in a memory
  Turns     ///< layers on one unit, of one shape or several, weights anywhere
};

/// A layer, and what surrounds it.
struct Layer {
  func::FuncOp network;
  gen::DieRow dies = {};
  bool isWide = false; ///< whole frames a beat, at borders too
};

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
  else // of small inputs
    conv.kh = conv.kw = std::min({conv.kh, n.shape()[1], n.shape()[2]});
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

/// Two layers, one of them depthwise, whose weights are read from one bank.
func::FuncOp drawReaders(NetworkBuilder &n) {
  n.bellShaped = true;
  int64_t edge = n.draw(4, 16);
  n.begin({1, edge, edge, size(n, 24)}, activation(n));
  n.conv("first", drawConv(n, n.draw(2, 24), false));
  n.requantize("first_quantize", activation(n), n.coin(), n.coin());
  n.conv("second", drawConv(n, n.shape()[3], true));
  return n.end();
}

/// Two to five layers, dense ones or convolutions, that may share a unit.
func::FuncOp drawSharers(NetworkBuilder &n) {
  n.bellShaped = true;
  const bool isDense = n.coin(), isMixed = n.coin(), bias = n.coin();
  const int64_t bits = weightBits(n), edge = n.draw(3, 8), first = n.draw(1, 6),
                unit = int64_t(1) << n.draw(0, 3);
  num::IntType x = activation(n);
  if (isDense)
    n.begin({1, first * unit}, x);
  else
    n.begin({1, edge, edge, first * unit}, x);
  const int64_t count = n.draw(2, 5);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const int64_t out = (isMixed ? n.draw(1, 6) : first) * unit;
    NetworkBuilder::Conv conv;
    conv.kh = conv.kw = isMixed ? 2 * n.draw(0, 1) + 1 : 3;
    for (int64_t &pad : conv.pads)
      pad = conv.kh / 2;
    conv.out = out;
    conv.weightBits = bits;
    conv.bias = bias;
    if (isDense)
      n.dense(name, out, bits, bias);
    else
      n.conv(name, conv);
    n.requantize(name, x, n.coin(), false);
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

/// Keeps its sum with a layer's result, or only that of its two inputs, from
/// frame to frame.
func::FuncOp drawState(NetworkBuilder &n) {
  num::IntType type = n.drawType(8);
  int64_t edge = n.draw(1, 12), channels = size(n, 12);
  mlir::Value x = n.begin({1, edge, edge, channels}, type);
  (void)n.func.insertArgument(1, x.getType(), {}, n.loc("state"));
  if (n.coin()) {
    NetworkBuilder::Conv conv;
    conv.out = channels;
    conv.weightBits = weightBits(n);
    n.conv("conv", conv);
  }
  n.add("add", n.func.getArgument(1), n.draw(1, 9), n.draw(1, 9));
  n.requantize("next", type, n.coin(), n.coin());
  n.end();
  auto shaped = RankedTensorType::get(n.shape(), n.b.getI64Type());
  std::vector<int64_t> values(size_t(shaped.getNumElements()), 0);
  if (n.coin())
    values = n.drawValues(shaped.getNumElements(), type);
  n.keepState({"y"}, "y",
              DenseElementsAttr::get(shaped, ArrayRef<int64_t>(values)));
  return n.func;
}

/// Kinds take turns, so that a few layers have all of them.
Layer drawMove(NetworkBuilder &n, uint64_t seed) {
  n.bellShaped = true;
  int64_t kind = int64_t(seed % 10), edge = n.draw(4, 16),
          channels = size(n, 24);
  num::IntType x = activation(n), y = activation(n);
  if (kind == 0)
    return {drawState(n)};
  if (kind <= 2) { // across dies
    Layer layer{drawLayer(n)};
    layer.dies.count = int(n.draw(2, 3));
    // Of more registers, Yosys makes shift registers, which shreg_extract
    // forbids the vendors' tools.
    layer.dies.registers = 2;
    layer.dies.border = int(n.draw(0, layer.dies.count - 1));
    return layer;
  }
  if (kind == 3) { // circuits or units of a beat a frame
    n.begin({1, 1, 1, n.draw(1, 8)}, x);
    if (n.coin()) {
      n.flatten();
      n.dense("dense", n.draw(1, 8), weightBits(n), n.coin());
    }
    quantize(n, "quantize");
    return {n.end(), {}, true};
  }
  mlir::Value input = n.begin({1, edge, edge, channels}, x);
  if (kind <= 5) { // a part, in steps
    int64_t axis = n.draw(1, 3), length = n.shape()[size_t(axis)];
    int64_t step = n.draw(0, 2) ? 1 : n.draw(1, std::min<int64_t>(3, length));
    int64_t start = n.draw(0, length - 1);
    std::vector<int64_t> indices;
    for (int64_t i = start; i < length; i += step)
      indices.push_back(i);
    n.gather("gather", axis, indices);
  } else if (kind == 6) {
    static const int64_t orders[][4] = {
        {0, 2, 1, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {0, 3, 2, 1}};
    n.transpose("transpose", orders[n.draw(0, 3)]);
  } else { // of two inputs
    bool isProduct = kind < 9;
    (void)n.func.insertArgument(1, n.tensor(n.shape(), y), {}, n.loc("second"));
    auto zero = [&](num::IntType t) {
      return n.coin() ? 0 : n.draw(t.getLo(), t.getHi());
    };
    n.value = input;
    if (isProduct)
      n.pair("product", n.func.getArgument(1), true, zero(x), zero(y), 0);
    else
      n.pair("max", n.func.getArgument(1), false, n.draw(1, 200),
             n.draw(1, 200), n.draw(-999, 999));
  }
  if (n.coin())
    n.requantize("quantize", activation(n), n.coin(), false);
  return {n.end()};
}

/// A skip around a layer, sometimes several in a row, for arbiters of many.
func::FuncOp drawSkips(NetworkBuilder &n) {
  n.bellShaped = true;
  const int64_t edge = n.draw(8, 64), skips = n.draw(0, 3) ? 1 : n.draw(2, 8);
  mlir::Value input = n.begin({1, edge, edge, size(n, 64)}, activation(n));
  for (int64_t skip = 0; skip < skips; ++skip) {
    if (skip > 0) {
      n.requantize("quantize", activation(n), n.coin(), n.coin());
      input = n.value;
    }
    n.table("table", n.drawType(8), n.coin());
    n.add("add", input, n.draw(1, 9), n.draw(1, 9));
  }
  return n.end();
}

/// Moves what waits for the join to the device's memory, as if it were much.
void moveBuffers(NetworkBuilder &n, const gen::DeviceContext &device,
                 flow::DesignOp design) {
  for (auto join : design.getBody().getOps<flow::ActorOp>())
    if (join.getInputs().size() > 1)
      for (mlir::Value operand : join.getInputs())
        operand.getDefiningOp<flow::ActorOp>().setDepths(
            {n.draw(128, int64_t(1) << n.draw(8, 16))});
  const gen::Memory &memory = device.memories.front();
  for (flow::ActorOp op : gen::movableBuffers(design)) {
    const int64_t beats =
        cast<flow::StreamType>(op.getOutputs()[0].getType()).beatsPerFrame();
    if (auto there = gen::inMemory(op, memory, double(beats * n.draw(1, 9))))
      gen::moveToMemory(op, *there, memory, {});
  }
}

/// A softmax or a normalization of rows, of some codes.
func::FuncOp drawRows(NetworkBuilder &n) {
  static const int64_t lengths[] = {8, 16, 17, 64, 96, 192, 197, 384};
  static const int64_t widths[] = {8, 8, 8, 7, 6, 9};
  n.begin({1, 4, lengths[n.draw(0, 7)]},
          num::IntType::getFull(n.b.getContext(), n.coin(),
                                unsigned(widths[n.draw(0, 5)])));
  n.value = n.coin() ? test::rowSoftmax(n, "shares", n.value)
                     : test::rowNorm(n, "norm", n.value);
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
                                       gen::WeightHome home, bool isWide,
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
          if (!offer.shared && isSmall(offer))
            offers.push_back(std::move(offer));
    // The requested home of weights comes before others.
    if (home != gen::WeightHome::Rom && llvm::any_of(offers, isThere))
      llvm::erase_if(offers, [&](const gen::Offer &o) { return !isThere(o); });
    if (isWide)
      llvm::erase_if(offers,
                     [](const gen::Offer &o) { return o.busyCycles != 1; });
    if (offers.empty())
      return {};
    selections.push_back({&op, offers[n.rng() % offers.size()]});
  }
  return selections;
}

/// Puts all layers that can share a unit on a random one with weights in this
/// home; false if there is no small one.
bool share(NetworkBuilder &n, func::FuncOp network, gen::WeightHome home,
           const gen::DeviceContext &device,
           std::vector<gen::Selection> &selections) {
  const gen::Generator *stream = gen::findGenerator("stream");
  std::vector<gen::Region> regions;
  std::vector<std::vector<gen::Offer>> offers;
  for (Operation &op : network.getBody().front()) {
    if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
      continue;
    std::vector<gen::Offer> own = stream->offers(&op, {}, device);
    llvm::erase_if(own, [&](const gen::Offer &o) {
      return !o.shared || o.weights != home;
    });
    regions.push_back(&op);
    offers.push_back(std::move(own));
  }
  if (offers.empty() || offers[0].empty())
    return false;
  const gen::Offer &first = offers[0][n.rng() % offers[0].size()];
  std::vector<gen::Region> sharers;
  std::vector<const gen::Offer *> taken;
  for (size_t i = 0; i < regions.size(); ++i)
    for (const gen::Offer &offer : offers[i])
      if (offer.shared->key == first.shared->key) {
        sharers.push_back(regions[i]);
        taken.push_back(&offer);
      }
  if (sharers.size() < 2)
    return false;
  gen::Offer all = stream->join(sharers, taken, device);
  if (!isSmall(all))
    return false;
  auto at = llvm::find_if(selections, [&](const gen::Selection &s) {
    return s.region.front() == sharers[0].front();
  });
  *at = {gen::Region::joined(sharers), std::move(all)};
  llvm::erase_if(selections, [&](const gen::Selection &s) {
    return s.region.isSingle() &&
           llvm::any_of(sharers, [&](const gen::Region &r) {
             return r.front() == s.region.front();
           });
  });
  return true;
}

/// A module around one of the arbiters.
struct Arbiter {
  const char *prefix; ///< of its kind and its module's name
  const char *text;
};

constexpr Arbiter kReadArbiter = {"",
                                  R"(module narrow_arbiter #(
  parameter int DataWidth = 64, Readers = 2, Bursts = 8, Address = 32
) (
  input  logic clk_i, rst_ni, m_axi_arready, m_axi_rvalid, m_axi_rlast,
  input  logic [Readers-1:0] s_axi_arvalid, s_axi_rready,
  input  logic [Readers*Address-1:0] s_address,
  input  logic [Readers*8-1:0] s_axi_arlen,
  input  logic [DataWidth-1:0] m_axi_rdata,
  output logic [Readers-1:0] s_axi_arready, s_axi_rvalid,
  output logic [DataWidth-1:0] s_axi_rdata,
  output logic s_axi_rlast, m_axi_arvalid, m_axi_rready,
  output logic [63:0] m_axi_araddr,
  output logic [7:0] m_axi_arlen
);
  logic [Readers*64-1:0] s_axi_araddr;
  for (genvar r = 0; r < Readers; r++) begin : gen_addresses
    assign s_axi_araddr[64*r+:64] = 64'(s_address[Address*r+:Address]);
  end
  rhz_mem_arbiter #(.DataWidth(DataWidth), .Readers(Readers), .Bursts(Bursts))
    u_arbiter (.*);
endmodule
)"};

constexpr Arbiter kWriteArbiter = {"write_", R"(module narrow_write_arbiter #(
  parameter int DataWidth = 64, Readers = 2, Bursts = 8, Address = 32
) (
  input  logic clk_i, rst_ni, m_axi_awready, m_axi_wready, m_axi_bvalid,
  input  logic [Readers-1:0] s_axi_awvalid, s_axi_wvalid, s_axi_wlast,
  input  logic [Readers*Address-1:0] s_address,
  input  logic [Readers*8-1:0] s_axi_awlen,
  input  logic [Readers*DataWidth-1:0] s_axi_wdata,
  output logic [Readers-1:0] s_axi_awready, s_axi_wready, s_axi_bvalid,
  output logic m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready,
  output logic [63:0] m_axi_awaddr,
  output logic [7:0] m_axi_awlen,
  output logic [DataWidth-1:0] m_axi_wdata
);
  logic [Readers*64-1:0] s_axi_awaddr;
  for (genvar r = 0; r < Readers; r++) begin : gen_addresses
    assign s_axi_awaddr[64*r+:64] = 64'(s_address[Address*r+:Address]);
  end
  rhz_mem_write_arbiter #(
    .DataWidth(DataWidth), .Writers(Readers), .Bursts(Bursts)
  ) u_arbiter (.s_axi_bready('1), .*);
endmodule
)"};

/// The arbiters of a design's banks as actors of its node, in modules that have
/// only those bits of addresses which are needed, and take every answer: in a
/// whole design, the others are constants.
llvm::Error addArbiters(explore::NodeResult &result,
                        const gen::DeviceContext &device, PackageWriter &writer,
                        PlannedNode &node) {
  std::map<std::string, gen::BankReaders> reading, writing;
  for (auto op : result.design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks())) {
      const std::string name =
          bank.getMemory().str() + std::to_string(bank.getBank());
      auto add = [&](gen::BankReaders &ports) {
        ports.inFlight += port->traffic.inFlight(unit.params.data());
        ports.bytes += port->traffic.bytes(unit.params.data());
        ports.bits = unit.get("DataWidth");
      };
      add(reading[name]);
      ++reading[name].count;
      if (port->writes()) {
        add(writing[name]);
        ++writing[name].writers;
      }
    }
  }
  auto addOne = [&](const std::string &name, const Arbiter &arbiter,
                    const gen::BankReaders &readers) -> llvm::Error {
    const int64_t count = std::max(readers.count, readers.writers);
    if (count < 2)
      return llvm::Error::success();
    const std::string prefix = arbiter.prefix,
                      module = "narrow_" + prefix + "arbiter",
                      file = module + ".sv";
    PlannedActor actor;
    actor.name = name + "_" + prefix + "arbiter";
    actor.kind = "mem_" + prefix + "arbiter";
    actor.module = module;
    actor.config = llvm::json::Object{
        {"DataWidth", readers.bits},
        {"Readers", count},
        {"Bursts", readers.inFlight},
        {"Address", int64_t(llvm::Log2_64_Ceil(uint64_t(readers.bytes)))}};
    for (const auto &[key, value] : actor.config)
      actor.parameters.push_back(key.str());
    gen::Resources r = gen::costOfArbiter(readers, device.cost);
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
      if (r.amount[k] > 0)
        actor.resources[gen::kResourceNames[k]] = r.amount[k];
    node.actors.push_back(std::move(actor));
    for (const unit::SourceFile &source :
         unit::sourcesOf("rhz_mem_" + prefix + "arbiter"))
      node.modules[module].push_back(source.name);
    node.modules[module].push_back(file);
    if (llvm::is_contained(node.rtl, file))
      return llvm::Error::success();
    node.rtl.push_back(file);
    return writer.writeFile("nodes/" + node.name + "/rtl/" + file,
                            arbiter.text);
  };
  for (const auto &[name, ports] : reading)
    if (auto error = addOne(name, kReadArbiter, ports))
      return error;
  for (const auto &[name, ports] : writing)
    if (auto error = addOne(name, kWriteArbiter, ports))
      return error;
  return llvm::Error::success();
}

/// Leaves out what layers with weights in ROMs have too, so that the other sets
/// only cost the time of their own units.
void keepOwnUnits(PlannedNode &node) {
  static const std::set<llvm::StringRef> known = {
      "axis_in", "axis_out", "gearbox",     "fork",    "fifo",
      "window",  "matvec",   "lane_reduce", "requant", "threshold",
      "table",   "concat",   "circuit"};
  llvm::erase_if(node.actors, [](const PlannedActor &actor) {
    return known.count(actor.kind);
  });
}

/// Adds the layer of `seed` to the package; nothing if it has no small option.
llvm::Error addLayer(uint64_t seed, const std::string &name,
                     const Device &device, Set set, PackageWriter &writer,
                     Plan &plan) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  Layer layer = set == Set::Products ? Layer{drawProduct(n)}
                : set == Set::Rows   ? Layer{drawRows(n)}
                : set == Set::Moves  ? drawMove(n, seed)
                : set == Set::Turns  ? Layer{drawSharers(n)}
                : set == Set::Fifos  ? Layer{drawSkips(n)}
                : set == Set::Streamed && n.draw(0, 3) == 0
                    ? Layer{drawReaders(n)}
                    : Layer{drawLayer(n)};
  if (failed(verify(layer.network)))
    return llvm::createStringError("the layer of seed %llu is no network",
                                   static_cast<unsigned long long>(seed));
  auto known = planbuild::contextOf(device, device.clockMhz);
  if (!known)
    return known.takeError();
  gen::DeviceContext &d = *known;
  gen::WeightHome home = gen::WeightHome::Rom;
  if (set == Set::Resident) {
    home = gen::WeightHome::Resident;
    d.residents = gen::Residents::All;
  } else if (set == Set::Streamed) {
    home = gen::WeightHome::Streamed;
    d.streaming = gen::Streaming::All;
    d.batch = 4;
  } else if (set == Set::Turns) {
    d.residents = gen::Residents::All;
    d.streaming = gen::Streaming::All;
  }
  explore::NodeResult result;
  result.function = layer.network;
  result.selections = drawOffers(n, layer.network, home, layer.isWide, d);
  if (result.selections.empty())
    return llvm::Error::success();
  if (set == Set::Turns) {
    // Homes take turns, so that a few points have all of them.
    home = gen::WeightHome(seed % 3);
    if (!share(n, layer.network, home, d, result.selections))
      return llvm::Error::success();
  }
  gen::Border border{device.name, device.clockMhz,
                     std::min<int64_t>(device.streamBits, kMostBorderBits)};
  border.memories = d.memories;
  border.cost = &d.cost;
  border.dies = layer.dies;
  if (layer.isWide)
    border.dataWidth = gen::kWideBorder;
  if (layer.dies.count > 1)
    for (gen::Selection &selection : result.selections)
      selection.die =
          (border.dies.border + int(n.draw(1, 2))) % layer.dies.count;
  result.design =
      gen::buildDesign(layer.network, result.selections, border, result.images);
  if (failed(gen::sizeBuffers(result.design)))
    return llvm::createStringError("the layer of seed %llu deadlocks",
                                   static_cast<unsigned long long>(seed));
  if (set == Set::Fifos)
    moveBuffers(n, d, result.design);
  PlannedNode node = planbuild::describeNode(name, result, d);
  if (!isSmall(node))
    return llvm::Error::success();
  if (set == Set::Fifos)
    llvm::erase_if(node.actors, [](const PlannedActor &actor) {
      return actor.kind != unit::MemFifo::kKind;
    });
  else if (set != Set::Rom)
    keepOwnUnits(node);
  if (node.actors.empty())
    return llvm::Error::success();
  node.family = device.family;
  node.address = uint16_t(plan.nodes.size() + 1);
  if (llvm::Error error = planbuild::writeNode(writer, node, result))
    return error;
  if (llvm::Error error = addArbiters(result, d, writer, node))
    return error;
  plan.nodes.push_back(std::move(node));
  return llvm::Error::success();
}

llvm::Error write(const std::string &deviceName, int64_t count, uint64_t seed,
                  Set set, const std::string &target) {
  auto device = loadDevice(deviceName);
  if (!device)
    return device.takeError();
  if ((set == Set::Resident || set == Set::Streamed || set == Set::Fifos ||
       set == Set::Turns) &&
      !device->memory)
    return llvm::createStringError("%s has no memory for weights or FIFOs",
                                   deviceName.c_str());
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
                              *device, set, **writer, plan))
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
  Set set = Set::Rom;
  const std::map<std::string, Set> sets = {
      {"rom", Set::Rom},           {"resident", Set::Resident},
      {"streamed", Set::Streamed}, {"products", Set::Products},
      {"rows", Set::Rows},         {"moves", Set::Moves},
      {"fifos", Set::Fifos},       {"turns", Set::Turns}};
  app.add_option("--device", device, "a name or a .yaml file");
  app.add_option("--count", count, "layers")->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "of the first layer");
  app.add_option("--set", set,
                 "layers by where their weights lie (rom, resident, streamed), "
                 "products of two tensors, rows, moves, FIFOs in a memory, or "
                 "layers that take turns")
      ->transform(CLI::Transformer(sets));
  app.add_option("-o", target, "the package")->required();
  CLI11_PARSE(app, argc, argv);
  if (llvm::Error error = write(device, count, seed, set, target)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
