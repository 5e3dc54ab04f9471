// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deep buffers of a design that lie in an off-chip memory instead of on the
// chip: FIFOs of skips, and the output buffers of units before a join. Their
// depths are known by then: a long skip's words are written and read once, and
// a short one's are too few for a burst.
#pragma once

#include "rhizome/Design/Design.h"

namespace rhizome::gen {
/// The actors of a sized design whose output buffers may be moved, in its
/// order: before a join, with words for several bursts.
llvm::SmallVector<flow::ActorOp> movableBuffers(flow::DesignOp design);
/// The reader of an actor's stream, if that is a join which takes a beat of
/// each input at a time; null otherwise.
flow::ActorOp joinAfter(flow::ActorOp op);

/// A FIFO in this memory for what an actor's buffer holds, at the bank that has
/// least to do so far; none if no bank has a port for it. `intervalCycles`
/// tells how fast its words come.
std::optional<Actor> inMemory(flow::ActorOp op, const Memory &memory,
                              double intervalCycles);
/// What that saves on the chip: negative resources are its price.
Resources savedBy(flow::ActorOp op, const Actor &there,
                  const CostContext &context);

/// A buffer that was moved.
struct MovedBuffer {
  flow::ActorOp there;            ///< the FIFO in a memory
  flow::ActorOp before = nullptr; ///< whose buffer it was, if not a FIFO's
  int64_t depth = 0;              ///< on the chip
  mlir::Value source;             ///< what its words came from
  /// Crossings to the memory's die and back, in the order of the stream.
  llvm::SmallVector<flow::ActorOp> way, back;
};
/// Puts such a FIFO in the place of a FIFO, or after the actor. It lies on the
/// die with the ports to memories: if no crossing of the stream leads past it,
/// others do from where the stream comes nearest to it, and back.
MovedBuffer moveToMemory(flow::ActorOp op, const Actor &there,
                         const Memory &memory, const DieRow &dies);
/// Undoes it.
void moveToChip(const MovedBuffer &moved);

/// Whether frames pass the design. They do not where a join waits for words of
/// a burst that is not full yet, and its other operand's buffers are.
bool passesFrames(flow::DesignOp design);

/// What a memory has to move per frame for a design, of all its banks together
/// and of the busiest one.
struct MemoryLoad {
  double bytes = 0, busiest = 0;
};
MemoryLoad loadOf(flow::DesignOp design, llvm::StringRef memory);
} // namespace rhizome::gen
