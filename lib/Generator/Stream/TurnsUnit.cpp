// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The units on which layers take turns: a matvec with the weights of all
// layers, which lie in a ROM, are loaded when the design starts or come as one
// more stream; a choice among the inputs before it, and behind it a store of
// results, from which each goes to the output of its layer.
#include "Models.h"

namespace rhizome::gen {
namespace {
using namespace cost;

/// Beats of a result, results of a vector, and vectors of each layer.
std::vector<llvm::SmallVector<int64_t, 3>> sizesOf(const unit::Instance &a) {
  auto sizes = a.rows();
  if (sizes.empty())
    sizes.assign(size_t(a.get("Layers")),
                 {a.get("Folds"), a.get("OutFolds"), a.get("Vectors")});
  return sizes;
}
bool isSized(const unit::Instance &a) { return !a.rows().empty(); }

/// The products as a matvec with all words of weights, and the store as its
/// output buffer. Biases come later.
Actor productsIn(const unit::Instance &a) {
  const bool isStreamed = a.is<unit::TurnsStreamed>();
  Actor matvec(isStreamed              ? unit::MatvecStreamed::kKind
               : a.kind().loadedPort() ? unit::MatvecResident::kKind
                                       : unit::Matvec::kKind,
               "products");
  const int64_t words = a.get("Words"), folds = a.get("Folds");
  // Only the product counts: layers of different sizes have no folds in common.
  const bool isWhole = words % folds == 0;
  matvec.params = {{"Pixels", 1},
                   {"Bias", 0},
                   {"Folds", isWhole ? folds : words},
                   {"OutFolds", isWhole ? words / folds : 1},
                   {"Depth", a.get("Places")}};
  for (const char *same :
       {"Pe", "Simd", "XWidth", "XSigned", "WWidth", "AccWidth", "Style"})
    matvec.set(same, a.get(same));
  if (isStreamed)
    matvec.params = {{"Words", 1},
                     {"Beat", a.get("Pe") * a.get("Simd") * a.get("WWidth")}};
  else if (a.kind().loadedPort())
    matvec.params = {{"Ultra", a.get("Ultra")}, {"Load", a.get("Load")}};
  else
    matvec.set("Block", a.get("Block"));
  for (const auto &file : a.files)
    if (file.first == "WeightFile")
      matvec.files.push_back(file);
  return matvec;
}

/// rhz_countdown, with the limits of `layers` rounds before it.
void countdown(Builder &b, int64_t most, int64_t layers) {
  if (most <= 1)
    return;
  const double bits = double(clog2(most));
  b.ff(bits + 1);
  b.adder(1, int64_t(bits));
  b.term(Term::Select, bits * (layers > 2 ? 2 : 1));
}

/// rhz_turn, for words of which a result has several or one; a matvec counts
/// the beats of a result, and has the address of its weights if it has any.
void turn(Builder &b, bool isResult, bool hasAddress) {
  const int64_t layers = b.get("Layers"), vectors = b.get("Vectors"),
                all = b.get(isResult ? "Biases" : "Words");
  int64_t words = 1;
  for (const auto &size : sizesOf(b.instance()))
    words = std::max(words, isResult ? size[1] : size[0] * size[1]);
  b.counter(layers);
  if (isSized(b.instance())) {
    countdown(b, words, layers);
    countdown(b, vectors, layers);
    if (!isResult) {
      // Instead of the matvec's own.
      const int64_t counted = productsIn(b.instance()).get("Folds");
      Builder own = b.inside(b.instance());
      own.counter(counted);
      b.ff(-own.structure.exact.ff());
      b.term(Term::Counter, -own.structure.terms[size_t(Term::Counter)]);
      countdown(b, b.get("Folds"), layers);
    }
  } else {
    b.counter(words);
    b.counter(vectors);
  }
  if (words == 1)
    return;
  if (!hasAddress)
    b.counter(all, /*last=*/false);
  if (vectors == 1)
    return;
  // The first word of the layer.
  const int64_t bits = clog2(all);
  b.ff(double(bits));
  b.term(Term::Select, double(bits));
}

/// For weights in each home.
class TurnsUnit final : public UnitModel {
public:
  explicit TurnsUnit(const char *kind) : UnitModel(kind) {}

  int64_t latency(const unit::Instance &a) const override {
    return (a.get("Bias") ? 3 : 1) + bufferLatency(a);
  }
  bool takesTurns(const unit::Instance &) const override { return true; }
  int64_t firingsPerBeat(const unit::Instance &a) const override {
    return a.get("Folds");
  }
  Products products(const unit::Instance &a) const override {
    return {a.get("Pe") * a.get("Simd"), multiplierOf(a.get("Style"))};
  }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[size_t(multiplierOf(a.get("Style")))];
  }

