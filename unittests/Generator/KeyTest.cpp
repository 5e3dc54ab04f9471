// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of options: text and back, parts that match, and that no two options of
// an operation have the same key, over all example networks.
#include "Layers.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Transforms/Integerize.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using gen::OptionKey;

namespace {
OptionKey key() {
  return OptionKey("stream", "matvec").add("pe", 4).add("style", "dsp");
}

TEST(OptionKey, TextAndBack) {
  EXPECT_EQ(key().text(), "stream/matvec?pe=4&style=dsp");
  EXPECT_EQ(OptionKey::parse(key().text()), key());
  EXPECT_EQ(OptionKey("wires", "wires").text(), "wires/wires");
  EXPECT_EQ(OptionKey::parse("wires/wires"), OptionKey("wires", "wires"));
  for (const char *wrong :
       {"PE 4 × SIMD 9, in DSPs", "stream/", "/matvec", "a/b/c", "matvec?",
        "matvec?pe", "matvec?pe=", "matvec?=4", "matvec?pe=4&", "a b", "?"})
    EXPECT_FALSE(OptionKey::parse(wrong)) << wrong;
}

TEST(OptionKey, PartsMatch) {
  auto matches = [](const char *part) {
    return OptionKey::parse(part)->matches(key());
  };
  for (const char *part :
       {"stream/matvec?pe=4&style=dsp", "stream/matvec?style=dsp&pe=4",
        "stream/matvec", "matvec?pe=4", "matvec", "?style=dsp"})
    EXPECT_TRUE(matches(part)) << part;
  for (const char *other :
       {"dhm/matvec?pe=4", "stream/pool", "?pe=5", "?pe=4&simd=1",
        "stream/matvec?pe=40", "stream/matvec?pe=4&style=lut"})
    EXPECT_FALSE(matches(other)) << other;
  EXPECT_EQ(OptionKey::parse("matvec?pe=4&style=lut")->common(key()), 3);
}

struct Example {
  const char *file;
  std::optional<numeric::Format> fixed;
};

/// Asks about every operation of a network on this device; counts the options
/// with unique keys.
size_t checkKeys(func::FuncOp network, const gen::DeviceContext &device) {
  size_t seen = 0;
  for (Operation &op : network.getBody().front()) {
    if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      continue;
    // Formats in which inputs may arrive, more than foldings give.
    std::vector<std::optional<gen::BeatFormat>> upstream;
    gen::BeatFormat base = gen::formatOf(op.getOperand(0).getType(), 1, 1);
    for (int64_t lanes : {1, 3, 5, 12})
      for (int64_t row : {lanes, 7 * lanes, base.count})
        if (base.count % row == 0) {
          gen::BeatFormat format = base;
          format.lanes = lanes;
          format.row = row;
          upstream.push_back(format.canonical());
        }
    for (const auto &generator : gen::allGenerators()) {
      if (generator->coverage(&op))
        continue;
      std::set<std::string> keys;
      for (const gen::Offer &o : generator->offers(&op, upstream, device)) {
        std::string text = o.key.text();
        EXPECT_TRUE(keys.insert(text).second)
            << osa::nodeName(&op) << " has twice " << text;
        EXPECT_TRUE(StringRef(text).starts_with(generator->name().str() + "/"))
            << text;
        EXPECT_EQ(OptionKey::parse(text), o.key);
        // The common part of offers is priced once: for each the right price.
        gen::Resources sum;
        for (const gen::Body::Unit &unit : o.body.units)
          sum += gen::costOf(unit.actor, device.cost);
        // A region also takes more of a unit that it shares.
        for (size_t k = 0; o.shared && k < sum.amount.size(); ++k)
          sum.amount[k] = std::max(sum.amount[k], o.resources.amount[k]);
        EXPECT_EQ(sum, o.resources) << text;
        ++seen;
      }
    }
  }
  return seen;
}

TEST(OptionKey, NoTwoOptionsShareOne) {
  std::string examples = llvm::cantFail(dataDir()) + "/../examples/";
  gen::DeviceContext device = test::testDevice(), bare = device;
  bare.hasDsp = false;
  bare.cost.dspWide = bare.cost.dspNarrow = 0;
  for (const Example &example :
       {Example{"digits/digits_qdq_int8.onnx", std::nullopt},
        {"digits/digits_qonnx_w4a4.onnx", std::nullopt},
        {"lenet5/lenet5_codes.onnx", numeric::Format::fixed(1, 7)},
        {"tiny-digits/tiny_digits_qdq_int8.onnx", std::nullopt}}) {
    MLIRContext context;
    importer::ImportOptions options;
    IntegerizeOptions integers;
    integers.fixed = example.fixed;
    if (example.fixed)
      options.rawIntegerFraction = example.fixed->fractionBits;
    Refusals refusals;
    auto module = importer::importOnnx(&context, examples + example.file,
                                       options, refusals);
    ASSERT_TRUE(module) << example.file;
    IntegerizeStats stats;
    ASSERT_TRUE(succeeded(integerize(*module, integers, refusals, stats)));
    auto network = module->lookupSymbol<func::FuncOp>("network");
    EXPECT_GT(checkKeys(network, device), 100u) << example.file;
    EXPECT_GT(checkKeys(network, bare), 100u) << example.file;
  }
}
} // namespace
