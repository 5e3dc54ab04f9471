// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OpenCL face of the engine: programs carried out by one work-item of any
// OpenCL 1.2 device. As a kernel for one program it takes what the instructions
// do from their description, or as a kernel for frames it also stands between
// the streams of a design, as rhz_engine_unit does.
#pragma once

#include "rhizome/Engine/Core.h"

namespace rhizome::engine {
/// What a program may touch outside the core; unless it is known, all that an
/// instruction can name.
struct OpenClBounds {
  int64_t instructions = INT32_MAX;               ///< after the head
  int64_t room = int64_t(1) << 28;                ///< words behind each port
  int64_t blocks = 65535;                         ///< of weights in the queue
  int64_t received = INT32_MAX, sent = INT32_MAX; ///< words of the streams
};

/// The text of the kernel `engine` for a core. Arguments: the program, the
/// memories behind four ports, the scratchpad, the accumulators, room for the
/// blocks of weights that the program's head says (at least one), the stream's
/// words to the core and from it. Buffers that a program does not use may have
/// any size. Whatever a program says, nothing outside the bounds is read or
/// written; one that passes the verifier does what the other faces do.
std::string openClText(const Core &core, const OpenClBounds &bounds = {});

/// A tensor as it passes a design's border, and as the core has it.
struct FrameFormat {
  int64_t elements = 1, row = 1; ///< after which a new word begins
  int64_t width = 8;             ///< bits of an element
  bool isSigned = false;
  int64_t bias = 0;        ///< a byte of the core is so much less
  int64_t paddedBytes = 0; ///< of a frame in whole beats

  int64_t words(int64_t in) const {
    return elements / row * ((row + in - 1) / in);
  }
};

/// A core between a design's only input and its only output.
struct FrameKernel {
  Core core;
  int64_t base = 0;    ///< bytes of the memory that lie before the core's
  int64_t room = 1;    ///< words that are the core's
  int64_t program = 0; ///< the program's first word
  int64_t blocks = 1;  ///< that its head says
  FrameFormat in, out;

  /// `engine_` and 16 digits that other texts do not have.
  std::string name() const;
  /// A kernel of that name with the arguments frame, answer, memory and space,
  /// all of them buffers of bytes. The answer is followed by a report
  /// (rhizome/runtime/driver.h). A program for another core or instruction set
  /// is reported and not carried out.
  std::string text() const;
  /// Bytes of `space`, of which nothing is kept from frame to frame.
  int64_t spaceBytes() const;
};
} // namespace rhizome::engine
