// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of the window cell: its positions' control, then either one word
// at a time or whole kernels.
#include "Structure.h"
#include <numeric>

namespace rhizome::gen::cost {
namespace {
/// The cell's parameters and what it derives from them.
struct Window {
  int64_t elem, channels, height, width, kernelH, kernelW, strideH, strideW;
  int64_t dilationH, dilationW, padTop, padLeft, outHeight, outWidth, lanes;
  int64_t groups, repeat, pixelsIn, pixelsOut, rows;
  bool parallel;
  int64_t words, groupWords, inCols, outCols, extent, ge;
  int64_t rowW, colW, yW, xW, wideW;

  explicit Window(const Builder &b)
      : elem(b.get("Elem")), channels(b.get("Channels")),
        height(b.get("Height")), width(b.get("Width")),
        kernelH(b.get("KernelH")), kernelW(b.get("KernelW")),
        strideH(b.get("StrideH")), strideW(b.get("StrideW")),
        dilationH(b.get("DilationH")), dilationW(b.get("DilationW")),
        padTop(b.get("PadTop")), padLeft(b.get("PadLeft")),
        outHeight(b.get("OutHeight")), outWidth(b.get("OutWidth")),
        lanes(b.get("Lanes")), groups(b.get("Groups")), repeat(b.get("Repeat")),
        pixelsIn(b.get("PixelsIn")), pixelsOut(b.get("PixelsOut")),
        rows(b.get("Rows")), parallel(b.get("KernelParallel")) {
    words = ceilDiv(channels, lanes);
    groupWords = words / groups;
    inCols = ceilDiv(width, pixelsIn);
    outCols = ceilDiv(outWidth, pixelsOut);
    extent = (kernelH - 1) * dilationH + 1;
    ge = lanes * elem;
    rowW = clog2(3 * height + rows + strideH + 2) + 1;
    colW = addressBits(inCols);
    yW = clog2(outHeight * strideH + height + padTop + extent + 1) + 1;
    wideW = (pixelsOut - 1) * strideW + (kernelW - 1) * dilationW;
    xW = clog2(outCols * pixelsOut * strideW + width + padLeft + wideW +
               pixelsIn + 1) +
         1;
  }
};

/// Rows and columns of reader and writer.
void positions(Builder &b, const Window &w) {
  b.term(Term::Fixed, 1);
  b.counter(w.words);
  b.counter(w.inCols);
  b.counter(w.outCols);
  b.counter(w.outHeight);
  // Rows by number: the writer's, the last ones that may be written now and
  // next and what they are counted from, those needed now and next and the
  // frame behind. A frame of one output row counts with one less.
  int64_t rows = w.outHeight > 1 ? 7 : 6;
  // Columns of the position (the kernel-parallel cell's), of the one behind,
  // and those needed; rows of the position, of the writer's limit, of the one
  // behind.
  int64_t place = (w.outCols > 1 ? (w.parallel ? 2 : 1) * w.xW : 0) +
                  (w.outCols > 1 && w.inCols > 1 ? 2 * w.colW : 0) +
                  (w.outHeight > 1 ? 3 * w.yW : 0);
  b.ff(double(rows * w.rowW + place + 3));
  b.term(Term::Control, double(rows * w.rowW + place));
}

void serial(Builder &b, const Window &w) {
  int64_t memWords = w.rows * w.inCols * w.words;
  int64_t ra = clog2(2 * memWords + 1), address = addressBits(memWords);
  int64_t bank = w.pixelsIn > 1 ? clog2(w.pixelsIn) : 0;
  int64_t column = w.xW + clog2(w.words + 1) + 1;
  b.ff(4); // valid bits
  for (int64_t count : {w.groupWords, w.kernelW, w.kernelH, w.repeat, w.groups})
    b.counter(count);
  // Top row and kernel row, left and kernel column.
  int64_t columns = (w.outCols > 1 ? 1 : 0) + (w.kernelW > 1 ? 1 : 0);
  int64_t loops =
      2 * ra + columns * column + (w.kernelH > 1 || w.outHeight > 1 ? w.yW : 0);
  b.ff(double(loops));
  if (w.groups > 1)
    b.ff(double(addressBits(w.words)));
  b.term(Term::Control, double(loops));
  b.term(Term::Adder, double(3 * address));
  b.ff(double(address));
  b.delay(double(1 + bank), 3);
  b.counter(memWords, false);
  b.ff(double(address + 1 + w.pixelsIn * w.ge));
  for (int64_t i = 0; i < w.pixelsIn; ++i)
    b.ram(memWords, w.ge, 2);
  b.mux(double(w.ge), w.pixelsIn);
  b.ff(double(w.ge));
  b.term(Term::Select, double(w.ge));
  b.outbuf(b.get("Depth"), w.ge);
}

/// How rhz_window_parallel stores a frame; the same arithmetic as in the cell.
struct ColumnStore {
  int64_t over = 0;     ///< rows by which the last window overruns the frame
  int64_t slots = 1;    ///< stored rows that may lie in memory at once
  int64_t wordRows = 1; ///< rows in a word
  int64_t banks = 1, span = 1, columns = 1;
  int64_t rowWords = 1; ///< words of a bank that a stored row takes
  int64_t rowBeats = 1; ///< input beats of a row
  int64_t stored = 0;   ///< rows of a frame that are stored

