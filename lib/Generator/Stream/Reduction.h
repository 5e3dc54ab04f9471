// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What offers of units that reduce over a window and the images of their
// weights have in common.
#pragma once

#include "Units.h"
#include <algorithm>

namespace rhizome::gen::stream {
enum class Kind : uint8_t { MatVec, Depthwise, Max, Sum };

/// One reduction over windows, with everything that offers depend on.
struct Reduction {
  Kind kind;
  osa::Window w;
  int64_t outChannels = 0; ///< of all groups
  int64_t groups = 1;      ///< of a convolution that is not depthwise
  BeatFormat x, y;         ///< elements of the input and of the output
  int64_t weightBits = 0, accBits = 0;
  bool bias = false;
  int64_t padValue = 0;
  osa::SumPoolOp scaled; ///< if it has a zero point or scales by position
  mlir::Type inputType, outputType;

  int64_t positions() const { return w.outHeight * w.outWidth; }
  int64_t taps() const { return w.kernelH * w.kernelW; }
  int64_t groupIn() const { return w.channels / groups; }
  int64_t groupOut() const { return outChannels / groups; }
};

Reduction reductionOf(mlir::Operation *op);

/// The reader of a segment of so many beats, `rounds` times per frame: bursts
/// of up to 64 beats and 4 KiB, fetched as far ahead as the memory's answer
/// takes.
Actor weightReader(const Memory &memory, double clockMhz, int64_t beats,
                   int64_t rounds);
/// What it gives.
Body::Unit readerUnit(Actor reader, int64_t port, int64_t beats,
                      mlir::MLIRContext *context);
/// The words of weights of a unit that takes one a firing.
Body::Unit wordsUnit(Actor replay, Body::Source from,
                     mlir::MLIRContext *context);
/// What the body's reader reads.
void setSegment(Body &body, MemoryImage image, MemoryImages &images);
/// Sets the bits of a firing's weights from `at` on, which begin at a place in
/// an image and may go on in its next words.
void setBits(MemoryImage &image, std::pair<int64_t, int64_t> begin, int64_t at,
             int64_t bits, int64_t value);

/// Where the weights of a unit are in the beats that it reads of a memory.
struct WeightBeats {
  int64_t folds, pieces; ///< firings of a result; beats of a firing, or
  int64_t words;         ///< firings of a beat
  int64_t bits;          ///< of a firing

  WeightBeats(int64_t beat, int64_t bits, int64_t folds)
      : folds(folds), pieces(ceilDiv(bits, beat)),
        words(std::clamp<int64_t>(beat / bits, 1, folds)), bits(bits) {}
  /// A result begins with a new beat.
  int64_t perResult() const { return ceilDiv(folds * pieces, words); }
  /// The beat of a firing's first bit, and its place there.
  std::pair<int64_t, int64_t> of(int64_t result, int64_t fold) const {
    return {result * perResult() + fold * pieces / words, fold % words * bits};
  }
};
} // namespace rhizome::gen::stream
