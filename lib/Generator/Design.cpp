// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a `flow.design` and reads one. Glue is inserted only here:
// a converter if two formats differ, a fork if a value has several
// readers, a FIFO between a fork and a join. Consecutive circuits
// with nothing between are merged, which saves a buffer and its cycle.
#include "rhizome/Generator/Design.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/Shared.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Support/Names.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace rhizome::gen {
namespace {
class DesignBuilder {
public:
  DesignBuilder(func::FuncOp network, const Border &border,
                MemoryImages &images)
      : network(network), border(border), images(images),
        builder(network.getContext()) {}

  flow::DesignOp run(std::vector<Selection> &selections) {
    builder.setInsertionPointAfter(network);
    design =
        flow::DesignOp::create(builder, network.getLoc(), border.name,
                               border.device, llvm::APFloat(border.clockMhz));
    builder.createBlock(&design.getBody());
    auto ret = cast<func::ReturnOp>(network.getBody().front().getTerminator());
    kept = flow::keptBy(network);
    const unsigned outputs = flow::portsOf(network, /*results=*/true);
    for (const Selection &selection : selections)
      for (Value v : selection.region.ins())
        ++readers[rootOf(v)];
    for (Value v : ret.getOperands().take_front(outputs))
      ++readers[rootOf(v)];
    for (const flow::Kept &one : kept)
      ++readers[rootOf(ret.getOperand(one.result))];
    chooseBanks(selections);
    for (Selection &selection : selections)
      buildSelection(selection);
    connectAwaited();
    for (auto [i, v] : llvm::enumerate(ret.getOperands().take_front(outputs)))
      buildOutput(unsigned(i), v);
    connectAwaited();
    addLoad();
    addMemories();
    for (auto &[op, actor] : generated)
      actor.model().emitDatapath(actor, cast<flow::ActorOp>(op).getGates(),
                                 op->getLoc());
    return design;
  }

private:
  struct Branches {
    BeatFormat format;
    SmallVector<Value> streams; ///< one for each remaining reader
    bool forked = false;
  };
  /// A stream into hardware that several regions share or into a state, from a
  /// later region.
  struct Awaited {
    UnrealizedConversionCastOp placeholder;
    Value value;
    BeatFormat want;
    Location loc;
  };

  func::FuncOp network;
  const Border &border;
  MemoryImages &images;
  OpBuilder builder;
  flow::DesignOp design;
  NameScope names;
  DenseMap<Value, unsigned> readers; ///< of streams, by the value's root
  DenseMap<Value, Branches> ready;
  std::vector<Awaited> awaited;
  size_t connected = 0; ///< of them
  SmallVector<flow::Kept> kept;
  /// Actors of generated kinds so far, without their datapaths.
  llvm::MapVector<Operation *, Actor> generated;

  flow::StreamType typeOf(Type elements, const BeatFormat &f,
                          flow::Order order) {
    return flow::StreamType::get(builder.getContext(),
                                 num::elementInt(elements), f.lanes, f.row,
                                 f.count, order);
  }
  flow::StreamType typeOf(Value v, const BeatFormat &f, flow::Order order) {
    return typeOf(v.getType(), f, order);
  }

  std::string uniqueName(Location loc, StringRef role) {
    std::string node = legalName(osa::nodeName(loc));
    if (node.size() > 40)
      node.resize(40);
    return names.unique(node + "_" + role.str());
  }

