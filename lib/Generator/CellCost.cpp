// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each library cell costs: one structural formula per cell, whose terms
// are the cell's structure (memories, multipliers, adders, multiplexers,
// registers).
#include "rhizome/Generator/Actor.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace rhizome::gen {
namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
double log2Up(int64_t n) {
  return n <= 1 ? 0 : std::ceil(std::log2(double(n)));
}

/// A fabric of LUT4s of which none is a memory (iCE40).
bool isPlain(const CostContext &ctx) { return ctx.lutramDepth == 0; }

/// Block RAMs of one memory, in the port's best width.
int64_t blocksFor(int64_t depth, int64_t width, const CostContext &ctx) {
  int64_t port = ctx.bramPort;
  int64_t blocks = ceilDiv(width, port) * ceilDiv(depth * port, ctx.bramBits);
  for (port = ctx.bramPort / 2; port >= 1; port /= 2)
    blocks = std::min(blocks, ceilDiv(width, port) *
                                  ceilDiv(depth * port, ctx.bramBits));
  return blocks;
}

/// A memory that is written at run time, where no LUT is one. The tool takes
/// registers up to some 96 bits a block; blocks read old data while they write,
/// for which it adds a bypass.
Resources memoryOfBlocks(int64_t depth, int64_t width, const CostContext &ctx) {
  Resources r;
  int64_t blocks = blocksFor(depth, width, ctx);
  if (depth * width <= 96 * blocks) {
    r.ff() = double(depth * width);
    r.lut() =
        double(width) * std::ceil(double(depth - 1) * 2 / 3) + double(depth);
    return r;
  }
  r.bram() = double(blocks);
  r.ff() = double(width) + 2 * log2Up(depth);
  r.lut() = double(width) + log2Up(depth);
  return r;
}

/// A memory that is written at run time.
Resources memory(int64_t depth, int64_t width, const CostContext &ctx) {
  Resources r;
  if (isPlain(ctx))
    return memoryOfBlocks(depth, width, ctx);
  if (depth <= ctx.lutramDepth) {
    // 32 places of 6 bits in 4 LUTs, 64 places of 3 bits.
    double luts = depth <= 32 ? width * 4.0 / 6 : width * 4.0 / 3;
    r.lut() = r.lutram() = std::ceil(luts);
    return r;
  }
  int64_t blocks = blocksFor(depth, width, ctx);
  r.bram() = double(blocks);
  // Half a block where one of half the size does.
  if (blocks == 1 && depth * width <= ctx.bramBits / 2)
    r.bram() = 0.5;
  return r;
}

/// LUTs of a read-only memory that lies in logic.
double romLuts(int64_t words, int64_t width, const CostContext &ctx) {
  int64_t leaf = ctx.lutInputs >= 6 ? 64 : 16;
  // Without wide multiplexers, LUTs also choose between the leaves.
  if (isPlain(ctx))
    return double(width * (2 * ceilDiv(words, leaf) - 1));
  return double(width) * double(std::max<int64_t>(1, ceilDiv(words, leaf))) *
         0.9;
}

/// Block RAM of a read-only memory.
double romBlocks(int64_t words, int64_t width, const CostContext &ctx) {
  if (isPlain(ctx))
    return double(blocksFor(words, width, ctx));
  return memory(std::max<int64_t>(words, ctx.lutramDepth + 1), width, ctx)
      .bram();
}

/// The actor's read-only memories, where they have been placed.
Resources romsCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  for (const RomUse &rom : romsOf(a)) {
    if (rom.words <= 1)
      continue;
    r.ff() += double(rom.copies * rom.width);
    if (a.get(rom.placedBy))
      r.bram() += double(rom.copies) * romBlocks(rom.words, rom.width, ctx);
    else
      r.lut() += double(rom.copies) * romLuts(rom.words, rom.width, ctx);
  }
  return r;
}

/// The output buffer: a credit counter and the store.
Resources outbuf(int64_t depth, int64_t width, const CostContext &ctx) {
  Resources r;
  if (depth <= 2) {
    r.ff() = 2.0 * width;
    r.lut() = double(width);
  } else {
    r = memory(depth, width, ctx);
  }
  double counter = log2Up(depth + 1);
  // Without LUTRAM the read address is compared with the written one, too.
  r.lut() += (isPlain(ctx) && depth > 4 ? 12 : 3) * counter + 4;
  r.ff() += 3 * counter + 1;
  if (depth > std::max<int64_t>(ctx.lutramDepth, 64))
    r.ff() += 2.0 * width;
  return r;
}

