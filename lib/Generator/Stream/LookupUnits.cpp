// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that look results up: by comparison with thresholds, at once or by
// bisection, and in tables.
#include "Models.h"
#include "rhizome/Generator/Sampler.h"
#include <algorithm>

namespace rhizome::gen {
namespace {
using namespace cost;

/// The thresholds read by the stages of a bisection for one lane each: those
/// that they can need, by index and by previous result.
std::vector<RomContents> bisected(const Builder &b, int64_t bits) {
  int64_t count = b.get("Count"), width = b.get("InWidth") + 1;
  int64_t folds = b.get("Trips") * b.get("OutFolds"), k = b.context().lutInputs;
  std::vector<RomContents> found;
  const MemoryImage *image = b.image("ParamFile");
  const std::string digits = image ? image->hex() : "";
  auto isSet = [&](int64_t word, int64_t column) {
    int64_t line = (image->width + 3) / 4;
    char c = digits[size_t((line + 1) * word + line - 1 - column / 4)];
    return ((c <= '9' ? c - '0' : c - 'a' + 10) >> (column % 4) & 1) != 0;
  };
  for (int64_t s = 0; s < bits; ++s)
    for (int64_t lane = 0; lane < b.get("Lanes"); ++lane) {
      if (!image) {
        found.push_back(RomContents::expected(folds << s, double(width), k));
        continue;
      }
      MemoryImage met(width, folds << s);
      int64_t half = int64_t(1) << (bits - 1 - s);
      for (int64_t word = 0; word < folds; ++word)
        for (int64_t j = 0; j < int64_t(1) << s; ++j)
          if (int64_t n = (2 * j + 1) * half; n <= count)
            for (int64_t bit = 0; bit < width; ++bit)
              met.set(word << s | j, bit, 1,
                      isSet(word, (lane * count + n - 1) * width + bit));
      found.push_back(met.contents(k));
    }
  return found;
}
void threshold(Builder &b) {
  int64_t count = b.get("Count"), in = b.get("InWidth"), width = in + 1;
  int64_t channels = b.get("Lanes"), folds = b.get("Trips") * b.get("OutFolds");
  int64_t bits = clog2(count + 1), out = b.get("OutWidth");
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.term(Term::Lane, lanes);
  b.counter(folds, false);
  countTrips(b, b.get("OutFolds"));
  if (folds > 1)
    b.ff(double(clog2(folds)));
  if (count <= 3) {
    b.ff(4);
    b.ff(lanes * double(2 * in));
    b.rom("ParamFile", "Block", folds, channels * count * width, 1, 1, 0.8);
    b.ff(lanes * double(count));
    b.compare(lanes * double(count), width);
  } else {
    b.ff(double(2 + 2 * bits));
    // The operand and the index pass through all stages; the thresholds'
    // memories are functions of the index and of the previous result.
    b.ff(lanes * double(in * 2 * bits));
    b.delay(double(folds > 1 ? clog2(folds) : 0), 2 * (bits - 1));
    bool all = count == (int64_t(1) << bits) - 1;
    for (const RomContents &c : bisected(b, bits)) {
      b.term(Term::RomLeaf, c.leaves);
      b.term(Term::RomMux, c.muxes);
      b.ff(c.columns);
    }
    for (int64_t s = 0; s < bits; ++s) {
      b.ff(s > 0 && !all ? lanes : 0); // whether there is a threshold
      b.compare(lanes, width);
      b.ff(lanes * double(2 * s + 1));
    }
  }
  b.ff(lanes * double(out));
  b.term(Term::Select, lanes * double(out));
  b.outbuf(b.get("Depth"), channels * out);
}

void table(Builder &b) {
  int64_t channels = b.get("Lanes"), out = b.get("OutWidth");
  const int64_t folds = b.get("Trips") * b.get("OutFolds");
  int64_t words = folds * channels * b.get("Entries");
  int64_t address = addressBits(words);
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.term(Term::Lane, lanes);
  b.counter(b.get("OutFolds"));
  countTrips(b, b.get("OutFolds"));
  b.ff(4);
  // Tables of 2^n entries from 0 on are at addresses whose low n bits are zero:
  // without folds the address is a constant and x, and a lane reads only
  // its own table.
  int64_t entries = b.get("Entries"), low = clog2(entries);
  bool aligned = entries == int64_t(1) << low && b.get("Lo") == 0;
  bool folded = folds > 1;
  if (folded) {
    // The fold's table, then with the lane's, then with x.
    int64_t high = aligned ? clog2(folds) + 1 : address;
    b.ff(double(high) + lanes * double(high + address + b.get("InWidth")));
    b.adder(1, high);
    b.adder(lanes * (aligned ? 1 : 2), address);
  } else if (aligned) {
    b.ff(lanes * double(2 * std::min(low, b.get("InWidth"))));
  } else {
    b.ff(lanes * double(b.get("InWidth") + address));
    b.adder(lanes, address);
  }
  if (aligned && !folded && !b.get("Block")) {
    const int64_t k = b.context().lutInputs;
    const MemoryImage *image = b.image("TableFile");
    const std::string digits = image ? image->hex() : "";
    const size_t lane =
        image ? size_t(entries * ((image->width + 3) / 4 + 1)) : 0;
    for (int64_t l = 0; l < channels; ++l) {
      RomContents c =
          image ? MemoryImage::parse(digits.substr(size_t(l) * lane, lane))
                      .contents(k)
                : RomContents::expected(entries, double(out), k);
      b.term(Term::RomLeaf, c.leaves);
      b.term(Term::RomMux, c.muxes);
      b.delay(c.columns, 2);
    }
  } else {
    b.rom("TableFile", "Block", words, out, 2, channels);
  }
  b.outbuf(b.get("Depth"), channels * out);
}

class ThresholdUnit final : public UnitModel {
public:
  ThresholdUnit() : UnitModel(unit::Threshold::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    int64_t count = a.get("Count");
    return (count <= 3 ? 4 : 2 + 2 * clog2(count + 1)) + bufferLatency(a);
  }
  void structure(Builder &b) const override { threshold(b); }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[a.get("Count") > 3];
  }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

class TableUnit final : public UnitModel {
public:
  TableUnit() : UnitModel(unit::Table::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 4 + bufferLatency(a);
  }
  void structure(Builder &b) const override { table(b); }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

bool ThresholdUnit::sample(Sampler &s, llvm::StringRef name) const {
  bool bisect = name == kind().characterized[1];
  s.begin(kind().name);
  int64_t in = s.any({7, 9, 11, 13}),
          count = bisect ? s.any({7, 15}) : s.draw(1, 3);
  int64_t lanes = bisect ? s.any({1, 2, 4}) : s.any({1, 4, 8, 16});
  int64_t folds = s.any({1, 2, 4, 16});
  s.actor.params = {{"Lanes", lanes},
                    {"InWidth", in},
                    {"InSigned", 1},
                    {"OutWidth", count > 7   ? 4
                                 : count > 3 ? 3
                                             : 2},
                    {"Base", bisect ? 0 : s.any({0, -1})},
                    {"Step", 1},
                    {"Count", count},
                    {"OutFolds", folds}};
  MemoryImage image(lanes * count * (in + 1), folds);
  for (int64_t w = 0; w < folds; ++w)
    for (int64_t l = 0; l < lanes; ++l) {
      std::vector<int64_t> levels(count);
      for (int64_t &level : levels)
        level = s.draw(-(int64_t(1) << (in - 2)), (int64_t(1) << (in - 2)) - 1);
      std::sort(levels.begin(), levels.end());
      for (int64_t k = 0; k < count; ++k)
        image.set(w, (l * count + k) * (in + 1), in + 1, levels[k]);
    }
  s.add("ParamFile", "thresholds", std::move(image));
  return true;
}

bool TableUnit::sample(Sampler &s, llvm::StringRef) const {
  s.begin(kind().name);
  int64_t in = s.any({4, 6, 8}), out = s.any({4, 8}), lanes = s.any({1, 2, 4});
  int64_t folds = s.any({1, 1, 2});
  s.actor.params = {{"Lanes", lanes},   {"InWidth", in},
                    {"InSigned", 0},    {"OutWidth", out},
                    {"Lo", 0},          {"Entries", int64_t(1) << in},
                    {"OutFolds", folds}};
  s.image("TableFile", folds * lanes << in, 1, out, out);
  return true;
}
} // namespace

std::unique_ptr<UnitModel> makeThresholdUnit() {
  return std::make_unique<ThresholdUnit>();
}
std::unique_ptr<UnitModel> makeTableUnit() {
  return std::make_unique<TableUnit>();
}
} // namespace rhizome::gen