  /// A stream of weights is the last input.
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    const size_t layers = outputs.size();
    int store = network.addChannel(a.name + ".store", a.get("Places"),
                                   latencyOf(productsIn(a)));
    auto taken = [&](size_t layer) {
      Counts counts(inputs.size(), 0);
      counts[layer] = 1;
      for (size_t i = layers; i < inputs.size(); ++i)
        counts[i] = 1;
      return counts;
    };
    std::vector<Phase> served, dealt;
    for (auto [l, size] : llvm::enumerate(sizesOf(a))) {
      const int64_t folds = size[0], results = size[1] * size[2];
      if (folds == 1)
        served.push_back(Phase::of(results, taken(l), {1}));
      else
        for (int64_t r = 0; r < results; ++r) {
          served.push_back(Phase::of(folds - 1, taken(l), {0}));
          served.push_back(Phase::of(1, taken(l), {1}));
        }
      Counts given(layers, 0);
      given[l] = 1;
      dealt.push_back(Phase::of(results, {1}, given));
    }
    network.processes.push_back(
        {a.name + ".products", std::move(served), 1, inputs, {store}});
    network.processes.push_back(
        {a.name + ".deal", std::move(dealt), 1, {store}, outputs});
  }

  void structure(Builder &b) const override {
    const int64_t layers = b.get("Layers"), simd = b.get("Simd"),
                  words = b.get("Words");
    const int64_t out = b.get("Pe") * b.get("AccWidth");
    const Actor products = productsIn(b.instance());
    Builder inner = b.inside(products);
    products.model().structure(inner);
    b.add(inner.structure);
    const bool isStreamed = b.instance().is<unit::TurnsStreamed>();
    turn(b, /*isResult=*/false, /*hasAddress=*/true);
    if (isStreamed && b.get("Vectors") > 1) {
      // Nobody reads the address.
      const int64_t bits = clog2(words);
      b.ff(-double(bits));
      b.term(Term::Select, -double(bits));
    }
    if (b.get("Style") >= kPairedStyle &&
        b.instance().is<unit::MatvecTurns>() && !b.get("Block") && words > 1) {
      // All weights are read at once and wait for their places in the cascade,
      // in a row with the memory's register.
      const Cascades cascades(b.instance());
      const int64_t bits = b.get("Pe") * b.get("WWidth");
      const double varying =
          b.contents("WeightFile", words, bits * simd, 1).columns /
          double(bits * simd);
      for (int64_t place = 1; place < cascades.length; ++place) {
        const double columns =
            double(cascades.lanesAt(place, simd) * bits) * varying;
        b.ff(-columns - double(clog2(words)));
        b.delay(columns, place + 1);
      }
    }
    // The inputs with their flags, and the readies.
    b.mux(double(simd * b.get("XWidth") + 1), layers);
    b.term(Term::Select, double(layers));

    turn(b, /*isResult=*/true, /*hasAddress=*/!b.get("Bias"));
    const int64_t stages = b.get("Bias") ? 3 : 1;
    b.mux(1, layers);
    b.ff(double(stages));
    b.delay(double(layers > 1 ? clog2(layers) : 0), stages);
    b.ff(double(out));
    if (b.get("Bias")) {
      b.delay(double(out), 2);
      b.rom("BiasFile", "BiasBlock", b.get("Biases"), out, 2, 1, 0.7);
      b.adder(double(b.get("Pe")), b.get("AccWidth"));
    }
    // Whose buffer takes a result, and whose credit counts: as many LUTs of a
    // layer, as measured with two to six layers.
    constexpr double kControl = 8;
    for (int64_t l = 0; l < layers; ++l) {
      b.outbuf(b.get("Depth"), out);
      b.term(Term::Select, layers > 1 ? kControl : 0);
    }
  }
};
} // namespace

void countTrips(Builder &b, int64_t words) {
  if (!b.instance().kind().indexOf("Trips") || b.get("Trips") == 1)
    return;
  b.counter(b.get("Trips"));
  if (b.get("Uses") == 1)
    return;
  b.counter(words);
  b.counter(b.get("Uses"));
  // The trip's first word.
  const int64_t bits = clog2(b.get("Trips") * words);
  b.ff(double(bits));
  b.term(Term::Select, double(bits));
}

std::unique_ptr<UnitModel> makeMatvecTurnsUnit() {
  return std::make_unique<TurnsUnit>(unit::MatvecTurns::kKind);
}
std::unique_ptr<UnitModel> makeTurnsResidentUnit() {
  return std::make_unique<TurnsUnit>(unit::TurnsResident::kKind);
}
std::unique_ptr<UnitModel> makeTurnsStreamedUnit() {
  return std::make_unique<TurnsUnit>(unit::TurnsStreamed::kKind);
}
} // namespace rhizome::gen
