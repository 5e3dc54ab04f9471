// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The units that several generators build with, and the glue that stands
// between the units of operations: lib/Generator/Shared.
#pragma once

#include "rhizome/Generator/UnitModel.h"

namespace rhizome::osa {
struct Window;
}

namespace rhizome::gen {
/// How a `window` reads what it stores.
struct WindowReading {
  int64_t lanes = 1;     ///< channels a word
  int64_t groups = 1;    ///< groups of words, read one after another
  int64_t repeat = 1;    ///< times that a group is read
  bool parallel = false; ///< all positions of the kernel at once
  int64_t pixelsIn = 1, pixelsOut = 1;
};
/// The window actor of an operation: elements of `width` bits, `padValue`
/// outside the frame.
Actor makeWindow(const osa::Window &window, int64_t width, int64_t padValue,
                 const WindowReading &reading);
/// The fewest pixels a beat (a power of two) that bring a frame in within so
/// many cycles.
int64_t pixelsInFor(const osa::Window &window, int64_t cycles);

/// A converter between two formats of one tensor.
Actor makeConverter(const Format &from, const Format &to);

/// An AXI4-Stream port of `dataWidth` bits for a tensor in this format.
Actor makeBorder(const Format &format, int64_t dataWidth, bool enters);

/// The models of these units.
std::vector<std::unique_ptr<UnitModel>> makeSharedUnits();

/// What a stream that is read from a memory outside the chip needs.
struct MemoryReading {
  int64_t bits = 64;  ///< of a beat, the memory port's
  int64_t words = 1;  ///< beats of the segment
  int64_t rounds = 1; ///< that it is read in a frame
  int64_t burst = 16; ///< beats
  int64_t depth = 64; ///< places of the buffer that it is read ahead into
};
/// A reader of the segment at this place.
Actor makeMemReader(const MemoryReading &reading, const MemoryPlace &place);

/// The head of the load chain: reads so many words of it once.
Actor makeLoadReader(int64_t words, const MemoryPlace &place);

/// What reads one bank.
struct BankReaders {
  int64_t count = 0;    ///< memory ports
  int64_t inFlight = 0; ///< bursts on their way at once
  int64_t bytes = 0;    ///< a frame
};
/// What stands between several readers of a bank.
Resources costOfArbiter(const BankReaders &readers, const CostContext &context);

/// Every beat of a stream in this format to so many readers.
Actor makeFork(const Format &format, int64_t readers);

/// A buffer on a stream in this format.
Actor makeFifo(const Format &format);
} // namespace rhizome::gen