  /// Creates the actor; its output buffer's depth leaves the parameters.
  flow::ActorOp emit(Location loc, Actor actor, ValueRange inputs,
                     TypeRange outputs) {
    SmallVector<NamedAttribute> config;
    int64_t depth = 2;
    for (auto [key, value] : actor.params.all()) {
      if (key == "Depth")
        depth = value;
      else
        config.push_back(
            builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
    }
    if (!actor.ownModule.empty())
      config.push_back(builder.getNamedAttr(
          "module", builder.getStringAttr(actor.ownModule)));
    for (auto &[key, value] : actor.files)
      config.push_back(builder.getNamedAttr(key, builder.getStringAttr(value)));
    auto op = flow::ActorOp::create(
        builder, loc, outputs, inputs, builder.getStringAttr(actor.kind().name),
        builder.getStringAttr(actor.name), builder.getDictionaryAttr(config),
        builder.getDenseI64ArrayAttr(
            SmallVector<int64_t>(outputs.size(), depth)));
    SmallVector<Attribute> banks;
    for (const MemoryPlace &place : actor.memories)
      banks.push_back(flow::BankAttr::get(builder.getContext(), place.memory,
                                          place.bank, place.segment));
    if (!banks.empty())
      op.setMemoriesAttr(builder.getArrayAttr(banks));
    op->setAttr("rhizome.node", builder.getStringAttr(osa::nodeName(loc)));
    if (actor.datapath)
      generated.insert({op, std::move(actor)});
    return op;
  }

  /// `actor` on `inputs`. A generated datapath that follows another one
  /// replaces it and does the work of both, if its kind supports that.
  flow::ActorOp emitBehind(Location loc, Actor actor, ValueRange inputs,
                           TypeRange outputs) {
    Operation *before = inputs.empty() ? nullptr : inputs[0].getDefiningOp();
    auto found = generated.find(before);
    std::optional<Actor> both;
    if (actor.datapath && found != generated.end() &&
        &found->second.kind() == &actor.kind())
      both = actor.model().fused(found->second, actor);
    if (!both)
      return emit(loc, std::move(actor), inputs, outputs);
    SmallVector<Value> operands(before->getOperands());
    std::string nodes = cast<StringAttr>(before->getAttr("rhizome.node")).str();
    if (std::string node = osa::nodeName(loc); node != nodes)
      nodes += ", " + node;
    generated.erase(before);
    auto op = emit(loc, std::move(*both), operands, outputs);
    op->setAttr("rhizome.node", builder.getStringAttr(nodes));
    before->erase();
    return op;
  }

  void produce(Value value, Value stream, const BeatFormat &format,
               Location loc) {
    unsigned branchCount = readers.lookup(value);
    Branches branches{format, {stream}, false};
    if (branchCount > 1) {
      Actor fork = makeFork(format, branchCount);
      fork.name = uniqueName(loc, fork.name);
      SmallVector<Type> types(branchCount, stream.getType());
      auto op = emit(loc, fork, stream, types);
      branches.streams.assign(op.getOutputs().begin(), op.getOutputs().end());
      branches.forked = true;
    }
    ready[value] = std::move(branches);
  }

  UnrealizedConversionCastOp placeholderFor(Value value, const BeatFormat &want,
                                            Location loc) {
    return UnrealizedConversionCastOp::create(
        builder, loc, TypeRange{typeOf(value, want, flow::Order::Pixels)},
        ValueRange{});
  }

  /// The unit that keeps an argument from frame to frame. What it takes is made
  /// later.
  void buildState(const flow::Kept &one, const BeatFormat &want) {
    BlockArgument arg = network.getArgument(one.argument);
    Location loc = arg.getLoc();
    Actor a = makeState(want);
    if (border.cost)
      placeRoms(a, *border.cost);
    a.name = names.unique(legalName(one.state.getOf()) + "_state");
    std::string file = a.name + "_initial.hex";
    images[file] = beatsOf(want, osa::intValues(one.state.getInitial()));
    a.files.push_back({"InitFile", file});
    auto next = placeholderFor(arg, want, loc);
    auto op =
        emit(loc, a, next.getResults(), typeOf(arg, want, flow::Order::Pixels));
    op->setAttr("rhizome.node", builder.getStringAttr(one.state.getOf()));
    auto ret = cast<func::ReturnOp>(network.getBody().front().getTerminator());
    awaited.push_back({next, ret.getOperand(one.result), want, loc});
    produce(arg, op.getOutputs()[0], want, loc);
  }

  /// The stream of a function argument has the format of its first
  /// reader.
  void buildInput(BlockArgument arg, const BeatFormat &want) {
    for (const flow::Kept &one : kept)
      if (one.argument == arg.getArgNumber())
        return buildState(one, want);
    Location loc = network.getLoc();
    Actor a = makeBorder(want, border.dataWidth, /*enters=*/true);
    a.name = names.unique("s_axis_" + std::to_string(arg.getArgNumber()));
    auto op = emit(loc, a, {}, typeOf(arg, want, flow::Order::Pixels));
    op->setAttr("rhizome.port", builder.getI64IntegerAttr(arg.getArgNumber()));
    produce(arg, op.getOutputs()[0], want, loc);
  }

  Value consume(Value value, const BeatFormat &want, Location loc, bool join) {
    Value root = rootOf(value);
    if (!ready.count(root))
      buildInput(cast<BlockArgument>(root), want);
    Branches &branches = ready[root];
    Value stream = branches.streams.pop_back_val();
    if (join && branches.forked) {
      Actor fifo = makeFifo(branches.format);
      fifo.name = uniqueName(loc, fifo.name);
      stream = emit(loc, fifo, stream, stream.getType()).getOutputs()[0];
    }
    if (branches.format.canonical() == want.canonical())
      return stream;
    Actor converter = makeConverter(branches.format, want);
    converter.name = uniqueName(loc, "convert");
    return emit(loc, converter, stream, typeOf(root, want, flow::Order::Pixels))
        .getOutputs()[0];
  }

  /// A region's input; a placeholder for one that is made later.
  Value input(Value value, const BeatFormat &want, Location loc, bool join) {
    Value root = rootOf(value);
    if (ready.count(root) || isa<BlockArgument>(root))
      return consume(value, want, loc, join);
    auto placeholder = placeholderFor(root, want, loc);
    awaited.push_back({placeholder, value, want, loc});
    return placeholder.getResult(0);
  }

  /// Those so far, and what is awaited because of them.
  void connectAwaited() {
    for (; connected < awaited.size(); ++connected)
      connect(Awaited(awaited[connected]));
  }

  void connect(const Awaited &stream) {
    UnrealizedConversionCastOp placeholder = stream.placeholder;
    placeholder.getResult(0).replaceAllUsesWith(
        consume(stream.value, stream.want, stream.loc, /*join=*/false));
    placeholder.erase();
  }

  /// The output streams of a body's unit.
  SmallVector<Type> typesOf(const Region &region, const Body &body, int unit) {
    SmallVector<Type> types;
    for (auto [port, format] : llvm::enumerate(body.units[unit].outputs)) {
      Value elements = region.ins().front();
      auto order = flow::Order::Windows;
      for (auto [i, source] : llvm::enumerate(body.outputs))
        if (source.unit == unit && source.port == int(port)) {
          elements = region.outs()[i];
          order = flow::Order::Pixels;
        }
      Type type = elements.getType();
      if (port < body.units[unit].elements.size() &&
          body.units[unit].elements[port])
        type = body.units[unit].elements[port];
      types.push_back(typeOf(type, format, order));
    }
    return types;
  }

  void buildSelection(Selection &selection) {
    const Region &region = selection.region;
    Offer &offer = selection.offer;
    Location loc = region.front()->getLoc();
    for (Body::Unit &unit : offer.body.units) {
      Actor &actor = unit.actor;
      actor.name = uniqueName(loc, actor.name);
      if (actor.kind().isGenerated())
        actor.ownModule =
            std::string("rhz_") + actor.kind().name + "_" + actor.name;
    }
    const Generator *generator = findGenerator(offer.generator);
    assert(generator && "an offer comes from a generator");
    generator->build(region, offer, images);

    SmallVector<Value> inputs;
    for (auto [value, format] : llvm::zip_equal(region.ins(), offer.inputs))
      inputs.push_back(input(value, format, loc, region.ins().size() > 1));
    std::vector<SmallVector<Value>> streams; // of every unit
    auto streamOf = [&](const Body::Source &source) {
      return source.unit < 0 ? inputs[source.port]
                             : streams[source.unit][source.port];
    };
    for (auto [i, unit] : llvm::enumerate(offer.body.units)) {
      SmallVector<Value> operands;
      for (const Body::Source &source : unit.inputs)
        operands.push_back(streamOf(source));
      auto op = emitBehind(loc, unit.actor, operands,
                           typesOf(region, offer.body, int(i)));
      streams.emplace_back(op.getOutputs());
    }
    for (auto [i, source] : llvm::enumerate(offer.body.outputs))
      produce(region.outs()[i], streamOf(source), offer.outputs[i],
              region.outs()[i].getLoc());
  }

  /// The most bursts in a row that an arbiter grants a reader.
  static constexpr int64_t kMostTurn = 15;

  /// The banks of the readers that may use any: those that read most first,
  /// each takes the bank that has to give least so far.
  void chooseBanks(std::vector<Selection> &selections) {
    struct Reading {
      Actor *actor;
      const unit::Port *port;
      MemoryPlace *place;
      int64_t bytes;
    };
    std::vector<Reading> open;
    for (Selection &selection : selections)
      for (Body::Unit &unit : selection.offer.body.units)
        for (auto [port, place] :
             llvm::zip(unit.actor.kind().memoryPorts(), unit.actor.memories))
          if (place.bank == MemoryPlace::kAnyBank)
            open.push_back({&unit.actor, port, &place,
                            port->traffic.bytes(unit.actor.params.data())});
    llvm::stable_sort(open, [](const Reading &a, const Reading &b) {
      return a.bytes > b.bytes;
    });
    std::map<StringRef, std::vector<int64_t>> given; // by bank
    for (const Memory &memory : border.memories)
      given[memory.name].resize(size_t(memory.banks));
    for (const Reading &reading : open) {
      std::vector<int64_t> &banks = given[reading.place->memory];
      auto least = std::min_element(banks.begin(), banks.end());
      *least += reading.bytes;
      reading.place->bank = least - banks.begin();
    }
    // Of a bank, readers get in a row what corresponds to their bytes: the one
    // that reads most, as much as its buffer takes.
    std::map<std::pair<StringRef, int64_t>, int64_t> most;
    for (const Reading &reading : open)
      most.try_emplace({reading.place->memory, reading.place->bank},
                       std::max<int64_t>(1, reading.bytes));
    for (const Reading &reading : open) {
      const unit::Traffic &traffic = reading.port->traffic;
      if (!*traffic.turn)
        continue;
      int64_t room = reading.actor->get("Depth") /
                     traffic.burst(reading.actor->params.data());
      double share = double(reading.bytes) /
                     double(most[{reading.place->memory, reading.place->bank}]);
      int64_t turn = std::clamp<int64_t>(
          std::min(room, int64_t(std::llround(kMostTurn * share))), 1,
          kMostTurn);
      if (turn > 1)
        reading.actor->set(traffic.turn, turn);
    }
  }

  /// Bits of a beat of the bank from which the load chain is filled: as
  /// other readers of that bank have it, otherwise a word of the chain.
  int64_t loadBeat() {
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      for (auto [port, bank] :
           llvm::zip_equal(op.getUnit().kind().memoryPorts(), op.getBanks()))
        if (bank.getMemory() == border.memories[0].name && bank.getBank() == 0)
          return op.getUnit().bitsOf(*port);
    return kLoadBits;
  }

  /// The head of the load chain, if a unit waits for it: one segment with the
  /// words of each unit, in the order of the actors.
  void addLoad() {
    SmallVector<std::pair<flow::ActorOp, int64_t>> filled; // with its words
    int64_t words = 0;
    for (auto op : design.getBody().getOps<flow::ActorOp>()) {
      unit::Instance unit = op.getUnit();
      if (const unit::Port *port = unit.kind().loadedPort()) {
        filled.push_back({op, port->beats(unit.params.data())});
        words += filled.back().second;
      }
    }
    if (filled.empty())
      return;
    assert(!border.memories.empty() && "offered where there is a memory");
    const int64_t beat = loadBeat(), parts = beat / kLoadBits;
    const int64_t beats = (words + parts - 1) / parts;
    MemoryImage all(beat, beats);
    int64_t at = 0;
    for (auto &[op, taken] : filled) {
      auto own = images.find(loadImage(op.getName()));
      assert(own != images.end() && "made by the generator");
      const MemoryImage &image = own->second;
      int64_t end = at + taken;
      for (int64_t word = 0; word < image.depth; ++word)
        for (int64_t low = 0; low < image.width; low += kLoadBits, ++at)
          all.set(at / parts, at % parts * kLoadBits, kLoadBits,
                  int64_t(image.get(word, low, kLoadBits)));
      assert(at == end && "the unit takes what there is");
      (void)end;
      images.erase(own);
    }
    Actor reader =
        makeLoadReader(beats, beat, {border.memories[0].name, 0, kLoadSegment});
    reader.name = names.unique(reader.name);
    images[kLoadSegment] = std::move(all);
    emit(network.getLoc(), std::move(reader), {}, {});
  }

  /// The memories that actors use, from the border's list.
  void addMemories() {
    SmallVector<Attribute> used;
    for (const Memory &m : border.memories)
      if (llvm::any_of(design.getBody().getOps<flow::ActorOp>(), [&](auto op) {
            return llvm::any_of(op.getBanks(), [&](flow::BankAttr bank) {
              return bank.getMemory() == m.name;
            });
          }))
        used.push_back(flow::MemoryAttr::get(
            builder.getContext(), m.name, m.banks, m.bytesPerS, m.latencyNs,
            m.turnaroundNs, m.refreshEveryNs, m.refreshNs));
    if (!used.empty())
      design.setMemoriesAttr(builder.getArrayAttr(used));
  }

  void buildOutput(unsigned index, Value value) {
    Location loc = network.getLoc();
    Value root = rootOf(value);
    BeatFormat f;
    if (ready.count(root))
      f = ready[root].format;
    else
      f = formatOf(root.getType(), 1, 1);
    Value stream = consume(value, f, loc, false);
    Actor a = makeBorder(f, border.dataWidth, /*enters=*/false);
    a.name = names.unique("m_axis_" + std::to_string(index));
    auto op = emit(loc, a, stream, {});
    op->setAttr("rhizome.port", builder.getI64IntegerAttr(index));
  }
};
} // namespace

flow::DesignOp buildDesign(func::FuncOp network,
                           std::vector<Selection> &selections,
                           const Border &border, MemoryImages &images) {
  return DesignBuilder(network, border, images).run(selections);
}

Actor actorOf(flow::ActorOp op) {
  Actor actor(op.getKind(), op.getName().str());
  for (NamedAttribute attr : op.getConfig()) {
    if (auto i = dyn_cast<IntegerAttr>(attr.getValue()))
      actor.set(attr.getName(), i.getInt());
    else if (attr.getName() == "module")
      actor.ownModule = cast<StringAttr>(attr.getValue()).str();
    else
      actor.files.push_back(
          {attr.getName().str(), cast<StringAttr>(attr.getValue()).str()});
  }
  for (flow::BankAttr bank : op.getBanks())
    actor.memories.push_back(
        {bank.getMemory().str(), bank.getBank(), bank.getSegment().str()});
  if (actor.kind().indexOf("Depth"))
    actor.set("Depth", op.getDepths().empty() ? 4 : op.getDepths()[0]);
  return actor;
}

/// The timing parameters of a memory.
static llvm::StringMap<rhz::MemoryFigures> figuresOf(flow::DesignOp design) {
  llvm::StringMap<rhz::MemoryFigures> figures;
  if (auto memories = design.getMemories())
    for (auto m : memories->getAsRange<flow::MemoryAttr>())
      figures[m.getName()] = {m.getBanks(),          m.getBytesPerS(),
                              m.getLatencyNs(),      m.getTurnaroundNs(),
                              m.getRefreshEveryNs(), m.getRefreshNs()};
  return figures;
}

/// What a reader of the load chain's bank reads ahead while the chain is
/// filled: bursts of this many beats, and how many.
struct ReadAhead {
  int64_t burst, count;
};
static std::vector<ReadAhead> readAheadNextTo(flow::ActorOp head,
                                              flow::DesignOp design) {
  std::vector<ReadAhead> others;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (auto [port, bank] :
         llvm::zip_equal(op.getUnit().kind().memoryPorts(), op.getBanks())) {
      if (op == head || bank.getMemory() != head.getBanks()[0].getMemory() ||
          bank.getBank() != head.getBanks()[0].getBank())
        continue;
      unit::Instance unit = op.getUnit();
      int64_t burst = port->traffic.burst(unit.params.data());
      int64_t room = op.getDepths().empty() ? burst : op.getDepths()[0];
      others.push_back({burst, room / burst});
    }
  return others;
}

int64_t loadCycles(flow::DesignOp design) {
  int64_t places = 0;
  flow::ActorOp head;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (const unit::Port &port : unit.kind().ports)
      if (port.isLoaded()) {
        ++places;
      } else if (port.protocol == unit::Protocol::Load) {
        head = op;
      }
  }
  if (!head)
    return 0;
  unit::Instance unit = head.getUnit();
  const unit::Port &port = *unit.kind().memoryPorts().front();
  const int64_t burst = port.traffic.burst(unit.params.data()),
                atOnce = port.traffic.inFlight(unit.params.data());
  rhz::MemoryServer server(rhz::MemoryTiming::of(
      figuresOf(design).lookup(head.getBanks()[0].getMemory()),
      unit.bitsOf(port) / 8, design.getClockMhz().convertToDouble()));
  // A beat of several words waits until those of the one before are passed on.
  const int64_t parts = unit.bitsOf(port) / kLoadBits;
  // A request is made if few enough are in flight, and accepted in the
  // next cycle.
  int64_t cycle = -1, free = 0;
  std::vector<ReadAhead> others = readAheadNextTo(head, design);
  std::vector<int64_t> ends; // cycles of the bursts' last beats
  for (int64_t left = unit.get("Words"); left > 0; left -= burst) {
    ++cycle;
    int64_t before = int64_t(ends.size()) - atOnce;
    if (before >= 0)
      cycle = std::max(cycle, ends[size_t(before)] + 1);
    bool turns = ends.empty();
    for (ReadAhead &other : others)
      if (other.count-- > 0) {
        server.begin(cycle + 1, /*turns=*/true);
        for (int64_t i = 0; i < other.burst; ++i)
          server.next();
        turns = true;
      }
    server.begin(cycle + 1 + !others.empty(), turns);
    int64_t last = 0;
    for (int64_t i = 0; i < std::min(left, burst); ++i) {
      last = std::max(server.next(), free);
      free = last + parts;
    }
    ends.push_back(last);
  }
  // Each place passes a word on in the next cycle; the last one's flag follows.
  int64_t words = 0;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (const unit::Port *loaded = op.getUnit().kind().loadedPort())
      words += loaded->beats(op.getUnit().params.data());
  return ends.back() + (words - 1) % parts + places + 1;
}

