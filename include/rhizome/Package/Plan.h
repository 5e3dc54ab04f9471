// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json as C++ values: what was built, where, with which prediction, and
// its borders. Every step after a compile reads this and nothing else of
// the compiler. The schema's number is kPlanSchema (Support/Version.h).
#pragma once

#include "rhizome/Package/HostBorder.h"
#include "rhizome/Package/PlannedKernel.h"
#include "rhizome/Package/PlannedTasks.h"
#include "rhizome/Support/Medium.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rhizome {
/// The prediction for the whole design, or for one node of it. For a
/// design of several nodes cycles are those of `clockMhz`, the first node's,
/// and resources the sum over all nodes.
struct Prediction {
  int64_t intervalCycles = 0;
  int64_t latencyCycles = 0;
  double clockMhz = 0;
  double throughputPerS = 0;
  int64_t lut = 0, ff = 0, dsp = 0;
  double bram = 0; ///< in halves
  int64_t uram = 0;
  /// From reset until the memories that are filled at start are full, 0: none.
  int64_t loadCycles = 0;
  /// The errors of LUTs and FFs, by the family's characterization; nine
  /// of ten designs are within.
  int64_t lutError = 0, ffError = 0;
  /// A single request from the client's first byte to its last result,
  /// including links; for a design without links, its latency in cycles as a
  /// time.
  double latencyUs = 0;
  bool operator==(const Prediction &) const = default;
};

/// One AXI4-Stream port of a node's top module: signals "<port>_tdata",
/// "_tvalid", "_tready", "_tlast". Elements are bit-packed little-endian in
/// channels-last order, a frame is padded to whole beats.
struct BorderPort {
  std::string port;           ///< "s_axis_0", "m_axis_0", …
  std::string name;           ///< the model's tensor
  std::vector<int64_t> shape; ///< channels-last
  StreamElement element;
  unsigned dataWidth = 64; ///< bits of tdata, whole bytes
  int64_t elements() const;
  int64_t beats() const; ///< beats of one frame
  bool operator==(const BorderPort &) const = default;
};

/// An off-chip memory of a node that its design reads; for the values see
/// data/devices.
struct PlannedMemory {
  std::string name; ///< "ddr4", "hbm2"
  int64_t banks = 1, bytesPerS = 0;
  int64_t latencyNs = 0, turnaroundNs = 0, refreshEveryNs = 0, refreshNs = 0;
  bool operator==(const PlannedMemory &) const = default;
};

/// A port of a node's top module to a bank: the channels AR and R of AXI4,
/// signals "<port>_arvalid" … "_rready", and where it writes AW, W and B.
/// Addresses count from the bank's beginning.
struct MemoryPort {
  std::string port; ///< "m_axi_ddr4_0"
  std::string memory;
  int64_t bank = 0;
  unsigned dataWidth = 64;   ///< bits, a power of two of bytes
  int64_t bytesPerFrame = 0; ///< bytes read and written
  /// What the design has for itself: space without contents, which it writes
  /// before it reads; none if it only reads.
  int64_t spaceAddress = 0, spaceBytes = 0;
  bool writes() const { return spaceBytes > 0; }
  bool operator==(const MemoryPort &) const = default;
};

/// An input of a node's top module with its endpoint that is set externally
/// before the first frame and then constant.
struct RegisterPort {
  std::string port; ///< "channels_i"
  std::string name; ///< what it says, "channels"
  unsigned width = 16;
  bool operator==(const RegisterPort &) const = default;
};

/// A byte stream of datagrams between a node's endpoint and its shell.
struct LinkPort {
  std::string port; ///< "s_link", "m_link"
  bool transmit = false;
  unsigned dataWidth = 64;
  bool operator==(const LinkPort &) const = default;
};

/// A file that is in a bank before the first frame.
struct PlannedSegment {
  std::string file; ///< below the package: "segments/node0/weights.bin"
  std::string memory;
  int64_t bank = 0, address = 0, bytes = 0;
  std::string load = "start"; ///< when: before the first frame
  int64_t bytesPerFrame = 0;  ///< bytes that are read from it for every frame
  bool operator==(const PlannedSegment &) const = default;
};

