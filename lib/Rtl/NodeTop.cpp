// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instances and wires of rhz_node.
#include "rhizome/Rtl/NodeTop.h"
#include "rhizome/Dialect/Rtl/Wiring.h"
#include "rhizome/Unit/Unit.h"

using namespace mlir;

namespace rhizome {
namespace {
/// The signals of a memory's port, inputs of the design first.
ArrayRef<unit::Signal> signalsOf(const EndpointMemory &memory) {
  return unit::signalsOf(memory.writes ? unit::Protocol::Axi4
                                       : unit::Protocol::Axi4Read,
                         /*isInput=*/false);
}

int64_t bitsOf(const unit::Signal &signal, const EndpointMemory &memory) {
  return signal.width ? signal.width : memory.bits;
}

/// Whether it is of a channel on which the design writes.
bool isOfWrites(const unit::Signal &signal) {
  const StringRef name = signal.suffix;
  return name.starts_with("_aw") || name.starts_with("_w") ||
         name.starts_with("_b");
}

class NodeTop : rtl::Wiring {
public:
  NodeTop(const EndpointOptions &options, OpBuilder &builder, ModuleOp parent)
      : Wiring(builder, parent.getLoc()), o(options) {}

  rtl::ModuleOp run();

private:
  const EndpointOptions &o;