/// The banks that actors of a design use, in its cycles.
static void addBanks(flow::DesignOp design, ProcessNetwork &network) {
  llvm::StringMap<rhz::MemoryFigures> figures = figuresOf(design);
  double clockMhz = design.getClockMhz().convertToDouble();
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (auto [bank, port] :
         llvm::zip(op.getBanks(), op.getUnit().kind().memoryPorts()))
      network.memories[network.memory(bank.getMemory(), bank.getBank())]
          .timing =
          rhz::MemoryTiming::of(figures.lookup(bank.getMemory()),
                                op.getUnit().bitsOf(*port) / 8, clockMhz);
}

ProcessNetwork networkOf(flow::DesignOp design) {
  ProcessNetwork network;
  addBanks(design, network);
  DenseMap<Value, int> channel;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    Actor actor = actorOf(op);
    for (auto [i, result] : llvm::enumerate(op.getOutputs()))
      channel[result] = network.addChannel(op.getName().str(),
                                           op.getDepths()[i], latencyOf(actor));
  }
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    std::vector<int> inputs, outputs;
    for (Value v : op.getInputs())
      inputs.push_back(channel[v]);
    for (Value v : op.getOutputs())
      outputs.push_back(channel[v]);
    addProcesses(actorOf(op), network, inputs, outputs);
  }
  return network;
}

