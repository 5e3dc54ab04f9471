// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit on which layers of one shape take turns: a matvec with the weights
// of all layers, a choice among the inputs before it, and behind it a store of
// results, from which each goes to the output of its layer.
#include "Models.h"

namespace rhizome::gen {
namespace {
using namespace cost;

/// The products as a matvec with as many results as all layers have, and the
/// store as its output buffer. Biases come later.
Actor productsIn(const unit::Instance &a) {
  Actor matvec(unit::Matvec::kKind, "products");
  matvec.params = {{"Pixels", 1},
                   {"Bias", 0},
                   {"OutFolds", a.get("Layers") * a.get("OutFolds")},
                   {"Depth", a.get("Places")}};
  for (const char *same : {"Pe", "Simd", "XWidth", "XSigned", "WWidth",
                           "AccWidth", "Folds", "Style", "Block"})
    matvec.set(same, a.get(same));
  for (const auto &file : a.files)
    if (file.first == "WeightFile")
      matvec.files.push_back(file);
  return matvec;
}

/// rhz_turn; a matvec has the address of its weights already.
void turn(Builder &b, int64_t words, bool hasAddress) {
  const int64_t layers = b.get("Layers"), vectors = b.get("Vectors");
  b.counter(words);
  b.counter(vectors);
  b.counter(layers);
  if (words == 1)
    return;
  if (!hasAddress)
    b.counter(layers * words, /*last=*/false);
  if (vectors == 1)
    return;
  // The first word of the layer.
  const int64_t bits = clog2(layers * words);
  b.ff(double(bits));
  b.term(Term::Select, double(bits));
}

class MatvecTurnsUnit final : public UnitModel {
public:
  MatvecTurnsUnit() : UnitModel(unit::MatvecTurns::kKind) {}

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

  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    const size_t layers = outputs.size();
    const int64_t folds = a.get("Folds"),
                  results = a.get("OutFolds") * a.get("Vectors");
    int store = network.addChannel(a.name + ".store", a.get("Places"),
                                   latencyOf(productsIn(a)));
    auto only = [&](size_t index) {
      Counts counts(layers, 0);
      counts[index] = 1;
      return counts;
    };
    std::vector<Phase> served, dealt;
    for (size_t l = 0; l < layers; ++l) {
      if (folds == 1)
        served.push_back(Phase::of(results, only(l), {1}));
      else
        for (int64_t r = 0; r < results; ++r) {
          served.push_back(Phase::of(folds - 1, only(l), {0}));
          served.push_back(Phase::of(1, only(l), {1}));
        }
      dealt.push_back(Phase::of(results, {1}, only(l)));
    }
    network.processes.push_back(
        {a.name + ".products", std::move(served), 1, inputs, {store}});
    network.processes.push_back(
        {a.name + ".deal", std::move(dealt), 1, {store}, outputs});
  }

  void structure(Builder &b) const override {
    const int64_t layers = b.get("Layers"), outFolds = b.get("OutFolds"),
                  folds = b.get("Folds"), simd = b.get("Simd");
    const int64_t out = b.get("Pe") * b.get("AccWidth");
    const int64_t words = layers * folds * outFolds;
    const Actor products = productsIn(b.instance());
    Builder inner = b.inside(products);
    products.model().structure(inner);
    b.add(inner.structure);
    turn(b, folds * outFolds, /*hasAddress=*/true);
    if (b.get("Style") >= kPairedStyle && !b.get("Block") && words > 1) {
      // All weights are read at once and wait for their places in the cascade.
      const int64_t length = Cascades(b.instance()).length;
      for (int64_t place = 1; place < length; ++place) {
        b.delay(double(b.get("Pe") * simd * b.get("WWidth")) / double(length),
                place);
        b.ff(-double(clog2(words)));
      }
    }
    // The inputs with their flags, and the readies.
    b.mux(double(simd * b.get("XWidth") + 1), layers);
    b.term(Term::Select, double(layers));

    turn(b, outFolds, /*hasAddress=*/!b.get("Bias"));
    const int64_t stages = b.get("Bias") ? 3 : 1;
    b.mux(1, layers);
    b.ff(double(stages));
    b.delay(double(layers > 1 ? clog2(layers) : 0), stages);
    b.ff(double(out));
    if (b.get("Bias")) {
      b.delay(double(out), 2);
      b.rom("BiasFile", "BiasBlock", layers * outFolds, out, 2, 1, 0.7);
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

std::unique_ptr<UnitModel> makeMatvecTurnsUnit() {
  return std::make_unique<MatvecTurnsUnit>();
}
} // namespace rhizome::gen
