// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses an option and a device for every operation, such that the goal is met
// on the given devices, with the fewest of them and then the least resources.
// One device is a cluster of one.
#pragma once

#include "rhizome/Design/Design.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Explore/Solver/Problem.h"
#include "rhizome/Support/Refusal.h"
#include <cmath>

namespace rhizome::explore {
/// What limits the rate of a plan.
struct Bottleneck {
  flow::BottleneckKind kind = flow::BottleneckKind::Operation;
  /// The model's node, for an operation; the name of a memory or a state.
  std::string node;
};
/// An operation's node, or "the border" and so on.
std::string describe(const Bottleneck &bottleneck);

struct Goal {
  /// The objective, among the plans within the bounds.
  enum class Kind { MaxThroughput, MinLatency, MinResources, MinNodes };
  Kind kind = Kind::MinResources;
  double throughput = 0;        ///< inferences per second at least, 0: any
  double latency = 0;           ///< seconds at most, 0: any
  int64_t maxNodes = INT64_MAX; ///< devices that may be used

  /// How much of one resource may be used on each device.
  struct Part {
    double amount = 0;
    bool isShare = false; ///< of what the device has
  };
  std::map<std::string, Part> parts; ///< by resource; others: everything
  /// Whether a plan that fits no device is still to be built.
  bool buildsNearest = false;
  /// Whether what a plan with the least latency leaves of its devices shortens
  /// it further.
  bool usesRest = false;
  /// The same goal with all products in LUTs.
  Goal withoutDsp() const;

