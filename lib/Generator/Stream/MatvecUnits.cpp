// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The units that multiply vectors by a matrix of weights, and by one that is a
// stream. `Folds` input beats give a result.
#include "Folded.h"
#include "rhizome/Generator/Sampler.h"
#include <algorithm>

namespace rhizome::gen {
namespace {
using namespace cost;
using namespace folded;

/// Vectors of a beat that share the weights.
int64_t pixelsOf(const Builder &b) {
  return isStored(b.instance()) ? 1 : b.get("Pixels");
}

/// Whether biases are added.
bool hasBias(const Builder &b) {
  return !isStored(b.instance()) && b.get("Bias");
}

/// Bits of an element in the memory of a unit that stores it.
int64_t storedBits(const Builder &b) {
  return b.get("ZeroB") ? b.get("WWidth") : b.get("BWidth");
}

/// Whether the memory of a stored operand is in LUTs, so that its data
/// registers form rows with those that follow.
bool isStoredInLuts(const Builder &b) {
  auto p = b.instance().as<unit::Matmul>();
  const int64_t words = 2 * p.Matrices * p.Folds * p.OutFolds,
                width = (p.ByColumn ? p.Simd : p.Pe) * storedBits(b);
  return !p.Ultra && memoryOf(words, width, b.context(), true).blocks == 0;
}

/// Beats of weights for one firing of a unit to which they come as a stream.
int64_t piecesOf(const unit::Instance &a) {
  return ceilDiv(a.get("Pe") * a.get("Simd") * a.get("WWidth"), a.get("Beat"));
}

/// Whether the choice between an accumulator and zero is in the LUTs of its
/// adder, as measured: where AMD's carry chains take the other summand, which
/// is the sum of one cascade that has all its bits.
bool addsInOneLut(const Builder &b, int64_t acc) {
  const unit::Instance &a = b.instance();
  if (!b.hasShiftRegisters() || b.get("Style") < kPairedStyle || isStored(a) ||
      a.is<unit::MatvecTurns>() || hasBias(b) ||
      (isStreamed(a) && b.get("Positions") > 1))
    return false;
  return Cascades(a).count == 1 &&
         acc <= b.get("XWidth") + b.get("WWidth") + clog2(b.get("Simd"));
}

void pairedProducts(Builder &b, int64_t kept) {
  int64_t pixels = pixelsOf(b), pe = b.get("Pe"), simd = b.get("Simd");
  int64_t w = b.get("WWidth"), x = b.get("XWidth");
  int64_t words = wordsOf(b, b.get("Folds") * b.get("OutFolds"));
  Cascades cascades(b.instance());
  int64_t pairs = pixels * (pe / 2) + (pe % 2 ? ceilDiv(pixels, 2) : 0);
  b.dsp(double(pairs * simd));
  // The activations: two stages (one if the weights come with them), then the
  // delays for the cascade.
  const int64_t before = isStreamed(b.instance()) ? 1 : 2;
  for (int64_t place = 0; place < cascades.length; ++place)
    b.delay(double(cascades.lanesAt(place, simd) * pixels * x), before + place);
  auto delayWeights = [&](double columns, int64_t first = 0) {
    for (int64_t place = 0; place < cascades.length; ++place)
      b.delay(columns * double(cascades.lanesAt(place, simd)) / double(simd),
              first + place);
  };
  if (isLoaded(b.instance())) {
    b.weightRam(words, pe * simd * w, 1, b.get("Load"), b.get("Ultra"));
    // The register behind a single word begins the rows.
    const bool isWord = words == 1;
    b.ff(isWord ? -double(pe * simd * w) : 0);
    delayWeights(double(pe * simd * w), /*first=*/isWord);
  } else if (isStored(b.instance())) {
    const double columns = double(pe * simd * storedBits(b));
    const bool isInLuts = isStoredInLuts(b);
    b.ff(isInLuts ? -columns : 0); // of the memory
    delayWeights(columns, /*first=*/isInLuts);
  } else if (isStreamed(b.instance())) {
    // Kept weights are in a register with an enable, which begins no row.
    const bool isKept = b.get("Positions") > 1;
    b.ff(isKept ? double(pe * simd * w) : 0);
    delayWeights(double(pe * simd * w), /*first=*/!isKept);
  } else if (words > 1) {
    const bool isBlock = b.get("Block");
    const MemoryImage *known = isBlock ? b.image("WeightFile") : nullptr;
    RomContents c = known ? known->contents(/*lutInputs=*/0)
                          : b.contents("WeightFile", words, pe * simd * w, 1);
    if (isBlock) {
      b.addMemory(romOf(words, int64_t(c.varying), b.context()), words,
                  int64_t(c.varying));
      delayWeights(c.columns);
    } else {
      // A memory for each place of a cascade, with a correspondingly delayed
      // address. The functions of a few address bits that places share become
      // resets of these registers.
      b.term(Term::RomLeaf, c.leaves);
      b.term(Term::RomMux, c.muxes);
      const MemoryImage *weights = b.image("WeightFile");
      const int64_t inputs = b.context().lutInputs, length = cascades.length;
      for (int64_t place = 0; place < length; ++place) {
        auto isHere = [&](int64_t at) {
          int64_t lane = at / w % simd, first = lane / length * length;
          return length - std::min(length, simd - first) + lane - first ==
                 place;
        };
        RomContents part =
            weights
                ? weights->contents(inputs, isHere)
                : RomContents::expected(
                      words, double(pe * simd * w) / double(length), inputs);
        b.ff(part.columns);
      }
      for (int64_t k = 1; k < length; ++k)
        b.delay(double(clog2(words)), 1);
    }
  }
  // The sums of every cascade: of a pair without a partner, only one is read.
  int64_t part = w + x + clog2(cascades.length);
  b.ff(double(pixels * pe * cascades.count * std::min(part, kept)));
  b.tree(double(pixels * pe), cascades.count, part, kept);
}
/// The word of weights of a firing, from beats of a stream.
void weightsOfBeats(Builder &b) {
  int64_t pieces = piecesOf(b.instance()), words = b.get("Words");
  b.counter(pieces);
  b.ff(double((pieces - 1) * b.get("Beat")));
  // A whole word waits in front of one that several vectors use.
  if (pieces > 1 && b.get("Positions") > 1)
    b.ff(double(b.get("Pe") * b.get("Simd") * b.get("WWidth") + 1));
  b.counter(words, /*last=*/false);
  b.wordMux(double(b.get("Pe") * b.get("Simd") * b.get("WWidth")), words);
}

/// The stored operand of a product of matrices (rhz_matmul_pages).
void pages(Builder &b) {
  auto p = b.instance().as<unit::Matmul>();
  const bool along = p.ByColumn;
  const int64_t lanes = along ? p.Simd : p.Pe, banks = along ? p.Pe : p.Simd;
  const int64_t lines = along ? p.Columns : p.Inner;
  const int64_t words = p.Folds * p.OutFolds, page = p.Matrices * words;
  const int64_t address = clog2(2 * page), width = lanes * storedBits(b);
  // Which pages are full, written and read: about nine LUTs in every unit that
  // was synthesized.
  constexpr double kControl = 9;
  b.ff(4);
  b.term(Term::Select, kControl);
  for (int64_t count : {along ? p.Folds : p.OutFolds, lines, p.Matrices, words,
                        p.Rows, p.Matrices, p.Passes})
    b.counter(count);
  if (banks > 1)
    b.counter(banks, /*last=*/false);
  // Both addresses and their copies, the beat and its place.
  b.ff(double(4 * address + width + banks));
  b.adder(2, address);
  b.term(Term::Select, double(banks));
  const bool clears = !along && banks > 1 && lines % banks;
  if (clears) {
    b.ff(1);
    b.term(Term::Select, double(width));
  }
  const int64_t stages = p.Style >= kPairedStyle ? 1 : 2;
  if (!p.Ultra)
    return b.ram(2 * page, width, stages, banks);
  for (int64_t i = 0; i < banks; ++i)
    b.addMemory(placedRam(2 * page, width, /*ultra=*/true, b.context()),
                2 * page, width);
  b.delay(double(banks * width), stages - 1);
}

/// The registers of a row's elements while those that are stored are read.
void streamedRows(Builder &b, double lanes, Product &of) {
  const LateBits late = lateBits(of);
  b.delay(lanes * double(of.x - late.x), 3);
  b.delay(lanes * double(late.x), 4);
  of.ownsLate = late.x == 0;
  of.masksInLuts = true;
  if (late.w == 0 || !isStoredInLuts(b))
    return;
  of.ownsLate = false;
  const double rows = double(b.get("Pe") * b.get("Simd") * late.w);
  b.ff(-2 * rows); // of the memory
  b.delay(rows, 3);
}

/// What several vectors that share weights take in addition: counts of them,
/// and their sums.
void sharedWeights(Builder &b) {
  const int64_t positions = b.get("Positions");
  if (positions == 1)
    return;
  b.counter(positions);
  if (b.get("Folds") * b.get("OutFolds") > 1) // before their counters
    b.counter(positions);
  b.ff(1);
  // Their flags enable the counter of folds and the beats: as many LUTs, as
  // measured with 2 to 64 positions.
  b.mux(10, 2);
  if (b.get("Bias") && b.get("OutFolds") > 1)
    b.counter(positions);
  if (b.get("Folds") == 1)
    return;
  b.counter(positions);
  const int64_t sums = b.get("Pixels") * b.get("Pe") * b.get("AccWidth");
  if (positions == 2)
    return b.ff(double(sums));
  b.counter(positions - 1, /*last=*/false);
  b.ff(double(clog2(positions - 1)));
  b.ram(positions - 1, sums, 1);
}

void matvec(Builder &b) {
  int64_t pixels = pixelsOf(b), pe = b.get("Pe"), simd = b.get("Simd");
  int64_t w = b.get("WWidth"), x = b.get("XWidth"), acc = b.get("AccWidth");
  int64_t folds = b.get("Folds"), outFolds = b.get("OutFolds");
  int64_t style = b.get("Style"), words = wordsOf(b, folds * outFolds);
  double dots = double(pixels * pe), live = dots;
  const bool storesBits = isStored(b.instance()) && storedBits(b) == 1 &&
                          !b.get("BSigned") && !b.get("XSigned");
  Product of = {
      .w = w,
      .x = x,
      .xSigned = b.get("XSigned") != 0,
      .style = storesBits ? 0 : style, // too narrow for DSPs
      .kept = acc,
      .share = hasNoRom(b.instance()) ? 1 : b.usedShare("WeightFile", words),
      .perX = double(pe),
      .perW = double(pixels)};
  // A stored bit without a sign masks the other operand.
  of.zeros = isStored(b.instance()) && w == 2 && storedBits(b) == 1 &&
             !b.get("BSigned");
  // The sign of two operands without one is always zero in a DSP's product.
  const bool isUnsigned = isStored(b.instance()) && of.style == 1 &&
                          !of.xSigned && !b.get("BSigned") && !b.get("ZeroB");
  const int64_t product = productBits(of) - isUnsigned;
  int64_t levels = clog2(simd),
          stages = 3 + productStages(b.instance()) + levels;
  if (style >= kPairedStyle) {
    Cascades cascades(b.instance());
    stages = 6 + cascades.length + clog2(cascades.count);
  }
  b.term(Term::Fixed, 1);
  if (isStreamed(b.instance())) {
    resultControl(b, stages - (style >= kPairedStyle ? 1 : 2), 2);
    weightsOfBeats(b);
    sharedWeights(b);
  } else if (isStored(b.instance())) {
    resultControl(b, stages, 2);
    pages(b);
    const int64_t stored = b.get("ByColumn") ? simd : pe;
    b.constantAdder(b.get("ZeroA") != 0, simd * x);
    b.constantAdder(b.get("ZeroB") != 0, storedBits(b) * stored);
  } else {
    resultControl(b, stages, 2);
    b.counter(words, false);
    b.ff(double(clog2(words))); // the address's register
    countTrips(b, folds * outFolds);
  }
  if (style >= kPairedStyle) {
    pairedProducts(b, acc);
  } else {
    UsedProducts used(b, pe, simd, w);
    const double count = double(pixels * used.count);
    if (isStreamed(b.instance()))
      b.arriving(pe * simd, double(pixels * used.lanes), of);
    else if (isStored(b.instance()))
      streamedRows(b, double(used.lanes), of);
    else
      b.factors(words, pe * simd, double(pixels * used.lanes), of);
    // Outputs with only zero weights are constant.
    if (folds == 1 && (outFolds == 1 || !hasBias(b)))
      live = double(pixels * used.dots);
    const MemoryImage *weights = b.image("WeightFile");
    const bool isConstant = words == 1 && style == 0 && !hasNoRom(b.instance());
    if (isConstant && weights) {
      for (int64_t p = 0; p < pixels; ++p)
        for (int64_t i = 0; i < pe * simd; ++i)
          b.constantProduct(*weights, i * w, w, x);
    } else {
      b.ff(count * double(std::min(of.zeros ? x : product, acc)));
      if (isConstant)
        b.constantProducts(count, w, x, acc);
      else
        b.products(count, of);
    }
    if (used.count == pe * simd)
      b.tree(dots, simd, product, acc);
    else
      for (const std::vector<char> &terms : used.terms)
        b.tree(double(pixels), terms, product, acc);
  }
  if (hasBias(b)) {
    b.counter(wordsOf(b, outFolds), false);
    countTrips(b, outFolds);
    b.rom("BiasFile", "BiasBlock", wordsOf(b, outFolds), pe * acc, 2, 1, 0.7);
  }
  int64_t sum = product + levels;
  bool adds = folds > 1 || hasBias(b);
  b.ff(2.0 * live * double(adds ? acc : std::min(acc, sum)));
  if (adds)
    accumulators(b, double(pixels), pe, acc);
  if (folds > 1 && !addsInOneLut(b, acc))
    b.term(Term::Select, dots * double(acc));
  b.outbuf(b.get("Depth"), pixels * pe * acc);
}

/// For weights in any kind of memory.
class MatvecUnit : public FoldedUnit {
public:
  explicit MatvecUnit(const char *kind = unit::Matvec::kKind)
      : FoldedUnit(kind) {}

