// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses: for every operation an option and a device, so that the goal is met
// on the devices given, with the fewest of them and then the least resources.
// One device is a cluster of one.
#pragma once

#include "rhizome/Explore/Problem.h"
#include "rhizome/Generator/Design.h"
#include "rhizome/Support/Refusal.h"
#include <cmath>

namespace rhizome::explore {
struct Goal {
  /// The objective, among the plans within the bounds.
  enum class Kind { MaxThroughput, MinLatency, MinResources, MinNodes };
  Kind kind = Kind::MinResources;
  double throughput = 0;        ///< inferences per second at least, 0: any
  double latency = 0;           ///< seconds at most, 0: any
  int64_t maxNodes = INT64_MAX; ///< devices that may be used

  /// How much of one resource may be used of each device.
  struct Part {
    double amount = 0;
    bool isShare = false; ///< of what the device has
  };
  std::map<std::string, Part> parts; ///< by resource; others: all there is
  /// Is a plan that fits no device still to be built?
  bool buildsNearest = false;
  /// The same goal with all products in LUTs.
  Goal withoutDsp() const;

  /// Seconds that a frame may take, infinite without a bound.
  double mostSeconds() const {
    return throughput > 0 ? 1 / throughput : INFINITY;
  }
  bool isBounded() const { return throughput > 0 || latency > 0; }
};

/// Parses bounds and an objective, in any order with commas between:
/// `throughput=5000/s`, `latency=100us`, `nodes=2`, of every device's resources
/// `lut=30000` or `lut=60%`; `max-throughput`, `min-latency`, `min-resources`
/// (the one of bounds alone) or `min-nodes`. nullopt if the text is anything
/// else.
std::optional<Goal> parseGoal(llvm::StringRef text);

/// Every operation of `network` that no generator can build, with the reasons.
Refusals coverage(mlir::func::FuncOp network);

/// A device that may be used.
struct ClusterPlace {
  std::string device; ///< places of one device have equal contexts but budgets
  gen::DeviceContext context;
  gen::Budget capacity; ///< the device's own, whatever part may be used
  int64_t streamBits = 64;
  int64_t leastBits = 0;    ///< streams may be as narrow as this, 0: may not
  std::optional<Wire> wire; ///< none: the device stands alone
  std::string link;         ///< the wire's name
};

/// The devices, in the order in which a network is laid along them.
struct Cluster {
  std::vector<ClusterPlace> places;
  std::optional<Wire> hostWire;
  bool isChain = false, mayReplicate = true;
};

/// The cluster with so much of each device as the goal allows. `explore` looks
/// at no more of it, but whoever describes its result needs to.
Cluster withinParts(Cluster cluster, const Goal &goal);

/// Operations of a network. Names alone tell none from others: one node of a
/// model becomes several operations, and nodes may share a name.
struct OperationId {
  std::string node;    ///< the model's, with its share's number after a split
  std::string op = {}; ///< "conv2d", "" for all of the node's
  /// Which one of those of this node and op, in the network's order; −1: all.
  int nth = -1;
  auto operator<=>(const OperationId &) const = default;
};

/// Which operation each of these is, given in the network's order.
std::vector<OperationId> idsOf(llvm::ArrayRef<mlir::Operation *> ops);

/// An operation whose output channels are shared out over so many.
struct Split {
  OperationId of;
  int parts = 2;
};

/// What a user has decided.
struct Steering {
  struct Pin {
    /// Without `op` the node may also be written as "node:op", if no node has
    /// that name.
    OperationId of;
    std::string generator = {}; ///< "" for any
    std::string option = {};    ///< an option's key or a part of it, "" for any
    int place = -1;             ///< of the cluster, -1 for any
    bool cutBefore = false;
    unsigned line = 0; ///< in the user's file, 0 if it has none
    /// `place` holds it as the first of exactly so many replicas, 0: any.
    int copies = 0;
    int64_t streamBits = 0; ///< of its device's border, 0: any
  };
  /// Where a node's weights live.
  struct Home {
    std::string node; ///< "" for all that have weights and can live there
    gen::WeightHome home = gen::WeightHome::Rom;
  };
  std::vector<Pin> pins;
  std::vector<Split> splits;
  std::vector<Home> homes;
  double lutsOfABlock = 0; ///< see CostContext; 0: what the plan wants
  bool isEmpty() const {
    return pins.empty() && splits.empty() && homes.empty();
  }
  /// Does it name options whose weights are loaded when the design starts?
  bool wantsResident() const;
};

/// The offer taken for an operation, or for a region that it is part of.
struct Taken {
  OperationId id;
  int stage = 0; ///< of the network's operations
  std::string generator;
  gen::OptionKey key;
  std::string summary;
  int64_t busyCycles = 0;
  gen::Resources resources; ///< none with any but a region's first operation
  int position = 0;         ///< in the order along the devices
  int unit = 0;             ///< which of several equal shared units it takes
};

/// One device's part, or that of several equal ones.
struct NodeResult {
  mlir::func::FuncOp function;
  bool ownsFunction = false; ///< it was made for this node
  int place = 0, copies = 1;
  std::vector<int> places; ///< of every copy
  int64_t streamBits = 64; ///< of its border
  std::vector<gen::Selection> selections;
  std::vector<Taken> taken; ///< of each operation, in the network's order
  flow::DesignOp design;
  gen::MemoryImages images;
  gen::Timing timing;
  gen::Resources account;   ///< of one copy, as the solver saw it
  gen::Resources resources; ///< the endpoint's included
  gen::Resources endpoint;  ///< its part of them
  gen::Resources errors;    ///< how far LUTs and FFs may be off
  std::string bottleneck;   ///< the slowest operation
};

struct Result {
  std::vector<NodeResult> nodes; ///< replicas stand once
  double seconds = 0;            ///< a frame, by the event simulator and links
  double solvedSeconds = 0;      ///< what the solver aimed at
  double latency = 0;            ///< seconds of a single request; 0 of a plan
                                 ///< that does not fit: nobody simulates it
  double bound = 0;              ///< no plan takes fewer seconds a frame
  bool isExact = true;           ///< nothing was left out of the search
  bool fits = true;              ///< error bars included
  bool meetsGoal = true;
  /// Is it the plan of devices whose DSP blocks, few as the goal leaves them,
  /// are not used? Then what describes it must know: see Goal::withoutDsp.
  bool avoidsDsp = false;
  double lutsOfABlock = 0; ///< that its ROMs were placed by
  /// Which loaded memories its weights could have.
  gen::Residents residents = gen::Residents::None;
  Limit limit;               ///< what keeps it from being better, or from being
  std::vector<Split> splits; ///< in the network as the model has it
  Bottleneck bottleneck;
  struct Other {
    std::string what, why;
    int64_t nodes = 0;
    double perSecond = 0;
  };
  std::vector<Other> others; ///< that were looked at and not taken
  /// Pins that name nothing there is; then there is no plan.
  Refusals refused;
  int64_t devices() const;
};

/// Explores and builds `@node0`, `@node1`, … and their designs behind `network`
/// in its module; a design of one device computes `network` itself. All
/// operations must be covered. If the goal can't be met the result is the
/// nearest plan, with `meetsGoal` false.
mlir::FailureOr<Result> explore(mlir::func::FuncOp network, const Goal &goal,
                                const Cluster &cluster,
                                const Steering &steering = {});
} // namespace rhizome::explore
