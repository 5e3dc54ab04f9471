// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sliding window: a writer that stores rows and a reader that waits for
// the pixels that a position needs. Structure: the control of positions, then
// either one word at a time or whole kernels.
#include "Models.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/Sampler.h"
#include "rhizome/Units/Shared.h"
#include <bit>
#include <numeric>

namespace rhizome::gen {
namespace {
using namespace cost;

/// The cell's parameters and values derived from them.
struct Window {
  int64_t elem, channels, height, width, kernelH, kernelW, strideH, strideW;
  int64_t dilationH, dilationW, padTop, padLeft, outHeight, outWidth, lanes;
  int64_t groups, repeat, pixelsIn, pixelsOut, rows;
  bool parallel;
  int64_t words, groupWords, inCols, outCols, extent, ge;
  int64_t rowW, colW, yW, xW, wideW;

  template <typename Unit>
  explicit Window(const Unit &b)
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
  int64_t step() const { return pixelsOut * strideW; }
  /// Of one word at a time.
  Store store() const { return {rows * inCols * words, ge, pixelsIn}; }
};

/// Low bits that are zero in all multiples of a number.
int64_t zeros(int64_t step) {
  return step > 0 ? std::countr_zero(uint64_t(step)) : 0;
}

/// Rows and columns of reader and writer.
void positions(Builder &b, const Window &w) {
  b.term(Term::Fixed, 1);
  b.counter(w.words);
  b.counter(w.inCols);
  b.counter(w.outCols);
  b.counter(w.outHeight);
  // A counter with a constant step keeps its lowest bits: rows counted by
  // frames, rows and columns of positions.
  int64_t frameW = w.rowW - std::min(zeros(w.height), w.rowW);
  int64_t y = w.yW - zeros(w.strideH), x = w.xW - zeros(w.step());
  int64_t columnW = w.inCols > 1 ? w.colW : 0;
  // As counters: the rows of the writer, of its two limits, of the two needs;
  // by frames: the base of the limit and the need.
  b.ff(double(5 * w.rowW + 2 * frameW));
  // Rows of the next limit and need, columns of the need, unless there is one.
  const int64_t rows = w.outHeight > 1 ? 2 : 0, columns = w.outCols > 1 ? 1 : 0;
  b.ff(double(rows * y + columns * (x + 2 * w.colW)));
  // Room available, need met, first cycle.
  b.ff(3);
  // The writer's row, the limit, the need, the two frames; the limits' and the
  // needs' distances with and without a write.
  b.adder(3, w.rowW);
  b.adder(2, frameW);
  b.adder(1, w.rowW);
  b.adder(4, w.rowW);
  b.adder(4, w.rowW + columnW);
  // For each next row or column: its step, and that it is not below the frame.
  b.adder(double(rows), y + w.yW);
  b.adder(double(columns), x + w.xW);
  b.term(Term::Select,
         double(4 * w.rowW + frameW + rows * w.yW + 2 * columns * w.xW));
  b.term(Term::Control, double(2 * w.rowW + 2 * columns * w.colW));
  if (w.outHeight > 1) {
    b.ff(double(y));
    b.adder(1, y);
    b.term(Term::Select, double(w.yW));
  }
  if (w.outCols > 1 && w.parallel) {
    b.ff(double(x));
    b.adder(1, x);
    b.term(Term::Select, double(w.xW));
  }
}

void serial(Builder &b, const Window &w) {
  int64_t memWords = w.store().words;
  int64_t address = addressBits(memWords);
  int64_t bank = w.pixelsIn > 1 ? clog2(w.pixelsIn) : 0;
  int64_t column = w.xW + clog2(w.words + 1) + 1;
  b.ff(4); // valid bits
  for (int64_t count : {w.groupWords, w.kernelW, w.kernelH, w.repeat, w.groups})
    b.counter(count);
  // The top row and the kernel row begin at multiples of a row's words; each
  // of their steps takes two sums.
  int64_t base = clog2(2 * memWords + 1) - zeros(w.inCols * w.words);
  int64_t steps = (w.outHeight > 1 ? 2 : 1) + (w.kernelH > 1 ? 1 : 0);
  b.ff(double(2 * base));
  b.adder(double(2 * steps), base);
  b.term(Term::Select, double((steps + 4) * base));
  // Left and kernel column, kernel row: steps and whether they are padding.
  int64_t columns = (w.outCols > 1 ? 1 : 0) + (w.kernelW > 1 ? 1 : 0);
  b.ff(double(2 * column));
  b.adder(double(columns + 1), column);
  b.term(Term::Select, double(4 * column));
  if (w.kernelH > 1 || w.outHeight > 1) {
    b.ff(double(w.yW));
    b.adder(w.kernelH > 1 ? 2 : 1, w.yW);
    b.term(Term::Select, double(3 * w.yW));
  }
  if (w.groups > 1) {
    b.ff(double(addressBits(w.words)));
    b.adder(1, addressBits(w.words));
  }
  int64_t parts = 1 + (w.groups > 1 ? 1 : 0) + (w.groupWords > 1 ? 1 : 0);
  b.adder(double(parts), address);
  b.ff(double(address));
  b.delay(double(1 + bank), 3);
  b.counter(memWords, false);
  b.ff(double(address + 1 + w.pixelsIn * w.ge));
  b.store(w.store(), 2, b.get("Ultra"));
  b.mux(double(w.ge), w.pixelsIn);
  b.ff(double(w.ge));
  b.outbuf(b.get("Depth"), w.ge);
}

/// How rhz_window_parallel stores a frame; the same arithmetic as in the cell.
struct ColumnStore {
  int64_t over = 0;     ///< rows by which the last window overruns the frame
  int64_t slots = 1;    ///< stored rows that may be in memory at once
  int64_t wordRows = 1; ///< rows in a word
  int64_t banks = 1, span = 1, columns = 1;
  int64_t rowWords = 1; ///< words of a bank per stored row
  int64_t rowBeats = 1; ///< input beats of a row
  int64_t apart = 1;    ///< only every n-th bank is read
  int64_t read = 1;     ///< and only this many, including those between
  int64_t offsets = 1;  ///< banks in which a position may begin
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
    if (w.outCols > 1) // otherwise all begin in the first one
      offsets = banks / std::gcd(banks, w.step());
    read = offsets == 1 ? std::min(banks, span) : banks;
    apart = std::gcd(banks, w.step());
    if (columns == span)
      apart = span > 1 ? 1 : apart;
    else
      apart = std::gcd(std::gcd(apart, w.pixelsOut > 1 ? w.strideW : 0),
                       w.kernelW > 1 ? w.dilationW : 0);
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
  int64_t off = s.offsets > 1 ? clog2(s.banks) : 0;
  int64_t memStages = memWords <= 64 ? 1 : 2, rowStages = s.over > 0 ? 1 : 0;
  int64_t lateRead = 3 - memStages - rowStages;
  int64_t lateWrite = lateRead > 1 ? 1 : 0;
  int64_t step = w.step();
  // Neither a second block nor, if all positions begin in the first bank,
  // the next one is read.
  bool oneBlock = (ceilDiv(w.width, s.banks) == 1 && w.words == 1) ||
                  (s.offsets == 1 && w.padLeft % s.banks == 0);
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
  // The inputs of the columns' stage.
  b.delay(double(w.kernelH), 4);
  const bool moves = w.outCols > 1; // from column to column
  b.delay(double((moves ? s.columns : 0) + off + 2), 4);
  b.ff(2);
  // Each row and column of the window: its position, and a comparison.
  b.compare(2 * double(w.kernelH), w.yW);
  if (moves)
    b.compare(2 * double(s.columns),
              std::max<int64_t>(w.xW - zeros(w.step()), 1));
  // The writer.
  int64_t turns = s.banks / w.pixelsIn;
  int64_t turn = turns > 1 ? clog2(turns) : 0;
  int64_t lanes = ceilDiv(std::min(w.pixelsIn, s.read), s.apart);
  int64_t newest = lanes * w.ge;
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
  int64_t banks = ceilDiv(s.read, s.apart);
  b.ram(memWords, s.wordRows * w.ge, memStages, banks, lanes);
  if (!oneBlock)
    b.mux(double(banks * address), 2);
  if (s.over > 0) {
    b.delay(double(clog2(s.over + 2)), 3);
    b.ff(double(w.kernelH * banks * w.ge));
    for (int64_t kh = 0; kh < w.kernelH; ++kh)
      b.mux(double(banks * w.ge),
            std::min(s.over + 1, w.extent - kh * w.dilationH));
  }
  bool shifts = s.columns == s.span && w.words == 1;
  int64_t shifted = shifts ? std::max<int64_t>(0, s.span - step) : 0;
  b.ff(double(w.kernelH * s.columns * w.ge));
  b.term(Term::Lane, double(shifted * w.kernelH * w.ge));
  const double picked = double((s.columns - shifted) * w.kernelH * w.ge);
  b.mux(picked, s.offsets);
  // Padding replaces it; a LUT filled by a multiplexer has no room for that.
  if (s.offsets == 1)
    b.term(Term::Select, picked);
  else if (isChoiceFull(s.offsets))
    b.term(Term::Mux, picked);
  b.outbuf(b.get("Depth"), w.kernelH * s.columns * w.ge);
}
class WindowUnit final : public UnitModel {
public:
  WindowUnit() : UnitModel(unit::Window::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return (a.get("KernelParallel") ? 5 : 4) + bufferLatency(a);
  }
  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override;
  std::optional<Store> store(const unit::Instance &a) const override {
    const Window window(a);
    return window.parallel ? std::nullopt : std::optional(window.store());
  }
  void structure(Builder &b) const override {
    Window w(b);
    positions(b, w);
    if (w.parallel)
      parallel(b, w);
    else
      serial(b, w);
  }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[a.get("KernelParallel")];
  }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

void WindowUnit::processes(const Actor &a, ProcessNetwork &network,
                           const std::vector<int> &inputs,
                           const std::vector<int> &outputs) const {
  auto p = a.as<unit::Window>();
  int64_t height = p.Height, width = p.Width;
  int64_t q = p.PixelsIn, pixels = p.PixelsOut;
  int64_t words = ceilDiv(p.Channels, p.Lanes);
  int64_t rowBeats = q > 1 ? ceilDiv(width, q) : width * words;
  int store = network.addChannel(a.name + ".rows", p.Rows * rowBeats, 1);
  network.processes.push_back({a.name + ".write",
                               {firings(height * rowBeats)},
                               p.frames,
                               inputs,
                               {store}});

  int64_t beats = p.Repeat * words;
  if (!p.KernelParallel)
    beats *= p.KernelH * p.KernelW;
  Process read{a.name + ".read", {}, p.frames, {store}, outputs};
  int64_t released = 0, outHeight = p.OutHeight;
  for (int64_t oy = 0; oy < outHeight; ++oy) {
    int64_t lastRow = std::clamp<int64_t>(oy * p.StrideH - p.PadTop +
                                              (p.KernelH - 1) * p.DilationH,
                                          0, height - 1);
    int64_t keep = oy + 1 == outHeight
                       ? height
                       : std::clamp<int64_t>((oy + 1) * p.StrideH - p.PadTop,
                                             released, height);
    for (int64_t ox = 0; ox < p.OutWidth; ox += pixels) {
      int64_t lastColumn =
          std::clamp<int64_t>((ox + pixels - 1) * p.StrideW - p.PadLeft +
                                  (p.KernelW - 1) * p.DilationW,
                              0, width - 1);
      int64_t need = (lastRow - released) * rowBeats +
                     (q > 1 ? lastColumn / q + 1 : (lastColumn + 1) * words);
      Phase first{1, {need}, {0}, {1}}, rest{beats - 1, {0}, {0}, {1}};
      bool endOfRow = ox + pixels >= p.OutWidth;
      if (beats > 1)
        read.phases.push_back(first);
      if (endOfRow) {
        Phase last = beats > 1 ? rest : first;
        last.repeat = 1;
        last.consume[0] = (keep - released) * rowBeats;
        if (--rest.repeat > 0)
          read.phases.push_back(rest);
        read.phases.push_back(last);
      } else {
        read.phases.push_back(beats > 1 ? rest : first);
      }
    }
    released = keep;
  }
  network.processes.push_back(std::move(read));
}

bool WindowUnit::sample(Sampler &s, llvm::StringRef name) const {
  bool parallel = name == kind().characterized[1];
  s.begin(kind().name);
  int64_t kernel = s.any({1, 2, 3, 3, 5}), stride = s.any({1, 1, 2});
  if (parallel)
    kernel = s.any({2, 3, 3, 5});
  bool vector = !parallel && s.draw(0, 3) == 0; // a dense layer
  int64_t size = vector ? 1 : s.any({4, 8, 12, 14, 28, 32});
  if (vector)
    kernel = stride = 1;
  kernel = std::min(kernel, size);
  int64_t pad = kernel > 1 && s.draw(0, 1) ? (kernel - 1) / 2 : 0;
  int64_t channels = vector ? s.any({16, 32, 64, 128, 400, 784})
                            : s.any({1, 3, 4, 6, 8, 12, 16});
  int64_t lanes = channels;
  for (int64_t k = s.any({1, 1, 2, 4}); k > 1; --k)
    if (channels % k == 0) {
      lanes = channels / k;
      break;
    }
  if (vector)
    lanes = s.any({1, 2, 4, 8});
  int64_t most = parallel ? 6 : 16;
  while (lanes > most)
    lanes = (lanes + 1) / 2;
  int64_t words = (channels + lanes - 1) / lanes;
  int64_t out = (size + 2 * pad - kernel) / stride + 1;
  bool lanewise = s.draw(0, 2) == 0;
  int64_t pixels = parallel && words == 1 && out >= 4 ? s.any({1, 1, 2, 4}) : 1;
  int64_t span = std::min(kernel, size);
  s.actor.params = {
      {"Elem", s.any({1, 2, 4, 7, 8, 8})},
      {"Channels", channels},
      {"Height", size},
      {"Width", size},
      {"KernelH", kernel},
      {"KernelW", kernel},
      {"StrideH", stride},
      {"StrideW", stride},
      {"DilationH", 1},
      {"DilationW", 1},
      {"PadTop", pad},
      {"PadLeft", pad},
      {"OutHeight", out},
      {"OutWidth", out},
      {"PadValue", 0},
      {"Lanes", lanes},
      {"Groups", lanewise ? words : 1},
      {"Repeat", lanewise || pixels > 1 ? 1 : s.any({1, 2, 4, 10})},
      {"KernelParallel", parallel},
      {"PixelsIn", pixels > 1 ? s.any({1, pixels}) : 1},
      {"PixelsOut", pixels},
      {"Rows", std::max(2 * span, span + stride)}};
  return true;
}
} // namespace

std::unique_ptr<UnitModel> makeWindowUnit() {
  return std::make_unique<WindowUnit>();
}

Actor windowOf(llvm::StringRef kind, const osa::Window &w, int64_t width,
               int64_t padValue, int64_t lanes, int64_t repeat) {
  Actor a(kind, "window");
  a.params = {{"Elem", width},
              {"Channels", w.channels},
              {"Height", w.height},
              {"Width", w.width},
              {"KernelH", w.kernelH},
              {"KernelW", w.kernelW},
              {"StrideH", w.strideH},
              {"StrideW", w.strideW},
              {"DilationH", w.dilationH},
              {"DilationW", w.dilationW},
              {"PadTop", w.padTop},
              {"PadLeft", w.padLeft},
              {"OutHeight", w.outHeight},
              {"OutWidth", w.outWidth},
              {"PadValue", padValue},
              {"Lanes", lanes},
              {"Repeat", repeat}};
  return a;
}

Actor makeWindow(const osa::Window &w, int64_t width, int64_t padValue,
                 const WindowReading &r) {
  Actor a =
      windowOf(unit::Window::kKind, w, width, padValue, r.lanes, r.repeat);
  a.params = {
      {"Groups", r.groups},
      {"KernelParallel", r.parallel},
      {"PixelsIn", r.pixelsIn},
      {"PixelsOut", r.pixelsOut},
      // Twice the span: the rows of the next frame's first window fill up
      // while the last window of this one is read, so frames follow each
      // other without a bubble.
      {"Rows", std::max(2 * w.spanH(), w.spanH() + w.strideH)},
  };
  return a;
}

int64_t pixelsInFor(const osa::Window &w, int64_t cycles) {
  int64_t q = 1;
  while (q < w.width && w.height * ((w.width + q - 1) / q) > cycles)
    q *= 2;
  return q;
}

} // namespace rhizome::gen