/// The streams that the design's inputs reach. The others come from memories,
/// which fill any buffer.
static DenseSet<Value> streamsOfInputs(flow::DesignOp design) {
  DenseSet<Value> reached;
  for (bool grows = true; grows;) {
    size_t before = reached.size();
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      if ((op.getBanks().empty() && op.getInputs().empty()) ||
          llvm::any_of(op.getInputs(),
                       [&](Value v) { return reached.contains(v); }))
        reached.insert(op.getOutputs().begin(), op.getOutputs().end());
    grows = reached.size() > before;
  }
  return reached;
}

/// Does a process read a memory while frames pass? Weights are loaded before.
static bool readsMemory(const ProcessNetwork &network) {
  return llvm::any_of(network.processes,
                      [](const Process &p) { return p.memory >= 0; });
}

static constexpr int kWarmUp = 3, kShort = 5;
static constexpr double kLong = 20000;

/// The timing of a network that reads no memory while frames pass; nothing if
/// that needs frames that have not been simulated and may not be.
static std::optional<Timing> timingOf(Simulation &simulation, bool simulates) {
  // Most designs settle at once. Those whose frames still differ, and those
  // whose frames are so short that the first ones meet an empty pipeline, are
  // followed for as long as data/sim/harness.cpp measures them. Frame 0 never
  // waits for a later one, so that its latency is that of a single frame.
  // Long frames with constant intervals are steady a frame earlier.
  auto isThere = [&](int frames) {
    return simulates || simulation.knows(frames);
  };
  if (!isThere(kShort - 1))
    return std::nullopt;
  const SimResult &run = simulation.upTo(kShort - 1);
  if (run.interval(kWarmUp - 1) > kLong && run.isSteady(kWarmUp - 2))
    return Timing{run.interval(kWarmUp - 1), run.latency()};
  if (!isThere(kShort))
    return std::nullopt;
  simulation.upTo(kShort);
  double interval = run.interval(kWarmUp);
  bool filling = interval < 1000 && double(run.latency()) > 3 * interval;
  if (run.isSteady(kWarmUp - 1) && !filling)
    return Timing{interval, run.latency()};
  bool shortFrames = interval < kLong;
  if (!isThere(shortFrames ? 20 : 12))
    return std::nullopt;
  simulation.upTo(shortFrames ? 20 : 12);
  return Timing{run.interval(shortFrames ? 10 : kWarmUp), run.latency()};
}

