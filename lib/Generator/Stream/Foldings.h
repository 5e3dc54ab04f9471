// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a reduction is folded onto a unit, and which ways there are.
#pragma once

#include "Reduction.h"
#include "rhizome/Generator/Generator.h"

namespace rhizome::gen::stream {
/// How a problem is folded.
struct Folding {
  int64_t pe = 1;        ///< output channels per cycle (MatVec)
  int64_t lanes = 1;     ///< channels per word of the window (G)
  int64_t simd = 0;      ///< lanes after a converter, 0 for none
  bool parallel = false; ///< all kernel positions at once
  int64_t pixelsIn = 1, pixelsOut = 1;
  int64_t style = 0;
  Residents home = Residents::None; ///< of the weights; none: in a ROM
  bool streamed = false;            ///< or they are read for every frame
  /// If so: the rows of positions that use a weight one after another; 0: one
  /// position.
  int64_t tileRows = 0;
  /// Frames whose positions, all of them, do so.
  int64_t batch = 1;
  bool ultraRows = false; ///< rows and pages are in UltraRAM, if it pays

  /// As an offer remembers it until it is complete.
  OfferSketch numbers() const {
    return {pe,       lanes,         simd,
            parallel, pixelsIn,      pixelsOut,
            style,    int64_t(home), streamed ? 1 + tileRows : 0,
            batch,    ultraRows};
  }
  static Folding of(llvm::ArrayRef<int64_t> n) {
    return {n[0],      n[1],
            n[2],      n[3] != 0,
            n[4],      n[5],
            n[6],      Residents(n[7]),
            n[8] != 0, std::max<int64_t>(n[8] - 1, 0),
            n[9],      n[10] != 0};
  }
};

/// The rows of positions that may use weights together: those that divide the
/// rows of the output, each at least four times the one before.
std::vector<int64_t> tilesOf(const osa::Window &w);

/// The ways to fold a reduction, without those to multiply and to store
/// weights.
std::vector<Folding> foldingsOf(const Reduction &p);
} // namespace rhizome::gen::stream
