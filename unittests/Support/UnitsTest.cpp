// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times as people read them: three significant digits in the unit that fits.
#include "rhizome/Support/Units.h"
#include <gtest/gtest.h>

using rhizome::durationText;

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