/// The timing of a design whose buffers have their depths now, if a run without
/// bounds tells it. The depths change nothing if the buffers held no more, and
/// tokens that come later do not if they waited for as long.
static std::optional<Timing> timingFrom(Simulation &simulation,
                                        ArrayRef<int> watched,
                                        const ProcessNetwork &before,
                                        flow::DesignOp design) {
  if (readsMemory(before))
    return std::nullopt;
  ProcessNetwork now = networkOf(design);
  for (int c : watched) {
    TokenQueue &queue = now.channels[c];
    int64_t later = queue.latency - before.channels[c].latency;
    if (queue.capacity < simulation.occupancy(c) || later < 0 ||
        later > simulation.slack(c))
      return std::nullopt;
    queue = before.channels[c];
  }
  if (now.processes != before.processes || now.channels != before.channels)
    return std::nullopt;
  return timingOf(simulation, /*simulates=*/false);
}

FailureOr<std::optional<Timing>> sizeBuffers(flow::DesignOp design) {
  // networkOf numbers channels in the order of actors and results.
  ProcessNetwork network = networkOf(design);
  SmallVector<std::pair<flow::ActorOp, int>> joins;
  int channel = 0;
  DenseMap<Value, int> numbers;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (Value v : op.getOutputs())
      numbers[v] = channel++;
  DenseSet<Value> reached = streamsOfInputs(design);
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (Actor actor = actorOf(op); !actor.model().takesTurns(actor) &&
                                   llvm::count_if(op.getInputs(), [&](Value v) {
                                     return reached.contains(v);
                                   }) > 1)
      for (Value v : op.getInputs())
        if (reached.contains(v))
          joins.push_back({v.getDefiningOp<flow::ActorOp>(), numbers[v]});
  if (joins.empty())
    return std::optional<Timing>();
  SmallVector<int> watched;
  for (auto &[op, index] : joins) {
    network.channels[index].capacity = INT64_MAX / 4;
    watched.push_back(index);
  }
  // Designs that load weights are large, and what lies in their buffers grows
  // for some frames more.
  bool isLoaded = !network.memories.empty() && !readsMemory(network);
  Simulation simulation(network, watched);
  const SimResult &run = simulation.upTo(isLoaded ? 6 : 2);
  if (run.deadlock)
    return design.emitError("internal: deadlock with unbounded buffers: ")
           << run.blocked;
  for (auto &[op, index] : joins) {
    Actor actor = actorOf(op);
    int64_t depth =
        std::max(actor.model().leastDepth(actor), simulation.occupancy(index));
    // Two frames of fewer beats do not show what full rate needs.
    auto stream = cast<flow::StreamType>(op.getOutputs()[0].getType());
    int64_t atFullRate = fullRateDepth(actor);
    if (2 * stream.beatsPerFrame() < atFullRate)
      depth = std::max(depth, atFullRate);
    // The deep form of the buffer becomes visible one cycle later.
    if (depth > 62)
      depth += 2;
    op.setDepths(SmallVector<int64_t>(op.getNumResults(), depth));
  }
  return timingFrom(simulation, watched, network, design);
}

