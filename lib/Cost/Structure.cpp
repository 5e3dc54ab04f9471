// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small cells inside all others: counters, buffers,
// memories, multipliers, adder trees.
#include "rhizome/Cost/Structure.h"
#include <bit>
#include <cmath>

namespace rhizome::gen::cost {
namespace {
bool isPower(int64_t n) { return (n & (n - 1)) == 0; }

/// For a product in LUTs: bits that a stage takes (rhz_mul).
constexpr int64_t kRowsAtOnce = 4;

/// Whether the top piece of a wide operand is left to LUTs (dspTiles).
bool leavesRest(int64_t bits, const CostContext &ctx) {
  const int64_t own = ctx.dspNarrow - 1;
  return !ctx.shiftRegisters && bits > own + 1 && (bits - 1) % own == 1;
}
} // namespace

void Builder::counter(int64_t count, bool last) {
  if (count <= 1)
    return;
  int64_t bits = clog2(count);
  ff(double(bits));
  // Two places: the last one's flag is the value.
  if (count > 2 && (last || !isPower(count)))
    ff(1);
  // A counter whose period is a power of two wraps by itself.
  term(Term::Counter, double(bits) * (isPower(count) ? 0.5 : 1));
}

int64_t Builder::countBits(int64_t bits) const {
  // As measured on FIFOs of 4 to 1,024 places on ECP5.
  constexpr int64_t kLongest = 4, kChain = 5;
  return hasShiftRegisters() || bits <= kLongest ? bits : bits + kChain;
}

void Builder::outbuf(int64_t depth, int64_t width, Reader reader) {
  int64_t count = clog2(depth + 1), pointer = clog2(depth);
  // Without readers of the credits, only the other counter is left.
  const int64_t counters = reader.takesCredits ? 2 : 1;
  ff(double(counters * (count + 1)) +
     2.0 * double(pointer + (isPower(depth) ? 0 : 1)));
  term(Term::Buffer,
       double(counters * countBits(count) + 2 * countBits(pointer)));
  if (depth > 64 || reader.isRegister) {
    Memory m = memoryOf(depth, width, ctx, /*registered=*/true);
    addMemory(m, depth, width);
    if (m.blocks > 0 && !hasShiftRegisters())
      collision(depth, width);
    // The prefetch register and its flag, or the reader's register.
    if (m.blocks == 0)
      ff(double(width));
    if (depth > 64) {
      ff(1);
      if (reader.isRegister)
        ff(double(width));
    }
    return;
  }
  // The read pointer also becomes the memory's address register.
  Memory m = memoryOf(depth, width, ctx);
  addMemory(m, depth, width);
  if (m.blocks > 0 && !hasShiftRegisters()) {
    // A read of a word that is being written takes it from a register.
    ff(double(width + 1));
    term(Term::Collision, double(width));
    compare(1, pointer);
  } else {
    ff(double(pointer));
  }
}

void Builder::collision(int64_t words, int64_t width, int64_t banks) {
  // Banks that share the written data also share its registers.
  ff(double((banks > 1 ? 0 : 2 * width) + clog2(words) + 2 * banks));
  term(Term::Collision, double(banks * width));
  compare(1, clog2(words));
}

void Builder::addMemory(const Memory &m, int64_t words, int64_t width) {
  if (m.blocks > 0)
    structure.heldBits += double(words * width);
  structure.exact.lut() += m.luts;
  structure.exact.lutram() += m.luts;
  structure.exact.bram() += m.blocks;
  structure.exact.uram() += m.ultras;
  ff(m.ffs);
  term(Term::MemoryMux, m.choiceLuts + m.enables);
}

void Builder::store(const Store &store, int64_t stages, bool ultra) {
  for (int64_t i = 0; i < store.banks; ++i) {
    if (!ultra) {
      ram(store.words, store.width, stages);
      continue;
    }
    addMemory(placedRam(store.words, store.width, /*ultra=*/true, ctx),
              store.words, store.width);
    ff(double((stages - 1) * store.width));
  }
}

void Builder::ram(int64_t words, int64_t width, int64_t stages, int64_t banks,
                  int64_t together) {
  if (words == 1) {
    ff(double(2 * width * banks));
  } else {
    Memory m = memoryOf(words, width, ctx, true);
    Memory shared = m;
    shared.enables = 0;
    for (int64_t i = 0; i < banks; ++i)
      addMemory(i % together ? shared : m, words, width);
    if (m.blocks == 0)
      ff(double(width * banks));
    else if (!hasShiftRegisters())
      collision(words, width, banks);
  }
  ff(double((stages - 1) * width * banks));
}

const MemoryImage *Builder::image(const char *file) const {
  if (images)
    for (const auto &[key, name] : a.files)
      if (key == file) {
        auto found = images->find(name);
        return found == images->end() ? nullptr : &found->second;
      }
  return nullptr;
}

RomContents Builder::contents(const char *file, int64_t words, int64_t width,
                              double share) const {
  if (const MemoryImage *known = image(file))
    return known->contents(ctx.lutInputs);
  return RomContents::expected(words, double(width) * share, ctx.lutInputs);
}

double Builder::rom(const char *file, const char *placedBy, int64_t words,
                    int64_t width, int64_t stages, int64_t copies,
                    double share) {
  if (words <= 1)
    return 0;
  const bool isBlock = a.get(placedBy);
  const MemoryImage *known = isBlock ? image(file) : nullptr;
  RomContents c = known ? known->contents(/*lutInputs=*/0)
                        : contents(file, words, width, share);
  if (isBlock) {
    for (int64_t i = 0; i < copies; ++i)
      addMemory(romOf(words, int64_t(c.varying), ctx), words,
                int64_t(c.varying));
    delay(double(copies) * c.columns, stages - 1);
  } else {
    term(Term::RomLeaf, double(copies) * c.leaves);
    term(Term::RomMux, double(copies) * c.muxes);
    delay(double(copies) * c.columns, stages);
  }
  return c.columns;
}

void Builder::weightRam(int64_t words, int64_t width, int64_t stages,
                        int64_t load, bool ultra) {
  const int64_t pieces = ceilDiv(width, load);
  // Registers for the word that is passed on, its flag and that of the memory;
  // all pieces of a word except the last one.
  ff(double(load + 2 + (pieces - 1) * load));
  counter(pieces);
  counter(words);
  if (words == 1) {
    ff(double(width * (1 + stages)));
    return;
  }
  addMemory(placedRam(words, width, ultra, ctx), words, width);
  // The data register of an UltraRAM or a block is inside it.
  delay(double(width), stages - 1);
}

LateBits lateBits(const Product &of) {
  const int64_t signedX = of.x + !of.xSigned;
  const int64_t rows = std::min(of.w, signedX);
  if (of.style || ceilDiv(rows, kRowsAtOnce) != 2)
    return {};
  const int64_t late = rows - kRowsAtOnce;
  return signedX < of.w ? LateBits{0, late} : LateBits{late, 0};
}

void Builder::factors(int64_t words, int64_t weights, double lanes,
                      Product &of) {
  constexpr const char *kFile = "WeightFile", *kBlock = "Block";
  const LateBits late = lateBits(of);
  // A sum of few bits reads only so many.
  delay(lanes * double(std::max(std::min(of.x, of.kept) - late.x, int64_t(0))),
        3);
  delay(lanes * double(late.x), 4);
  of.ownsLate = late.x == 0;
  if (a.kind().loadedPort()) {
    weightRam(words, weights * of.w, 2, a.get("Load"), a.get("Ultra"));
    of.masksInLuts = true;
    if (words == 1 && late.w > 0) {
      // Those that wait are in a row with the registers behind the word.
      const double rows = double(weights * late.w);
      of.ownsLate = false;
      ff(-2 * rows);
      delay(rows, 3);
    }
    return;
  }
  if (late.w == 0 || words <= 1 || a.get(kBlock)) {
    rom(kFile, kBlock, words, weights * of.w, 2);
    return;
  }
  of.ownsLate = false;
  RomContents c = contents(kFile, words, weights * of.w, 1);
  const MemoryImage *known = image(kFile);
  double rows =
      known
          ? known->contents(ctx.lutInputs, of.w, of.w - late.w, late.w).columns
          : c.columns * double(late.w) / double(of.w);
  term(Term::RomLeaf, c.leaves);
  term(Term::RomMux, c.muxes);
  delay(c.columns - rows, 2);
  delay(rows, 3);
}

void Builder::arriving(int64_t weights, double lanes, Product &of) {
  const LateBits late = lateBits(of);
  delay(lanes * double(of.x - late.x), 1);
  delay(lanes * double(late.x), 2);
  of.ownsLate = late.x == 0;
  of.masksInLuts = true;
  delay(double(weights * of.w), 1);
}

void Builder::products(double count, const Product &of) {
  const int64_t w = of.w, signedX = of.x + !of.xSigned;
  // Synthesis keeps products of few bits in logic, except for ECP5. Two
  // operands without a sign have no bit for it.
  const int64_t least = hasShiftRegisters() ? 9 : ctx.lutramBits > 0 ? 0 : 11;
  const bool isUnsigned = of.zeros > 0 && !of.xSigned;
  const int64_t narrow =
      isUnsigned ? std::min(w - 1, of.x) : std::min(w, signedX);
  if (of.style && ctx.dspWide > 0 && narrow > 1 &&
      std::min(w - isUnsigned + of.x, of.kept) >= least) {
    // The results of several blocks are added in logic.
    int64_t tiles = dspTiles(w, signedX, ctx);
    dsp(count * double(tiles));
    adder(count * double(tiles - 1), std::max(w, signedX));
    // Two bits of one times the other: rows, their sum, and that with the rest.
    for (auto [bits, other] : {std::pair(w, signedX), std::pair(signedX, w)})
      if (leavesRest(bits, ctx)) {
        adder(count * 2, other + 1);
        term(Term::Product, count * double(other));
      }
    return;
  }
  // If a bit cannot reset the register, it takes one LUT per bit.
  if (isMasked(of)) {
    if (!hasShiftRegisters() || of.masksInLuts)
      term(Term::Product, count * of.share * double(w - of.zeros));
    return;
  }
  if (of.style == 0 && w - of.zeros == 1 && of.zeros > 0) {
    term(Term::Product, count * of.share * double(of.x));
    return;
  }
  // Digits of the operand with fewer signed bits: one carry chain each. A
  // six-input LUT holds a row's bit and its adder; with four-input LUTs, the
  // first row's bits take one and those of the other rows two next to the
  // chain.
  const bool swap = signedX < w;
  const int64_t rows = swap ? signedX : w, across = swap ? w : of.x;
  const bool acrossSigned = swap || of.xSigned;
  const int64_t digits = ceilDiv(rows, 2), groups = ceilDiv(rows, kRowsAtOnce);
  const int64_t width = std::min(of.x + w, of.kept);
  // The bits above a single row only pass carries.
  const bool isSingle = rows == 1 && ctx.lutInputs >= 6;
  const int64_t row = across + (isSingle ? 0 : acrossSigned ? 1 : 2);
  // The bits of the last row above the result.
  const int64_t above =
      std::clamp<int64_t>(2 * (digits - 1) + row - width, 0, row);
  term(Term::Product, count * of.share * double(digits * row - above));
  // A single row of one bit needs none next to it.
  if (ctx.lutInputs < 6 && (digits > 1 || across > 1))
    term(Term::ProductRow, count * of.share *
                               double(row + (digits - 1) * 2 * (row - 1) -
                                      (digits > 1 ? 2 : 1) * above));
  term(Term::Products, count);
  if (groups == 2) {
    // The first stage's sum; operands wait for the second stage.
    ff(count * double(std::min(across + 4, width)));
    double wide = swap ? count / of.perW : count / of.perX;
    double narrow = swap ? count / of.perX : count / of.perW;
    ff(wide * double(across) +
       narrow * double(of.ownsLate ? rows - 3 - of.zeros : 1));
  } else if (groups > 2) {
    int64_t top = rows - kRowsAtOnce * (groups - 1) - of.zeros -
                  (swap && !of.xSigned ? 1 : 0);
    ff(count * double((groups - 1) * (across + 4) + across + top));
    for (int64_t g = 1; g < groups; ++g)
      term(Term::ProductEdge,
           count * double(std::max<int64_t>(0, width - kRowsAtOnce * g)));
  }
}

double Builder::usedShare(const char *file, int64_t words) const {
  const MemoryImage *known = image(file);
  if (!known || known->width == 0)
    return words > 30 ? 1 : 1 - std::exp2(-double(words));
  return double(known->usedColumns(0, known->width)) / double(known->width);
}

void Builder::constantProducts(double count, int64_t w, int64_t x,
                               int64_t kept) {
  // Half of a constant's bits are rows, the sign's row is subtracted; if the
  // other operand is narrower, its bits select the constant.
  if (w <= x)
    adder(count * (double(w) / 2 - 1 + std::exp2(1 - double(w))), w + x);
  else
    adder(count * double(x - 1), w);
  // A register after each group of rows, as for any product.
  int64_t rows = std::min(w, x), across = std::max(w, x);
  for (int64_t first = 0; rows > kRowsAtOnce && first < rows;
       first += kRowsAtOnce)
    ff(count * double(std::min(across + std::min(kRowsAtOnce, rows - first),
                               std::max<int64_t>(0, kept - first))));
}

void Builder::constantProduct(const MemoryImage &image, int64_t at, int64_t w,
                              int64_t x) {
  // Every set bit is a row; bits below the lowest one are constant.
  int64_t lowest = -1, highest = -1, groups = 0;
  const bool isBit = x == 1; // its copies need no adder
  const bool staged = std::min(w, x) > kRowsAtOnce;
  for (int64_t first = 0; first < w; first += kRowsAtOnce) {
    int64_t low = -1, high = -1, rows = 0;
    for (int64_t i = first; i < std::min(w, first + kRowsAtOnce); ++i)
      if (image.zeroColumns(at + i, 1) == 0) {
        low = low < 0 ? i : low;
        high = i;
        ++rows;
      }
    if (rows == 0)
      continue;
    ++groups;
    lowest = lowest < 0 ? low : lowest;
    highest = high;
    if (rows == 1 && high == w - 1 && !isBit)
      constantAdder(1, x + 1); // only a sign: subtract from zero
    else if (!isBit)
      adder(double(rows - 1), x + high - low);
    if (staged)
      ff(double(x + high - low + (rows > 1 ? 1 : 0)));
  }
  if (groups == 0)
    return;
  int64_t width = x + highest - lowest + (highest > lowest ? 1 : 0);
  adder(isBit ? 0 : double(groups - 1), width);
  ff(double(width));
}

void Builder::tree(double count, const std::vector<char> &used, int64_t width,
                   int64_t kept) {
  // A term without a partner, or whose partner is zero, is passed on with its
  // sign repeated: together with the register that it comes from, two such
  // registers form a row.
  struct Place {
    bool isUsed;
    int64_t passed, held, extended;
  };
  auto pass = [&](const Place &p) {
    if (hasShiftRegisters() && p.passed >= 2) {
      ff(-count * double(p.held));
      shift(count * double(p.held));
    } else {
      ff(count * double(p.extended));
    }
  };
  std::vector<Place> places;
  for (char isUsed : used)
    places.push_back({isUsed != 0, 0, std::min(width, kept), 0});
  for (; places.size() > 1; ++width) {
    const int64_t sum = std::min(width + 1, kept);
    std::vector<Place> next;
    for (size_t i = 0; i < places.size(); i += 2) {
      Place a = places[i];
      Place b = i + 1 < places.size() ? places[i + 1] : Place{};
      if (a.isUsed && b.isUsed) {
        pass(a);
        pass(b);
        adder(count, sum);
        ff(count * double(sum));
        next.push_back({true, 0, sum, 0});
      } else {
        Place &only = a.isUsed ? a : b;
        ++only.passed;
        only.extended += std::min(width, kept);
        next.push_back(only);
      }
    }
    places = std::move(next);
  }
  if (!places.empty() && places[0].isUsed)
    pass(places[0]);
}

void Builder::tree(double count, int64_t n, int64_t width, int64_t kept) {
  // As above; all places except the last one are alike, and have passed
  // nothing.
  int64_t passed = 0, held = std::min(width, kept), extended = 0;
  auto pass = [&] {
    if (hasShiftRegisters() && passed >= 2) {
      ff(-count * double(held));
      shift(count * double(held));
    } else {
      ff(count * double(extended));
    }
  };
  for (; n > 1; n = (n + 1) / 2, ++width) {
    const int64_t pairs = n / 2, sum = std::min(width + 1, kept);
    adder(count * double(pairs), sum);
    ff(count * double(pairs * sum));
    if (n % 2) {
      ++passed;
      extended += std::min(width, kept);
      continue;
    }
    pass();
    passed = extended = 0;
    held = sum;
  }
  if (n == 1)
    pass();
}

int64_t choiceLuts(int64_t count, const CostContext &ctx) {
  const int64_t two = std::max<int64_t>(count - 1, 0);
  return ctx.lutInputs >= 6 ? ceilDiv(two, 3) : two / 3 * 2 + two % 3;
}

double wordChoiceLuts(int64_t count, const CostContext &ctx) {
  int64_t luts = 0;
  for (int64_t left = count; left > 1; left = ceilDiv(left, 4))
    luts += left / 4 * choiceLuts(4, ctx) + choiceLuts(left % 4, ctx);
  return double(luts) * (count > 16 ? 7.0 / 6 : 1.0);
}

void Builder::mux(double bits, int64_t choices) {
  term(Term::Mux, bits * double(choiceLuts(choices, ctx)));
}

void Builder::wordMux(double bits, int64_t words) {
  term(Term::Mux, bits * wordChoiceLuts(words, ctx));
}

void Builder::adder(double count, int64_t bits) {
  term(Term::Adder, count * double(bits));
}

void Builder::compare(double count, int64_t bits) {
  term(Term::Compare, count * double(bits));
}

/// The weight of a block in the memory mapper; iCE40's are small, and cost as
/// little.
static double blockCost(const CostContext &ctx) {
  return ctx.shiftRegisters ? 258 : ctx.lutramBits > 0 ? 128 : 80;
}

/// Number of words, a power of two, of a memory with this many bits.
static int64_t deepest(int64_t bits, int64_t port) {
  return int64_t(std::bit_floor(uint64_t(std::max<int64_t>(1, bits / port))));
}

/// In block RAM of the shape that the memory mapper finds cheapest. The parts
/// of a deep memory are next to each other in wide rows, written ones
/// in bytes of nine bits, and are selected by multiplexers.
static Memory blocksOf(int64_t words, int64_t width, const CostContext &ctx,
                       bool isWritten) {
  constexpr double kChoice = 0.5; // per bit
  Memory best;
  double bestCost = 1e30;
  for (int half = ctx.halfBlocks ? 1 : 0; half >= 0; --half)
    for (int64_t port = ctx.bramPort >> half; port >= 1;
         port = port == 9 ? 4 : port / 2) {
      int64_t deep = deepest(ctx.bramBits >> half, port);
      int64_t parts = ceilDiv(words, deep);
      int64_t byte = isWritten ? (port % 9 == 0 ? 9 : port) : 1;
      Memory m;
      m.blocks = double(ceilDiv(ceilDiv(width, byte) * byte * parts, port)) /
                 (half ? 2 : 1);
      m.muxBits = double(width * (parts - 1));
      m.choiceLuts = double(width * choiceLuts(parts, ctx));
      m.ffs = double(clog2(parts));
      double cost = blockCost(ctx) * m.blocks + kChoice * m.muxBits;
      if (cost < bestCost) {
        bestCost = cost;
        best = m;
      }
      // Where a shape is deep enough, narrower ones take no fewer blocks; the
      // widest one of half a block then takes no more than a whole one.
      if (parts == 1 && port == ctx.bramPort >> half)
        return best;
      if (parts == 1)
        break;
    }
  return best;
}

/// What the memory mapper adds for the logic that emulates a read as the
/// design has it: twice the number of what it has to emulate.
namespace {
struct Emulation {
  double lutram, block;
};
} // namespace
static Emulation emulationOf(const CostContext &ctx, bool registered) {
  // The read address in a register: a word that is being written passes by.
  if (ctx.lutramBits == 0)
    return {8, registered ? 3.0 : 8.0};
  if (!registered)
    return {8, 8};
  // The data in one: LUTs have none, and except on AMD, blocks do not read the
  // old word while a new one is written.
  return {2, ctx.shiftRegisters ? 2.0 : 14.0};
}

Memory memoryOf(int64_t words, int64_t width, const CostContext &ctx,
                bool registered) {
  // Costs as weighed by the memory mapper, which counts a bit in logic as 1.
  constexpr double kBank = 0.5; // for each bank that is selected
  const Emulation emulation = emulationOf(ctx, registered);
  Memory best;
  double bestCost = double(words * width);
  best.ffs = bestCost;
  best.choiceLuts = double(width * choiceLuts(words, ctx));
  best.enables = double(words);
  auto offer = [&](double cost, Memory m) {
    if (cost < bestCost) {
      // The mapper keeps the best cost without its fraction.
      bestCost = std::floor(cost);
      best = m;
    }
  };
  auto selection = [&](const Memory &m, int64_t banks) {
    return kBank * (m.muxBits + (banks > 1 ? double(banks) : 0));
  };
  if (ctx.shiftRegisters) {
    for (int64_t deep : {32, 64}) {
      // LUTs and bits of a primitive: RAM32M16 and RAM64M8, or RAM32M, RAM64M.
      int64_t luts = ctx.lutramBits >= 14 ? 8 : 4;
      int64_t wide = ctx.lutramBits * 32 / deep;
      int64_t banks = ceilDiv(words, deep);
      Memory m;
      m.luts = double(luts * ceilDiv(width, wide) * banks);
      m.muxBits = double(width * (banks - 1));
      m.choiceLuts = double(width * choiceLuts(banks, ctx));
      offer(double(2 * luts) * double(width) / double(wide) * double(banks) +
                selection(m, banks) + emulation.lutram,
            m);
    }
  } else if (ctx.lutramBits > 0) {
    int64_t banks = ceilDiv(words, 16);
    Memory m;
    // Four LUTs of memory, and two that its write port blocks.
    m.luts = double(6 * ceilDiv(width, 4) * banks);
    m.muxBits = double(width * (banks - 1));
    m.choiceLuts = double(width * choiceLuts(banks, ctx));
    offer(double(4 * ceilDiv(width, 4) * banks) + selection(m, banks) +
              emulation.lutram,
          m);
  }
  Memory block = blocksOf(words, width, ctx, true);
  offer(block.blocks * blockCost(ctx) + 0.5 * block.muxBits + emulation.block,
        block);
  return best;
}

Memory placedRam(int64_t words, int64_t width, bool ultra,
                 const CostContext &ctx) {
  if (!ultra)
    return blocksOf(words, width, ctx, true);
  // The parts of a deep memory are next to each other, each in bytes of 8 or 9
  // bits.
  Memory m;
  int64_t parts = ceilDiv(words, kUltraWords), columns = INT64_MAX;
  for (int64_t byte : {8, 9})
    columns = std::min(
        columns, ceilDiv(ceilDiv(width, byte) * byte * parts, kUltraPort));
  m.ultras = double(columns);
  m.muxBits = double(width * (parts - 1));
  m.choiceLuts = double(width * choiceLuts(parts, ctx));
  m.ffs = double(clog2(parts));
  return m;
}

bool isForUltra(const Store &store, const CostContext &ctx) {
  constexpr double kBlocks = 2, kLeast = 4;
  if (store.words <= 1)
    return false;
  const double blocks = memoryOf(store.words, store.width, ctx, true).blocks;
  return blocks >= kLeast &&
         blocks >=
             kBlocks * placedRam(store.words, store.width, true, ctx).ultras;
}

Memory romOf(int64_t words, int64_t width, const CostContext &ctx) {
  return blocksOf(words, width, ctx, false);
}
} // namespace rhizome::gen::cost
