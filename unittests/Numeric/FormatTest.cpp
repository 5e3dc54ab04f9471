// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The textual syntax of formats: parsing, printing and refusals.
#include "rhizome/Numeric/Format.h"
#include <gtest/gtest.h>

using namespace rhizome::numeric;

TEST(Format, PrintsWhatItReads) {
  for (const char *text :
       {"int8", "uint16", "int1", "uint128", "fixed<24,40>",
        "fixed<8,8,unsigned>", "fixed<-4,12>", "fixed<20,-4>", "fixed<64,64>",
        "half", "bfloat16", "single", "double", "float<4,3>",
        "float<4,3,bias=9>", "float<5,2,flush>", "float<4,3,finite>",
        "float<6,9,bias=20,flush,finite>", "float<15,48>"}) {
    std::string error;
    auto f = Format::parse(text, error);
    ASSERT_TRUE(f) << error;
    EXPECT_EQ(f->str(), text);
  }
}

TEST(Format, ReadsOtherSpellings) {
  std::string error;
  EXPECT_EQ(Format::parse("fixed(8, 24)", error), Format::fixed(8, 24));
  EXPECT_EQ(Format::parse("ufixed<8,24>", error), Format::fixed(8, 24, false));
  EXPECT_EQ(Format::parse("f32", error), Format::binary32());
  EXPECT_EQ(Format::parse("float<11,52>", error)->str(), "double");
  EXPECT_EQ(Format::parse("int8", error), Format::fixed(8, 0));
  EXPECT_EQ(Format::parse("fixed<8,0,unsigned>", error)->str(), "uint8");
  EXPECT_EQ(Format::parse(" float < 4 , 3, bias = 7 > ", error)->str(),
            "float<4,3>");
}

// W,I of Vivado and hls4ml against I,F of ours: the table of
// docs/number-formats.md.
TEST(Format, ReadsVivadosSpelling) {
  for (auto [text, ours] : {std::pair("ap_fixed<16,6>", "fixed<6,10>"),
                            {"ap_ufixed<8,0>", "fixed<0,8,unsigned>"},
                            {"ap_fixed< 8, 1 >", "fixed<1,7>"},
                            {"ap_fixed<18,20>", "fixed<20,-2>"},
                            {"ap_fixed<12,-4>", "fixed<-4,16>"},
                            {"ap_fixed(32,8)", "fixed<8,24>"}}) {
    std::string error;
    auto f = Format::parse(text, error);
    ASSERT_TRUE(f) << error;
    EXPECT_EQ(f->str(), ours) << text;
  }
}

TEST(Format, ReadsTheFormerSpellingWithANote) {
  std::string error, note;
  EXPECT_EQ(Format::parse("fixed:16,10", error, &note), Format::fixed(6, 10));
  EXPECT_EQ(note,
            "'fixed:16,10' is the former spelling of fixed<6,10>: integer "
            "bits, the sign among them, and fraction bits");
  EXPECT_EQ(Format::parse("fixed:8,-4", error, &note), Format::fixed(12, -4));
  note.clear();
  EXPECT_EQ(Format::parse("fixed<6,10>", error, &note), Format::fixed(6, 10));
  EXPECT_EQ(note, "");
  EXPECT_FALSE(Format::parse("fixed:16,10", error));
  EXPECT_EQ(error, "'fixed:16,10' is not a number format: write fixed<6,10>");
}

TEST(Format, SaysWhatIsWrong) {
  auto why = [](const char *text) {
    std::string error;
    EXPECT_FALSE(Format::parse(text, error)) << text;
    return error;
  };
  EXPECT_NE(why("fixed<100,40>").find("the width 140 is not in 1..128"),
            std::string::npos);
  for (const char *text :
       {"int", "uint", "int-8", "int 8x", "int<8>", "int8.0"})
    EXPECT_NE(why(text).find("expected fixed"), std::string::npos);
  EXPECT_NE(why("int0").find("the width 0"), std::string::npos);
  EXPECT_NE(why("uint129").find("the width 129"), std::string::npos);
  EXPECT_NE(why("fixed<4,-4>").find("the width 0"), std::string::npos);
  EXPECT_NE(why("fixed<1>").find("integer bits,fraction bits"),
            std::string::npos);
  EXPECT_NE(why("fixed<8,24").find("bracket"), std::string::npos);
  EXPECT_NE(why("float<1,3>").find("exponent bits 1 is not in 2..15"),
            std::string::npos);
  EXPECT_NE(why("float<15,60>").find("mantissa bits 60"), std::string::npos);
  EXPECT_NE(why("float<4,3,wrap>").find("'wrap' is unknown"),
            std::string::npos);
  EXPECT_NE(why("float<4,3,bias=>").find("bias"), std::string::npos);
  EXPECT_NE(why("posit<8,2>").find("expected fixed"), std::string::npos);
  EXPECT_NE(why("").find("expected fixed"), std::string::npos);
  EXPECT_NE(why("half<5,10>").find("expected fixed"), std::string::npos);
  EXPECT_NE(why("float:5,10").find("expected fixed"), std::string::npos);
  EXPECT_NE(why("ap_fixed<16>").find("width,integer bits among them"),
            std::string::npos);
  EXPECT_NE(
      why("ap_fixed<16,6,AP_RND,AP_SAT>")
          .find("'AP_RND' is about rounding or overflow, which belong to "
                "operations, not to formats; ap_fixed<16,6> is the format "
                "alone"),
      std::string::npos);
  EXPECT_NE(why("ap_fixed<200,6>").find("the width 200 is not in 1..128"),
            std::string::npos);
  EXPECT_NE(
      why("ap_fixed<2147483647,-2147483648>").find("the width 2147483647"),
      std::string::npos);
  EXPECT_NE(why("fixed:-2147483648,2147483647").find("the width -2147483648"),
            std::string::npos);
  EXPECT_NE(why("fixed:8").find("integer bits,fraction bits"),
            std::string::npos);
}