  /// Seconds that a frame may take, infinite without a bound.
  double mostSeconds() const {
    return throughput > 0 ? 1 / throughput : INFINITY;
  }
  bool isBounded() const { return throughput > 0 || latency > 0; }
};

/// Parses bounds and an objective, in any order, separated by commas:
/// `throughput=5000/s`, `latency=100us`, `nodes=2`, per device
/// `lut=30000` or `lut=60%`; `max-throughput`, `min-latency`, `min-resources`
/// (the default with bounds) or `min-nodes`. nullopt for any other
/// text, of which `fault` says what is wrong.
std::optional<Goal> parseGoal(llvm::StringRef text,
                              std::string *fault = nullptr);

/// A device that may be used.
struct ClusterPlace {
  std::string device; ///< equal ones have equal contexts except budgets
  gen::DeviceContext context;
  gen::Budget capacity; ///< the device's own, not only the allowed part
  /// The shares of its resources that route in practice, by name: what a plan
  /// may use of those that the goal does not bound.
  std::map<std::string, double> routable;
  std::vector<gen::Resources> dieCapacity; ///< all that each die has
  Dies dies;                               ///< with what each may hold
  int64_t streamBits = 64;
  int64_t leastBits = 0;    ///< the narrowest allowed streams, 0: fixed
  std::optional<Wire> wire; ///< none: the device has no connection
  std::string link;         ///< the wire's name
};

/// The devices, in the order in which a network is assigned to them.
struct Cluster {
  std::vector<ClusterPlace> places;
  std::optional<Wire> hostWire;
  bool isChain = false, mayReplicate = true;
};

/// Every operation of `network` that no generator which may offer can build
/// there, with the reasons.
Refusals coverage(mlir::func::FuncOp network, const Cluster &cluster);

/// The cluster with the part of each device, and of each of its dies, that the
/// goal allows or, where it says nothing, that routes in practice. `explore`
/// sees only this part, and so must code that describes its result.
Cluster withinParts(Cluster cluster, const Goal &goal);

/// Operations of a network. Names alone are ambiguous: one node of a
/// model becomes several operations, and nodes may share a name.
struct OperationId {
  std::string node;    ///< the model's, with its part's number after a split
  std::string op = {}; ///< "conv2d", "" for all of the node's
  /// The index among those with this node and op, in the network's order; −1:
  /// all.
  int nth = -1;
  auto operator<=>(const OperationId &) const = default;
};

/// The operations that hardware computes in a network, in its order.
std::vector<mlir::Operation *> hardwareOf(mlir::func::FuncOp network);

/// The identity of each of these operations, given in the network's order.
std::vector<OperationId> idsOf(llvm::ArrayRef<mlir::Operation *> ops);

/// An operation whose output channels are split into this many parts.
struct Split {
  OperationId of;
  int parts = 2;
};

/// A chain of equal blocks, one after another, that is one body: a frame passes
/// it once for each of them.
struct Repeat {
  OperationId of; ///< the first operation of the first block
  int length = 0; ///< operations of a block; 0: as the network has them
  int trips = 2;
};

/// A user's decisions.
struct Steering {
  struct Pin {
    /// Without `op` the node may also be written as "node:op", if no node has
    /// that name.
    OperationId of;
    std::string generator = {}; ///< "" for any
    std::string option = {};    ///< an option's key or a part of it, "" for any
    int place = -1;             ///< of the cluster, -1 for any
    int die = -1;               ///< of its device, -1 for any
    bool cutBefore = false;
    unsigned line = 0; ///< in the user's file, 0 if it has none
    /// `place` holds it as the first of exactly this many replicas, 0: any.
    int copies = 0;
    int64_t streamBits = 0; ///< of its device's border, 0: any
  };
  /// Where a node's weights are stored.
  struct Home {
    std::string node; ///< "" for all that have weights and can live there
    gen::WeightHome home = gen::WeightHome::Rom;
  };
  std::vector<Pin> pins;
  std::vector<Split> splits;
  std::vector<Repeat> repeats;
  std::vector<Home> homes;
  /// Where the FIFO before a node that joins streams lies.
  struct Fifo {
    std::string node; ///< "" for all
    bool inMemory = false;
  };
  std::vector<Fifo> fifos;
  double lutsOfABlock = 0; ///< see CostContext; 0: chosen for the plan
  bool isEmpty() const {
    return pins.empty() && splits.empty() && repeats.empty() && homes.empty() &&
           fifos.empty();
  }
};

/// The offer taken for an operation, or for a region that it is part of.
struct Taken {
  OperationId id;
  int stage = 0; ///< of the network's operations
  std::string generator;
  gen::OptionKey key;
  std::string summary;
  int64_t busyCycles = 0;
  gen::Resources resources; ///< zero except for a region's first operation
  int position = 0;         ///< in the order along the devices
  int die = 0;              ///< of its device
  int unit = 0;             ///< the index among equal shared units
  /// Operations of a node with the same number take turns on one unit; -1: it
  /// has a unit of its own.
  int shared = -1;
  int64_t trips = 1;      ///< of a frame through it
  gen::Resources apart{}; ///< of units for each trip, if there are several
};

/// One device's part, or that of several equal ones.
struct NodeResult {
  mlir::func::FuncOp function;
  bool ownsFunction = false; ///< it was made for this node
  int place = 0, copies = 1;
  std::vector<int> places; ///< of every copy
  int64_t streamBits = 64; ///< of its border
  std::vector<gen::Selection> selections;
  std::vector<Taken> taken; ///< for each operation, in the network's order
  flow::DesignOp design;
  gen::MemoryImages images;
  gen::Timing timing;
  std::optional<gen::Timing> sized; ///< the timing, if sizing told it
  bool waits = false;               ///< for memories, as sizing found
  bool isSimulated = false;         ///< a run told the depths of its buffers
  gen::Resources account;           ///< of one copy, by the solver's estimate
  gen::Resources resources;         ///< including the endpoint's
  gen::Resources endpoint;          ///< the endpoint's part of them
  gen::Resources errors;            ///< errors of LUTs and FFs
  /// What lies on each die of a device with several, without the endpoint, and
  /// the wires between it and the next one.
  std::vector<Cost> dies;
  std::vector<int64_t> wires;
  std::string bottleneck; ///< the slowest operation
  bool maySpill = false;  ///< its dies lack blocks that FIFOs could leave
};

struct Result {
  std::vector<NodeResult> nodes; ///< replicas are listed once
  double seconds = 0;       ///< per frame, by the event simulator and links
  double solvedSeconds = 0; ///< the solver's target
  double latency = 0;       ///< seconds of a single request; 0 of a plan
                            ///< that does not fit: it is not simulated
  double bound = 0;         ///< no plan takes fewer seconds per frame
  bool isExact = true;      ///< nothing was left out of the search
  bool fits = true;         ///< including error bars
  bool meetsGoal = true;
  /// Whether the plan was found with DSP blocks disabled (Goal::withoutDsp);
  /// reports must use that budget.
  bool avoidsDsp = false;
  double lutsOfABlock = 0; ///< the price by which its ROMs were placed
  /// Which loaded memories its weights could use.
  gen::Residents residents = gen::Residents::None;
  /// Which weights it could read from an off-chip memory for every frame.
  gen::Streaming streaming = gen::Streaming::None;
  /// The most frames that could share them.
  int64_t batch = 1;
  gen::UltraRows ultraRows = gen::UltraRows::None;
  Limit limit;                 ///< what prevents a better plan, or any
  std::vector<Split> splits;   ///< in the network as the model has it
  std::vector<Repeat> repeats; ///< likewise
  Bottleneck bottleneck;
  struct Other {
    std::string what, why;
    int64_t nodes = 0;
    double perSecond = 0;
  };
  std::vector<Other> others; ///< the rejected ones
  /// Pins that match nothing; then there is no plan.
  Refusals refused;
  int64_t devices() const;
};

/// That a network's weights alone are more bits than all memories and LUTs
/// hold, within the goal, and that none can be read from outside: no plan fits.
/// Nothing is explored for this.
Limit weightsExceed(mlir::func::FuncOp network, const Goal &goal,
                    const Cluster &cluster);

/// Explores and builds `@node0`, `@node1`, … and their designs after `network`
/// in its module; a design of one device computes `network` itself. All
/// operations must be covered. If the goal can't be met the result is the
/// nearest plan, with `meetsGoal` false.
mlir::FailureOr<Result> explore(mlir::func::FuncOp network, const Goal &goal,
                                const Cluster &cluster,
                                const Steering &steering = {});
} // namespace rhizome::explore