  int64_t latency(const unit::Instance &a) const override {
    int64_t v = bufferLatency(a), simd = a.get("Simd");
    if (a.get("Style") < kPairedStyle)
      return 5 + productStages(a) + clog2(simd) + v;
    Cascades cascades(a);
    return 8 + cascades.length + clog2(cascades.count) + v;
  }
  void structure(Builder &b) const override { matvec(b); }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[size_t(multiplierOf(a.get("Style")))];
  }
  Products products(const unit::Instance &a) const override {
    return {a.get("Pixels") * a.get("Pe") * a.get("Simd"),
            multiplierOf(a.get("Style"))};
  }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

class MatvecResidentUnit final : public MatvecUnit {
public:
  MatvecResidentUnit() : MatvecUnit(unit::MatvecResident::kKind) {}
  // Characterized under the names of the above.
  bool sample(Sampler &, llvm::StringRef) const override { return false; }
};

/// Its second input are beats of weights.
class MatvecStreamedUnit final : public MatvecUnit {
public:
  MatvecStreamedUnit() : MatvecUnit(unit::MatvecStreamed::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return MatvecUnit::latency(a) - (a.get("Style") >= kPairedStyle ? 1 : 2);
  }
  int64_t firingsPerBeat(const unit::Instance &a) const override {
    return a.get("Positions") > 1 ? 1 : a.get("Folds") * piecesOf(a);
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    const int64_t folds = a.get("Folds"), pieces = piecesOf(a),
                  words = a.get("Words");
    if (a.get("Positions") > 1)
      return shared(a, network, inputs, outputs);
    std::vector<Phase> phases;
    auto add = [&](int64_t repeat, bool takesBeat, bool produces) {
      if (repeat > 0)
        phases.push_back({repeat, {1, 1}, {1, takesBeat}, {produces}});
    };
    if (pieces > 1) {
      // All pieces but the last one of a word are taken before.
      for (int64_t fold = 0; fold < folds; ++fold) {
        phases.push_back(Phase::of(pieces - 1, {0, 1}, {0}));
        add(1, true, fold == folds - 1);
      }
    } else if (words == 1) {
      add(folds - 1, true, false);
      add(1, true, true);
    } else {
      int64_t left = folds;
      for (; left > words; left -= words) {
        add(words - 1, false, false);
        add(1, true, false);
      }
      add(left - 1, false, false);
      add(1, true, true);
    }
    addProcess(a, network, std::move(phases), a.get("frameBeats"), inputs,
               outputs);
  }
  // Characterized under the names of the others.
  bool sample(Sampler &, llvm::StringRef) const override { return false; }

private:
  /// The processes if several vectors use the same weights. Where these take
  /// several beats, another process gathers those of the next firings.
  void shared(const Actor &a, ProcessNetwork &network, std::vector<int> inputs,
              const std::vector<int> &outputs) const {
    const int64_t folds = a.get("Folds"), pieces = piecesOf(a),
                  words = a.get("Words"), positions = a.get("Positions"),
                  periods = a.get("frameBeats") / positions;
    if (pieces > 1) {
      int word = network.addChannel(a.name + ".word", 1, 1);
      network.processes.push_back(
          {a.name + ".gather",
           {Phase::of(pieces - 1, {1}, {0}), Phase::of(1, {1}, {1})},
           periods * folds,
           {inputs[1]},
           {word}});
      inputs[1] = word;
    }
    std::vector<Phase> phases;
    for (int64_t fold = 0; fold < folds; ++fold) {
      const bool produces = fold == folds - 1;
      const bool isSpent = produces || fold % words == words - 1;
      phases.push_back({1, {1, 1}, {1, isSpent}, {produces}});
      phases.push_back(Phase::of(positions - 1, {1, 0}, {produces}));
    }
    addProcess(a, network, std::move(phases), periods, inputs, outputs);
  }
};

/// Its second input is stored, page by page, before it is used.
class MatmulUnit final : public MatvecUnit {
public:
  MatmulUnit() : MatvecUnit(unit::Matmul::kKind) {}

