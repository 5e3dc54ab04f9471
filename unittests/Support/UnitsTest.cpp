// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantities as people read them: times with three significant digits in the
// unit that fits, rates with separators.
#include "rhizome/Support/Units.h"
#include <gtest/gtest.h>

using rhizome::durationText;
using rhizome::rateText;

TEST(Units, DurationsHaveThreeDigits) {
  EXPECT_EQ(durationText(0), "0 ns");
  EXPECT_EQ(durationText(0.00314e-9), "0.00 ns");
  EXPECT_EQ(durationText(8.4e-9), "8.40 ns");
  EXPECT_EQ(durationText(42 / 400e6), "105 ns");
  EXPECT_EQ(durationText(9.996e-9), "10.0 ns");
  EXPECT_EQ(durationText(99.96e-9), "100 ns");
  EXPECT_EQ(durationText(999.4e-9), "999 ns");
  EXPECT_EQ(durationText(999.6e-9), "1.00 us");
  EXPECT_EQ(durationText(32.416e-6), "32.4 us");
  EXPECT_EQ(durationText(0.25196319), "252 ms");
  EXPECT_EQ(durationText(61.5), "61.5 s");
  EXPECT_EQ(durationText(86400), "86400 s");
}

TEST(Units, RatesAreRoundedToWholeNumbersOrThreeDigits) {
  EXPECT_EQ(rateText(1101562.5), "1,101,563");
  EXPECT_EQ(rateText(1101562.4), "1,101,562");
  EXPECT_EQ(rateText(1000), "1,000");
  EXPECT_EQ(rateText(999.6), "1,000");
  EXPECT_EQ(rateText(500.5), "501");
  EXPECT_EQ(rateText(500), "500");
  EXPECT_EQ(rateText(62.5), "62.5");
  EXPECT_EQ(rateText(62), "62");
  EXPECT_EQ(rateText(1.125), "1.13");
  EXPECT_EQ(rateText(0.01234), "0.0123");
  EXPECT_EQ(rateText(0), "0");
}
