// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact parts of the cost model, and its fitted part with the unit model:
// the figures are those of Yosys 0.23.
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Actor.h"
#include <gtest/gtest.h>

using namespace rhizome::gen;

namespace {
CostContext ecp5() {
  CostContext c;
  c.lutInputs = 4;
  c.dspWide = c.dspNarrow = 18;
  c.bramBits = 18432;
  c.bramPort = 36;
  c.halfBlocks = c.shiftRegisters = false;
  c.lutramBits = 4;
  return c;
}

Actor matvec(int64_t folds, int64_t outFolds, int64_t bits) {
  Actor a("matvec", "m");
  a.params = {{"Pixels", 1},    {"Pe", 1},        {"Simd", 1},
              {"XWidth", bits}, {"XSigned", 0},   {"WWidth", bits},
              {"AccWidth", 13}, {"Folds", folds}, {"OutFolds", outFolds},
              {"Bias", 0},      {"Style", 0},     {"Block", 1},
              {"BiasBlock", 0}, {"Depth", 2}};
  return a;
}

TEST(Cost, RegistersOfAForkAreExact) {
  Actor fork("fork", "f", {{"Width", 16}, {"Outputs", 2}, {"Depth", 4}});
  EXPECT_EQ(costOf(fork, ecp5()).ff(), 45);
  // 2 buffers of 4 places: 16 bits in 4 × 16 memories of 6 LUTs.
  EXPECT_EQ(costOf(fork, ecp5()).lutram(), 48);
}

TEST(Cost, ATreeWhoseTermsAreAlikeIsOneOfAnyTerms) {
  Actor any("fork", "f", {{"Width", 16}, {"Outputs", 2}, {"Depth", 4}});
  for (const CostContext &context : {CostContext(), ecp5()})
    for (int64_t n = 0; n <= 70; ++n)
      for (int64_t kept : {9, 12, 64}) {
        cost::Builder alike(any, context, nullptr), each(any, context, nullptr);
        alike.tree(3, n, 10, kept);
        each.tree(3, std::vector<char>(n, 1), 10, kept);
        EXPECT_EQ(alike.structure.exact, each.structure.exact) << n;
        EXPECT_EQ(alike.structure.terms, each.structure.terms) << n;
      }
}

TEST(Cost, DeepBuffersAreBlocks) {
  Actor fifo("fifo", "f", {{"Width", 4}, {"Depth", 801}});
  Resources r = costOf(fifo, ecp5());
  EXPECT_EQ(r.bram(), 1);
  EXPECT_EQ(r.ff(), 70);
}

TEST(Cost, PartsOfAReadOnlyMemoryLieBesideEachOther) {
  // 4,608 words of 4 bits: 9 parts of 512 words in one half block 36 wide.
  EXPECT_EQ(costOf(matvec(144, 32, 4), CostContext()).bram(), 0.5);
  EXPECT_EQ(costOf(matvec(144, 32, 8), CostContext()).bram(), 1);
}

// rtl/src/rhz_weight_ram.sv through `synth_xilinx -family xcup -uram`.
TEST(Cost, LoadedMemoriesAreThoseOfYosys) {
  struct Case {
    int64_t width, words;
    bool ultra;
    double blocks, ffs;
  };
  for (const Case &c :
       {Case{72, 4096, true, 1, 216}, {72, 4097, true, 2, 218},
        {144, 4096, true, 2, 354},    {100, 8192, true, 3, 246},
        {72, 16384, true, 4, 220},    {64, 100, true, 1, 138},
        {8, 4096, true, 1, 87},       {72, 131072, true, 32, 226},
        {64, 36864, true, 8, 151},    {200, 8192, true, 6, 476},
        {136, 12288, true, 6, 350},   {24, 20480, true, 2, 109},
        {576, 1024, true, 8, 1170},   {250, 4100, true, 7, 526},
        {72, 512, false, 1, 210},     {72, 4096, false, 8, 216},
        {64, 2048, false, 4, 142},    {100, 1000, false, 3, 242},
        {8, 3000, false, 1, 87},      {200, 40, false, 3, 465},
        {9, 300, false, 0.5, 76}}) {
    rhizome::unit::Instance none;
    CostContext context;
    cost::Builder b(none, context, nullptr);
    b.weightRam(c.words, c.width, c.words == 300 ? 1 : 2, 64, c.ultra);
    const Resources &r = b.structure.exact;
    EXPECT_EQ(c.ultra ? r.uram() : r.bram(), c.blocks)
        << c.words << " words of " << c.width << " bits";
    EXPECT_EQ(c.ultra ? r.bram() : r.uram(), 0);
    // For memories that fit the widest port of a block, Yosys saves three.
    EXPECT_NEAR(r.ff(), c.ffs, !c.ultra && c.words <= 512 ? 3 : 0)
        << c.words << " words of " << c.width << " bits";
  }
}

// rtl/src/rhz_product.sv, rhz_scaled_add.sv through `synth_xilinx -family xcup`
// and `synth_ecp5`.
TEST(Cost, SmallProductsTakeTheBlocksOfYosys) {
  auto product = [](int64_t a, int64_t b, bool isSigned) {
    return Actor("product", "p",
                 {{"Lanes", 1},
                  {"AWidth", a},
                  {"ASigned", 0},
                  {"ADiff", a + 1},
                  {"ZeroA", 0},
                  {"BWidth", b},
                  {"BSigned", isSigned},
                  {"BDiff", b + !isSigned},
                  {"ZeroB", 0},
                  {"OutWidth", a + b + 1},
                  {"Style", 1},
                  {"Depth", 6}});
  };
  EXPECT_EQ(costOf(product(1, 16, false), CostContext()).dsp(), 0);
  EXPECT_EQ(costOf(product(1, 16, false), ecp5()).dsp(), 0);
  EXPECT_EQ(costOf(product(1, 16, true), CostContext()).dsp(), 1);
  EXPECT_EQ(costOf(product(1, 16, true), ecp5()).dsp(), 1);
  EXPECT_EQ(costOf(product(4, 4, false), CostContext()).dsp(), 0);
  EXPECT_EQ(costOf(product(4, 5, false), CostContext()).dsp(), 1);
  struct Factors {
    int64_t a, b, bits, mulA, mulB, max, out, blocks;
  };
  for (const Factors &f : {Factors{4, 2, 8, 17, 110, 12, 11, 1},
                           {7, 3, 4, 6, 3, 0, 9, 0},
                           {5, 1, 5, 11, 13, 0, 8, 0},
                           {12, 6, 7, 49, 44, 0, 18, 2}}) {
    Actor add("scaled_add", "s",
              {{"Lanes", 1},
               {"AWidth", f.a},
               {"ASigned", 1},
               {"BWidth", f.b},
               {"BSigned", f.b == 3 || f.b == 6},
               {"MulA", f.mulA},
               {"MulB", f.mulB},
               {"MulWidth", f.bits},
               {"Max", f.max > 0},
               {"MaxWidth", std::max<int64_t>(f.max, 1)},
               {"OutWidth", f.out},
               {"Depth", 6}});
    EXPECT_EQ(costOf(add, CostContext()).dsp(), f.blocks) << f.mulA;
  }
}

TEST(Cost, RowsOfRegistersAreLutsOnAmdOnly) {
  Resources amd = costOf(matvec(64, 10, 8), CostContext());
  Resources lattice = costOf(matvec(64, 10, 8), ecp5());
  // Three stages of eight bits.
  EXPECT_EQ(lattice.ff() - amd.ff(), 24);
}

TEST(Cost, EveryTermOfTheUnitModelIsOneLut) {
  Actor fork("fork", "f", {{"Width", 16}, {"Outputs", 2}, {"Depth", 4}});
  Structure s = structureOf(fork, ecp5());
  double terms = 0;
  for (double t : s.terms)
    terms += t;
  EXPECT_GT(terms, 0);
  EXPECT_EQ(costOf(fork, ecp5()).lut(), s.exact.lut() + terms);
}

TEST(Cost, ErrorBarsAreTheUnits) {
  CostContext c = ecp5();
  auto model = std::make_shared<CostModel>();
  model->units["fork"].lutError = {0.1, 20};
  c.model = model;
  Actor fifo("fifo", "f", {{"Width", 4}, {"Depth", 4}});
  Resources small, large;
  small.lut() = 50;
  large.lut() = 1000;
  EXPECT_EQ(errorOf(fifo, small, c).lut(), 20);
  EXPECT_EQ(errorOf(fifo, large, c).lut(), 100);
}

TEST(RomContents, EqualAndConstantColumnsAreOneAndNone) {
  // Columns: the address's low bit twice, its complement, a constant.
  MemoryImage image(4, 4);
  for (int64_t w = 0; w < 4; ++w) {
    image.set(w, 0, 1, w);
    image.set(w, 1, 1, w);
    image.set(w, 2, 1, ~w);
    image.set(w, 3, 1, 1);
  }
  RomContents c = image.contents(6);
  EXPECT_EQ(c.varying, 3);
  EXPECT_EQ(c.columns, 2);
  EXPECT_EQ(image.zeroColumns(0, 4), 0);
  EXPECT_EQ(MemoryImage::parse(image.hex()).hex(), image.hex());
}

TEST(RomContents, ComplementsShareTheirParts) {
  // Two columns of 128 words; the second is the first's complement.
  MemoryImage image(2, 128);
  for (int64_t w = 0; w < 128; ++w) {
    int64_t bit = (w * w / 3) & 1;
    image.set(w, 0, 1, bit);
    image.set(w, 1, 1, ~bit);
  }
  RomContents c = image.contents(6);
  EXPECT_EQ(c.columns, 2);
  EXPECT_EQ(c.leaves, 2);
}
} // namespace