/// One product of w × x bits in LUTs.
double lutProduct(int64_t w, int64_t x, const CostContext &ctx) {
  if (w <= 1 || x <= 1)
    return double(std::max(w, x));
  // Gates in front of a carry chain take LUTs of their own.
  if (isPlain(ctx))
    return 2.8 * double(w * x);
  if (w <= 2 || x <= 2)
    return 1.0 * (std::max(w, x) + 2);
  return 1.25 * w * x + (w > 6 && x > 6 ? 36 : 0);
}

/// How rhz_window_parallel stores a frame; the same arithmetic as in the cell.
struct ColumnStore {
  int64_t over = 0;     ///< rows by which the last window overruns the frame
  int64_t slots = 1;    ///< stored rows that may lie in memory at once
  int64_t wordRows = 1; ///< rows in a word
  int64_t banks = 1, span = 1, columns = 1;
  int64_t rowWords = 1; ///< words of a bank that a stored row takes
  int64_t rowBeats = 1; ///< input beats of a row

  explicit ColumnStore(const Actor &a) {
    int64_t height = a.get("Height"), width = a.get("Width");
    int64_t extent = (a.get("KernelH") - 1) * a.get("DilationH") + 1;
    int64_t rows = a.get("Rows"), outHeight = a.get("OutHeight");
    int64_t words = ceilDiv(a.get("Channels"), a.get("Lanes"));
    auto low = [&](int64_t oy) {
      return oy * a.get("StrideH") - a.get("PadTop") + extent - 1;
    };
    auto stored = [&](int64_t oy) {
      return std::clamp<int64_t>(low(oy), 0, height - 1);
    };
    over = std::max<int64_t>(0, low(outHeight - 1) - (height - 1));
    wordRows = (extent - 1) / (over > 0 ? 1 : a.get("DilationH")) + 1;
    span = (a.get("PixelsOut") - 1) * a.get("StrideW") +
           (a.get("KernelW") - 1) * a.get("DilationW") + 1;
    columns = std::min(span, a.get("PixelsOut") * a.get("KernelW"));
    while (banks < std::max(span, a.get("PixelsIn")))
      banks *= 2;
    rowWords = ceilDiv(width, banks) * words;
    rowBeats = ceilDiv(width, a.get("PixelsIn")) * words;

    std::vector<char> isStored(height);
    for (int64_t oy = 0; oy < outHeight; ++oy)
      isStored[stored(oy)] = 1;
    int64_t reach = 0, live = 0;
    for (int64_t oy = 0; oy < outHeight; ++oy) {
      int64_t oldest = std::clamp<int64_t>(
          oy * a.get("StrideH") - a.get("PadTop"), 0, height);
      for (; reach < oldest + rows; ++reach)
        live += isStored[reach % height];
      slots = std::max(slots, live);
      if (oy + 1 == outHeight || stored(oy) != stored(oy + 1))
        --live;
    }
  }
};

/// A multiplexer of n choices, per bit.
double muxLuts(int64_t n, const CostContext &ctx) {
  return std::ceil(double(n - 1) / (ctx.lutInputs >= 6 ? 3.0 : 1.0));
}

Resources windowCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  int64_t elem = a.get("Elem"), lanes = a.get("Lanes");
  int64_t words = ceilDiv(a.get("Channels"), lanes), rows = a.get("Rows");
  int64_t word = lanes * elem, out = word;
  double control =
      60 + 8 * log2Up(a.get("Height") + 1) + 8 * log2Up(a.get("Width") + 1);
  if (!a.get("KernelParallel")) {
    r = memory(rows * a.get("Width") * words, word, ctx);
    r.ff() += 2.0 * word;
    r.lut() += a.get("PadTop") || a.get("PadLeft") ? 0.5 * word : 0;
  } else {
    ColumnStore store(a);
    int64_t kernelH = a.get("KernelH"), depth = store.slots * store.rowWords;
    int64_t column = store.wordRows * word;
    int64_t newest = a.get("PixelsIn") * word;
    int64_t above = (kernelH - 1) * a.get("DilationH") * newest;
    for (int64_t b = 0; b < store.banks; ++b)
      r += memory(depth, column, ctx);
    if (store.rowBeats > 1 && above > 0)
      r += memory(store.rowBeats, above, ctx);
    // Registers: the input, the rows above it, what the banks read, the
    // window.
    out = kernelH * store.columns * word;
    r.ff() += double(newest + above + store.banks * column + out);
    // Rows of windows that overrun the frame, then the columns: the shifted
    // ones choose between two, the new ones between the reachable banks.
    if (store.over > 0) {
      r.ff() += double(kernelH * store.banks * word);
      r.lut() +=
          double(kernelH * store.banks * word) * muxLuts(store.over + 1, ctx);
    }
    int64_t step = a.get("PixelsOut") * a.get("StrideW");
    int64_t offsets = store.banks / std::gcd(store.banks, step % store.banks);
    bool shifts = store.columns == store.span && words == 1;
    int64_t shifted = shifts ? std::max<int64_t>(0, store.span - step) : 0;
    r.lut() += double(shifted * kernelH * word);
    r.lut() += double((store.columns - shifted) * kernelH * word) *
               muxLuts(offsets + 1, ctx);
    control += 40;
  }
  r.lut() += isPlain(ctx) ? 2.2 * control : control;
  // Needs and limits are walked ahead.
  r.ff() += control + 45;
  r += outbuf(a.get("Depth"), out, ctx);
  return r;
}

