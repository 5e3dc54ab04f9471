// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each library cell costs: one structural formula per cell, whose terms
// are the cell's structure (memories, multipliers, adders, multiplexers,
// registers).
#include "rhizome/Generator/Actor.h"
#include <algorithm>
#include <cmath>
#include <numeric>

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

/// LUTs that choose one of n, per bit, in a device of LUT4s.
double chooseLuts(int64_t n) { return std::ceil(double(n - 1) * 2 / 3); }

/// A memory that is written at run time, where no LUT is one. The tool takes
/// registers up to 64 bits a block; blocks read old data while they write, for
/// which it adds a bypass.
Resources memoryOfBlocks(int64_t depth, int64_t width, const CostContext &ctx) {
  Resources r;
  int64_t blocks = blocksFor(depth, width, ctx);
  if (depth * width <= 64 * blocks) {
    r.ff() = double(depth * width);
    r.lut() = double(width) * chooseLuts(depth) + double(depth);
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

/// A memory with initial contents that is only read.
Resources rom(int64_t depth, int64_t width, const CostContext &ctx) {
  Resources r;
  if (depth <= 1)
    return r;
  if (isPlain(ctx)) {
    // The tool takes LUTs up to 1,024 bits a block.
    int64_t blocks = blocksFor(depth, width, ctx);
    r.ff() = 2.0 * double(width);
    if (depth * width > 1024 * blocks)
      r.bram() = double(blocks);
    else
      r.lut() = double(width * (2 * ceilDiv(depth, 16) - 1));
    return r;
  }
  double luts = double(width) * std::max<int64_t>(1, ceilDiv(depth, 64)) * 0.9;
  Resources block =
      memory(std::max<int64_t>(depth, ctx.lutramDepth + 1), width, ctx);
  r.ff() = double(width);
  // The tool takes block RAM from some depth on.
  if (depth > 256 || (depth > 64 && luts > 100 * block.bram())) {
    r.bram() = block.bram();
    return r;
  }
  r.lut() = std::ceil(luts);
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

/// DSPs that one product of signed a × b bits takes. Wider operands are cut
/// into pieces, of which all but the top one lose a bit to the sign.
double dspProduct(int64_t a, int64_t b, const CostContext &ctx) {
  auto pieces = [](int64_t bits, int64_t port) {
    return bits <= port ? 1 : ceilDiv(bits - 1, port - 1);
  };
  return double(std::min(pieces(a, ctx.dspWide) * pieces(b, ctx.dspNarrow),
                         pieces(b, ctx.dspWide) * pieces(a, ctx.dspNarrow)));
}

/// `count` products of signed a × b bits that are left to the tool: DSPs, or
/// LUTs where the device has none.
void addProducts(Resources &r, double count, int64_t a, int64_t b,
                 const CostContext &ctx) {
  if (ctx.hasDsp)
    r.dsp() += count * dspProduct(a, b, ctx);
  else
    r.lut() += count * lutProduct(a, b, ctx);
}

Resources windowCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  int64_t elem = a.get("Elem"), lanes = a.get("Lanes");
  int64_t words = ceilDiv(a.get("Channels"), lanes), rows = a.get("Rows");
  int64_t word = lanes * elem;
  double control =
      60 + 8 * log2Up(a.get("Height") + 1) + 8 * log2Up(a.get("Width") + 1);
  if (!a.get("KernelParallel")) {
    r = memory(rows * a.get("Width") * words, word, ctx);
    r.ff() += 2.0 * word;
    r.lut() += a.get("PadTop") || a.get("PadLeft") ? 0.5 * word : 0;
  } else {
    int64_t span = (a.get("PixelsOut") - 1) * a.get("StrideW") +
                   (a.get("KernelW") - 1) * a.get("DilationW") + 1;
    int64_t need = std::max(span, a.get("PixelsIn")), banks = 1;
    while (banks < need)
      banks *= 2;
    Resources bank = memory(ceilDiv(a.get("Width"), banks) * words, word, ctx);
    for (double &amount : bank.amount)
      amount *= double(rows * banks);
    r = bank;
    int64_t bits = a.get("KernelH") * span * word;
    auto mux = [](int64_t n) { return std::ceil((n - 1) / 3.0); };
    r.lut() += double(bits) * (mux(rows) + mux(banks));
    r.ff() += double(bits) * 2 +
              double(rows * span * word); // row, rotate, memory outputs
  }
  r.lut() += isPlain(ctx) ? 2.2 * control : control;
  r.ff() += control;
  int64_t out =
      a.get("KernelParallel")
          ? a.get("PixelsOut") * a.get("KernelH") * a.get("KernelW") * word
          : word;
  r += outbuf(a.get("Depth"), out, ctx);
  return r;
}

Resources matvecCost(const Actor &a, const CostContext &ctx) {
  Resources r;
  int64_t pixels = a.get("Pixels"), pe = a.get("Pe"), simd = a.get("Simd");
  int64_t x = a.get("XWidth"), w = a.get("WWidth"), acc = a.get("AccWidth");
  int64_t folds = a.get("Folds"), outFolds = a.get("OutFolds");
  r += rom(folds * outFolds, pe * simd * w, ctx);
  if (a.get("Bias"))
    r += rom(outFolds, pe * acc, ctx);
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
              dspProduct(w, x + (a.get("XSigned") ? 0 : 1), ctx);
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
  if (a.get("Op") == 0) {
    int64_t w = a.get("WWidth");
    r += rom(a.get("Folds") * a.get("OutFolds"),
             a.get("Lanes") * a.get("Taps") * w, ctx);
    if (a.get("Bias"))
      r += rom(a.get("OutFolds"), a.get("Lanes") * acc, ctx);
    if (a.get("Style") >= 1)
      r.dsp() =
          lanes * taps * dspProduct(w, x + (a.get("XSigned") ? 0 : 1), ctx);
    else
      r.lut() += lanes * taps * lutProduct(w, x, ctx);
    r.lut() += lanes * (taps - 1) * double(w + x + 1);
    r.ff() += lanes * taps * double(w + x);
  } else {
    double step = a.get("Op") == 1 ? 1.5 * double(x) : double(x + 2);
    r.lut() += lanes * (taps - 1) * step;
    r.ff() += lanes * taps * double(x);
    if (a.get("Positions") > 0) {
      r += rom(a.get("Positions"), a.get("Pixels") * a.get("ScaleWidth"), ctx);
      addProducts(r, lanes, a.get("ScaleWidth") + 1, acc, ctx);
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
  r += rom(a.get("OutFolds"), a.get("Lanes") * (mul + offset), ctx);
  if (mul > 0)
    addProducts(r, lanes, mul, in + (a.get("InSigned") ? 0 : 1), ctx);
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
    r += rom(a.get("OutFolds"), a.get("Lanes") * count * in, ctx);
    r.lut() += lanes * double(count) * double(in) * 0.5 + lanes * 2;
    r.ff() += lanes * double(in) * 2;
  } else {
    int64_t stages = int64_t(log2Up(count + 1));
    for (int64_t s = 0; s < stages; ++s) {
      Resources stage = rom(a.get("OutFolds") << s, in, ctx);
      for (size_t i = 0; i < stage.amount.size(); ++i)
        r.amount[i] += stage.amount[i] * lanes;
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
    r = rom(a.get("OutFolds") * a.get("Entries"), a.get("OutWidth"), ctx);
    for (double &amount : r.amount)
      amount *= double(a.get("Lanes"));
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
    r += rom(a.get("Elements"), int64_t(log2Up(a.get("Elements"))), ctx);
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