/// The latency of a design whose readers have filled all their buffers before
/// the frame comes.
static int64_t latencyAfterReading(ProcessNetwork network) {
  int64_t ready = 0;
  for (const MemoryBank &bank : network.memories)
    ready += bank.timing.latency + 2 * bank.timing.refresh;
  for (const Process &process : network.processes)
    if (process.memory >= 0) {
      const rhz::MemoryTiming &t = network.memories[process.memory].timing;
      int64_t ticks = t.beatTicks + t.turnTicks;
      ready += 2 * network.channels[process.outputs[0]].capacity *
               (ticks / rhz::kTicks + 1);
    }
  // No other frame follows it; readers go on.
  constexpr int64_t kNever = INT64_MAX / 8;
  for (Process &process : network.processes)
    if (process.isSource()) {
      int64_t firings = 0;
      for (const Phase &phase : process.phases)
        firings += phase.repeat * process.periods;
      process.offers.assign(size_t(firings), ready);
      process.offers.push_back(kNever);
    }
  return Simulation(network).upTo(1).latency();
}

FailureOr<Timing> predictTiming(flow::DesignOp design) {
  ProcessNetwork network = networkOf(design);
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(kShort - 1);
  if (run.deadlock)
    return design.emitError("internal: the design deadlocks: ") << run.blocked;
  if (!readsMemory(network))
    return *timingOf(simulation, /*simulates=*/true);
  // Refreshes are not aligned to frames: no frame is like another. Those in
  // flight at once share the memory: as many go before and after.
  constexpr double kMostInFlight = 32;
  double interval = run.interval(kWarmUp - 1);
  int64_t latency = latencyAfterReading(network);
  int inFlight =
      int(std::min(kMostInFlight, std::ceil(double(latency) / interval)));
  int frames = inFlight + (interval < kLong ? 20 : 12);
  simulation.upTo(frames, std::max(inFlight, Simulation::kAhead));
  int warmUp = frames - 1 - std::max(8, (frames - 1) / 2);
  return Timing{run.interval(warmUp), latency};
}

