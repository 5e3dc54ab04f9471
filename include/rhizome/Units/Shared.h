// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The units used by several generators, and the glue between the
// units of operations: lib/Units/Shared.
#pragma once

#include "rhizome/Cost/MemoryImages.h"
#include "rhizome/Generator/UnitModel.h"

namespace rhizome::osa {
struct Window;
}

namespace rhizome::gen {
/// How a `window` reads what it stores.
struct WindowReading {
  int64_t lanes = 1;     ///< channels per word
  int64_t groups = 1;    ///< groups of words, read one after another
  int64_t repeat = 1;    ///< number of times that a group is read
  bool parallel = false; ///< all positions of the kernel at once
  int64_t pixelsIn = 1, pixelsOut = 1;
};
/// The window actor of an operation: elements of `width` bits, `padValue`
/// outside the frame.
Actor makeWindow(const osa::Window &window, int64_t width, int64_t padValue,
                 const WindowReading &reading);
/// A window that reads the positions of `tileRows` rows together, an element of
/// the kernel for all of them after another, `repeat` times.
Actor makeWindowTiled(const osa::Window &window, int64_t width,
                      int64_t padValue, int64_t lanes, int64_t repeat,
                      int64_t tileRows);
/// A window that reads all positions of `frames` frames together in the same
/// way, and while it does, stores as many more. Its second stream has a beat
/// for each such batch.
Actor makeWindowBatch(const osa::Window &window, int64_t width,
                      int64_t padValue, int64_t lanes, int64_t repeat,
                      int64_t frames);
/// Takes the frames of a batch apart, which have this format.
Actor makeUnbatch(const BeatFormat &format, int64_t frames);
/// The fewest pixels per beat (a power of two) that transfer a frame within
/// this many cycles.
int64_t pixelsInFor(const osa::Window &window, int64_t cycles);

/// A converter between two formats of one tensor.
Actor makeConverter(const BeatFormat &from, const BeatFormat &to);

/// An AXI4-Stream port of `dataWidth` bits for a tensor in this format.
Actor makeBorder(const BeatFormat &format, int64_t dataWidth, bool enters);
/// A border of this width has ports as wide as a frame, as far as these bits
/// go; where the design takes or gives a whole frame a beat, without registers.
constexpr int64_t kWideBorder = 4096;

/// A stream in this format from one die to the next one, through this many
/// registers.
Actor makeCrossing(const BeatFormat &format, int64_t registers);
/// The wires that it takes there, in both directions.
int64_t crossingWires(const BeatFormat &format);

/// The models of these units.
std::vector<std::unique_ptr<UnitModel>> makeSharedUnits();

/// The parameters of a stream that is read from an off-chip memory.
struct MemoryReading {
  int64_t bits = 64;  ///< of a beat, at the memory port
  int64_t words = 1;  ///< beats of the segment
  int64_t rounds = 1; ///< number of times that it is read per frame
  int64_t burst = 16; ///< beats
  int64_t depth = 64; ///< places of the prefetch buffer
};
/// A reader of the segment at this address.
Actor makeMemReader(const MemoryReading &reading, const MemoryPlace &place);

/// The head of the load chain: reads this many beats of `bits` bits once.
Actor makeLoadReader(int64_t beats, int64_t bits, const MemoryPlace &place);

/// The parameters of a FIFO in an off-chip memory.
struct MemoryFifo {
  int64_t bits = 64;    ///< of a beat, at the memory port
  int64_t per = 1;      ///< words of a beat
  int64_t burst = 16;   ///< beats
  int64_t slots = 4;    ///< bursts that the ring holds
  int64_t buffer = 64;  ///< beats of either buffer on the chip
  int64_t inFlight = 4; ///< bursts written without an answer
};
/// Such a FIFO for words of `width` bits, `words` a frame.
Actor makeMemFifo(const MemoryFifo &fifo, int64_t width, int64_t words,
                  const MemoryPlace &place);

/// The ports that use one bank.
struct BankReaders {
  int64_t count = 0;    ///< memory ports
  int64_t writers = 0;  ///< those of them that write
  int64_t bits = 64;    ///< of a beat
  int64_t inFlight = 0; ///< bursts in flight
  int64_t bytes = 0;    ///< per frame
};
/// The arbiters between several readers, and between several writers, of a
/// bank.
Resources costOfArbiter(const BankReaders &readers, const CostContext &context);

/// Copies every beat of a stream in this format to this many readers.
Actor makeFork(const BeatFormat &format, int64_t readers);

/// A buffer on a stream in this format.
Actor makeFifo(const BeatFormat &format);

/// What is kept from frame to frame, as a stream in this format.
Actor makeState(const BeatFormat &format);
/// The beats of a frame in this format.
MemoryImage beatsOf(const BeatFormat &format, llvm::ArrayRef<int64_t> elements);
} // namespace rhizome::gen
