// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An error keeps the first kind that it was given.
#include "rhizome/Support/Failures.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace rhizome;

namespace {
TEST(Failures, TakeTheKindOfTheirErrorOrTheOther) {
  Failure plain = failureOf(createStringError("why"), Failure::Kind::Input);
  EXPECT_EQ(plain.kind, Failure::Kind::Input);
  EXPECT_EQ(plain.reason(), "why");
  Error error = ofKind(Failure::Kind::Usage, createStringError("why"));
  error = ofKind(Failure::Kind::Internal, std::move(error));
  Failure kinded = failureOf(std::move(error), Failure::Kind::Input);
  EXPECT_EQ(kinded.kind, Failure::Kind::Usage);
  EXPECT_EQ(kinded.reason(), "why");
}

TEST(Failures, SuccessStaysSuccess) {
  EXPECT_FALSE(bool(ofKind(Failure::Kind::Usage, Error::success())));
}
} // namespace
