// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the conformance suite runs on. A program that links DriverSuite.cpp
// says so by defining `subject`.
#pragma once

#include "Devices.h"
#include "gtest/gtest.h"

namespace rhizome::test {
struct Subject {
  /// One input, one output, no segments; its folder need not exist if it has
  /// no images.
  runtime::Design design;
  /// The right answer, of frameBytes(), to a frame that may be padded.
  Function compute;
  /// Frame number `number`.
  std::function<runtime::Bytes(uint64_t number)> frame;
  /// What simulates it: a program that looks at RHZ_TOY as ToySimulator does;
  /// "" where there is none.
  std::string simulator, simulatorFolder;
  /// What starts ranks that compute it, with the word FOLDER for the folder in
  /// which they run; empty where there is no MPI.
  std::vector<std::string> ranks;
};
const Subject &subject();
} // namespace rhizome::test

#define EXPECT_FAULT(wanted, words, call)                                      \
  do {                                                                         \
    rhizome::runtime::Status status = (call);                                  \
    EXPECT_EQ(status.fault, wanted) << status.text;                            \
    EXPECT_NE(status.text.find(words), std::string::npos) << status.text;      \
  } while (false)