Resources matvecCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  int64_t pixels = a.get("Pixels"), pe = a.get("Pe"), simd = a.get("Simd");
  int64_t x = a.get("XWidth"), w = a.get("WWidth"), acc = a.get("AccWidth");
  int64_t folds = a.get("Folds"), outFolds = a.get("OutFolds");
  r += romsCost(a, ctx);
  double dots = double(pixels * pe), product = double(w + x);
  double tree = 0, treeFf = 0; // adder tree of one dot product
  int64_t n = simd;
  double width = product;
  if (a.get("Style") == 2) {
    int64_t packed = std::min<int64_t>(simd, a.get("XSigned") ? 7 : 4);
    n = ceilDiv(simd, packed);
    width += log2Up(packed);
    r.dsp() = std::ceil(dots / 2) * double(simd);
    // Skew registers of the cascade become shift-register LUTs.
    r.lut() += double(pixels * simd * x) * 0.5;
    r.ff() += double(pixels * simd * x);
    r.lut() += dots * double(n) * 2; // correction of the high field
  } else if (a.get("Style") == 1) {
    r.dsp() = dots * double(simd) *
              double(dspTiles(w, x + (a.get("XSigned") ? 0 : 1), ctx));
    r.ff() += double(pixels * simd * x);
  } else {
    r.lut() += dots * double(simd) * lutProduct(w, x, ctx);
    r.ff() += dots * double(simd) * product + double(pixels * simd * x);
  }
  for (; n > 1; n = ceilDiv(n, 2)) {
    width += 1;
    tree += double(n / 2) * width;
    treeFf += double(ceilDiv(n, 2)) * width;
  }
  r.lut() += dots * (tree + (folds > 1 ? double(acc) : 0));
  r.ff() += dots * (treeFf + 2.0 * double(acc));
  r.lut() += 20 + 2 * log2Up(folds * outFolds + 1);
  r.ff() += 20 + 2 * log2Up(folds * outFolds + 1);
  r += outbuf(a.get("Depth"), pixels * pe * acc, ctx);
  return r;
}

Resources laneReduceCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  double lanes = double(a.get("Pixels") * a.get("Lanes"));
  double taps = double(a.get("Taps"));
  int64_t x = a.get("XWidth"), acc = a.get("AccWidth");
  r += romsCost(a, ctx);
  if (a.get("Op") == 0) {
    int64_t w = a.get("WWidth");
    if (a.get("Style") >= 1)
      r.dsp() = lanes * taps *
                double(dspTiles(w, x + (a.get("XSigned") ? 0 : 1), ctx));
    else
      r.lut() += lanes * taps * lutProduct(w, x, ctx);
    r.lut() += lanes * (taps - 1) * double(w + x + 1);
    r.ff() += lanes * taps * double(w + x);
  } else {
    double step = a.get("Op") == 1 ? 1.5 * double(x) : double(x + 2);
    r.lut() += lanes * (taps - 1) * step;
    r.ff() += lanes * taps * double(x);
    if (a.get("Positions") > 0) {
      if (ctx.dspWide > 0)
        r.dsp() += lanes * double(dspTiles(a.get("ScaleWidth") + 1, acc, ctx));
      else
        r.lut() += lanes * lutProduct(a.get("ScaleWidth"), acc, ctx);
    }
  }
  r.lut() += lanes * double(acc) + 24;
  r.ff() += lanes * double(acc) * 4 + 24;
  r += outbuf(a.get("Depth"), int64_t(lanes) * acc, ctx);
  return r;
}