  explicit ColumnStore(const Window &w) {
    auto low = [&](int64_t oy) {
      return oy * w.strideH - w.padTop + w.extent - 1;
    };
    auto storedRow = [&](int64_t oy) {
      return std::clamp<int64_t>(low(oy), 0, w.height - 1);
    };
    over = std::max<int64_t>(0, low(w.outHeight - 1) - (w.height - 1));
    wordRows = (w.extent - 1) / (over > 0 ? 1 : w.dilationH) + 1;
    span = w.wideW + 1;
    columns = std::min(span, w.pixelsOut * w.kernelW);
    while (banks < std::max(span, w.pixelsIn))
      banks *= 2;
    rowWords = ceilDiv(w.width, banks) * w.words;
    rowBeats = w.inCols * w.words;
    std::vector<char> isStored(w.height);
    for (int64_t oy = 0; oy < w.outHeight; ++oy)
      isStored[storedRow(oy)] = 1;
    for (char s : isStored)
      stored += s;
    int64_t reach = 0, live = 0;
    for (int64_t oy = 0; oy < w.outHeight; ++oy) {
      int64_t oldest =
          std::clamp<int64_t>(oy * w.strideH - w.padTop, 0, w.height);
      for (; reach < oldest + w.rows; ++reach)
        live += isStored[reach % w.height];
      slots = std::max(slots, live);
      if (oy + 1 == w.outHeight || storedRow(oy) != storedRow(oy + 1))
        --live;
    }
  }
};

void parallel(Builder &b, const Window &w) {
  ColumnStore s(w);
  int64_t memWords = s.slots * s.rowWords, address = addressBits(memWords);
  int64_t off = s.banks > 1 ? clog2(s.banks) : 0;
  int64_t memStages = memWords <= 64 ? 1 : 2, rowStages = s.over > 0 ? 1 : 0;
  int64_t lateRead = 3 - memStages - rowStages;
  int64_t lateWrite = lateRead > 1 ? 1 : 0;
  int64_t step = w.pixelsOut * w.strideW;
  bool oneBlock = ceilDiv(w.width, s.banks) == 1 && w.words == 1;
  b.ff(5); // valid bits
  for (int64_t count : {w.groupWords, w.repeat, w.groups})
    b.counter(count);
  if (w.groups > 1)
    b.ff(double(addressBits(w.words)));
  b.ff(double(address + 2));
  if (s.slots > 1) {
    b.ff(double(2 * address));
    b.counter(s.slots);
    b.counter(s.slots);
  }
  b.term(Term::Control, double(5 * address));
  // Addresses of this and the next block, and the offset.
  int64_t late = 1 + lateRead;
  b.delay(double((oneBlock ? 1 : 2) * address), late);
  // What the columns' stage needs.
  b.delay(double(w.kernelH), 4);
  b.delay(double(s.columns + off + 2), 4);
  b.ff(2);
  b.compare(double(w.kernelH), w.yW);
  b.compare(double(s.columns), w.xW);
  // The writer.
  int64_t turns = s.banks / w.pixelsIn;
  int64_t turn = turns > 1 ? clog2(turns) : 0;
  int64_t newest = w.pixelsIn * w.ge;
  b.counter(w.height);
  b.counter(s.rowBeats);
  b.ff(double(turn + address + 1));
  int64_t beat = s.rowBeats > 1 ? clog2(s.rowBeats) : 0;
  b.ff(double(1 + turn + beat + address + newest) * double(1 + lateWrite) +
       double(lateWrite));
  int64_t ages = w.extent - 1;
  if (ages > 0) {
    if (s.rowBeats == 1)
      b.ff(double(ages * newest));
    else
      b.ram(s.rowBeats, ages * newest, 1);
  }
  b.ram(memWords, s.wordRows * w.ge, memStages, s.banks);
  if (!oneBlock)
    b.mux(double(s.banks * address), 2);
  if (s.over > 0) {
    b.delay(double(clog2(s.over + 2)), 3);
    b.ff(double(w.kernelH * s.banks * w.ge));
    for (int64_t kh = 0; kh < w.kernelH; ++kh)
      b.mux(double(s.banks * w.ge),
            std::min(s.over + 1, w.extent - kh * w.dilationH));
  }
  int64_t offsets = s.banks / std::gcd(s.banks, step % s.banks);
  bool shifts = s.columns == s.span && w.words == 1;
  int64_t shifted = shifts ? std::max<int64_t>(0, s.span - step) : 0;
  b.ff(double(w.kernelH * s.columns * w.ge));
  b.term(Term::Lane, double(shifted * w.kernelH * w.ge));
  b.mux(double((s.columns - shifted) * w.kernelH * w.ge), offsets);
  b.term(Term::Select, double((s.columns - shifted) * w.kernelH * w.ge));
  b.outbuf(b.get("Depth"), w.kernelH * s.columns * w.ge);
}
} // namespace

void window(Builder &b) {
  Window w(b);
  positions(b, w);
  if (w.parallel)
    parallel(b, w);
  else
    serial(b, w);
}
} // namespace rhizome::gen::cost