  Products products(const unit::Instance &a) const override {
    return {a.get("Pe") * a.get("Simd"), multiplierOf(a.get("Style"))};
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::Matmul>();
    const int64_t beats =
        p.Matrices * (p.ByColumn ? p.Columns * p.Folds : p.Inner * p.OutFolds);
    const int64_t results = p.Passes * p.Matrices * p.Rows * p.OutFolds;
    const int64_t rounds = p.frameBeats / results;
    int store = network.addChannel(a.name + ".pages", 2 * beats, 1);
    network.processes.push_back(
        {a.name + ".write", {firings(beats)}, rounds, {inputs[1]}, {store}});
    // The first firing waits for a page, the last one frees it.
    Process read{a.name + ".read", {}, rounds, {inputs[0], store}, outputs};
    auto add = [&](int64_t repeat, int64_t need, int64_t frees, bool produces) {
      Phase phase{repeat, {1, need}, {1, frees}, {produces}};
      if (repeat == 0)
        return;
      if (!read.phases.empty()) {
        Phase &last = read.phases.back();
        const int64_t before = std::exchange(last.repeat, repeat);
        const bool isSame = last == phase;
        last.repeat = before;
        if (isSame) {
          last.repeat += repeat;
          return;
        }
      }
      read.phases.push_back(std::move(phase));
    };
    for (int64_t result = 0; result < results; ++result) {
      int64_t need = result == 0 ? beats : 0,
              frees = result + 1 == results ? beats : 0;
      add(p.Folds - 1, need, 0, false);
      add(1, p.Folds == 1 ? need : 0, frees, true);
    }
    network.processes.push_back(std::move(read));
  }
  // Characterized under the names of the others.
  bool sample(Sampler &, llvm::StringRef) const override { return false; }
};

bool MatvecUnit::sample(Sampler &s, llvm::StringRef name) const {
  int64_t style = 0;
  while (name != kind().characterized[style])
    ++style;
  if ((style == kPairedStyle && s.device.pairBits == 0) ||
      (style == 1 && !s.device.hasDsp))
    return false;
  s.begin(kind().name);
  int64_t x = s.any({1, 2, 4, 7, 8, 8}), w = s.any({1, 2, 3, 4, 7, 8});
  if (style == 1)
    x = s.any({8, 9, 12, 16}), w = s.any({8, 10, 13, 16});
  if (style == kPairedStyle)
    x = s.any({7, 8}), w = s.any({4, 7, 8});
  int64_t pe = s.any({1, 2, 3, 4, 6, 8}), simd = s.any({1, 2, 3, 4, 6, 9, 12});
  while (style == 0 && pe * simd * x * w > 800)
    pe > 1 ? pe = (pe + 1) / 2 : simd = (simd + 1) / 2;
  while (style > 0 && pe * simd > 24)
    pe > 2 ? pe = (pe + 1) / 2 : simd = (simd + 1) / 2;
  if (style == kPairedStyle)
    pe = std::max<int64_t>(pe, 2);
  int64_t folds = s.any({1, 4, 9, 12, 25, 50, 128}),
          out = s.any({1, 2, 5, 8, 16});
  int64_t bits = 0;
  while ((int64_t(1) << bits) < simd * folds)
    ++bits;
  bool bias = s.draw(0, 2) == 0;
  s.actor.params = {
      {"Pixels", s.any({1, 1, 1, 2})},
      {"Pe", pe},
      {"Simd", simd},
      {"XWidth", x},
      {"XSigned", s.draw(0, 1)},
      {"WWidth", w},
      {"AccWidth", x + w + bits},
      {"Folds", folds},
      {"OutFolds", out},
      {"Bias", bias},
      {"Style", style == kPairedStyle ? pairedStyle(s.device.cost) : style}};
  s.image("WeightFile", folds * out, pe * simd, w, w);
  if (bias)
    s.image("BiasFile", out, pe, x + w + bits, (x + w + bits) * 7 / 10);
  return true;
}

} // namespace

std::unique_ptr<UnitModel> makeMatvecUnit() {
  return std::make_unique<MatvecUnit>();
}
std::unique_ptr<UnitModel> makeMatvecResidentUnit() {
  return std::make_unique<MatvecResidentUnit>();
}
std::unique_ptr<UnitModel> makeMatvecStreamedUnit() {
  return std::make_unique<MatvecStreamedUnit>();
}
std::unique_ptr<UnitModel> makeMatmulUnit() {
  return std::make_unique<MatmulUnit>();
}
} // namespace rhizome::gen
