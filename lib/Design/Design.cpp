// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a `flow.design` and reads one. Glue is inserted only here:
// a converter if two formats differ, a fork if a value has several
// readers, a FIFO between a fork and a join. Consecutive circuits
// with nothing between are merged, which saves a buffer and its cycle.
#include "rhizome/Design/Design.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/Trips.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Support/Names.h"
#include "rhizome/Units/Shared.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/SaveAndRestore.h"
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
        addReader(rootOf(v), selection.die);
    for (Value v : ret.getOperands().take_front(outputs))
      addReader(rootOf(v), border.dies.border);
    // A state lies next to those who read it first.
    for (const flow::Kept &one : kept)
      addReader(rootOf(ret.getOperand(one.result)),
                dieOfState(one, selections));
    chooseBanks(selections);
    for (Selection &selection : selections) {
      die = selection.die;
      buildSelection(selection);
    }
    connectAwaited();
    die = border.dies.border;
    for (auto [i, v] : llvm::enumerate(ret.getOperands().take_front(outputs)))
      buildOutput(unsigned(i), v);
    connectAwaited();
    die = border.dies.memory;
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
    int die;
  };

  func::FuncOp network;
  const Border &border;
  MemoryImages &images;
  OpBuilder builder;
  flow::DesignOp design;
  NameScope names;
  int die = 0; ///< of the actors that are being made
  /// Readers of streams by the value's root, on each die.
  DenseMap<Value, SmallVector<unsigned, 4>> readers;
  DenseMap<Value, int> makers; ///< the die on which a value is made
  DenseMap<std::pair<Value, int>, Branches> ready; ///< on a die
  DenseMap<unsigned, int> statesOn; ///< by argument: the die of its unit
  std::vector<Awaited> awaited;
  size_t connected = 0; ///< of them
  SmallVector<flow::Kept> kept;
  /// Actors of generated kinds so far, without their datapaths.
  llvm::MapVector<Operation *, Actor> generated;

  void addReader(Value root, int on) {
    SmallVector<unsigned, 4> &counts = readers[root];
    counts.resize(size_t(std::max(border.dies.count, 1)));
    ++counts[size_t(on)];
  }
  int dieOfState(const flow::Kept &one, ArrayRef<Selection> selections) {
    int &on = statesOn[one.argument];
    on = border.dies.border;
    for (const Selection &selection : selections)
      for (Value v : selection.region.ins())
        if (rootOf(v) == network.getArgument(one.argument))
          return on = selection.die;
    return on;
  }
  /// The streams that a value needs on a die: one for each reader there and one
  /// for each direction in which there are others, away from its maker.
  unsigned branchesOn(Value value, int on) const {
    auto counts = readers.find(value);
    if (counts == readers.end())
      return 0;
    const int maker = makers.lookup(value);
    bool up = false, down = false;
    for (int d = 0; d < int(counts->second.size()); ++d) {
      up |= d > on && on >= maker && counts->second[size_t(d)] > 0;
      down |= d < on && on <= maker && counts->second[size_t(d)] > 0;
    }
    return counts->second[size_t(on)] + up + down;
  }

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
    op.setNodesAttr(builder.getStrArrayAttr(StringRef(osa::nodeName(loc))));
    if (border.dies.count > 1)
      op.setDie(die);
    if (actor.datapath)
      generated.insert({op, std::move(actor)});
    return op;
  }

  /// `actor` on `inputs`. A generated datapath that follows another one
  /// replaces it and does the work of both, if its kind supports that.
  flow::ActorOp emitBehind(Location loc, Actor actor, ValueRange inputs,
                           TypeRange outputs) {
    auto before =
        inputs.empty() ? nullptr : inputs[0].getDefiningOp<flow::ActorOp>();
    auto found = generated.find(before);
    std::optional<Actor> both;
    if (actor.datapath && found != generated.end() &&
        &found->second.kind() == &actor.kind())
      both = actor.model().fused(found->second, actor);
    if (!both)
      return emit(loc, std::move(actor), inputs, outputs);
    SmallVector<Value> operands(before->getOperands());
    SmallVector<Attribute> nodes(before.getNodes()->getValue());
    if (Attribute node = builder.getStringAttr(osa::nodeName(loc));
        !llvm::is_contained(nodes, node))
      nodes.push_back(node);
    generated.erase(before);
    auto op = emit(loc, std::move(*both), operands, outputs);
    op.setNodesAttr(builder.getArrayAttr(nodes));
    before->erase();
    return op;
  }

  /// Enters a value's stream on the die that actors are made on.
  void produce(Value value, Value stream, const BeatFormat &format,
               Location loc) {
    makers[value] = die;
    spread(value, stream, format, loc, /*forked=*/false);
  }

  void spread(Value value, Value stream, const BeatFormat &format, Location loc,
              bool forked) {
    unsigned branchCount = branchesOn(value, die);
    Branches branches{format, {stream}, forked};
    if (branchCount > 1) {
      Actor fork = makeFork(format, branchCount);
      fork.name = uniqueName(loc, fork.name);
      SmallVector<Type> types(branchCount, stream.getType());
      auto op = emit(loc, fork, stream, types);
      branches.streams.assign(op.getOutputs().begin(), op.getOutputs().end());
      branches.forked = true;
    }
    ready[{value, die}] = std::move(branches);
  }

  /// A value's streams on the current die, to which it may have to cross.
  Branches &branchesHere(Value value, Location loc) {
    if (ready.count({value, die}))
      return ready[{value, die}];
    const int here = die;
    die += here > makers.lookup(value) ? -1 : 1;
    const int from = die;
    Branches &before = branchesHere(value, loc);
    Value stream = before.streams.pop_back_val();
    const BeatFormat format = before.format;
    const bool forked = before.forked;
    die = here;
    Actor crossing = makeCrossing(format, border.dies.registers);
    crossing.name = uniqueName(loc, crossing.name);
    auto op = emit(loc, crossing, stream, stream.getType());
    op.setFromDie(from);
    spread(value, op.getOutputs()[0], format, loc, forked);
    return ready[{value, die}];
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
    llvm::SaveAndRestore there(die, statesOn.lookup(one.argument));
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
    op.setNodesAttr(builder.getStrArrayAttr(StringRef(one.state.getOf())));
    auto ret = cast<func::ReturnOp>(network.getBody().front().getTerminator());
    awaited.push_back({next, ret.getOperand(one.result), want, loc, die});
    produce(arg, op.getOutputs()[0], want, loc);
  }

  /// The stream of a function argument has the format of its first
  /// reader.
  void buildInput(BlockArgument arg, const BeatFormat &want) {
    for (const flow::Kept &one : kept)
      if (one.argument == arg.getArgNumber())
        return buildState(one, want);
    Location loc = network.getLoc();
    llvm::SaveAndRestore there(die, border.dies.border);
    Actor a = makeBorder(want, border.dataWidth, /*enters=*/true);
    a.name = names.unique("s_axis_" + std::to_string(arg.getArgNumber()));
    auto op = emit(loc, a, {}, typeOf(arg, want, flow::Order::Pixels));
    op.setPort(arg.getArgNumber());
    produce(arg, op.getOutputs()[0], want, loc);
  }

  Value consume(Value value, const BeatFormat &want, Location loc, bool join) {
    Value root = rootOf(value);
    if (!makers.count(root))
      buildInput(cast<BlockArgument>(root), want);
    Branches &branches = branchesHere(root, loc);
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
    if (makers.count(root) || isa<BlockArgument>(root))
      return consume(value, want, loc, join);
    auto placeholder = placeholderFor(root, want, loc);
    awaited.push_back({placeholder, value, want, loc, die});
    return placeholder.getResult(0);
  }

  /// Those so far, and what is awaited because of them.
  void connectAwaited() {
    for (; connected < awaited.size(); ++connected)
      connect(Awaited(awaited[connected]));
  }

  void connect(const Awaited &stream) {
    llvm::SaveAndRestore there(die, stream.die);
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
      actor.name = offer.isProgrammed ? names.unique(actor.name)
                                      : uniqueName(loc, actor.name);
      if (actor.kind().isGenerated())
        actor.ownModule =
            std::string("rhz_") + actor.kind().name + "_" + actor.name;
    }
    const Generator *generator = findGenerator(offer.generator);
    assert(generator && "an offer comes from a generator");
    if (const int64_t trips = tripsOf(region.front()); trips > 1)
      buildTrips(*generator, region, offer, images);
    else
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
      op.setBatch(unit.batch);
      streams.emplace_back(op.getOutputs());
    }
    for (auto [i, source] : llvm::enumerate(offer.body.outputs))
      produce(region.outs()[i], streamOf(source), offer.outputs[i],
              region.outs()[i].getLoc());
  }

  /// The most bursts in a row that an arbiter grants a reader, and those for
  /// which readers of one bank ask in a row: going on elsewhere costs time.
  static constexpr int64_t kMostTurn = 15, kMostGroup = 5;

  struct Reading {
    Actor *actor;
    const unit::Port *port;
    MemoryPlace *place;
    int64_t bytes;
  };

  /// Its bursts that must be in flight so that the bank is never idle: as many
  /// as its answer takes, and one that comes in.
  int64_t flightOf(const Reading &reading) {
    const int64_t *params = reading.actor->params.data();
    for (const Memory &memory : border.memories)
      if (memory.name == reading.place->memory) {
        auto timing = rhz::MemoryTiming::of(
            memory, reading.actor->bitsOf(*reading.port) / 8, border.clockMhz);
        constexpr int64_t kRequest = 8; // cycles of the reader and the arbiter
        const int64_t beats = std::min(reading.port->traffic.burst(params),
                                       reading.actor->get("Words"));
        return 1 + int64_t(llvm::divideCeil(
                       uint64_t((timing.latency + kRequest) * rhz::kTicks),
                       uint64_t(beats * timing.portTicks())));
      }
    return 1;
  }

  /// The banks of the readers that may use any: those that read most first,
  /// each takes the bank that has to give least so far.
  void chooseBanks(std::vector<Selection> &selections) {
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
    std::map<std::pair<StringRef, int64_t>, int64_t> most, readers, flights;
    for (const Reading &reading : open) {
      const std::pair bank(StringRef(reading.place->memory),
                           reading.place->bank);
      most.try_emplace(bank, std::max<int64_t>(1, reading.bytes));
      ++readers[bank];
      flights[bank] = std::max(flights[bank], flightOf(reading));
    }
    for (const Reading &reading : open) {
      const unit::Traffic &traffic = reading.port->traffic;
      if (!*traffic.turn)
        continue;
      const std::pair bank(StringRef(reading.place->memory),
                           reading.place->bank);
      int64_t room = reading.actor->get("Depth") /
                     traffic.burst(reading.actor->params.data());
      double share = double(reading.bytes) / double(most[bank]);
      int64_t turn = std::clamp<int64_t>(
          std::min(room, int64_t(std::llround(kMostTurn * share))), 1,
          kMostTurn);
      if (readers[bank] > 1 && reading.actor->is<unit::MemReader>()) {
        // Half of the buffer is full while the other half is asked for.
        const int64_t group = std::min(room / 2, kMostGroup);
        if (group > 1) {
          reading.actor->set("Group", group);
          turn = std::max(turn / group, int64_t(1)) * group;
        }
        reading.actor->set("flight",
                           int64_t(llvm::divideCeil(uint64_t(flights[bank]),
                                                    uint64_t(readers[bank]))));
      }
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
    if (makers.count(root))
      f = ready[{root, makers.lookup(root)}].format;
    else
      f = formatOf(root.getType(), 1, 1);
    Value stream = consume(value, f, loc, false);
    Actor a = makeBorder(f, border.dataWidth, /*enters=*/false);
    a.name = names.unique("m_axis_" + std::to_string(index));
    auto op = emit(loc, a, stream, {});
    op.setPort(index);
  }
};
} // namespace

