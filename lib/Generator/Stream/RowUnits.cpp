// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that compute along rows: softmax and normalization. A row is stored
// until what it needs as a whole is known, which takes the same time for every
// row: the steps of a quotient or a root have as many parts as rows come
// quickly (rhz_quotient).
#include "Models.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include <bit>

namespace rhizome::gen {
namespace {
using namespace cost;

int64_t bufferStages(int64_t depth) { return depth > 64 ? 2 : 1; }
int64_t beatsOf(const unit::Instance &a) {
  return ceilDiv(a.get("Channels"), a.get("Lanes"));
}
/// Places for what a row needs, while its beats are in a store.
int64_t rowsOf(const unit::Instance &a, const char *store) {
  return a.get(store) / beatsOf(a) + 2;
}

/// From a row's last beat until its maximum is visible.
int64_t maximumLatency(const unit::Instance &a) {
  return 2 + clog2(a.get("Lanes")) + bufferStages(rowsOf(a, "Store"));
}
/// From the last look-up of a row until its quotient is.
int64_t quotientLatency(const unit::Instance &a) {
  return 4 + clog2(a.get("Lanes")) + a.get("QuotientBits") +
         bufferStages(rowsOf(a, "PowerStore"));
}

constexpr int64_t kRoot = osa::kRootBits;
/// Stages that take the leading zeros off.
int64_t zeroLevels(const unit::Instance &a) {
  return std::max<int64_t>(1, clog2(a.get("Digits")));
}
/// From a row's last beat until what normalizes it is visible.
int64_t inverseLatency(const unit::Instance &a) {
  return 7 + clog2(a.get("Lanes")) + zeroLevels(a) + 2 * kRoot + 1 +
         bufferStages(rowsOf(a, "Store"));
}

/// Adds a process that takes rows of beats from `inputs`: the stream and, if
/// there is a second one, what the row needs as a whole; it gives beats and, on
/// a second output, something with the last beat of a row.
void addRows(const std::string &name, ProcessNetwork &network, int64_t beats,
             int64_t rows, std::vector<int> inputs, std::vector<int> outputs) {
  const bool needs = inputs.size() > 1, gives = outputs.size() > 1;
  Process process{name, {}, rows, std::move(inputs), std::move(outputs)};
  auto add = [&](int64_t repeat, bool isLast) {
    if (repeat == 0)
      return;
    Phase phase{repeat, {1}, {1}, {1}};
    if (needs) {
      phase.need.push_back(1);
      phase.consume.push_back(isLast);
    }
    if (gives)
      phase.produce.push_back(isLast);
    process.phases.push_back(std::move(phase));
  };
  add(beats - 1, false);
  add(1, true);
  network.processes.push_back(std::move(process));
}

/// The last one of an odd number of terms waits for a partner: that many
/// levels, and as many registers.
int64_t waitsOfLast(int64_t count) {
  int64_t waits = 0;
  for (int64_t n = count; n > 1 && n % 2; n = (n + 1) / 2)
    ++waits;
  return waits;
}
/// Builder::tree() takes the registers of that term and one before them for a
/// row. Here, `before` registers lead to the tree and only there, which the
/// caller has counted, and the tree's first one may have a reset.
void lastTerm(Builder &b, int64_t count, int64_t before, int64_t width,
              bool isReset = false) {
  const int64_t waits = waitsOfLast(count);
  if (waits == 0)
    return;
  auto row = [&](double sign, int64_t registers) {
    if (b.hasShiftRegisters() && registers >= 3)
      b.shift(sign * double(width));
    else
      b.ff(sign * double(registers * width));
  };
  row(-1, 1 + waits);
  b.ff(double(width));
  row(1, before + waits - isReset);
  b.ff(double((int64_t(isReset) - before) * width));
}

/// rhz_max behind a register: one comparison and one choice for each pair.
void maximum(Builder &b, int64_t count, int64_t width) {
  for (int64_t n = count; n > 1; n = ceilDiv(n, 2)) {
    b.compare(double(n / 2), width);
    b.mux(double(n / 2 * width), 2);
    b.ff(double(n / 2 * width));
  }
  const int64_t waits = waitsOfLast(count);
  b.ff(double(-width));
  b.delay(double(width), 1 + waits);
}

/// The parts of a quotient or a root: the difference, which of both it keeps,
/// and what each passes on.
struct Steps {
  int64_t bits, each, parts;
  Steps(int64_t bits, int64_t interval)
      : bits(bits), each(std::min(bits, interval)), parts(ceilDiv(bits, each)) {
  }

