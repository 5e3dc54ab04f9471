// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// That the preset `sanitize` finds faults: each of these ends the program
// there, and would pass unnoticed elsewhere.
#include <cstdio>
#include <gtest/gtest.h>
#include <limits>
#include <memory>

#ifdef __SANITIZE_ADDRESS__
// Volatile, so that nothing is known while this is compiled.
TEST(Sanitizers, EndAtAReadBeyondTheEnd) {
  volatile size_t index = 16;
  auto bytes = std::make_unique<char[]>(16);
  EXPECT_DEATH(std::printf("%d", bytes.get()[index]), "heap-buffer-overflow");
}

TEST(Sanitizers, EndAtAReadOfFreedMemory) {
  auto bytes = std::make_unique<char[]>(16);
  char *volatile dangling = bytes.get();
  bytes.reset();
  EXPECT_DEATH(std::printf("%d", dangling[3]), "heap-use-after-free");
}

TEST(Sanitizers, EndAtASumThatOverflows) {
  volatile int most = std::numeric_limits<int>::max();
  EXPECT_DEATH(std::printf("%d", most + 1), "signed integer overflow");
}
#endif