std::string stateThatBinds(flow::DesignOp design, double intervalCycles) {
  // A loop does not bind if more frames are on their way around it.
  constexpr int kFrames = 20;
  auto intervalWith = [&](StringRef only) {
    ProcessNetwork network = networkOf(design);
    int channel = 0;
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      for (unsigned i = 0; i < op.getNumResults(); ++i, ++channel) {
        TokenQueue &queue = network.channels[channel];
        if (queue.initial == 0 || op.getName() == only)
          continue;
        queue.capacity += kFrames * queue.initial;
        queue.initial *= 1 + kFrames;
      }
    return Simulation(network).upTo(kFrames).interval(kFrames / 2);
  };
  SmallVector<StringRef> states; // with tokens from the start
  ProcessNetwork network = networkOf(design);
  int channel = 0;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (network.channels[channel++].initial > 0)
        states.push_back(op.getName());
  const double almost = intervalCycles * (1 - 1e-6);
  if (states.empty() || intervalWith("") >= almost)
    return "";
  // By itself, or with others.
  StringRef binds = states.front();
  for (StringRef state : llvm::reverse(states))
    if (intervalWith(state) >= almost)
      binds = state;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (op.getName() == binds)
      return op->getAttrOfType<StringAttr>("rhizome.node").str();
  llvm_unreachable("it is one of the design's");
}

