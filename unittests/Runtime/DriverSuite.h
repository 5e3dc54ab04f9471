// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subject of the conformance suite. A program that links DriverSuite.cpp
// provides it by defining `subject`.
#pragma once

#include "Devices.h"
#include "gtest/gtest.h"

namespace rhizome::test {
struct Subject {
  /// One input, one output, no segments; its folder need not exist if it has
  /// no images.
  runtime::Design design;
  /// The correct result, of frameBytes(), for a frame that may be padded.
  Function compute;
  /// Frame number `number`.
  std::function<runtime::Bytes(uint64_t number)> frame;
  /// Its simulator: a program that reads RHZ_TOY like ToySimulator;
  /// "" if there is none.
  std::string simulator, simulatorFolder;
  /// The command that starts ranks that compute it, with the word FOLDER for
  /// the working folder; empty without MPI.
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
