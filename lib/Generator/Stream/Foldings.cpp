// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to fold a reduction: output channels, channels of a word, kernel
// positions and output pixels of a cycle, and rows that share weights.
#include "Foldings.h"
#include "Models.h"
#include "rhizome/Units/Shared.h"

namespace rhizome::gen::stream {
std::vector<int64_t> tilesOf(const osa::Window &w) {
  std::vector<int64_t> tiles;
  for (int64_t rows = 1; rows <= w.outHeight; ++rows)
    if (w.outHeight % rows == 0 && rows * w.outWidth > 1 &&
        (tiles.empty() || rows >= 4 * tiles.back()))
      tiles.push_back(rows);
  if (!tiles.empty() && tiles.back() != w.outHeight)
    tiles.back() = w.outHeight;
  return tiles;
}

std::vector<Folding> foldingsOf(const Reduction &p) {
  const osa::Window &w = p.w;
  std::vector<Folding> all;
  auto offer = [&](const Folding &f) { all.push_back(f); };
  int64_t taps = p.taps(), channels = w.channels;
  // Several output pixels per cycle need every kernel position at once.
  auto offerPixels = [&](Folding f) {
    for (int64_t pixels = 1; pixels <= 2 * w.outWidth && pixels <= 16;
         pixels *= 2) {
      f.parallel = true;
      f.lanes = channels;
      f.pixelsOut = std::min(pixels, w.outWidth);
      int64_t repeat =
          p.kind == Kind::MatVec ? ceilDiv(p.outChannels, f.pe) : 1;
      if (f.pixelsOut > 1 && repeat > 1)
        break;
      f.pixelsIn = pixelsInFor(
          w, w.outHeight * ceilDiv(w.outWidth, f.pixelsOut) * repeat);
      offer(f);
      if (f.pixelsOut == w.outWidth)
        break;
    }
  };

  if (p.kind != Kind::MatVec) {
    for (int64_t lanes : foldings(channels)) {
      Folding f;
      f.lanes = lanes;
      offer(f);
      if (taps > 1 && lanes < channels) {
        f.parallel = true;
        offer(f);
      }
    }
    offerPixels({});
    return all;
  }

  for (int64_t pe : foldings(p.groupOut())) {
    Folding f;
    f.pe = pe;
    if (p.groups > 1) {
      for (int64_t lanes : foldings(p.groupIn()))
        if (p.groupIn() % lanes == 0) {
          f.lanes = lanes;
          offer(f);
        }
      continue;
    }
    for (int64_t lanes : foldings(channels)) {
      f = {};
      f.pe = pe;
      f.lanes = lanes;
      offer(f);
      if (taps > 1 && lanes < channels) {
        f.parallel = true;
        offer(f);
      }
    }
    if (taps > 1) {
      for (int64_t simd : foldings(taps * channels)) {
        int64_t folds = ceilDiv(taps * channels, simd);
        // Only if words of whole channels take longer.
        if (folds == 1 ||
            (simd <= channels && folds >= taps * ceilDiv(channels, simd)))
          continue;
        f = {};
        f.pe = pe;
        f.lanes = channels;
        f.simd = simd;
        f.parallel = simd > channels;
        f.pixelsIn = f.parallel ? pixelsInFor(w, p.positions() * folds *
                                                     ceilDiv(p.outChannels, pe))
                                : 1;
        offer(f);
      }
    }
    f = {};
    f.pe = pe;
    offerPixels(f);
  }
  return all;
}
} // namespace rhizome::gen::stream