flow::DesignOp buildDesign(func::FuncOp network,
                           std::vector<Selection> &selections,
                           const Border &border, MemoryImages &images) {
  return DesignBuilder(network, border, images).run(selections);
}

int64_t batchOf(flow::DesignOp design) {
  int64_t most = 1;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    most = std::max(most, int64_t(op.getBatch()));
  return most;
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
      readers.writers += port->writes();
      readers.bits = unit.bitsOf(*port);
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

int dieOf(flow::ActorOp op) { return int(op.getDie().value_or(0)); }

std::vector<ActorCost> costsOfActors(flow::DesignOp design,
                                     const CostContext &context,
                                     const MemoryImages *images) {
  std::vector<flow::ActorOp> ops(design.getBody().op_begin<flow::ActorOp>(),
                                 design.getBody().op_end<flow::ActorOp>());
  std::vector<ActorCost> costs(ops.size());
  llvm::parallelFor(0, ops.size(), [&](size_t i) {
    Actor actor = actorOf(ops[i]);
    costs[i].cost = costOf(actor, context, images);
    costs[i].error = errorOf(actor, costs[i].cost, context);
  });
  return costs;
}

std::vector<DieCost> costOfDies(flow::DesignOp design, const DieRow &dies,
                                const CostContext &context,
                                llvm::ArrayRef<ActorCost> actors) {
  std::vector<DieCost> costs(static_cast<size_t>(dies.count));
  costs[size_t(dies.memory)].resources += costOfArbiters(design, context);
  for (auto [op, actor] :
       llvm::zip_equal(design.getBody().getOps<flow::ActorOp>(), actors)) {
    DieCost &there = costs[size_t(dieOf(op))];
    there.resources += actor.cost;
    there.lutVariance += actor.error.lut() * actor.error.lut();
    there.ffVariance += actor.error.ff() * actor.error.ff();
  }
  return costs;
}

std::vector<int64_t> wiresOf(flow::DesignOp design, const DieRow &dies) {
  std::vector<int64_t> wires(size_t(dies.count - 1));
  auto add = [&](int from, int to, int64_t count) {
    for (int d = std::min(from, to); d < std::max(from, to); ++d)
      wires[size_t(d)] += count;
  };
  int last = dies.memory;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    const int die = dieOf(op);
    if (auto from = op.getFromDie())
      add(int(*from), die, op.getUnit().get("Width") + 2);
    if (op.getUnit().kind().loadedPort()) {
      add(last, die, kLoadBits + 2);
      last = die;
    }
  }
  return wires;
}

Resources costOf(flow::DesignOp design, const CostContext &context,
                 llvm::ArrayRef<ActorCost> actors, Resources *error) {
  Resources sum = costOfArbiters(design, context), squares;
  for (const ActorCost &actor : actors) {
    sum += actor.cost;
    squares.lut() += actor.error.lut() * actor.error.lut();
    squares.ff() += actor.error.ff() * actor.error.ff();
  }
  if (error) {
    error->lut() = std::sqrt(squares.lut());
    error->ff() = std::sqrt(squares.ff());
  }
  return sum;
}

Resources costOf(flow::DesignOp design, const CostContext &context,
                 const MemoryImages *images, Resources *error) {
  return costOf(design, context, costsOfActors(design, context, images), error);
}
} // namespace rhizome::gen