FailureOr<std::vector<std::vector<int64_t>>>
followFrame(flow::DesignOp design, ArrayRef<std::vector<int64_t>> offers) {
  ProcessNetwork network = networkOf(design);
  // An actor at the border consists of two processes, or with the sink three.
  llvm::StringMap<int64_t> ports;
  int64_t outputs = 0;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (auto port = op->getAttrOfType<IntegerAttr>("rhizome.port")) {
      ports[op.getName()] = port.getInt();
      outputs += op.getNumResults() == 0;
    }
  std::vector<int64_t> sinks;
  for (Process &process : network.processes) {
    auto port = ports.find(StringRef(process.name).rsplit('.').first);
    if (process.isSource())
      process.offers = offers[port->second];
    if (process.outputs.empty())
      sinks.push_back(port->second);
  }
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(1);
  if (run.deadlock)
    return design.emitError("internal: the design deadlocks: ") << run.blocked;
  std::vector<std::vector<int64_t>> taken(outputs);
  for (auto [port, times] : llvm::zip_equal(sinks, run.taken))
    taken[port] = times;
  return taken;
}

std::vector<ActorSpans> timelineOf(flow::DesignOp design, int frames) {
  std::vector<ActorSpans> actors;
  llvm::StringMap<size_t> index;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    auto node = op->getAttrOfType<StringAttr>("rhizome.node");
    index[op.getName()] = actors.size();
    actors.push_back({op.getName().str(), node ? node.str() : "", {}});
  }
  ProcessNetwork network = networkOf(design);
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(frames);
  // An actor with several processes works while one of them does.
  for (auto [process, spans] : llvm::zip_equal(network.processes, run.spans)) {
    auto it = index.find(llvm::StringRef(process.name).split('.').first);
    if (it == index.end())
      continue;
    auto &all = actors[it->second].frames;
    for (auto [f, span] : llvm::enumerate(spans)) {
      if (f == all.size())
        all.push_back(span);
      all[f] = {std::min(all[f].first, span.first),
                std::max(all[f].second, span.second)};
    }
  }
  return actors;
}

/// The arbiters between readers of the same bank.
static Resources costOfArbiters(flow::DesignOp design,
                                const CostContext &context) {
  std::map<std::pair<StringRef, int64_t>, BankReaders> banks;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks())) {
      BankReaders &readers = banks[{bank.getMemory(), bank.getBank()}];
      ++readers.count;
      readers.inFlight += port->traffic.inFlight(unit.params.data());
      readers.bytes += port->traffic.bytes(unit.params.data());
    }
  }
  Resources sum;
  for (const auto &[bank, readers] : banks)
    if (readers.count > 1)
      sum += costOfArbiter(readers, context);
  return sum;
}

Resources costOf(flow::DesignOp design, const CostContext &context,
                 const MemoryImages *images, Resources *error) {
  Resources sum = costOfArbiters(design, context), squares;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    Actor actor = actorOf(op);
    Resources cost = costOf(actor, context, images);
    sum += cost;
    if (!error)
      continue;
    Resources off = errorOf(actor, cost, context);
    squares.lut() += off.lut() * off.lut();
    squares.ff() += off.ff() * off.ff();
  }
  if (error) {
    error->lut() = std::sqrt(squares.lut());
    error->ff() = std::sqrt(squares.ff());
  }
  return sum;
}
} // namespace rhizome::gen