Resources requantCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  double lanes = double(a.get("Lanes"));
  int64_t in = a.get("InWidth"), mul = a.get("MulWidth");
  int64_t offset = a.get("OffsetWidth"), out = a.get("OutWidth");
  r += romsCost(a, ctx);
  int64_t split = a.get("Split"), x = in + (a.get("InSigned") ? 0 : 1);
  auto product = [&](int64_t bits, int64_t style) {
    if (style)
      r.dsp() += lanes * double(dspTiles(bits, x, ctx));
    else
      r.lut() += lanes * lutProduct(bits, x, ctx);
  };
  if (mul > 0)
    product(mul - split, a.get("Style"));
  if (split > 0) {
    product(split + 1, a.get("SplitStyle"));
    r.lut() += lanes * double(in + mul - split);
    r.ff() += lanes * double(2 * in + mul);
  }
  r.lut() += lanes * (double(std::max(in + mul, offset)) + 1.5 * out);
  r.ff() += lanes * (2.0 * in + 2.0 * double(in + mul) + out);
  r.lut() += 16;
  r.ff() += 24;
  r += outbuf(a.get("Depth"), a.get("Lanes") * out, ctx);
  return r;
}

Resources thresholdCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  int64_t count = a.get("Count"), in = a.get("InWidth") + 1;
  double lanes = double(a.get("Lanes"));
  if (count <= 3) {
    r += romsCost(a, ctx);
    r.lut() += lanes * double(count) * double(in) * 0.5 + lanes * 2;
    r.ff() += lanes * double(in) * 2;
  } else {
    int64_t stages = int64_t(log2Up(count + 1));
    for (int64_t s = 0; s < stages; ++s) {
      r.lut() += lanes * romLuts(a.get("OutFolds") << s, in, ctx);
      r.ff() += lanes * double(in);
      r.lut() += lanes * double(in) * 0.5;
      r.ff() += lanes * 2.0 * double(in);
    }
  }
  r.lut() += 16;
  r.ff() += 16;
  r += outbuf(a.get("Depth"), a.get("Lanes") * a.get("OutWidth"), ctx);
  return r;
}

Resources gearboxCost(int64_t elem, int64_t lanesIn, int64_t lanesOut,
                      int64_t rowIn, int64_t rowOut, int64_t depth,
                      const CostContext &ctx) {
  Resources r;
  int64_t unit = std::gcd(std::gcd(lanesIn, lanesOut), std::gcd(rowIn, rowOut));
  int64_t store = lanesIn + lanesOut + std::max(lanesIn, lanesOut);
  double positions = double(store) / double(unit);
  r.ff() = double(store * elem);
  // Every unit chooses between staying, shifting and every input position.
  r.lut() = double(store * elem) *
            (1 + std::ceil(std::log2(std::max(positions, 2.0)) / 2));
  r.lut() += 20;
  r.ff() += 16 + double(lanesOut * elem);
  r += outbuf(depth, lanesOut * elem, ctx);
  return r;
}
} // namespace

int64_t productsOf(const Actor &a) {
  if (a.cell == "matvec")
    return a.get("Pixels") * a.get("Pe") * a.get("Simd");
  if (a.cell == "lane_reduce" && a.get("Op") == 0)
    return a.get("Pixels") * a.get("Lanes") * a.get("Taps");
  return 0;
}

// Wider operands are cut into pieces, of which all but the top one lose a bit
// to the sign.
int64_t dspTiles(int64_t a, int64_t b, const CostContext &ctx) {
  auto pieces = [](int64_t bits, int64_t port) {
    return bits <= port ? 1 : ceilDiv(bits - 1, port - 1);
  };
  return std::min(pieces(a, ctx.dspWide) * pieces(b, ctx.dspNarrow),
                  pieces(b, ctx.dspWide) * pieces(a, ctx.dspNarrow));
}

std::vector<RomUse> romsOf(const Actor &a) {
  std::vector<RomUse> roms;
  const std::string &cell = a.cell;
  if (cell == "matvec" || (cell == "lane_reduce" && a.get("Op") == 0)) {
    int64_t outputs = cell == "matvec" ? a.get("Pe") : a.get("Lanes");
    int64_t inputs = cell == "matvec" ? a.get("Simd") : a.get("Taps");
    roms.push_back({"Block", a.get("Folds") * a.get("OutFolds"),
                    outputs * inputs * a.get("WWidth"), 1});
    if (a.get("Bias"))
      roms.push_back(
          {"BiasBlock", a.get("OutFolds"), outputs * a.get("AccWidth"), 1});
  } else if (cell == "lane_reduce" && a.get("Positions") > 0) {
    roms.push_back({"Block", a.get("Positions"),
                    a.get("Pixels") * a.get("ScaleWidth"), 1});
  } else if (cell == "requant") {
    roms.push_back({"Block", a.get("OutFolds"),
                    a.get("Lanes") * (a.get("MulWidth") + a.get("OffsetWidth")),
                    1});
  } else if (cell == "threshold" && a.get("Count") <= 3) {
    roms.push_back({"Block", a.get("OutFolds"),
                    a.get("Lanes") * a.get("Count") * (a.get("InWidth") + 1),
                    1});
  } else if (cell == "table") {
    roms.push_back({"Block",
                    a.get("OutFolds") * a.get("Lanes") * a.get("Entries"),
                    a.get("OutWidth"), a.get("Lanes")});
  } else if (cell == "reorder") {
    roms.push_back(
        {"Block", a.get("Elements"), int64_t(log2Up(a.get("Elements"))), 1});
  }
  return roms;
}