/// One actor of the design and the model's node it came from.
struct PlannedActor {
  std::string name, kind, node;
  /// The die that it lies on, "" on a device with one; for a crossing that
  /// which receives, and the one that sends.
  std::string die, fromDie;
  std::string module; ///< that it is an instance of
  int64_t intervalCycles = 0;
  /// The predicted resources by name; halves of block RAMs occur.
  std::map<std::string, double> resources;
  llvm::json::Object config; ///< the option taken: integers and strings
  /// The keys of `config` that are the module's parameters; the others are for
  /// the compiler.
  std::vector<std::string> parameters;
};

/// One operation of a node and the option taken for it. An edited plan (or a
/// steering file) names options by their keys.
struct PlannedOperation {
  std::string name; ///< the model's node, with its part's number after a split
  std::string op;   ///< "conv2d", "requantize", …
  /// The index among the operations of that name and kind, in the network's
  /// order.
  int64_t nth = 0;
  std::string generator; ///< who builds it
  std::string option;    ///< the option's key, "stream/matvec?pe=4&simd=9&…"
  std::string text;      ///< for people, "PE 4 × SIMD 9, in DSPs"
  int64_t intervalCycles = 0;
  std::string die{}; ///< "" on a device with one
  /// Operations of a node with the same number take turns on one unit; -1: it
  /// has a unit of its own.
  int64_t shared = -1;
  bool operator==(const PlannedOperation &) const = default;
};

/// What lies on a die of a node's device.
struct PlannedDie {
  std::string name;
  std::map<std::string, int64_t> budget;   ///< what it may hold, by resource
  std::map<std::string, double> resources; ///< predicted
  /// Wires to the next die in the row, and how many there are; 0 for the last.
  int64_t wires = 0, wiresAvailable = 0;
  bool operator==(const PlannedDie &) const = default;
};

/// An operation of the model whose output channels are split over several
/// operations of the plan, named as in PlannedOperation.
struct PlannedSplit {
  std::string name, op;
  int64_t nth = 0, parts = 2;
  bool operator==(const PlannedSplit &) const = default;
};

/// Equal blocks of the model that are one body in hardware, which each frame
/// passes `trips` times: where the first one begins, and its operations.
struct PlannedRepeat {
  std::string name, op;
  int64_t nth = 0, length = 1, trips = 2;
  /// For which its slowest unit is busy in a trip.
  int64_t cyclesPerTrip = 0;
  /// Predicted, by resource: of its units with its borders, and of units of the
  /// same kind for each block.
  std::map<std::string, double> resources, apart;
  bool operator==(const PlannedRepeat &) const = default;
};

/// The index of a node among equal ones: frame f goes to the replica of the
/// group whose index is f mod count. A node without replicas is 0 of 1.
struct Replica {
  int64_t group = 0, index = 0, count = 1;
  bool operator==(const Replica &) const = default;
};

/// The part of one device.
struct PlannedNode {
  std::string name;                 ///< "node0"
  std::string function = "network"; ///< in model/network.mlir: what it computes
  std::string device;               ///< a device's name
  std::string family;               ///< the device's family
  /// The device's budget for the design, by resource name.
  std::map<std::string, int64_t> budget;
  double clockMhz = 0;
  uint16_t address = 1; ///< on the links, unique; the host's is 0
  /// The link of its port, "" for that of its channels. Its
  /// channels may be slower: they are as fast as the slower end's link.
  std::string link;
  Replica replica;
  /// The node whose files this one shares, "" if it has its own.
  std::string rtlOf;
  Prediction predicted;                      ///< this node by itself
  std::map<std::string, double> utilization; ///< share of the budget, 1 = all
  /// Bits of its block RAMs, and how many of them hold data.
  int64_t blockBits = 0, heldBits = 0;
  std::string top = "rhz_top"; ///< the design's top module
  /// The module around it with a link endpoint, "" if there is no link.
  std::string nodeTop;
  unsigned streamBits = 64;     ///< of the endpoint's byte streams to the shell
  std::vector<std::string> rtl; ///< .sv files below nodes/<name>/rtl, in order
  /// The files of each actor's module, by module, callees first.
  std::map<std::string, std::vector<std::string>> modules;
  /// Models of vendor primitives, in the same folder, only for simulators.
  std::vector<std::string> simulationModels;
  std::vector<PlannedOperation> operations;
  std::vector<PlannedActor> actors;
  std::vector<PlannedDie> dies; ///< empty on a device with one
  std::vector<BorderPort> inputs, outputs;
  std::vector<PlannedMemory> memories;
  std::vector<MemoryPort> memoryPorts;
  std::vector<RegisterPort> registerPorts;
  std::vector<LinkPort> linkPorts;
  std::vector<PlannedSegment> segments;
  /// Null if there is none with that name.
  const PlannedMemory *memory(llvm::StringRef name) const;
  /// The most frames that share weights which are read from a memory; 1 if each
  /// has them read for itself.
  int64_t batch() const;
  /// Whether the design counts the faulty frames of each input
  /// (s_axis_0_err_o): a network's does, a kernel's doesn't.
  bool countsErrors() const;
};

