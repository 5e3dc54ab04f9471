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

/// rhz_max: one comparison and one choice for each pair.
void maximum(Builder &b, int64_t count, int64_t width) {
  for (int64_t n = count; n > 1; n = ceilDiv(n, 2)) {
    b.compare(double(n / 2), width);
    b.mux(double(n / 2 * width), 2);
    b.ff(double(ceilDiv(n, 2) * width));
  }
}

/// The parts of a quotient or a root: the difference, which of both it keeps,
/// and what each passes on.
struct Steps {
  int64_t each, parts;
  Steps(int64_t bits, int64_t interval)
      : each(std::min(bits, interval)), parts(ceilDiv(bits, each)) {}
};
void quotient(Builder &b, int64_t divisor, int64_t bits, int64_t interval,
              bool isAllOnes) {
  const Steps steps(bits, interval);
  b.ff(double(bits)); // valid
  for (int64_t p = 0; p < steps.parts; ++p) {
    const int64_t after = std::min(bits, (p + 1) * steps.each);
    const bool repeats = steps.each > 1;
    b.adder(1, divisor + 2);
    b.term(Term::Select, double(divisor));
    b.ff(double(2 * divisor + after));
    if (!repeats)
      continue;
    b.mux(double(divisor + (p ? after : 0)), 2);
    if (!isAllOnes)
      b.ff(double(steps.each));
  }
}
void root(Builder &b, int64_t bits, int64_t interval) {
  const Steps steps(bits, interval);
  b.ff(double(bits));
  for (int64_t p = 0; p < steps.parts; ++p) {
    const int64_t left = 2 * (bits - p * steps.each);
    b.adder(1, bits + 4);
    b.term(Term::Select, double(bits));
    b.ff(double(2 * bits + 1 + left));
    if (steps.each > 1)
      b.mux(double(left + (p ? bits : 0)), 2);
  }
}

/// rhz_mul with two stages. A DSP has `inside` of the stages behind it, logic
/// no registers for the low bits that nobody reads.
void twoStages(Builder &b, double count, Product of, int64_t inside,
               int64_t unread = 0) {
  b.products(count, of);
  const bool isDeep = of.style == 0 && std::min(of.w, of.x + !of.xSigned) > 4;
  const int64_t stages = of.style ? 2 - inside : isDeep ? 1 : 2;
  const int64_t kept = std::min(of.w + of.x, of.kept);
  b.ff(count * double(stages * (of.style ? kept : kept - unread)));
}

/// rhz_times: the constant's set bits are rows.
void times(Builder &b, double count, int64_t x, int64_t factor, int64_t kept) {
  const int64_t bits = clog2(factor + 1), half = (bits + 1) / 2;
  int64_t rows = 0;
  for (int64_t part : {factor & ((int64_t(1) << half) - 1), factor >> half}) {
    if (part == 0)
      continue;
    // Below the lowest row there are no bits.
    const int64_t own = clog2(part + 1) - std::countr_zero(uint64_t(part));
    b.ff(count * double(std::min(x + own, kept)));
    rows += std::popcount(uint64_t(part));
  }
  const int64_t width =
      std::min(x + bits - std::countr_zero(uint64_t(factor)), kept);
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
                  address = addressBits(b.get("Entries"));
    const int64_t partial =
        beats > 1 ? lanes * beats - b.get("Channels") : 0; // masked lanes
    b.term(Term::Fixed, 3);
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
    b.outbuf(rowsOf(b.instance(), "Store"), in);
    b.adder(double(lanes), address);
    b.ff(double(lanes * address));
    b.rom("TableFile", "Block", b.get("Entries"), power, 2, lanes);
    b.term(Term::Select, double(partial * power));
    b.outbuf(b.get("PowerStore"), lanes * power);
    b.tree(1, lanes, power + 1, power + levels);
    b.adder(1, sum);
    b.ff(double(sum));
    quotient(b, sum, bits, beats, false);
    b.outbuf(rowsOf(b.instance(), "PowerStore"), bits);
    b.ff(double(bits + lanes * power));
    twoStages(b, double(lanes),
              {.w = bits + 1,
               .x = power,
               .xSigned = false,
               .style = b.get("Style"),
               .zeros = 1},
              2, b.get("Shift") - 1);
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
    b.term(Term::Fixed, 2);
    b.term(Term::Lane, double(lanes));
    b.counter(beats);
    b.counter(beats);
    b.ff(double(2 * (3 + tree) + 3 + levels + 9 + 2)); // valid
    b.outbuf(b.get("Store"), lanes * in);
    // The sums of a beat, then those of a row.
    if (b.get("Zero"))
      b.constantAdder(double(2 * lanes), x);
    b.ff(double(lanes * x));
    twoStages(b, double(lanes), {.w = x, .x = x, .style = style}, 1);
    b.tree(1, lanes, 2 * x, 2 * x + tree);
    b.adder(1, square);
    b.ff(double(square));
    if (isCentered) {
      b.delay(double(lanes * x), 2);
      b.tree(1, lanes, x, x + tree);
      b.adder(1, sum);
      b.ff(double(sum));
      twoStages(b, 1, {.w = sum, .x = sum, .style = style, .kept = wide}, 1);
      b.delay(double(sum), 3 + levels);
    }
    times(b, 1, square, b.get("Channels"), wide);
    b.adder(isCentered ? 2 : 1, wide);
    b.ff(double(wide));
    // Leading zeros.
    for (int64_t i = 1; i <= levels; ++i) {
      const int64_t step = int64_t(1) << (levels - i);
      b.ff(double(wide + i));
      if (step >= digits)
        continue;
      b.compare(1, 2 * step);
      b.mux(double(wide), 2);
    }
    root(b, kRoot, beats);
    quotient(b, kRoot, kRoot + 1, beats, true);
    b.outbuf(rows, (isCentered ? sum : 0) + levels);
    b.outbuf(rows, kRoot + 1);
    // The results.
    if (isCentered)
      b.delay(double(sum), 3);
    b.delay(double(levels), 5);
    b.delay(double(kRoot + 1), 6);
    b.ff(double(lanes * (in + diff + 2 * scaled + out)));
    times(b, double(lanes), x, b.get("Channels"), diff);
    if (isCentered)
      b.adder(double(lanes), diff);
    const int64_t lower = (levels + 1) / 2;
    b.mux(double(lanes * scaled), int64_t(1) << (levels - lower));
    b.mux(double(lanes * scaled), int64_t(1) << lower);
    twoStages(b, double(lanes),
              {.w = kRoot + 2, .x = scaled, .style = style, .zeros = 1}, 2,
              b.get("Shift") - 1);
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