  void shared();
  void receiver(size_t index);
  void transmitter(size_t index);
  void memoryPort(const EndpointMemory &memory);
  void guard(const EndpointMemory &memory, bool writes);
  void inputPort(int64_t port, const std::vector<size_t> &channels);
  void outputPort(int64_t port, const std::vector<size_t> &channels);
  std::string configured(size_t index, const char *what) const {
    return "channel" + std::to_string(index) + "_" + what;
  }
  Ports headerPorts(size_t index) const;
  std::vector<size_t> channelsOf(bool transmit, int64_t port) const;
};

std::vector<size_t> NodeTop::channelsOf(bool transmit, int64_t port) const {
  std::vector<size_t> result;
  for (auto [i, c] : llvm::enumerate(o.channels))
    if (c.transmit == transmit && c.port == port)
      result.push_back(i);
  return result;
}

/// The cells that parse datagrams, keep epochs and collect what is to be sent.
void NodeTop::shared() {
  int64_t width = o.streamBits, index = 7;
  for (int64_t parts = 64 / width; parts > 1; parts /= 2)
    ++index;
  auto count = int64_t(o.channels.size());
  instance("u_parse", "rhz_link_parse", {{"Width", width}},
           {{"clk_i", "clk_i"},
            {"rst_ni", "rst_ni"},
            {"epoch_i", "epoch"},
            {"s_tdata", "s_link_tdata"},
            {"s_tkeep", "s_link_tkeep"},
            {"s_tvalid", "s_link_tvalid"},
            {"s_tlast", "s_link_tlast"}},
           {{"head_o", "head", 1},
            {"live_o", "live", 1},
            {"kind_o", "kind", 4},
            {"words_o", "words", 8},
            {"epoch_o", "header_epoch", 16},
            {"id_o", "id", 16},
            {"seq_o", "seq", 32},
            {"first_o", "first", 8},
            {"span_o", "span", 8},
            {"beat_o", "beat", 1},
            {"data_o", "data", width},
            {"index_o", "index", index},
            {"done_o", "done", 1},
            {"word_o", "word", 64},
            {"malformed_o", "malformed", 1}});
  std::vector<std::string> hits, duplicates,
      valids = {"status_valid"}, lasts = {"status_last"},
      datas = {"status_data"}, peers = {"host"};
  constant("none", 0, 1);
  constant("host", 0, 16);
  for (auto [i, c] : llvm::enumerate(o.channels)) {
    hits.push_back(configured(i, "hit"));
    duplicates.push_back(c.transmit ? "none" : configured(i, "duplicate"));
    valids.push_back(configured(i, "valid"));
    lasts.push_back(configured(i, "last"));
    datas.push_back(configured(i, "data"));
    peers.push_back(configured(i, "peer"));
  }
  concat("hits", hits, count);
  concat("duplicates", duplicates, count);
  concat("valids", valids, count + 1);
  concat("lasts", lasts, count + 1);
  concat("datas", datas, (count + 1) * width);
  concat("peers", peers, (count + 1) * 16);
  instance("u_mux", "rhz_link_mux", {{"Width", width}, {"Sources", count + 1}},
           {{"clk_i", "clk_i"},
            {"rst_ni", "rst_ni"},
            {"hold_i", "hold"},
            {"dest_i", "peers"},
            {"in_valid_i", "valids"},
            {"in_data_i", "datas"},
            {"in_last_i", "lasts"},
            {"m_tready", "m_link_tready"}},
           {{"idle_o", "idle", 1},
            {"in_ready_o", "readies", count + 1},
            {"m_tdata", "m_link_tdata", width},
            {"m_tkeep", "m_link_tkeep", width / 8},
            {"m_tvalid", "m_link_tvalid", 1},
            {"m_tlast", "m_link_tlast", 1},
            {"m_tdest", "m_link_tdest", 16}});
  slice("status_ready", "readies", 0, 1);
  for (size_t i = 0; i < o.channels.size(); ++i)
    slice(configured(i, "ready"), "readies", int64_t(i) + 1, 1);
  instance("u_control", "rhz_link_control",
           {{"Width", width}, {"Channels", count}},
           {{"clk_i", "clk_i"},
            {"rst_ni", "rst_ni"},
            {"address_i", "address_i"},
            {"head_i", "head"},
            {"live_i", "live"},
            {"kind_i", "kind"},
            {"epoch_i", "header_epoch"},
            {"id_i", "id"},
            {"seq_i", "seq"},
            {"done_i", "done"},
            {"malformed_i", "malformed"},
            {"hit_i", "hits"},
            {"duplicate_i", "duplicates"},
            {"idle_i", "idle"},
            {"out_ready_i", "status_ready"}},
           {{"hold_o", "hold", 1},
            {"rst_no", "clear_n", 1},
            {"epoch_o", "epoch", 16},
            {"tick_o", "tick", 1},
            {"out_valid_o", "status_valid", 1},
            {"out_data_o", "status_data", width},
            {"out_last_o", "status_last", 1}});
}

NodeTop::Ports NodeTop::headerPorts(size_t i) const {
  return {{"clk_i", "clk_i"},
          {"rst_ni", "clear_n"},
          {"tick_i", "tick"},
          {"epoch_i", "epoch"},
          {"channel_i", configured(i, "id")},
          {"head_i", "head"},
          {"live_i", "live"},
          {"kind_i", "kind"},
          {"id_i", "id"},
          {"seq_i", "seq"},
          {"done_i", "done"}};
}

void NodeTop::receiver(size_t i) {
  const EndpointChannel &c = o.channels[i];
  Ports inputs = headerPorts(i);
  inputs.insert(inputs.end(), {{"words_i", "words"},
                               {"beat_i", "beat"},
                               {"data_i", "data"},
                               {"index_i", "index"},
                               {"m_axis_tready", configured(i, "in_ready")},
                               {"ack_ready_i", configured(i, "ready")}});
  instance("u_rx" + std::to_string(i), "rhz_link_rx",
           {{"Width", o.streamBits},
            {"FrameBeats", c.frameBeats},
            {"SlotWords", c.slotWords},
            {"Slots", c.slots},
            {"AckDelay", c.ackTicks}},
           inputs,
           {{"hit_o", configured(i, "hit"), 1},
            {"duplicate_o", configured(i, "duplicate"), 1},
            {"m_axis_tdata", configured(i, "in_data"), o.streamBits},
            {"m_axis_tvalid", configured(i, "in_valid"), 1},
            {"m_axis_tlast", configured(i, "in_last"), 1},
            {"ack_valid_o", configured(i, "valid"), 1},
            {"ack_data_o", configured(i, "data"), o.streamBits},
            {"ack_last_o", configured(i, "last"), 1}});
}

void NodeTop::transmitter(size_t i) {
  const EndpointChannel &c = o.channels[i];
  Ports inputs = headerPorts(i);
  inputs.insert(inputs.end(), {{"first_i", "first"},
                               {"span_i", "span"},
                               {"word_i", "word"},
                               {"s_axis_tdata", configured(i, "out_data")},
                               {"s_axis_tvalid", configured(i, "out_valid")},
                               {"s_axis_tlast", configured(i, "out_last")},
                               {"out_ready_i", configured(i, "ready")}});
  instance("u_tx" + std::to_string(i), "rhz_link_tx",
           {{"Width", o.streamBits},
            {"SlotWords", c.slotWords},
            {"Slots", c.slots},
            {"Retain", c.retain},
            {"Wait", c.waitTicks}},
           inputs,
           {{"hit_o", configured(i, "hit"), 1},
            {"s_axis_tready", configured(i, "out_ready"), 1},
            {"out_valid_o", configured(i, "valid"), 1},
            {"out_data_o", configured(i, "data"), o.streamBits},
            {"out_last_o", configured(i, "last"), 1}});
}

/// From one channel directly, from several in the frames' order.
void NodeTop::inputPort(int64_t port, const std::vector<size_t> &channels) {
  std::string p = "s_axis_" + std::to_string(port);
  auto count = int64_t(channels.size());
  if (count == 1) {
    size_t i = channels[0];
    alias(p + "_tdata", configured(i, "in_data"));
    alias(p + "_tvalid", configured(i, "in_valid"));
    alias(p + "_tlast", configured(i, "in_last"));
    return;
  }
  std::vector<std::string> firsts, datas, valids, lasts;
  for (size_t i : channels) {
    firsts.push_back(configured(i, "first"));
    datas.push_back(configured(i, "in_data"));
    valids.push_back(configured(i, "in_valid"));
    lasts.push_back(configured(i, "in_last"));
  }
  concat(p + "_firsts", firsts, 16 * count);
  concat(p + "_datas", datas, o.streamBits * count);
  concat(p + "_valids", valids, count);
  concat(p + "_lasts", lasts, count);
  instance("u_gather" + std::to_string(port), "rhz_link_gather",
           {{"Width", o.streamBits},
            {"Inputs", count},
            {"Every", o.channels[channels[0]].every}},
           {{"clk_i", "clk_i"},
            {"rst_ni", "clear_n"},
            {"first_i", p + "_firsts"},
            {"s_tdata", p + "_datas"},
            {"s_tvalid", p + "_valids"},
            {"s_tlast", p + "_lasts"},
            {"m_tready", p + "_tready"}},
           {{"s_tready", p + "_readies", count},
            {"m_tdata", p + "_tdata", o.streamBits},
            {"m_tvalid", p + "_tvalid", 1},
            {"m_tlast", p + "_tlast", 1}});
  for (auto [k, i] : llvm::enumerate(channels))
    slice(configured(i, "in_ready"), p + "_readies", int64_t(k), 1);
}

/// To one channel directly, otherwise to those whose turn it is.
void NodeTop::outputPort(int64_t port, const std::vector<size_t> &channels) {
  std::string p = "m_axis_" + std::to_string(port);
  auto count = int64_t(channels.size());
  if (count == 1) {
    size_t i = channels[0];
    alias(configured(i, "out_data"), p + "_tdata");
    alias(configured(i, "out_valid"), p + "_tvalid");
    alias(configured(i, "out_last"), p + "_tlast");
    return;
  }
  std::vector<std::string> firsts, readies;
  for (size_t i : channels) {
    firsts.push_back(configured(i, "first"));
    readies.push_back(configured(i, "out_ready"));
  }
  concat(p + "_firsts", firsts, 16 * count);
  concat(p + "_readies", readies, count);
  instance("u_scatter" + std::to_string(port), "rhz_link_scatter",
           {{"Width", o.streamBits},
            {"Outputs", count},
            {"Every", o.channels[channels[0]].every}},
           {{"clk_i", "clk_i"},
            {"rst_ni", "clear_n"},
            {"first_i", p + "_firsts"},
            {"s_tdata", p + "_tdata"},
            {"s_tvalid", p + "_tvalid"},
            {"s_tlast", p + "_tlast"},
            {"m_tready", p + "_readies"}},
           {{"s_tready", p + "_tready", 1},
            {"m_tdata", p + "_data", o.streamBits},
            {"m_tvalid", p + "_valids", count},
            {"m_tlast", p + "_last", 1}});
  for (auto [k, i] : llvm::enumerate(channels)) {
    alias(configured(i, "out_data"), p + "_data");
    alias(configured(i, "out_last"), p + "_last");
    slice(configured(i, "out_valid"), p + "_valids", int64_t(k), 1);
  }
}

/// What rhz_top has asked for when it is reset comes after that.
void NodeTop::memoryPort(const EndpointMemory &memory) {
  guard(memory, /*writes=*/false);
  if (memory.writes)
    guard(memory, /*writes=*/true);
}

void NodeTop::guard(const EndpointMemory &memory, bool writes) {
  Ports in = {
      {"clk_i", "clk_i"}, {"rst_ni", "rst_ni"}, {"clear_ni", "clear_n"}};
  Outputs out;
  for (const unit::Signal &signal : signalsOf(memory)) {
    if (isOfWrites(signal) != writes)
      continue;
    const std::string outer = memory.port + signal.suffix,
                      inner = "top_" + outer, name = signal.suffix;
    in.push_back({(signal.isInput ? "m_axi" : "s_axi") + name,
                  signal.isInput ? outer : inner});
    out.push_back({(signal.isInput ? "s_axi" : "m_axi") + name,
                   signal.isInput ? inner : outer, bitsOf(signal, memory)});
  }
  instance((writes ? "u_write_guard_" : "u_guard_") + memory.port,
           writes ? "rhz_mem_write_guard" : "rhz_mem_guard",
           {{"Width", memory.bits}}, in, out);
}

rtl::ModuleOp NodeTop::run() {
  int64_t width = o.streamBits;
  addInput("clk_i", 1);
  addInput("rst_ni", 1);
  addInput("address_i", 16);
  addInput("channels_i", 48 * int64_t(o.channels.size()));
  addInput("s_link_tdata", width);
  addInput("s_link_tkeep", width / 8);
  addInput("s_link_tvalid", 1);
  addInput("s_link_tlast", 1);
  addInput("m_link_tready", 1);
  for (const EndpointMemory &memory : o.memories)
    for (const unit::Signal &signal : signalsOf(memory))
      if (signal.isInput)
        addInput(memory.port + signal.suffix, bitsOf(signal, memory));
  for (const char *name : {"s_link_tready", "m_link_tdata", "m_link_tkeep",
                           "m_link_tvalid", "m_link_tlast", "m_link_tdest"})
    addOutput(name);
  for (const EndpointMemory &memory : o.memories)
    for (const unit::Signal &signal : signalsOf(memory))
      if (!signal.isInput)
        addOutput(memory.port + signal.suffix);
  rtl::ModuleOp module = begin(
      "rhz_node",
      "rhz_top and its link endpoint. Constant inputs: the node's address, "
      "and\nfor every channel 48 bits, {first, peer, id}.");
  constant("s_link_tready", 1, 1);
  for (size_t i = 0; i < o.channels.size(); ++i) {
    auto low = int64_t(48 * i);
    slice(configured(i, "id"), "channels_i", low, 16);
    slice(configured(i, "peer"), "channels_i", low + 16, 16);
    slice(configured(i, "first"), "channels_i", low + 32, 16);
  }
  shared();

  Ports topIn = {{"clk_i", "clk_i"}, {"rst_ni", "clear_n"}};
  Outputs topOut;
  for (int64_t p = 0; p < o.inputs; ++p) {
    std::string name = "s_axis_" + std::to_string(p);
    for (const char *signal : {"_tdata", "_tvalid", "_tlast"})
      topIn.push_back({name + signal, name + signal});
    topOut.push_back({name + "_tready", name + "_tready", 1});
    // The endpoint gives whole frames.
    if (o.countsErrors)
      topOut.push_back(
          {name + "_err_o", "unused_err_" + std::to_string(p), 16});
  }
  for (int64_t p = 0; p < o.outputs; ++p) {
    std::string name = "m_axis_" + std::to_string(p);
    topIn.push_back({name + "_tready", name + "_tready"});
    topOut.push_back({name + "_tdata", name + "_tdata", width});
    topOut.push_back({name + "_tvalid", name + "_tvalid", 1});
    topOut.push_back({name + "_tlast", name + "_tlast", 1});
  }
  for (const EndpointMemory &memory : o.memories)
    for (const unit::Signal &signal : signalsOf(memory)) {
      const std::string name = memory.port + signal.suffix;
      if (signal.isInput)
        topIn.push_back({name, "top_" + name});
      else
        topOut.push_back({name, "top_" + name, bitsOf(signal, memory)});
    }
  instance("u_top", "rhz_top", {}, topIn, topOut);
  for (const EndpointMemory &memory : o.memories)
    memoryPort(memory);
  for (auto [i, c] : llvm::enumerate(o.channels))
    if (!c.transmit)
      receiver(i);
  for (int64_t p = 0; p < o.inputs; ++p) {
    std::vector<size_t> channels = channelsOf(false, p);
    inputPort(p, channels);
    if (channels.size() == 1)
      alias(configured(channels[0], "in_ready"),
            "s_axis_" + std::to_string(p) + "_tready");
  }
  for (int64_t p = 0; p < o.outputs; ++p)
    outputPort(p, channelsOf(true, p));
  for (auto [i, c] : llvm::enumerate(o.channels))
    if (c.transmit)
      transmitter(i);
  for (int64_t p = 0; p < o.outputs; ++p)
    if (std::vector<size_t> channels = channelsOf(true, p);
        channels.size() == 1)
      alias("m_axis_" + std::to_string(p) + "_tready",
            configured(channels[0], "out_ready"));
  end();
  return module;
}
} // namespace

rtl::ModuleOp buildNodeTop(const EndpointOptions &options, ModuleOp parent) {
  OpBuilder builder = OpBuilder::atBlockEnd(parent.getBody());
  return NodeTop(options, builder, parent).run();
}
} // namespace rhizome