  int64_t of(int64_t part) const { return std::min(each, bits - part * each); }
  /// Nobody reads the rest after the last bit.
  bool leavesRest(int64_t part) const {
    return part + 1 < parts || of(part) > 1;
  }
};
void quotient(Builder &b, int64_t divisor, int64_t bits, int64_t interval,
              bool isAllOnes) {
  const Steps steps(bits, interval);
  b.ff(double(bits)); // valid
  for (int64_t p = 0; p < steps.parts; ++p) {
    const int64_t after = std::min(bits, (p + 1) * steps.each);
    b.adder(1, divisor + 2);
    // Without repeated steps, each bit only passes the later parts.
    if (steps.each == 1)
      b.delay(1, bits - p);
    else
      b.ff(double(after));
    if (steps.leavesRest(p)) {
      b.term(Term::Select, double(divisor));
      b.ff(double(2 * divisor));
    }
    if (steps.of(p) == 1)
      continue;
    b.mux(double(divisor + (p ? after : 0)), 2);
    if (!isAllOnes)
      b.ff(double(steps.of(p) - 1));
  }
}
/// Of a number of which only the upper `digits` bits are not constant.
void root(Builder &b, int64_t bits, int64_t digits, int64_t interval) {
  const Steps steps(bits, interval);
  const bool isSingle = steps.each == 1;
  b.ff(double(bits));
  int64_t left = std::min(digits, 2 * bits);
  if (isSingle)
    // A pair of bits waits for its part, in a row with the register before.
    for (int64_t pair = 1; pair < left / 2; ++pair) {
      b.ff(-2);
      b.delay(2, pair + 1);
    }
  for (int64_t p = 0; p < steps.parts; ++p) {
    // Each step takes two bits off; what follows is zero.
    left =
        std::max<int64_t>(0, std::min(left, 2 * (bits - p * steps.each)) - 2);
    b.adder(1, bits + 4);
    b.ff(double(isSingle ? p + 1 : bits + left));
    if (steps.leavesRest(p)) {
      b.term(Term::Select, double(bits));
      b.ff(isSingle && p == 0 ? 0 : double(bits + 1));
    }
    if (steps.of(p) > 1)
      b.mux(double(left + (p ? bits : 0)), 2);
  }
}

/// rhz_mul with two stages; of its bits, those from `unread` up to of.kept are
/// read. A DSP block takes none of its registers.
void twoStages(Builder &b, double count, Product of, int64_t unread = 0) {
  b.products(count, of);
  const bool isDeep = of.style == 0 && std::min(of.w, of.x + !of.xSigned) > 4;
  const int64_t top = std::min(of.w + of.x - of.zeros, of.kept);
  b.ff(count * double((isDeep ? 1 : 2) * (top - unread)));
}

/// The bits of x times a constant, without those below its lowest row.
int64_t multipleBits(int64_t x, int64_t factor) {
  const int64_t odd = factor >> std::countr_zero(uint64_t(factor));
  return x + (odd > 1 ? clog2(odd + 1) : 0);
}

/// rhz_times: the constant's set bits are rows. With only one, what is behind
/// the register of x is a row with it, if `isRow`.
void times(Builder &b, double count, int64_t x, int64_t factor, int64_t kept,
           bool isRow) {
  const int64_t bits = clog2(factor + 1), half = (bits + 1) / 2;
  const int64_t below = std::countr_zero(uint64_t(factor));
  if (std::popcount(uint64_t(factor)) == 1) {
    const double row = count * double(std::min(x, kept - below));
    b.ff(isRow ? -row : 0);
    b.delay(row, isRow ? 3 : 2);
    return;
  }
  int64_t rows = 0;
  for (int64_t part :
       {factor & ((int64_t(1) << half) - 1), factor >> half << half}) {
    if (part == 0)
      continue;
    // Below the lowest row there are no bits.
    b.ff(count * double(std::min(multipleBits(x, part),
                                 kept - std::countr_zero(uint64_t(part)))));
    rows += std::popcount(uint64_t(part));
  }
  const int64_t width = std::min(multipleBits(x, factor), kept - below);
  b.ff(count * double(width));
  b.adder(count * double(rows - 1), width);
}

class RowSoftmaxUnit final : public UnitModel {
public:
  RowSoftmaxUnit() : UnitModel(unit::RowSoftmax::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 5 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::RowSoftmax>();
    const int64_t beats = beatsOf(a), rows = p.frameBeats / beats;
    int store = network.addChannel(a.name + ".rows", p.Store,
                                   bufferStages(p.Store)),
        maxima = network.addChannel(a.name + ".maxima", rowsOf(a, "Store"),
                                    maximumLatency(a)),
        powers = network.addChannel(a.name + ".powers", p.PowerStore,
                                    3 + bufferStages(p.PowerStore)),
        quotients = network.addChannel(
            a.name + ".quotients", rowsOf(a, "PowerStore"), quotientLatency(a));
    addRows(a.name + ".maximum", network, beats, rows, inputs, {store, maxima});
    addRows(a.name + ".sum", network, beats, rows, {store, maxima},
            {powers, quotients});
    addRows(a.name + ".share", network, beats, rows, {powers, quotients},
            outputs);
  }
  void structure(Builder &b) const override {
    const int64_t lanes = b.get("Lanes"), in = b.get("InWidth"),
                  power = b.get("PowerWidth"), sum = b.get("SumWidth"),
                  bits = b.get("QuotientBits"), out = b.get("OutWidth"),
                  levels = clog2(lanes), beats = beatsOf(b.instance()),
                  entries = b.get("Trips") * b.get("Entries"),
                  address = addressBits(entries);
    const int64_t partial =
        beats > 1 ? lanes * beats - b.get("Channels") : 0; // masked lanes
    b.term(Term::Fixed, 1);
    b.term(Term::Lane, double(lanes));
    for (int i = 0; i < 3; ++i)
      b.counter(beats);
    b.ff(double(2 * (levels + 1) + 2 * (levels + 3) + 5 + 4)); // valid
    b.outbuf(b.get("Store"), lanes * in);
    b.ff(double(lanes * in));
    b.mux(double(partial * in), 2);
    maximum(b, lanes, in);
    b.compare(1, in + 1);
    b.ff(double(in));
    b.outbuf(rowsOf(b.instance(), "Store"), in, {.takesCredits = false});
    countTrips(b, 1);
    b.adder(double(lanes * (b.get("Trips") > 1 ? 2 : 1)), address);
    b.ff(double(lanes * address));
    b.rom("TableFile", "Block", entries, power, 2, lanes);
    b.term(Term::Select, double(partial * power));
    b.outbuf(b.get("PowerStore"), lanes * power, {.isRegister = true});
    b.tree(1, lanes, power, power + levels);
    lastTerm(b, lanes, 0, power, partial > 0);
    b.adder(1, sum);
    b.ff(double(sum));
    quotient(b, sum, bits, beats, false);
    b.outbuf(rowsOf(b.instance(), "PowerStore"), bits,
             {.takesCredits = false, .isRegister = true});
    // The product's sign is always zero.
    twoStages(b, double(lanes),
              {.w = bits + 1,
               .x = power,
               .xSigned = false,
               .style = b.get("Style"),
               .zeros = 1},
              b.get("Shift") - 1);
    const int64_t level =
        std::max<int64_t>(power + bits + 1 - b.get("Shift"), out);
    b.constantAdder(double(lanes), power + bits + 1);
    b.compare(double(lanes), level);
    b.term(Term::Select, double(lanes * out));
    b.ff(double(lanes * (level + out)));
    b.outbuf(b.get("Depth"), lanes * out);
  }
};

class RowNormUnit final : public UnitModel {
public:
  RowNormUnit() : UnitModel(unit::RowNorm::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 9 + bufferLatency(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::RowNorm>();
    const int64_t beats = beatsOf(a), rows = p.frameBeats / beats;
    int store = network.addChannel(a.name + ".rows", p.Store,
                                   bufferStages(p.Store)),
        inverses = network.addChannel(a.name + ".inverses", rowsOf(a, "Store"),
                                      inverseLatency(a));
    addRows(a.name + ".sums", network, beats, rows, inputs, {store, inverses});
    addRows(a.name + ".normalize", network, beats, rows, {store, inverses},
            outputs);
  }
  void structure(Builder &b) const override {
    const int64_t lanes = b.get("Lanes"), in = b.get("InWidth"),
                  x = b.get("XWidth"), sum = b.get("SumWidth"),
                  square = b.get("SquareWidth"), digits = b.get("Digits"),
                  diff = b.get("DiffWidth"), scaled = b.get("ScaledWidth"),
                  out = b.get("OutWidth"), style = b.get("Style"),
                  levels = zeroLevels(b.instance()),
                  beats = beatsOf(b.instance()), tree = clog2(lanes),
                  rows = rowsOf(b.instance(), "Store"), wide = 2 * digits;
    const bool isCentered = b.get("Centered") != 0;
    // A large epsilon makes the top bit constant: nothing is shifted.
    const int64_t channels = b.get("Channels");
    const int64_t epsilon = b.get("EpsilonHigh") << 30 | b.get("EpsilonLow"),
                  numbers = multipleBits(square, channels),
                  below = std::countr_zero(uint64_t(channels));
    const bool isStored = b.get("Stored") != 0;
    const bool isLarge = !isStored && epsilon >> (2 * digits - 2) != 0 &&
                         std::countr_zero(uint64_t(epsilon)) >= numbers + below;
    // Then the numbers are a row of registers; except if a multiple takes sums
    // after one another, of whose sign synthesis does not know.
    const int64_t half = (clog2(channels + 1) + 1) / 2;
    const int64_t low = channels & ((int64_t(1) << half) - 1),
                  high = channels >> half;
    const bool isOneSum = low == 0 || high == 0 ||
                          (std::has_single_bit(uint64_t(low)) &&
                           std::has_single_bit(uint64_t(high)));
    const bool isRow = isLarge && !isCentered && isOneSum;
    // Without a zero point, x and its square have no more bits than the input.
    const bool isShifted = b.get("Zero") != 0;
    const int64_t own = isShifted ? x : in, squared = 2 * own;
    b.term(Term::Fixed, 1);
    b.term(Term::Lane, double(lanes));
    b.counter(beats);
    b.counter(beats);
    b.ff(double(2 * (3 + tree) + 3 + levels + 9 + 2)); // valid
    b.outbuf(b.get("Store"), lanes * in, {.isRegister = !isShifted});
    // The sums of a beat, then those of a row.
    if (isShifted)
      b.constantAdder(double(2 * lanes), x);
    b.ff(double(lanes * own));
    twoStages(b, double(lanes), {.w = own, .x = own, .style = style});
    b.tree(1, lanes, squared, squared + tree);
    const bool isDeep = style == 0 && own > 4;
    lastTerm(b, lanes, isDeep ? 1 : 2, squared);
    b.adder(1, square);
    b.ff(double(square));
    if (isCentered) {
      b.delay(double(lanes * own), 2);
      b.tree(1, lanes, own, own + tree);
      lastTerm(b, lanes, 2, own);
      b.adder(1, sum);
      b.ff(double(sum));
      twoStages(b, 1, {.w = sum, .x = sum, .style = style, .kept = wide});
      b.delay(double(sum), 3 + levels);
    }
    times(b, 1, square, channels, wide, false);
    if (isRow) {
      const int64_t before = channels >> below == 1 ? 2 : 1;
      b.ff(double(-before * numbers));
      b.delay(double(numbers), before + levels + 1);
    } else {
      b.adder(isCentered ? 2 : 1, wide);
      b.ff(double(wide * (levels + 1)));
    }
    if (isStored) {
      countTrips(b, 1);
      b.rom("EpsilonFile", "Block", b.get("Trips"), wide, 2);
    }
    // Leading zeros.
    for (int64_t i = 1; i <= levels; ++i) {
      const int64_t step = int64_t(1) << (levels - i);
      b.delay(1, levels - i + 1);
      if (step >= digits || isLarge)
        continue;
      b.compare(1, 2 * step);
      b.mux(double(wide), 2);
    }
    root(b, kRoot, wide, beats);
    quotient(b, kRoot, kRoot + 1, beats, true);
    // A row's numbers go into rows of registers.
    const int64_t row = (isCentered ? sum : 0) + levels;
    b.outbuf(rows, row, {.takesCredits = false, .isRegister = true});
    b.outbuf(rows, kRoot + 1, {.takesCredits = false, .isRegister = true});
    b.ff(double(-row - (kRoot + 1)));
    if (isCentered)
      b.delay(double(sum), 3);
    b.delay(double(levels), 5);
    b.delay(double(kRoot + 1), 6);
    // The results.
    b.ff(double(lanes * ((isShifted ? x : 0) + diff + 2 * scaled + out)));
    times(b, double(lanes), own, channels, diff, true);
    const int64_t lower = (levels + 1) / 2;
    b.mux(double(lanes * scaled), int64_t(1) << (levels - lower));
    // A low bit has few bits below it, and zeros.
    for (int64_t i = 0; i < scaled; ++i)
      b.mux(double(lanes),
            std::max<int64_t>(2, std::min(i + 1, int64_t(1) << lower)));
    if (isCentered)
      b.adder(double(lanes), diff);
    const int64_t shift = b.get("Shift");
    twoStages(b, double(lanes),
              {.w = kRoot + 2,
               .x = scaled,
               .style = style,
               .kept = shift + out,
               .zeros = 1},
              shift - 1);
    b.constantAdder(double(lanes), out + 1);
    b.outbuf(b.get("Depth"), lanes * out);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeRowSoftmaxUnit() {
  return std::make_unique<RowSoftmaxUnit>();
}
std::unique_ptr<UnitModel> makeRowNormUnit() {
  return std::make_unique<RowNormUnit>();
}

void sizeRowStores(unit::Instance &a) {
  // With a store of any more places, what a row needs is as late at most.
  const int64_t beats = beatsOf(a);
  for (const char *store : {"Store", "PowerStore"}) {
    if (a.is<unit::RowNorm>() && store[0] == 'P')
      continue;
    a.set(store, beats + 128);
    const int64_t wait = a.is<unit::RowNorm>() ? inverseLatency(a)
                         : store[0] == 'P'     ? quotientLatency(a)
                                               : maximumLatency(a);
    a.set(store, beats + wait + 1);
  }
}
} // namespace rhizome::gen
