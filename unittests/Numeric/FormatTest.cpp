// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The textual syntax of formats: what is read, printed and refused.
#include "rhizome/Numeric/Format.h"
#include <gtest/gtest.h>

using namespace rhizome::numeric;

TEST(Format, PrintsWhatItReads) {
  for (const char *text :
       {"fixed<24,40>", "fixed<8,8,unsigned>", "fixed<-4,12>", "fixed<20,-4>",
        "fixed<64,64>", "half", "bfloat16", "single", "double", "float<4,3>",
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
  EXPECT_EQ(Format::parse(" float < 4 , 3, bias = 7 > ", error)->str(),
            "float<4,3>");
}

TEST(Format, SaysWhatIsWrong) {
  auto why = [](const char *text) {
    std::string error;
    EXPECT_FALSE(Format::parse(text, error)) << text;
    return error;
  };
  EXPECT_NE(why("fixed<100,40>").find("the width 140 is not in 1..128"),
            std::string::npos);
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
}
