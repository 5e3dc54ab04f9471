// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From one offer per region to a `flow.design`: actors, converters, forks,
// borders and buffer depths; and from a design to its timing (event
// simulation) and costs.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Generator/Generator.h"

namespace rhizome::gen {
/// The offer taken for a region.
struct Selection {
  Region region;
  Offer offer;
  int die = 0; ///< where it lies, on a device of several dies
};

/// The dies of the device that a design is laid out for.
struct DieRow {
  int count = 1;
  int registers = 2; ///< that a beat passes from one die to the next
  int border = 0;    ///< with the AXI4-Stream ports
  int memory = 0;    ///< with the ports to off-chip memories
};
/// The die of an actor, 0 on a device with a single one.
int dieOf(flow::ActorOp op);

/// What a design needs to know about its surroundings.
struct Border {
  std::string device;
  double clockMhz = 100;
  int64_t dataWidth = 64;            ///< bits of the AXI4-Stream ports
  std::string name = "node0";        ///< the design's
  std::vector<Memory> memories = {}; ///< the device's off-chip memories
  const CostContext *cost = nullptr; ///< where states' initial values lie
  DieRow dies = {};
};

/// The words that the load chain transfers into a design, one per word of the
/// chain.
constexpr const char *kLoadSegment = "load";

/// Builds `@<border.name>` after `network` in its module. Selections are in
/// the order of the function's operations. Every actor has the names of the
/// model's nodes that it works for. Memory images are added to `images`.
/// If units have memories that are filled when the design starts, it has the
/// head of a load chain, which reads the segment `kLoadSegment` of the first of
/// `border.memories`.
/// On a device of several dies, streams pass a crossing from each die to the
/// next one, and borders and readers of memories lie next to their ports.
/// What the function keeps (flow::keptBy) goes from the stream of its next
/// value through a unit to its readers, without a port.
flow::DesignOp buildDesign(mlir::func::FuncOp network,
                           std::vector<Selection> &selections,
                           const Border &border, MemoryImages &images);

/// The actor of a flow.actor, including its buffer's depth.
Actor actorOf(flow::ActorOp op);
/// Cycles after reset until the load chain has filled all memories and the
/// design takes its first beat; 0 for a design without such memories.
int64_t loadCycles(flow::DesignOp design);

/// The most frames that an actor of the design works on at once.
int64_t batchOf(flow::DesignOp design);

/// How frames come: one after another, so that units which take several at once
/// find them there, or one by itself.
enum class Arrival : uint8_t { Steady, Alone };
/// The processes and channels of a design, one channel per stream. Input ports
/// always offer, or their beats come at the given cycles.
ProcessNetwork networkOf(flow::DesignOp design,
                         Arrival arrival = Arrival::Steady,
                         llvm::ArrayRef<std::vector<int64_t>> offers = {});

/// Interval and latency of a design, in cycles: the interval of frames that
/// follow each other, the latency of one that comes alone.
struct Timing {
  double intervalCycles = 0;
  int64_t latencyCycles = 0;
};

/// Sets the depths of the buffers before joins to those needed for full rate.
/// Liveness: the run that finds them completes, so with these capacities one
/// iteration returns to its start state, whatever stalls occur (Kahn
/// determinacy). Returns what predictTiming would, if that run tells it.
mlir::FailureOr<std::optional<Timing>> sizeBuffers(flow::DesignOp design);

/// `waits` tells that the design is known to wait for its memories, which saves
/// the run that would find out.
mlir::FailureOr<Timing> predictTiming(flow::DesignOp design,
                                      bool waits = false);
/// The state (by the model's name) whose way from one frame to the next one
/// takes the interval of the design; empty if there is none.
std::string stateThatBinds(flow::DesignOp design, double intervalCycles);

/// One frame through an empty design: the times at which every beat of each
/// output port is taken if the beats of each input port are offered at the
/// given cycles.
mlir::FailureOr<std::vector<std::vector<int64_t>>>
followFrame(flow::DesignOp design, llvm::ArrayRef<std::vector<int64_t>> offers);

/// When an actor of a design works on each of the first frames.
struct ActorSpans {
  std::string actor, node; ///< the actor's name, the model node's
  /// Per frame, or batch of frames, the cycles of its first and last firing.
  std::vector<std::pair<int64_t, int64_t>> frames;
};
/// From the empty pipeline, with a source that always offers.
std::vector<ActorSpans> timelineOf(flow::DesignOp design, int frames);

/// The cost of an actor, and its error.
struct ActorCost {
  Resources cost, error;
};
/// Those of all actors of a design, in its order; all threads find them.
std::vector<ActorCost> costsOfActors(flow::DesignOp design,
                                     const CostContext &context,
                                     const MemoryImages *images = nullptr);

/// What lies on each die, given the costs of the actors: resources with their
/// variances; arbiters of memories are on the die with the ports.
struct DieCost {
  Resources resources;
  double lutVariance = 0, ffVariance = 0;
};
std::vector<DieCost> costOfDies(flow::DesignOp design, const DieRow &dies,
                                const CostContext &context,
                                llvm::ArrayRef<ActorCost> actors);
/// The wires between each die and the next one, in both directions: streams,
/// and the load chain where its places lie on both sides.
std::vector<int64_t> wiresOf(flow::DesignOp design, const DieRow &dies);

/// The sum over all actors; `error` is its error, since actors deviate
/// independently.
Resources costOf(flow::DesignOp design, const CostContext &context,
                 const MemoryImages *images = nullptr,
                 Resources *error = nullptr);
Resources costOf(flow::DesignOp design, const CostContext &context,
                 llvm::ArrayRef<ActorCost> actors, Resources *error);
} // namespace rhizome::gen