/// The client's name as an end of a channel, and its address.
constexpr const char *kHost = "host";
constexpr uint16_t kHostAddress = 0;

/// One end of a channel: a node's border port ("s_axis_0", "m_axis_1"), or for
/// the host "input0", "input1", … and "output0", … : the arguments and results
/// of `@network`.
struct ChannelEnd {
  std::string node, port;
  bool operator==(const ChannelEnd &) const = default;
};

/// Point-to-point, one tensor: the frames f with f mod every == first. Channels
/// of one output port with equal `first` are a broadcast.
struct Channel {
  uint16_t id = 0; ///< unique in the plan
  std::string tensor;
  StreamElement element;
  int64_t elements = 0; ///< of one frame
  ChannelEnd from, to;
  int64_t first = 0, every = 1;
  std::string link; ///< a link's name
  /// Bytes of one frame, bit-packed.
  int64_t frameBytes() const {
    return (elements * int64_t(element.width()) + 7) / 8;
  }
  bool operator==(const Channel &) const = default;
};

/// A medium of the cluster.
struct PlannedLink : Medium {
  std::string name;
  bool operator==(const PlannedLink &) const = default;
};

/// A rejected plan.
struct Alternative {
  std::string what; ///< e.g. "2 × xcku060-role"
  int64_t nodes = 0;
  double throughputPerS = 0;
  std::string why; ///< it lost
  bool operator==(const Alternative &) const = default;
};

struct Plan {
  std::string model; ///< the model's name
  std::string device;
  std::string board;   ///< "" if the design was not compiled for one
  std::string cluster; ///< "" if it was compiled for one device
  double clockMhz = 0;
  std::string goal; ///< as given by the user
  Prediction predicted;
  std::map<std::string, double> utilization; ///< share of the budget, 1 = all
  /// Products of weights and activations per cycle, by what computes them:
  /// dsp_paired (two in one DSP block), dsp_single, lut. Reported separately,
  /// so that a rate per DSP block does not include those in LUTs.
  std::map<std::string, int64_t> multipliers;
  std::string
      bottleneck; ///< what limits the rate: a node of the model, or text
  /// Its kind: "operation", "border", "link" or "host_link".
  std::string bottleneckKind = "operation";
  /// No plan for this cluster reaches a higher rate.
  double boundPerS = 0;
  std::vector<Alternative> alternatives;
  std::vector<PlannedSplit> splits;
  std::vector<PlannedRepeat> repeats;
  PlannedTasks tasks;
  /// The price of a block of memory in LUTs, for ROMs that may be in either.
  double lutsOfABlock = 0;
  std::vector<PlannedNode> nodes;
  std::vector<Channel> channels;
  std::vector<PlannedLink> links;
  std::string hostLink; ///< the link of the host's port, as for a node
  HostSection host;     ///< the tensors at the model's border
  /// Of a package that computes a kernel: its node has one stream each way,
  /// and nothing else of the plan concerns a host.
  std::optional<PlannedKernel> kernel;

  /// Null if there is none with that name.
  const PlannedNode *node(llvm::StringRef name) const;
  const PlannedLink *link(llvm::StringRef name) const;
  /// The node whose folder contains `node`'s RTL: itself, or the one it shares.
  const PlannedNode &owner(const PlannedNode &node) const;
};

/// {"interval_cycles":…,"latency_cycles":…,…}: the form used by plan.json and
/// every command's --json.
llvm::json::Object toJson(const Prediction &predicted);

/// The text of plan.json: keys in the schema's order, two spaces, the same
/// plan gives the same bytes.
std::string printPlan(const Plan &plan);

/// Reads plan.json's text. Refuses, with the path: invalid JSON, another
/// schema, a missing or mistyped member, an invalid border (no elements, a
/// width outside 1..64, a data width that is not whole bytes), names or numbers
/// that are duplicated, a channel whose ends or link do not exist or do not
/// fit.
llvm::Expected<Plan> parsePlan(llvm::StringRef text);
} // namespace rhizome