void placeRoms(Actor &a, const CostContext &ctx) {
  constexpr double kLutsOfABlock = 100;
  for (const RomUse &rom : romsOf(a))
    a.set(rom.placedBy,
          rom.words > 16 &&
              romLuts(rom.words, rom.width, ctx) >
                  kLutsOfABlock * romBlocks(rom.words, rom.width, ctx));
}

Resources costOf(const Actor &a, const CostContext &ctx) {
  const std::string &cell = a.cell;
  Resources r;
  if (cell == "window") {
    r = windowCost(a, ctx);
  } else if (cell == "matvec") {
    r = matvecCost(a, ctx);
  } else if (cell == "lane_reduce") {
    r = laneReduceCost(a, ctx);
  } else if (cell == "requant") {
    r = requantCost(a, ctx);
  } else if (cell == "threshold") {
    r = thresholdCost(a, ctx);
  } else if (cell == "table") {
    r = romsCost(a, ctx);
    r.ff() += double(a.get("Lanes") * (a.get("InWidth") + a.get("OutWidth")));
    r += outbuf(a.get("Depth"), a.get("Lanes") * a.get("OutWidth"), ctx);
  } else if (cell == "scaled_add") {
    auto product = [&](const char *mul, const char *width) {
      int64_t m = std::abs(a.get(mul));
      if ((m & (m - 1)) == 0)
        return 0.0;
      int64_t bits = int64_t(log2Up(m + 1));
      return double(bits * a.get(width)) * 0.5;
    };
    double lanes = double(a.get("Lanes"));
    r.lut() = lanes * (product("MulA", "AWidth") + product("MulB", "BWidth") +
                       double(a.get("OutWidth")));
    r.ff() = lanes * 4.0 * double(a.get("OutWidth"));
    r += outbuf(a.get("Depth"), a.get("Lanes") * a.get("OutWidth"), ctx);
  } else if (cell == "gearbox") {
    r = gearboxCost(a.get("Elem"), a.get("LanesIn"), a.get("LanesOut"),
                    a.get("RowIn"), a.get("RowOut"), a.get("Depth"), ctx);
  } else if (cell == "axis_in" || cell == "axis_out") {
    int64_t unit = std::gcd(a.get("DataWidth"), a.get("Elem"));
    int64_t lanes = a.get("Lanes") * a.get("Elem") / unit;
    int64_t row = a.get("Row") * a.get("Elem") / unit;
    int64_t frame = a.get("FrameElements") * a.get("Elem") / unit;
    int64_t border = a.get("DataWidth") / unit;
    r = cell == "axis_in"
            ? gearboxCost(unit, border, lanes, frame, row, a.get("Depth"), ctx)
            : gearboxCost(unit, lanes, border, row, frame, a.get("Depth"), ctx);
    r.lut() += 30;
    r.ff() += 30;
  } else if (cell == "concat") {
    int64_t width = a.get("Elem") * a.get("Lanes");
    r.lut() = double(width) + 20;
    r.ff() = double(width) + 16;
    r += outbuf(a.get("Depth"), width, ctx);
  } else if (cell == "reorder") {
    r = memory(2 * a.get("Elements"), a.get("Elem"), ctx);
    r += romsCost(a, ctx);
    r.lut() += 40;
    r.ff() += 40;
    r += outbuf(a.get("Depth"), a.get("Elem"), ctx);
  } else if (cell == "fork") {
    for (int64_t i = 0; i < a.get("Outputs"); ++i)
      r += outbuf(a.get("Depth"), a.get("Width"), ctx);
    r.ff() += double(a.get("Width"));
  } else if (cell == "fifo") {
    r = outbuf(a.get("Depth"), a.get("Width"), ctx);
    r.ff() += double(a.get("Width"));
  }
  return r;
}
} // namespace rhizome::gen
